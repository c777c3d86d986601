"""Nodes as plain text, or as the same text with colours for a terminal; streamed, so that a pager starts at once.

Code, diffs and terminal output keep their lines as they are; only prose is wrapped.
"""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import ClassVar, NamedTuple, assert_never

import msgspec
from rich.cells import cell_len, set_cell_size

from unspool import human
from unspool.doc import (
    Checklist,
    Code,
    Diff,
    Fields,
    Fold,
    Heading,
    Link,
    Node,
    Picture,
    Prose,
    Raw,
    Span,
    Table,
    Terminal,
)
from unspool.export.inert import inert, lines, one_line, row
from unspool.export.pen import TONES, Pen
from unspool.export.prose import prose_lines
from unspool.export.stream import encoded
from unspool.export.wrap import wrapped
from unspool.model import Session
from unspool.transcript import View, nodes

WIDTH = 100
_BOXES = {"open": "☐", "active": "◐", "done": "☑", "dropped": "☒"}
_BOX_STYLES = {"open": "", "active": "yellow", "done": "green", "dropped": "dim strike"}
_DIFF_STYLES = {"+": "green", "-": "red"}


class Text(msgspec.Struct, frozen=True):
    """Plain text without colours."""

    width: int = WIDTH

    name: ClassVar[str] = "text"
    suffixes: ClassVar[tuple[str, ...]] = (".txt", ".text")
    description: ClassVar[str] = "plain text, wrapped to a width"

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        return encoded(render(nodes(session, view), self.width, colour=False))


def render(document: Iterable[Node], width: int = WIDTH, colour: bool = False) -> Iterator[str]:
    """The document as text, a node at a time, each followed by an empty line."""
    sheet = Sheet(Pen(colour), max(20, width))
    for node in document:
        yield "\n".join((*_node(node, sheet), "", ""))


class Sheet(NamedTuple):
    """What is written on: the pen and the room there is."""

    pen: Pen
    width: int

    def inside(self) -> "Sheet":
        return Sheet(self.pen, max(20, self.width - 2))


def _node(node: Node, sheet: Sheet) -> Iterator[str]:
    match node:
        case Fold():
            yield from _fold(node, sheet)
        case Prose():
            yield from prose_lines(node.markdown, sheet.pen, sheet.width)
        case Code() | Raw() | Terminal() | Diff():
            yield from _verbatim(node, sheet)
        case Table() | Fields() | Checklist():
            yield from _data(node, sheet)
        case Picture() | Link() | Heading():
            yield from _mark(node, sheet)
        case _:
            assert_never(node)


def _verbatim(node: Code | Raw | Terminal | Diff, sheet: Sheet) -> Iterator[str]:
    match node:
        case Code():
            yield from _code(node, sheet.pen)
        case Raw():
            yield from _caption(node.caption, sheet.pen)
            yield from (sheet.pen(line) for line in lines(node.text))
        case Terminal():
            yield from _terminal(node, sheet.pen)
        case Diff():
            yield from _diff(node, sheet.pen)
        case _:
            assert_never(node)


def _data(node: Table | Fields | Checklist, sheet: Sheet) -> Iterator[str]:
    match node:
        case Table():
            yield from _table(node, sheet)
        case Fields():
            yield from _fields(node.items, sheet)
        case Checklist():
            yield from _checklist(node, sheet)
        case _:
            assert_never(node)


def _mark(node: Picture | Link | Heading, sheet: Sheet) -> Iterator[str]:
    match node:
        case Picture():
            size = human.size(len(node.data) * 3 // 4) if node.data else ""
            yield sheet.pen(
                one_line(f"[picture: {human.joined(node.label, node.media_type, size, node.url)}]"), "magenta"
            )
        case Link():
            target = "" if node.target.startswith("session:") else f" <{node.target}>"
            yield sheet.pen(one_line(f"→ {node.text}{target}"), "blue")
        case Heading():
            yield from _heading(node, sheet)
        case _:
            assert_never(node)


def _heading(node: Heading, sheet: Sheet) -> Iterator[str]:
    said = one_line(human.joined(node.text, *node.notes))
    if node.level == 1:
        yield sheet.pen(said, "bold")
        yield sheet.pen("=" * min(sheet.width, cell_len(said)), "bold")
    elif node.kind == "answer":
        yield sheet.pen(said, "bold")
    else:
        style = "bold" if node.kind == "turn" else "yellow"
        long = cell_len(said) + 7 > sheet.width
        head = one_line(node.text) if long else said
        yield sheet.pen(f"── {head} {'─' * max(3, sheet.width - cell_len(head) - 4)}", style)
        if long and node.notes:
            yield from (sheet.pen(line, "dim") for line in wrapped(one_line(human.joined(*node.notes)), sheet.width))


def _fold(node: Fold, sheet: Sheet) -> Iterator[str]:
    outcome, summary = one_line(node.outcome), one_line(node.summary)
    room = max(20, sheet.width - cell_len(outcome) - 6)
    if cell_len(summary) > room:
        summary = f"{set_cell_size(summary, room).rstrip()}…"
    said = sheet.pen(f"▸ {summary}", TONES[node.tone])
    yield said + (sheet.pen(f"   {outcome}", TONES[node.tone] or "dim") if outcome else "")
    inside = sheet.inside()
    for number, child in enumerate(node.children):
        if number:
            yield ""
        for line in _node(child, inside):
            yield f"  {line}" if line else ""


def _caption(caption: str, pen: Pen) -> Iterator[str]:
    if caption:
        yield pen(f"{one_line(caption)}:", "dim")


def _code(node: Code, pen: Pen) -> Iterator[str]:
    yield from _caption(node.caption, pen)
    found = lines(node.text)
    if not node.start:
        yield from (pen(line, "cyan") for line in found)
        return
    digits = len(str(node.start + len(found)))
    for number, line in enumerate(found, node.start):
        yield f"{pen(f'{number:>{digits}}', 'dim')}  {pen(line)}"


def _terminal(node: Terminal, pen: Pen) -> Iterator[str]:
    if node.command:
        first, *rest = lines(node.command)
        yield f"{pen('$', 'dim')} {pen(first, 'bold')}"
        yield from (f"  {pen(line, 'bold')}" for line in rest)
    if any(inert(span.text) for span in node.spans):
        yield from _spans(node.spans, pen)
    if node.exit_code:
        yield pen(f"exit code {node.exit_code}", "red")


def _spans(spans: tuple[Span, ...], pen: Pen) -> Iterator[str]:
    texts = [inert(span.text) for span in spans]
    if len(spans) == 1 or not pen.colour:
        yield from (pen.span(spans[0], line) for line in lines("".join(texts)))
        return
    parts: list[str] = []
    for span, text in zip(spans, texts, strict=True):
        first, *rest = text.split("\n")
        parts.append(pen.span(span, first))
        for piece in rest:
            yield "".join(parts)
            parts = [pen.span(span, piece)]
    if any(parts):
        yield "".join(parts)


def _diff(node: Diff, pen: Pen) -> Iterator[str]:
    made = "new file" if node.created else ""
    yield pen(one_line(human.joined(node.path, f"+{node.added} -{node.removed}", made)), "bold")
    for hunk in node.hunks:
        if hunk.old_start and hunk.new_start:
            yield pen(f"@@ -{hunk.old_start} +{hunk.new_start} @@", "cyan")
        yield from (pen(row(line), _DIFF_STYLES.get(line[:1], "")) for line in hunk.lines)


def _fields(items: tuple[tuple[str, str], ...], sheet: Sheet) -> Iterator[str]:
    names = [one_line(name) for name, _ in items]
    column = min(32, max((cell_len(name) for name in names), default=0)) + 2
    for name, (_, value) in zip(names, items, strict=True):
        rows = lines(value)
        if len(rows) > 1:
            yield sheet.pen(name, "dim")
            yield from (f"  {sheet.pen(line)}" for line in rows)
            continue
        head = name + " " * max(2, column - cell_len(name))
        for number, piece in enumerate(wrapped(rows[0], max(20, sheet.width - column))):
            yield (" " * column if number else sheet.pen(head, "dim")) + sheet.pen(piece)


def _checklist(node: Checklist, sheet: Sheet) -> Iterator[str]:
    yield from _caption(node.caption, sheet.pen)
    for check in node.items:
        said = sheet.pen(f"{_BOXES[check.state]} {one_line(check.text)}", _BOX_STYLES[check.state])
        yield said + (sheet.pen(f"   {one_line(check.note)}", "dim") if check.note else "")


def _table(node: Table, sheet: Sheet) -> Iterator[str]:
    yield from _caption(node.caption, sheet.pen)
    rows = [[one_line(cell) for cell in cells] for cells in (node.headings, *node.rows)]
    columns = zip_longest(*rows, fillvalue="")
    widths = [max(map(cell_len, column)) for column in columns]
    if sum(widths) + 2 * len(widths) > sheet.width:
        for record in node.rows:
            yield from _fields(tuple(zip_longest(node.headings, record, fillvalue="")), sheet)
            yield ""
        return
    for number, cells in enumerate(rows):
        padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=False))
        yield sheet.pen("  ".join(padded).rstrip(), "" if number else "bold")
