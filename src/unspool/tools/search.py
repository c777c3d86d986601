"""Looking for files and text: patterns, and what was found."""

import re

from unspool.doc import Code, Node
from unspool.model import ToolCall
from unspool.tools import reply, words
from unspool.tools.given import Given
from unspool.tools.shown import Shown

_NAMES, _CONTENT, _FOLDER = "Glob", "Grep", "LS"
NAMES: tuple[str, ...] = (_NAMES, _CONTENT, _FOLDER)

_NOTHING = ("No files found", "No matches found")
_FOUND = re.compile(r"\AFound (\d{1,9}) files?\b[^\n]*\n?")
_AROUND = ("-A", "-B", "-C", "context")


def describe(call: ToolCall) -> Shown:
    if call.name == _FOLDER:
        return _folder(call)
    given = Given(call.input)
    pattern, path = given.need("pattern"), given.text("path")
    where = f" in {path}" if path else ""
    outcome, shown = _names(call) if call.name == _NAMES else _content(call)
    return Shown(f"{call.name} {pattern}{where}", outcome, (*given.rest(), *shown))


def _folder(call: ToolCall) -> Shown:
    given, text = Given(call.input), reply.text(call)
    number = sum(line.lstrip().startswith("- ") for line in text.split("\n"))
    outcome = words.count(max(number - 1, 0), "entry", "entries") if number else ""
    return Shown(f"{call.name} {given.text('path')}", outcome, (*given.rest(), *reply.terminal(text)))


def _names(call: ToolCall) -> tuple[str, tuple[Node, ...]]:
    result, detail = reply.good(call), reply.detail(call)
    if result is None:
        return "", ()
    if "filenames" not in detail:
        return _listed(result.text)
    number = detail.number("totalMatches") or detail.number("numFiles")
    names = _texts(detail.items("filenames"))
    took = detail.number("durationMs")
    outcome = (
        words.count(len(names) if number is None else number, "file"),
        "cut" if detail.flag("truncated") else "",
        "" if took is None else words.duration(took / 1000),
    )
    return words.joined(outcome), _files(names)


def _content(call: ToolCall) -> tuple[str, tuple[Node, ...]]:
    result, detail = reply.good(call), reply.detail(call)
    if result is None:
        return "", ()
    mode = detail.text("mode")
    if not mode:
        return _listed(result.text) if _FOUND.match(result.text) else _lines(call, result.text, None)
    names, content = _texts(detail.items("filenames")), detail.text("content")
    files = words.count(detail.whole("numFiles") or len(names), "file")
    if mode == "content":
        return _lines(call, content, detail.number("numLines"))
    if mode == "count":
        return f"{_matches(detail.whole('numMatches'))} in {files}", reply.terminal(content)
    return files, _files(names)


def _lines(call: ToolCall, text: str, number: float | None) -> tuple[str, tuple[Node, ...]]:
    """Matching lines; with lines around them they are only lines."""
    if text.strip() in _NOTHING:
        text = ""
    number = words.lines(text.strip("\n")) if number is None else number
    around = any(call.input.get(key) for key in _AROUND)
    return words.count(number, "line") if around else _matches(number), reply.terminal(text)


def _listed(text: str) -> tuple[str, tuple[Node, ...]]:
    if text.strip() in _NOTHING:
        return words.count(0, "file"), ()
    names = _FOUND.sub("", text).strip("\n").split("\n")
    return words.count(len(names), "file"), _files(names)


def _files(names: list[str]) -> tuple[Node, ...]:
    return (Code("\n".join(names)),) if names else ()


def _matches(number: float) -> str:
    return words.count(number, "match", "matches")


def _texts(values: list[object]) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        raise TypeError("names expected")
    return [str(value) for value in values]
