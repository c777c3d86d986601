"""The act of sharing, which is no part of what is shared: the prompt that asked for it, the call, the answer."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from unspool.model import Event, Json, Text, ToolCall

MARKER = "<!--unspool-share-->"
"""What an answer that tells of a share ends with, so that it is known again."""
_MARKERS = (MARKER, "<!--session-share-->")
_COMMANDS = frozenset(
    {"unspool:share", "share-session:share", "session-share:share", "cc-session-share:share", "share-session"}
)
_SHELL = re.compile(
    r"(?:^|[;&|(`\n]|\b(?:uvx|run|env|exec|time)\s)\s*(?:\S*/)?(?:unspool\s+share\b|share-session\.sh\b)"
)
_ASKED = re.compile(r"(?i)\bshar(?:e|ing)\b")


class Act(NamedTuple):
    """What of a conversation only told of sharing it."""

    lines: frozenset[str]
    calls: frozenset[str]


def acts(turns: Sequence[Sequence[Event]]) -> Act:
    """The lines and calls of a conversation, cut at its prompts, that go."""
    lines: set[str] = set()
    calls: set[str] = set()
    before = False
    for turn in turns:
        gone = _gone(turn, talked=before)
        before = bool(gone) and len(gone) == len(turn)
        lines.update(event.id for event in gone)
        calls.update(call.call_id for call in _calls(turn) if _shares(call))
    return Act(frozenset(lines), frozenset(calls))


def _gone(turn: Sequence[Event], *, talked: bool) -> Sequence[Event]:
    """The lines of a turn that go: all, those from the act on, or the answers that are marked.

    `talked`: the turn before went whole, so that this one's prompt goes on with it.
    """
    prompt = turn[0].prompt if turn else None
    if prompt is not None and prompt.command.lstrip("/") in _COMMANDS:
        return turn
    at = next((index for index, event in enumerate(turn) if any(map(_shares, _calls([event])))), None)
    if at is None or not all(map(_shares, _calls(turn[at:]))):
        return [event for event in turn if _marked(event)]
    asked = prompt is not None and (talked or bool(_ASKED.search(prompt.text)))
    return turn if asked and not any(_calls(turn[:at])) else turn[at:]


def _calls(lines: Sequence[Event]) -> Iterator[ToolCall]:
    return (block for event in lines for block in event.blocks if isinstance(block, ToolCall))


def _shares(call: ToolCall) -> bool:
    """Whether a call shares a session: as a command of a shell, or by the name of a plugin's command."""
    given = list(_strings(call.input))
    if call.role == "shell":
        return any(_SHELL.search(text) for text in given)
    return any(text.lstrip("/") in _COMMANDS for text in given)


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (inner for inner in value.values() if isinstance(inner, str))


def _marked(event: Event) -> bool:
    return any(isinstance(block, Text) and any(mark in block.text for mark in _MARKERS) for block in event.blocks)
