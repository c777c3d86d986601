"""Files read: text with its line numbers, pictures, documents, notebooks."""

import re

from unspool import human
from unspool.doc import Code, Node, Picture
from unspool.model import ToolCall
from unspool.tools import nodes, notebook, summary
from unspool.tools.diff import FileVersions
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

NAMES: tuple[str, ...] = ("Read",)

_NUMBERED = re.compile(r" {0,12}(\d{1,12})[→\t]")


def describe(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    path = given.need("file_path")
    kind, file = detail.text("type"), detail.within("file")
    outcome, shown = _KINDS.get(kind, _numbered)(call, path, file)
    return CallDescription(f"{call.name} {path}", outcome, (*given.rest(), *shown))


def stood(call: ToolCall, believed: str | None) -> FileVersions:
    """All of a text that was read whole; else what it was believed to be."""
    file = nodes.result_fields(call).within("file")
    content, number, total = file.text("content"), file.whole("numLines"), file.whole("totalLines")
    whole = total and number >= total and file.whole("startLine") <= 1 and not file.flag("truncatedByTokenCap")
    if not whole:
        return FileVersions(believed, believed)
    same = believed is not None and believed.removesuffix("\n") == content.removesuffix("\n")
    text = believed if same else content  # which a reader may have been shown without its last line break
    return FileVersions(text, text)


_Part = tuple[str, tuple[Node, ...]]


def _text(call: ToolCall, path: str, file: ToolFields) -> _Part:
    content = file.need("content")
    number = file.whole("numLines") or summary.count_lines(content)
    start, total = file.whole("startLine"), file.whole("totalLines")
    of = f" of {total:,}" if total > number else ""
    cut = "cut" if file.flag("truncatedByTokenCap") else ""
    code = (Code(content, summary.language(path), start=start or 1),)
    return summary.join_facts(human.count(number, "line") + of, cut), code if content else nodes.answer_nodes(call)


def _numbered(call: ToolCall, path: str, _: ToolFields) -> _Part:
    """Only the text is there: lines with their numbers, and perhaps a remark after them."""
    text = nodes.result_text(call)
    lines = text.split("\n")
    found = [_NUMBERED.match(line) for line in lines]
    known = next((number for number, match in enumerate(found) if match is None), len(lines))
    if not known or (first := found[0]) is None:
        return human.count(summary.count_lines(text), "line") if text else "", nodes.printed_nodes(text)
    content = "\n".join(line[match.end() :] for line, match in zip(lines, found[:known], strict=False) if match)
    rest = nodes.printed_nodes("\n".join(lines[known:]))
    return human.count(known, "line"), (Code(content, summary.language(path), start=int(first[1])), *rest)


def _image(call: ToolCall, path: str, file: ToolFields) -> _Part:
    sides = file.within("dimensions")
    wide, high = sides.whole("originalWidth"), sides.whole("originalHeight")
    outcome = summary.join_facts("image", f"{wide} × {high}" if wide and high else "", _size(file))
    return outcome, _kept(call, file, file.text("type") or "image/png", path)


def _document(call: ToolCall, path: str, file: ToolFields) -> _Part:
    return summary.join_facts("PDF", _size(file)), _kept(call, file, "application/pdf", path)


def _pages(call: ToolCall, path: str, file: ToolFields) -> _Part:
    outcome = summary.join_facts(human.count(file.whole("count"), "page"), _size(file))
    return outcome, (*nodes.field_nodes(("pages in", file.text("outputDir"))), *nodes.answer_nodes(call))


def _notebook(call: ToolCall, path: str, file: ToolFields) -> _Part:
    cells = file.items("cells")
    return human.count(len(cells), "cell"), notebook.cells(cells)


def _unchanged(call: ToolCall, path: str, file: ToolFields) -> _Part:
    return "unchanged", nodes.answer_nodes(call)


def _size(file: ToolFields) -> str:
    number = file.number("originalSize")
    return human.size(number) if number else ""


def _kept(call: ToolCall, file: ToolFields, media_type: str, path: str) -> tuple[Node, ...]:
    """The picture of the structured twin, where the answer itself holds none."""
    kept = file.text("base64")
    shown = (Picture(media_type, kept, label=path),) if kept and call.result and not call.result.images else ()
    return (*shown, *nodes.answer_nodes(call))


_KINDS = {
    "text": _text,
    "image": _image,
    "pdf": _document,
    "parts": _pages,
    "notebook": _notebook,
    "file_unchanged": _unchanged,
}
