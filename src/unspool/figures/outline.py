"""A session prompt by prompt: what was asked, what was done for it, and what came of it."""

from datetime import datetime

import msgspec

from unspool.figures.changes import file_changes
from unspool.figures.file_states import call_origins
from unspool.model import Session, Text, ToolCall
from unspool.model.blocks import Prompt


class OutlinedPrompt(msgspec.Struct, frozen=True):
    """One turn of the live branch, in a line."""

    number: int
    """As `show --turn` takes it; 0 is what stands before the first prompt."""
    asked: str
    time: datetime | None
    calls: int
    """Tool calls, those of subagents included."""
    failed: int
    files: tuple[str, ...]
    """Files that were changed."""
    added: int
    removed: int
    outcome: str
    """What the agent said last."""
    copied: bool
    """Whether it stands in the session that this one copied its history from; its calls are counted there."""


def outline_session(session: Session) -> list[OutlinedPrompt]:
    """Every turn of the live branch in which something was asked or done."""
    calls: dict[int, list[ToolCall]] = {}
    for call, origin in call_origins(session):
        calls.setdefault(id(origin.turn), []).append(call)
    found = []
    for turn in session.turns:
        made = calls.get(id(turn), [])
        if turn.prompt is None and not made:
            continue
        changed = [one for one in file_changes(made) if one.writes]
        said = (block.text for block in reversed(turn.blocks) if isinstance(block, Text) and block.text.strip())
        found.append(
            OutlinedPrompt(
                turn.number,
                prompt_words(turn.prompt),
                turn.started,
                len(made),
                sum(call.end == "failed" for call in made),
                tuple(one.path for one in changed),
                sum(one.added for one in changed),
                sum(one.removed for one in changed),
                next(said, ""),
                turn.copied,
            )
        )
    return found


def prompt_words(prompt: Prompt | None) -> str:
    """What a person typed, a slash command with its name."""
    if prompt is None:
        return ""
    return (
        " ".join(filter(None, (prompt.command, prompt.arguments))) or prompt.words if prompt.command else prompt.words
    )
