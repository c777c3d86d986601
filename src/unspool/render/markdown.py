"""Nodes as GitHub-flavoured Markdown, with pictures as files beside it or as data in it."""

import base64
import binascii
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar, Literal, assert_never

import msgspec

from unspool import human
from unspool.doc import Checklist, Code, Diff, Fields, Fold, Heading, Link, Node, Picture, Prose, Raw, Table, Terminal
from unspool.files import write_atomically
from unspool.model import Session
from unspool.render.gfm import code_block, escape_in_html, escape_markdown, link_address, safe_markdown
from unspool.render.sanitize import encode_pieces, safe_row, strip_controls
from unspool.render.transcript import transcript_nodes
from unspool.render.view import View

Images = Literal["beside", "inline"]
FOLDER = "images"
_SHOWN = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
    "image/bmp": "bmp",
}
_KEPT = {"image/svg+xml": "svg", "application/pdf": "pdf", "text/plain": "txt"}


class MarkdownImages:
    """Turns pictures into Markdown; in a folder each different picture is written once."""

    def __init__(self, images: Images, folder: Path | None) -> None:
        self._images = images
        self._folder = folder
        self._written: set[str] = set()

    def markdown(self, picture: Picture) -> str:
        """The picture shown, or, where it cannot be, what it is and where it was."""
        kind = picture.media_type.lower()
        name = picture.label or kind or "picture"
        try:
            data = base64.b64decode(picture.data)
        except (binascii.Error, ValueError):
            return f"*{escape_markdown(human.joined(name, 'its data cannot be read'))}*"
        if not data and picture.url.lower().startswith(("http://", "https://")):
            return f"[{escape_markdown(name)}]({link_address(picture.url)})"
        if not data:
            return f"*{escape_markdown(human.joined(f'Picture: {name}', picture.url, 'not in the log'))}*"
        target = self._target(kind, data)
        if not target:
            return f"*{escape_markdown(human.joined(f'Picture: {name}', kind, human.size(len(data))))}*"
        return f"{'!' if kind in _SHOWN else ''}[{escape_markdown(name)}]({target})"

    def _target(self, kind: str, data: bytes) -> str:
        if self._images == "inline":
            return f"data:{kind};base64,{base64.b64encode(data).decode()}" if kind in _SHOWN else ""
        if self._folder is None:
            return ""
        suffix = _SHOWN.get(kind) or _KEPT.get(kind) or "bin"
        target = f"{FOLDER}/{hashlib.sha256(data).hexdigest()[:24]}.{suffix}"
        if target not in self._written:
            write_atomically(self._folder / target, (data,))
            self._written.add(target)
        return target


_BOXES = {"open": "- [ ]", "active": "- [ ] ◐", "done": "- [x]", "dropped": "- [x]"}


class MarkdownWriter(msgspec.Struct, frozen=True):
    """One Markdown file; its pictures lie beside it, in a folder, or inside it."""

    images: Images = "beside"

    name: ClassVar[str] = "markdown"
    suffixes: ClassVar[tuple[str, ...]] = (".md", ".markdown")
    description: ClassVar[str] = "Markdown as GitHub shows it, pictures beside it or inside"
    binary: ClassVar[bool] = False

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        return encode_pieces(render_markdown(transcript_nodes(session, view), MarkdownImages(self.images, folder)))


def render_markdown(document: Iterable[Node], images: MarkdownImages) -> Iterator[str]:
    """The document as Markdown, a node at a time, each followed by an empty line."""
    for node in document:
        for piece in _node(node, images):
            yield f"{piece}\n\n"


def _node(node: Node, images: MarkdownImages) -> Iterator[str]:
    match node:
        case Fold():
            yield from _fold(node, images)
        case Prose():
            yield safe_markdown(node.markdown)
        case Code():
            yield from _caption(node.caption + (f" (from line {node.start})" if node.start > 1 else ""))
            yield code_block(node.text, node.language)
        case Raw():
            yield from _caption(node.caption)
            yield code_block(node.text)
        case Terminal():
            typed = f"$ {strip_controls(node.command)}\n" if node.command else ""
            yield code_block(typed + node.text, "console")
            yield from _caption(f"exit code {node.exit_code}" if node.exit_code else "")
        case Picture():
            yield images.markdown(node)
        case _:
            yield from _structured_node(node)


def _structured_node(node: Diff | Table | Fields | Checklist | Link | Heading) -> Iterator[str]:
    match node:
        case Diff():
            made = "new file" if node.created else ""
            yield from _caption(human.joined(node.path, f"+{node.added} −{node.removed}", made))
            yield code_block("\n".join(_diff(node)), "diff")
        case Table():
            yield from _caption(node.caption)
            yield "\n".join(_table(node))
        case Fields():
            yield from _fields(node.items)
        case Checklist():
            yield from _caption(node.caption)
            yield "\n".join(_checks(node))
        case Link():
            yield _link(node)
        case Heading():
            anchor = f'<a id="{escape_in_html(node.anchor)}"></a>\n\n' if node.anchor else ""
            notes = f"\n\n*{escape_markdown(human.joined(*node.notes))}*" if any(node.notes) else ""
            rule = "---\n\n" if node.kind in ("turn", "compaction") and node.level <= 3 else ""
            yield f"{rule}{anchor}{'#' * min(6, max(1, node.level))} {escape_markdown(node.text)}{notes}"
        case _:
            assert_never(node)


def _diff(node: Diff) -> Iterator[str]:
    for hunk in node.hunks:
        yield f"@@ -{hunk.old_start} +{hunk.new_start} @@"
        yield from map(safe_row, hunk.lines)


def _caption(caption: str) -> Iterator[str]:
    if caption.strip():
        yield f"**{escape_markdown(caption)}**"


def _table(node: Table) -> Iterator[str]:
    columns = max(len(cells) for cells in (node.headings, *node.rows))
    if not columns:
        return
    for number, cells in enumerate((node.headings, *node.rows)):
        shown = [escape_markdown(cell) for cell in cells] + [""] * (columns - len(cells))
        yield f"| {' | '.join(shown)} |"
        if not number:
            yield "|" + " --- |" * columns


def _fields(items: tuple[tuple[str, str], ...]) -> Iterator[str]:
    """Short values as a list; a value of several lines as a block of its own."""
    listed: list[str] = []
    for name, value in items:
        if "\n" not in value.strip():
            listed.append(f"- **{escape_markdown(name)}:** {escape_markdown(value)}")
            continue
        if listed:
            yield "\n".join(listed)
            listed = []
        yield f"**{escape_markdown(name)}:**"
        yield code_block(value)
    if listed:
        yield "\n".join(listed)


def _checks(node: Checklist) -> Iterator[str]:
    for check in node.items:
        said = escape_markdown(check.text)
        said = f"~~{said}~~" if check.state == "dropped" and said else said
        yield f"{_BOXES[check.state]} {said}" + (f" ({escape_markdown(check.note)})" if check.note else "")


def _link(node: Link) -> str:
    if node.target.lower().startswith(("http://", "https://")):
        return f"[{escape_markdown(node.text or node.target)}]({link_address(node.target)})"
    return f"→ {escape_markdown(human.joined(node.text, node.target))}"


def _fold(node: Fold, images: MarkdownImages) -> Iterator[str]:
    outcome = f" <em>{escape_in_html(node.outcome)}</em>" if node.outcome else ""
    if not node.children:
        yield f"▸ {escape_markdown(node.summary)}" + (f" *{escape_markdown(node.outcome)}*" if node.outcome else "")
        return
    anchor = f' id="{escape_in_html(node.anchor)}"' if node.anchor else ""
    yield f"<details{' open' if node.open else ''}{anchor}><summary>{escape_in_html(node.summary)}{outcome}</summary>"
    for child in node.children:
        yield from _node(child, images)
    yield "</details>"
