"""Nodes as plain text, wrapped, with or without colours for a terminal; streamed."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import ClassVar, NamedTuple, assert_never

import msgspec
from rich.cells import cell_len, chop_cells, set_cell_size
from rich.color import ColorParseError, ColorSystem
from rich.style import Style

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
    Tone,
)
from unspool.model import Session
from unspool.render.sanitize import encode_pieces, one_line, safe_lines, safe_row, strip_controls
from unspool.render.transcript import transcript_nodes
from unspool.render.view import View

_MARK = re.compile(r"\s*(?:(?:[-*+•]|\d{1,4}[.)])\s+|(?:>\s?)+)?")


def wrap_line(line: str, width: int) -> Iterator[str]:
    """The line in pieces no wider than `width`; a word wider than that stays whole, so that it can be copied."""
    if len(line) <= width if line.isascii() else cell_len(line) <= width:
        yield line
        return
    found = _MARK.match(line)
    mark = found[0] if found and len(found[0]) <= width // 2 else ""
    hang = mark if ">" in mark else " " * len(mark)
    room = width - len(mark)
    for number, piece in enumerate(_pieces(line[len(mark) :], room)):
        yield (hang if number else mark) + piece


def _pieces(text: str, room: int) -> Iterator[str]:
    row: list[str] = []
    used = 0
    for word in _words(text, room):
        size = len(word) if word.isascii() else cell_len(word)
        if row and used + size > room:
            yield " ".join(row).rstrip()
            row, used = [], 0
        row.append(word)
        used += size + 1
    if row:
        yield " ".join(row).rstrip()


def _words(text: str, room: int) -> Iterator[str]:
    """Words; scripts that write without spaces may break anywhere."""
    for word in text.split(" "):
        if word.isascii() or cell_len(word) <= room or room < 2:
            yield word
        else:
            yield from chop_cells(word, room)


TONES: dict[Tone, str] = {"plain": "", "quiet": "dim", "good": "green", "bad": "red", "warn": "yellow"}


class TextStyler:
    """Writes pieces of a line; every piece of untrusted text goes through it."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, text: str, style: str | Span = "") -> str:
        """The text, inert, in a style of rich's or in that of a span."""
        text = strip_controls(text)
        if not self.colour or not style or not text:
            return text
        found = Style.parse(style) if isinstance(style, str) else _style(msgspec.structs.replace(style, text=""))
        return found.render(text, color_system=ColorSystem.TRUECOLOR)


@lru_cache(maxsize=1024)
def _style(span: Span) -> Style:
    shape = Style(**{name: getattr(span, name) or None for name in ("bold", "dim", "italic", "underline", "strike")})
    try:
        return shape + Style(color=span.fg or None, bgcolor=span.bg or None)
    except ColorParseError:
        return shape


_FENCE = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,4}[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_INLINE = re.compile(r"\*\*([^*\n]+)\*\*|`([^`\n]+)`")


def prose_lines(markdown: str, pen: TextStyler, width: int) -> Iterator[str]:
    """The lines of a Markdown text: prose wrapped, code and tables as they are."""
    fence = ""
    for line in safe_lines(markdown):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and line.endswith(mark[1]):
                fence = ""
            yield pen(line, "cyan" if fence else "dim")
        elif mark:
            fence = mark[1]
            yield pen(line, "dim")
        elif line.lstrip().startswith("|"):
            yield pen(line)
        else:
            style = "bold" if _HEADING.match(line) else ""
            yield from (_inline(piece, pen, style) for piece in wrap_line(line, width))


def _inline(text: str, pen: TextStyler, style: str) -> str:
    if style or not pen.colour or ("`" not in text and "**" not in text):
        return pen(text, style)
    parts: list[str] = []
    at = 0
    for found in _INLINE.finditer(text):
        parts += (pen(text[at : found.start()]), pen(found[1], "bold") if found[1] else pen(found[2], "cyan"))
        at = found.end()
    return "".join((*parts, pen(text[at:])))


WIDTH = 100
_BOXES = {"open": "☐", "active": "◐", "done": "☑", "dropped": "☒"}
_BOX_STYLES = {"open": "", "active": "yellow", "done": "green", "dropped": "dim strike"}
_DIFF_STYLES = {"+": "green", "-": "red"}


class TextWriter(msgspec.Struct, frozen=True):
    width: int = WIDTH

    name: ClassVar[str] = "text"
    suffixes: ClassVar[tuple[str, ...]] = (".txt", ".text")
    description: ClassVar[str] = "plain text, wrapped to a width"
    binary: ClassVar[bool] = False

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        return encode_pieces(render_text(transcript_nodes(session, view), self.width, colour=False))


def render_text(document: Iterable[Node], width: int = WIDTH, colour: bool = False) -> Iterator[str]:
    """The document as text, a node at a time, each followed by an empty line."""
    layout = TextLayout(TextStyler(colour), max(20, width))
    for node in document:
        yield "\n".join((*_node(node, layout), "", ""))


class TextLayout(NamedTuple):
    """What is written with, and the room there is."""

    pen: TextStyler
    width: int


def _node(node: Node, layout: TextLayout) -> Iterator[str]:
    match node:
        case Fold():
            yield from _fold(node, layout)
        case Prose():
            yield from prose_lines(node.markdown, layout.pen, layout.width)
        case Code():
            yield from _code(node, layout.pen)
        case Terminal():
            yield from _terminal(node, layout.pen)
        case Diff():
            yield from _diff(node, layout.pen)
        case Heading():
            yield from _heading(node, layout)
        case Table():
            yield from _table(node, layout)
        case _:
            yield from _small_node(node, layout)


def _small_node(node: Raw | Fields | Checklist | Picture | Link, layout: TextLayout) -> Iterator[str]:
    match node:
        case Raw():
            yield from _caption(node.caption, layout.pen)
            yield from (layout.pen(line) for line in safe_lines(node.text))
        case Fields():
            yield from _fields(node.items, layout)
        case Checklist():
            yield from _checklist(node, layout)
        case Picture():
            size = human.size(len(node.data) * 3 // 4) if node.data else ""
            about = human.joined(node.label, node.media_type, size, node.url)
            yield layout.pen(one_line(f"[picture: {about}]"), "magenta")
        case Link():
            target = "" if node.target.startswith("session:") else f" <{node.target}>"
            yield layout.pen(one_line(f"→ {node.text}{target}"), "blue")
        case _:
            assert_never(node)


def _heading(node: Heading, layout: TextLayout) -> Iterator[str]:
    said = one_line(human.joined(node.text, *node.notes))
    if node.level == 1:
        yield layout.pen(said, "bold")
        yield layout.pen("=" * min(layout.width, cell_len(said)), "bold")
    elif node.kind == "answer":
        yield layout.pen(said, "bold")
    else:
        style = "bold" if node.kind == "turn" else "yellow"
        long = cell_len(said) + 7 > layout.width
        head = one_line(node.text) if long else said
        yield layout.pen(f"── {head} {'─' * max(3, layout.width - cell_len(head) - 4)}", style)
        if long and node.notes:
            yield from (
                layout.pen(line, "dim") for line in wrap_line(one_line(human.joined(*node.notes)), layout.width)
            )


def _fold(node: Fold, layout: TextLayout) -> Iterator[str]:
    outcome, summary = one_line(node.outcome), one_line(node.summary)
    room, children = max(20, layout.width - cell_len(outcome) - 6), node.children
    if cell_len(summary) > room:
        summary = f"{set_cell_size(summary, room).rstrip()}…"
    elif children and (said := _words_of(children[0])) and summary.endswith(f" {said}"):
        children = children[1:]  # a short command or thought: its row says it whole
    said = layout.pen(f"▸ {summary}", TONES[node.tone])
    yield said + (layout.pen(f"   {outcome}", TONES[node.tone] or "dim") if outcome else "")
    inside = TextLayout(layout.pen, max(20, layout.width - 2))
    for number, child in enumerate(children):
        if number:
            yield ""
        for line in _node(child, inside):
            yield f"  {line}" if line else ""


def _words_of(node: Node) -> str:
    text = node.text if isinstance(node, Code) else node.markdown if isinstance(node, Prose) else ""
    return text.strip()


def _caption(caption: str, pen: TextStyler) -> Iterator[str]:
    if caption:
        yield pen(f"{one_line(caption)}:", "dim")


def _code(node: Code, pen: TextStyler) -> Iterator[str]:
    yield from _caption(node.caption, pen)
    found = safe_lines(node.text)
    if not node.start:
        yield from (pen(line, "cyan") for line in found)
        return
    digits = len(str(node.start + len(found)))
    for number, line in enumerate(found, node.start):
        yield f"{pen(f'{number:>{digits}}', 'dim')}  {pen(line)}"


def _terminal(node: Terminal, pen: TextStyler) -> Iterator[str]:
    if node.command:
        first, *rest = safe_lines(node.command)
        yield f"{pen('$', 'dim')} {pen(first, 'bold')}"
        yield from (f"  {pen(line, 'bold')}" for line in rest)
    if any(strip_controls(span.text) for span in node.spans):
        yield from _spans(node.spans, pen)
    if node.exit_code:
        yield pen(f"exit code {node.exit_code}", "red")


def _spans(spans: tuple[Span, ...], pen: TextStyler) -> Iterator[str]:
    texts = [strip_controls(span.text) for span in spans]
    if len(spans) == 1 or not pen.colour:
        yield from (pen(line, spans[0]) for line in safe_lines("".join(texts)))
        return
    parts: list[str] = []
    for span, text in zip(spans, texts, strict=True):
        first, *rest = text.split("\n")
        parts.append(pen(first, span))
        for piece in rest:
            yield "".join(parts)
            parts = [pen(piece, span)]
    if any(parts):
        yield "".join(parts)


def _diff(node: Diff, pen: TextStyler) -> Iterator[str]:
    made = "new file" if node.created else ""
    yield pen(one_line(human.joined(node.path, f"+{node.added} -{node.removed}", made)), "bold")
    for hunk in node.hunks:
        if hunk.old_start and hunk.new_start:
            yield pen(f"@@ -{hunk.old_start} +{hunk.new_start} @@", "cyan")
        yield from (pen(safe_row(line), _DIFF_STYLES.get(line[:1], "")) for line in hunk.lines)


def _fields(items: tuple[tuple[str, str], ...], layout: TextLayout) -> Iterator[str]:
    names = [one_line(name) for name, _ in items]
    column = min(32, max((cell_len(name) for name in names), default=0)) + 2
    for name, (_, value) in zip(names, items, strict=True):
        rows = safe_lines(value)
        if len(rows) > 1:
            yield layout.pen(name, "dim")
            yield from (f"  {layout.pen(line)}" for line in rows)
            continue
        head = name + " " * max(2, column - cell_len(name))
        for number, piece in enumerate(wrap_line(rows[0], max(20, layout.width - column))):
            yield (" " * column if number else layout.pen(head, "dim")) + layout.pen(piece)


def _checklist(node: Checklist, layout: TextLayout) -> Iterator[str]:
    yield from _caption(node.caption, layout.pen)
    for check in node.items:
        said = layout.pen(f"{_BOXES[check.state]} {one_line(check.text)}", _BOX_STYLES[check.state])
        yield said + (layout.pen(f"   {one_line(check.note)}", "dim") if check.note else "")


def _table(node: Table, layout: TextLayout) -> Iterator[str]:
    yield from _caption(node.caption, layout.pen)
    rows = [[one_line(cell) for cell in cells] for cells in (node.headings, *node.rows)]
    columns = zip_longest(*rows, fillvalue="")
    widths = [max(map(cell_len, column)) for column in columns]
    if sum(widths) + 2 * len(widths) > layout.width:
        for record in node.rows:
            yield from _fields(tuple(zip_longest(node.headings, record, fillvalue="")), layout)
            yield ""
        return
    for number, cells in enumerate(rows):
        padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=False))
        yield layout.pen("  ".join(padded).rstrip(), "" if number else "bold")
