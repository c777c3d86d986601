"""What a copy is called, so that a person finds it in the agent's own list."""

import re
from datetime import datetime

from unspool.clone.original import Original
from unspool.model import Prompt

_LONGEST, _LONG = 50, 100
_BEFORE = re.compile(r"^Clone: (.*?)(?:\.\.\.)? \([A-Z][a-z]{2} \d{1,2} \d{1,2}:\d{2}[ap]m\)$", re.DOTALL)
_FORK = re.compile(r"(?: \((?:fork|mended|moved|imported)\))+$")


def base(log: Original) -> str:
    """The title of the session, without what earlier copies added to it."""
    facts = log.facts
    given = facts.custom_title or facts.generated_title or facts.agent_name
    if not given:
        said = (words(event.prompt) for event in log.draft.chain if event.prompt is not None)
        given = next((text for text in said if text.strip()), "") or "Session"
    plain = " ".join(given.split())
    earlier = _BEFORE.match(plain)
    return _FORK.sub("", earlier[1] if earlier else plain)


def words(prompt: Prompt) -> str:
    """What a session is called by its first prompt: of a plan that was accepted, the plan's own title."""
    plan = prompt.plan.title if prompt.plan is not None else ""
    return plan or prompt.text or prompt.command


def clone(log: Original, now: datetime) -> str:
    """Clone: fix the tide tables (Mar 1 9:05am)."""
    name = base(log)
    short = name if len(name) <= _LONGEST else f"{name[:_LONGEST].rstrip()}..."
    clock = f"{now:%b} {now.day} {now.hour % 12 or 12}:{now:%M}{'am' if now.hour < 12 else 'pm'}"
    return f"Clone: {short} ({clock})"


def marked(log: Original, mark: str) -> str:
    """The title with what was done in brackets behind it."""
    name = base(log)
    short = name if len(name) <= _LONG else f"{name[:_LONG].rstrip()}..."
    return f"{short} ({mark})"
