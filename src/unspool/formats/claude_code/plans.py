"""Plans: their titles, and the text that an accepted plan puts in the user's mouth."""

import re

from unspool.model import Plan

IMPLEMENT = "Implement the following plan:"
_TAIL = "If you need specific details from before exiting plan mode"
_TRANSCRIPT = re.compile(r"read the full transcript at:\s*(\S[^\n]*?\.jsonl)")
_HEADING = re.compile(r"^#[ \t]+(\S[^\n]*)", re.MULTILINE)


def title(text: str) -> str:
    """The first heading, else the first line that is not empty, without "Plan:" before it."""
    found = _HEADING.search(text)
    line = found[1] if found else next((line for line in text.splitlines() if line.strip()), "Plan")
    return re.sub(r"^Plan:\s*", "", line.strip().lstrip("# "), flags=re.IGNORECASE).strip() or "Plan"


def accepted(words: str, content: str) -> tuple[Plan, str]:
    """The plan of an "implement" prompt and the log it came from; `content` is the plan field, if any."""
    body = words[len(IMPLEMENT) :].strip("\n") if words.startswith(IMPLEMENT) else words
    plan = content or body.partition(_TAIL)[0].rstrip()
    source = _TRANSCRIPT.search(words[-2000:])
    return Plan(title(plan), plan, "approved"), source[1] if source else ""
