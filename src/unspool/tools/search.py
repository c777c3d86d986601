"""Looking for files and text: patterns, and what was found."""

import re

from unspool import human
from unspool.doc import Code, Node
from unspool.model import ToolCall
from unspool.tools import nodes, summary
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

_NAMES, _CONTENT, _FOLDER = "Glob", "Grep", "LS"
NAMES: tuple[str, ...] = (_NAMES, _CONTENT, _FOLDER)

_NOTHING = ("No files found", "No matches found")
_FOUND = re.compile(r"\AFound (\d{1,9}) files?\b[^\n]*\n?")
_AROUND = ("-A", "-B", "-C", "context")


def describe(call: ToolCall) -> CallDescription:
    if call.name == _FOLDER:
        return _folder(call)
    given = ToolFields(call.input)
    pattern, path = given.need("pattern"), given.text("path")
    where = f" in {path}" if path else ""
    outcome, shown = _names(call) if call.name == _NAMES else _content(call)
    return CallDescription(f"{call.name} {pattern}{where}", outcome, (*given.rest(), *shown))


def _folder(call: ToolCall) -> CallDescription:
    given, text = ToolFields(call.input), nodes.result_text(call)
    number = sum(line.lstrip().startswith("- ") for line in text.split("\n"))
    outcome = human.count(max(number - 1, 0), "entry", "entries") if number else ""
    return CallDescription(f"{call.name} {given.text('path')}", outcome, (*given.rest(), *nodes.terminal_nodes(text)))


def _names(call: ToolCall) -> tuple[str, tuple[Node, ...]]:
    result, detail = nodes.good_result(call), nodes.result_fields(call)
    if result is None:
        return "", ()
    if "filenames" not in detail:
        return _listed(result.text)
    number = detail.number("totalMatches") or detail.number("numFiles")
    names = _texts(detail.items("filenames"))
    took = detail.number("durationMs")
    outcome = (
        human.count(len(names) if number is None else number, "file"),
        "cut" if detail.flag("truncated") else "",
        "" if took is None else human.duration(took / 1000),
    )
    return summary.join_facts(outcome), _files(names)


def _content(call: ToolCall) -> tuple[str, tuple[Node, ...]]:
    result, detail = nodes.good_result(call), nodes.result_fields(call)
    if result is None:
        return "", ()
    mode = detail.text("mode")
    if not mode:
        return _listed(result.text) if _FOUND.match(result.text) else _lines(call, result.text, None)
    names, content = _texts(detail.items("filenames")), detail.text("content")
    files = human.count(detail.whole("numFiles") or len(names), "file")
    if mode == "content":
        return _lines(call, content, detail.number("numLines"))
    if mode == "count":
        return f"{_matches(detail.whole('numMatches'))} in {files}", nodes.terminal_nodes(content)
    return files, _files(names)


def _lines(call: ToolCall, text: str, number: float | None) -> tuple[str, tuple[Node, ...]]:
    """Matching lines; with lines around them they are only lines."""
    if text.strip() in _NOTHING:
        text = ""
    number = summary.count_lines(text.strip("\n")) if number is None else number
    around = any(call.input.get(key) for key in _AROUND)
    return human.count(number, "line") if around else _matches(number), nodes.terminal_nodes(text)


def _listed(text: str) -> tuple[str, tuple[Node, ...]]:
    if text.strip() in _NOTHING:
        return human.count(0, "file"), ()
    names = _FOUND.sub("", text).strip("\n").split("\n")
    return human.count(len(names), "file"), _files(names)


def _files(names: list[str]) -> tuple[Node, ...]:
    return (Code("\n".join(names)),) if names else ()


def _matches(number: float) -> str:
    return human.count(number, "match", "matches")


def _texts(values: list[object]) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        raise TypeError("names expected")
    return [str(value) for value in values]
