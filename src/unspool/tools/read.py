"""Files read: text with its line numbers, pictures, documents, notebooks."""

import re

from unspool.doc import Code, Node, Picture
from unspool.model import ToolCall
from unspool.tools import notebook, paths, reply, words
from unspool.tools.given import Given
from unspool.tools.shown import Shown
from unspool.tools.stood import Stood

NAMES: tuple[str, ...] = ("Read",)

_NUMBERED = re.compile(r" {0,12}(\d{1,12})[→\t]")


def describe(call: ToolCall) -> Shown:
    given, detail = Given(call.input), reply.detail(call)
    path = given.need("file_path")
    kind, file = detail.text("type"), detail.within("file")
    outcome, shown = _KINDS.get(kind, _numbered)(call, path, file)
    return Shown(f"{call.name} {path}", outcome, (*given.rest(), *shown))


def stood(call: ToolCall, believed: str | None) -> Stood:
    """All of a text that was read whole; else what it was believed to be."""
    file = reply.detail(call).within("file")
    content, number, total = file.text("content"), file.whole("numLines"), file.whole("totalLines")
    whole = total and number >= total and file.whole("startLine") <= 1 and not file.flag("truncatedByTokenCap")
    if not whole:
        return Stood(believed, believed)
    same = believed is not None and believed.removesuffix("\n") == content.removesuffix("\n")
    text = believed if same else content  # which a reader may have been shown without its last line break
    return Stood(text, text)


_Part = tuple[str, tuple[Node, ...]]


def _text(call: ToolCall, path: str, file: Given) -> _Part:
    content = file.need("content")
    number = file.whole("numLines") or words.lines(content)
    start, total = file.whole("startLine"), file.whole("totalLines")
    of = f" of {total:,}" if total > number else ""
    cut = "cut" if file.flag("truncatedByTokenCap") else ""
    shown = (Code(content, paths.language(path), start=start or 1),) if content else reply.printed(reply.text(call))
    return words.joined((words.count(number, "line") + of, cut)), shown


def _numbered(call: ToolCall, path: str, _: Given) -> _Part:
    """Only the text is there: lines with their numbers, and perhaps a remark after them."""
    text = reply.text(call)
    lines = text.split("\n")
    found = [_NUMBERED.match(line) for line in lines]
    known = next((number for number, match in enumerate(found) if match is None), len(lines))
    if not known or (first := found[0]) is None:
        return words.count(words.lines(text), "line") if text else "", reply.printed(text)
    content = "\n".join(line[match.end() :] for line, match in zip(lines, found[:known], strict=False) if match)
    rest = reply.printed("\n".join(lines[known:]))
    return words.count(known, "line"), (Code(content, paths.language(path), start=int(first[1])), *rest)


def _image(call: ToolCall, path: str, file: Given) -> _Part:
    sides = file.within("dimensions")
    wide, high = sides.whole("originalWidth"), sides.whole("originalHeight")
    outcome = ("image", f"{wide} × {high}" if wide and high else "", _size(file))
    return words.joined(outcome), _kept(call, file, file.text("type") or "image/png", path)


def _document(call: ToolCall, path: str, file: Given) -> _Part:
    return words.joined(("PDF", _size(file))), _kept(call, file, "application/pdf", path)


def _pages(call: ToolCall, path: str, file: Given) -> _Part:
    outcome = words.joined((words.count(file.whole("count"), "page"), _size(file)))
    return outcome, (*reply.fields(("pages in", file.text("outputDir"))), *reply.printed(reply.text(call)))


def _notebook(call: ToolCall, path: str, file: Given) -> _Part:
    cells = file.items("cells")
    return words.count(len(cells), "cell"), notebook.cells(cells)


def _unchanged(call: ToolCall, path: str, file: Given) -> _Part:
    return "unchanged", reply.printed(reply.text(call))


def _size(file: Given) -> str:
    number = file.number("originalSize")
    return words.size(number) if number else ""


def _kept(call: ToolCall, file: Given, media_type: str, path: str) -> tuple[Node, ...]:
    """The picture of the structured twin, where the answer itself holds none."""
    kept = file.text("base64")
    shown = (Picture(media_type, kept, label=path),) if kept and call.result and not call.result.images else ()
    return (*shown, *reply.printed(reply.text(call)))


_KINDS = {
    "text": _text,
    "image": _image,
    "pdf": _document,
    "parts": _pages,
    "notebook": _notebook,
    "file_unchanged": _unchanged,
}
