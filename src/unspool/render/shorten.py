"""Long outputs cut to what a reader takes in, each with a note of how much was left out."""

from typing import assert_never

import msgspec

from unspool.doc import (
    Checklist,
    Code,
    Diff,
    Fields,
    Fold,
    Heading,
    Hunk,
    Link,
    Node,
    Picture,
    Prose,
    Raw,
    Span,
    Table,
    Terminal,
)
from unspool.human import count

LINES = 12
CHARACTERS = 2_000
TAIL_LINES = 6
TAIL_CHARACTERS = 1_000
VALUE = 1_000
ROWS = 50


def shorten(node: Node) -> tuple[Node, ...]:
    """The node, or its beginning (of terminal output also its end) and a note."""
    match node:
        case Fold(children=children):
            short = tuple(piece for child in children for piece in shorten(child))
            return (msgspec.structs.replace(node, children=short),)
        case Prose() | Code() | Raw():
            return _text(node)
        case Terminal():
            return (_terminal(node),)
        case Diff():
            return _diff(node)
        case Fields():
            return (Fields(tuple((name, _value(value)) for name, value in node.items)),)
        case Table():
            rows = tuple(tuple(map(_value, row)) for row in node.rows[:ROWS])
            left = len(node.rows) - len(rows)
            return msgspec.structs.replace(node, rows=rows), *_note(count(left, "more row"), left > 0)
        case Checklist() | Heading() | Link() | Picture():
            return (node,)
        case _:
            assert_never(node)


def _text(node: Prose | Code | Raw) -> tuple[Node, ...]:
    text = node.markdown if isinstance(node, Prose) else node.text
    end = _head(text, LINES, CHARACTERS)
    if end == len(text):
        return (node,)
    name = "markdown" if isinstance(node, Prose) else "text"
    return msgspec.structs.replace(node, **{name: text[:end]}), *_note(_left_out(text, end, len(text)))


def _note(what: str, needed: bool = True) -> tuple[Node, ...]:
    return (Prose(f"*… {what} left out*"),) if needed else ()


def _left_out(text: str, start: int, end: int) -> str:
    lines = text.count("\n", start, end)
    characters = count(end - start, "more character")
    return f"{count(lines, 'more line')} ({characters})" if lines > 1 else characters


def _head(text: str, lines: int, characters: int) -> int:
    """Where a beginning of so many lines and characters ends: at a line's end where one is near."""
    at = 0
    for _ in range(lines):
        found = text.find("\n", at, characters)
        if found < 0:
            if len(text) <= characters:
                return len(text)
            return at if at > characters // 2 else characters
        at = found + 1
    return at


def _tail(text: str, lines: int, characters: int) -> int:
    """Where an end of so many lines and characters begins."""
    first = max(0, len(text) - characters)
    at = len(text) - text.endswith("\n")
    for _ in range(lines):
        found = text.rfind("\n", first, at)
        if found < 0:
            return first if first == 0 or at > len(text) - characters // 2 else at + 1
        at = found
    return at + 1


def _value(text: str) -> str:
    return text if len(text) <= VALUE else f"{text[:VALUE]}… ({count(len(text) - VALUE, 'more character')} left out)"


def _terminal(node: Terminal) -> Terminal:
    text = node.text
    end = _head(text, LINES, CHARACTERS)
    start = max(end, _tail(text, TAIL_LINES, TAIL_CHARACTERS))
    if end == start:
        return node
    gap = Span(f"… {_left_out(text, end, start)} left out …\n", dim=True)
    before = _cut(node.spans, 0, end)
    if not text[:end].endswith("\n"):
        before = (*before, Span("\n"))
    return msgspec.structs.replace(node, spans=(*before, gap, *_cut(node.spans, start, len(text))))


def _cut(spans: tuple[Span, ...], start: int, end: int) -> tuple[Span, ...]:
    """The spans of the characters from start to end."""
    kept: list[Span] = []
    at = 0
    for span in spans:
        piece = span.text[max(0, start - at) : max(0, end - at)]
        at += len(span.text)
        if piece:
            kept.append(span if piece == span.text else msgspec.structs.replace(span, text=piece))
    return tuple(kept)


def _diff(node: Diff) -> tuple[Node, ...]:
    kept: list[Hunk] = []
    room, total = LINES * 2, sum(len(hunk.lines) for hunk in node.hunks)
    for hunk in node.hunks:
        if room <= 0:
            break
        lines = tuple(map(_value, hunk.lines[:room]))
        kept.append(Hunk(hunk.old_start, hunk.new_start, lines))
        room -= len(lines)
    left = total - sum(len(hunk.lines) for hunk in kept)
    short = msgspec.structs.replace(node, hunks=tuple(kept))
    return short, *_note(count(left, "more line"), left > 0)
