"""Nodes as GitHub-flavoured Markdown: readable as text, folded on a page, and inert whatever the log holds."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar, assert_never

import msgspec

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
    Table,
    Terminal,
)
from unspool.export.gfm import address, fenced, in_html, literal, safe
from unspool.export.images import Album, Images
from unspool.export.inert import inert, row
from unspool.export.stream import encoded
from unspool.model import Session
from unspool.transcript import View, nodes

_BOXES = {"open": "- [ ]", "active": "- [ ] ◐", "done": "- [x]", "dropped": "- [x]"}


class Markdown(msgspec.Struct, frozen=True):
    """One Markdown file; its pictures lie beside it, in a folder, or inside it."""

    images: Images = "beside"

    name: ClassVar[str] = "markdown"
    suffixes: ClassVar[tuple[str, ...]] = (".md", ".markdown")
    description: ClassVar[str] = "Markdown as GitHub shows it, pictures beside it or inside"

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        return encoded(render(nodes(session, view), Album(self.images, folder)))


def render(document: Iterable[Node], album: Album) -> Iterator[str]:
    """The document as Markdown, a node at a time, each followed by an empty line."""
    for node in document:
        for piece in _node(node, album):
            yield f"{piece}\n\n"


def _node(node: Node, album: Album) -> Iterator[str]:
    match node:
        case Fold():
            yield from _fold(node, album)
        case Prose():
            yield safe(node.markdown)
        case Code() | Raw() | Terminal() | Diff():
            yield from _verbatim(node)
        case Table() | Fields() | Checklist():
            yield from _data(node)
        case Picture():
            yield album.markdown(node)
        case Link() | Heading():
            yield _mark(node)
        case _:
            assert_never(node)


def _verbatim(node: Code | Raw | Terminal | Diff) -> Iterator[str]:
    match node:
        case Code():
            yield from _caption(node.caption + (f" (from line {node.start})" if node.start > 1 else ""))
            yield fenced(node.text, node.language)
        case Raw():
            yield from _caption(node.caption)
            yield fenced(node.text)
        case Terminal():
            yield fenced(_typed(node) + node.text, "console")
            yield from _caption(f"exit code {node.exit_code}" if node.exit_code else "")
        case Diff():
            made = "new file" if node.created else ""
            yield from _caption(human.joined(node.path, f"+{node.added} −{node.removed}", made))
            yield fenced("\n".join(_diff(node)), "diff")
        case _:
            assert_never(node)


def _typed(node: Terminal) -> str:
    return f"$ {inert(node.command)}\n" if node.command else ""


def _diff(node: Diff) -> Iterator[str]:
    for hunk in node.hunks:
        yield f"@@ -{hunk.old_start} +{hunk.new_start} @@"
        yield from map(row, hunk.lines)


def _caption(caption: str) -> Iterator[str]:
    if caption.strip():
        yield f"**{literal(caption)}**"


def _data(node: Table | Fields | Checklist) -> Iterator[str]:
    match node:
        case Table():
            yield from _caption(node.caption)
            yield "\n".join(_table(node))
        case Fields():
            yield from _fields(node.items)
        case Checklist():
            yield from _caption(node.caption)
            yield "\n".join(_checks(node))
        case _:
            assert_never(node)


def _table(node: Table) -> Iterator[str]:
    columns = max(len(cells) for cells in (node.headings, *node.rows))
    if not columns:
        return
    for number, cells in enumerate((node.headings, *node.rows)):
        shown = [literal(cell) for cell in cells] + [""] * (columns - len(cells))
        yield f"| {' | '.join(shown)} |"
        if not number:
            yield "|" + " --- |" * columns


def _fields(items: tuple[tuple[str, str], ...]) -> Iterator[str]:
    """Short values as a list; a value of several lines as a block of its own."""
    listed: list[str] = []
    for name, value in items:
        if "\n" not in value.strip():
            listed.append(f"- **{literal(name)}:** {literal(value)}")
            continue
        if listed:
            yield "\n".join(listed)
            listed = []
        yield f"**{literal(name)}:**"
        yield fenced(value)
    if listed:
        yield "\n".join(listed)


def _checks(node: Checklist) -> Iterator[str]:
    for check in node.items:
        said = literal(check.text)
        said = f"~~{said}~~" if check.state == "dropped" and said else said
        yield f"{_BOXES[check.state]} {said}" + (f" ({literal(check.note)})" if check.note else "")


def _mark(node: Link | Heading) -> str:
    match node:
        case Link():
            if node.target.lower().startswith(("http://", "https://")):
                return f"[{literal(node.text or node.target)}]({address(node.target)})"
            return f"→ {literal(human.joined(node.text, node.target))}"
        case Heading():
            anchor = f'<a id="{in_html(node.anchor)}"></a>\n\n' if node.anchor else ""
            notes = f"\n\n*{literal(human.joined(*node.notes))}*" if any(node.notes) else ""
            rule = "---\n\n" if node.kind in ("turn", "compaction") and node.level <= 3 else ""
            return f"{rule}{anchor}{'#' * min(6, max(1, node.level))} {literal(node.text)}{notes}"
        case _:
            assert_never(node)


def _fold(node: Fold, album: Album) -> Iterator[str]:
    outcome = f" <em>{in_html(node.outcome)}</em>" if node.outcome else ""
    if not node.children:
        yield f"▸ {literal(node.summary)}" + (f" *{literal(node.outcome)}*" if node.outcome else "")
        return
    anchor = f' id="{in_html(node.anchor)}"' if node.anchor else ""
    yield f"<details{' open' if node.open else ''}{anchor}><summary>{in_html(node.summary)}{outcome}</summary>"
    for child in node.children:
        yield from _node(child, album)
    yield "</details>"
