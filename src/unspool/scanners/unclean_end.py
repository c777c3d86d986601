"""Finds sessions that ended unclean: broken off, by an error, with a question that nobody answered."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from unspool.model import Notice, Plan, Questionnaire, Session, Text, Thinking, ToolCall, Turn
from unspool.scanners.base import Scanner, SessionFlag, quote

GOING_ON = timedelta(hours=1)
"""After its last line, the time in which a session may well go on."""
_ENDINGS = frozenset({"interruption", "api-error"})
"""Notices that end a conversation; all others only accompany it."""
_OFFER = re.compile(
    r"\b(?:would you like|do you want|want me to|shall i|should i (?:also|go ahead|proceed|continue|commit|push)"
    r"|anything else"
    r"|let me know|feel free|any other|what would you like|what's next|what next|how does that (?:sound|look)|ready to"
    r"|does (?:this|that) (?:help|work|make sense|look|answer))\b",
    re.I,
)
"""Questions that only offer more."""


def scan(session: Session) -> Iterator[SessionFlag]:
    """At most one flag: how the live conversation ended, where that was not with an answer."""
    turns = [turn for turn in session.turns if turn.prompt is not None or turn.blocks]
    if not turns or session.kind in ("ghost", "empty", "stub") or goes_on(session):
        return
    turn = turns[-1]
    last = next((block for block in reversed(turn.blocks) if _counts(block)), None)
    if last is None:
        if (asked := turn.prompt) is not None and asked.kind in ("text", "queued"):
            why = "the last prompt was not answered"
            yield SessionFlag(SCANNER.name, why, turn.number, asked.place.line, quote(asked.text))
        return
    why = _why(turn, last)
    if why:
        yield SessionFlag(SCANNER.name, why, turn.number, last.place.line, quote(_words(last)))


def goes_on(session: Session) -> bool:
    """Whether a log was written to so lately that its session may not have ended."""
    written, ended = session.log.modified, session.ended
    soon = [time for time in (written, ended) if time is not None]
    return len(soon) == 2 and all(datetime.now(UTC) - time < GOING_ON for time in soon)


def _counts(block: object) -> bool:
    return block.kind in _ENDINGS if isinstance(block, Notice) else not isinstance(block, Thinking)


def _why(turn: Turn, last: object) -> str:
    if isinstance(last, Notice):
        return "it was interrupted, and nothing followed" if last.kind == "interruption" else "it ended with an error"
    if isinstance(last, ToolCall):
        if isinstance(last.meaning, Questionnaire) and last.meaning.outcome in ("pending", "away"):
            return "a question was never answered"
        if isinstance(last.meaning, Plan) and last.meaning.status == "pending":
            return "a plan was never answered"
        if last.end == "interrupted":
            return "it was interrupted, and nothing followed"
        return "a call has no result, and nothing followed" if last.end == "unanswered" else ""
    if isinstance(last, Text) and _asks(last.text) and not _worked(turn):
        return "a question was never answered"
    return ""


def _asks(text: str) -> bool:
    """Whether the last words ask for something that the work needs, and do not only offer more."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    end = lines[-1].strip().rstrip("*_`)") if lines else ""
    sentence = re.split(r"(?<=[.!?])\s+", end)[-1]
    return sentence.endswith("?") and _OFFER.search(sentence) is None


def _worked(turn: Turn) -> bool:
    """Whether something was changed in the turn: a question after that is about what comes next."""
    calls = (block for block in turn.blocks if isinstance(block, ToolCall))
    return any(call.role in ("write", "edit") and call.end == "ok" for call in calls)


def _words(block: object) -> str:
    if isinstance(block, Text | Notice):
        return block.text
    if isinstance(block, ToolCall):
        given = block.input if isinstance(block.input, dict) else {}
        return f"{block.name} {' '.join(str(value) for value in given.values() if isinstance(value, str))}"
    return ""


SCANNER = Scanner(
    "unclean-end", "unclean end", "Ended unclean: interrupted, by an error, or with a question never answered.", scan
)
