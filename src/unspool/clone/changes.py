"""What a copy changes, line by line."""

from collections.abc import Iterator
from typing import NamedTuple

from unspool.clone.draught import Draught
from unspool.clone.tally import pieces
from unspool.formats.writing import Cuts
from unspool.model import Event, Result, Thinking, ToolCall


class Change(NamedTuple):
    """A line that is shorter in the copy, or not in it."""

    line: int
    turn: int
    what: str
    """What it is: call, result, thinking, picture, words, line."""
    tool: str
    deed: str
    """removed, truncated, stubbed, left out or rewritten."""
    before: int
    """Tokens, estimated."""
    after: int


_DEEDS = {"remove": "removed", "truncate": "truncated", "stub": "stubbed"}


def changes(draught: Draught) -> Iterator[Change]:
    """Every change of the conversation, in its order."""
    copy = draught.copy
    read = copy.original.reader()
    names = _names(draught.lines)
    turn = 0
    for event in draught.lines:
        turn += event.prompt is not None
        if event.id not in copy.edits:
            continue
        edited = copy.edits[event.id]
        before = sum(piece.tokens for piece in pieces([event]))
        after = 0 if edited is None else sum(piece.tokens for piece in pieces([read(edited)]))
        what, tool, deed = _told(event, draught.cuts, names)
        yield Change(event.place.line, turn, what, tool, deed, before, after)


def _names(lines: list[Event]) -> dict[str, str]:
    blocks = (block for event in lines for block in event.blocks)
    return {block.call_id: block.name for block in blocks if isinstance(block, ToolCall)}


def _told(event: Event, cuts: Cuts, names: dict[str, str]) -> tuple[str, str, str]:
    """(what it is, the tool, what is done)."""
    for block in event.blocks:
        if not isinstance(block, ToolCall | Result):
            continue
        what, tool = "call" if isinstance(block, ToolCall) else "result", names.get(block.call_id, "")
        if (event.id, block.call_id) in cuts.gone:
            return what, tool, "left out: it has no other half" if event.id not in cuts.lines else "left out"
        if block.call_id in cuts.calls:
            return what, tool, _DEEDS[cuts.calls[block.call_id]]
    if event.id in cuts.lines:
        return "line", "", "left out"
    if event.id in cuts.texts:
        return "words", "", "rewritten"
    if event.id in cuts.images:
        return "picture", "", "left out"
    if event.id in cuts.thinking and any(isinstance(block, Thinking) for block in event.blocks):
        return "thinking", "", "removed"
    return "line", "", "shortened" if event.id in cuts.news else "left out"
