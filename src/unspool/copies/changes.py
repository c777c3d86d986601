"""What a copy changes, line by line; a turn that goes whole is told once."""

from collections.abc import Iterator
from typing import NamedTuple

from unspool.agents.writing import Cuts
from unspool.copies.copy_plan import CopyPlan
from unspool.model import Event, Result, Thinking, ToolCall


class LineChange(NamedTuple):
    """A line that is shorter in the copy, or not in it, or a whole turn that is not."""

    line: int
    turn: int
    what: str
    """What it is: call, result, thinking, picture, words, line, turn."""
    tool: str
    deed: str
    """removed, truncated, stubbed, left out or rewritten."""
    before: int
    """Tokens, estimated."""
    after: int
    lines: int = 1


_DEEDS = {"remove": "removed", "truncate": "truncated", "stub": "stubbed", "hide": "hidden"}


def line_changes(draught: CopyPlan) -> Iterator[LineChange]:
    """Every change of the conversation, in its order."""
    names = _names(draught.lines)
    for turn, lines in _turns(draught.lines):
        if all(event.id in draught.cuts.lines for event in lines):
            before = sum(map(draught.material.tokens, lines))
            yield LineChange(lines[0].place.line, turn, "turn", "", "left out", before, 0, len(lines))
        else:
            yield from (one for event in lines for one in _change(draught, event, turn, names))


def _turns(lines: list[Event]) -> Iterator[tuple[int, list[Event]]]:
    """The lines from prompt to prompt, counted; 0 is what stands before the first."""
    turn, held = 0, list[Event]()
    for event in lines:
        if event.prompt is not None:
            if held:
                yield turn, held
            turn, held = turn + 1, []
        held.append(event)
    if held:
        yield turn, held


def _change(draught: CopyPlan, event: Event, turn: int, names: dict[str, str]) -> Iterator[LineChange]:
    edited = draught.copy.edits.get(event.id)
    if edited is None:
        return
    what, tool, deed = _told(event, draught.cuts, names)
    deed = deed or ("left out" if edited.raw is None else "shortened")
    yield LineChange(event.place.line, turn, what, tool, deed, draught.material.tokens(event), edited.tokens)


def _names(lines: list[Event]) -> dict[str, str]:
    blocks = (block for event in lines for block in event.blocks)
    return {block.call_id: block.name for block in blocks if isinstance(block, ToolCall)}


def _told(event: Event, cuts: Cuts, names: dict[str, str]) -> tuple[str, str, str]:
    """(what it is, the tool, what is done); the last is empty where only the line itself tells."""
    for block in event.blocks:
        if not isinstance(block, ToolCall | Result):
            continue
        what, tool = "call" if isinstance(block, ToolCall) else "result", names.get(block.call_id, "")
        if event.id in cuts.lines:
            return what, tool, "left out"
        if (event.id, block.call_id) in cuts.gone:
            return what, tool, "left out: it has no other half, or stands elsewhere"
        if block.call_id in cuts.calls:
            return what, tool, _DEEDS[cuts.calls[block.call_id]]
    if event.id in cuts.texts:
        return "words", "", "rewritten"
    if event.id in cuts.images:
        return "picture", "", "left out"
    if event.id in cuts.thinking and any(isinstance(block, Thinking) for block in event.blocks):
        return "thinking", "", "removed"
    return "line", "", ""
