"""Looking for files, text, definitions and tools: what was asked, and what was found."""

import re

from unspool import human
from unspool.doc import Code, Node
from unspool.model import Json, Result, ToolCall
from unspool.tools import nodes, summary
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

_NAMES, _CONTENT, _FOLDER, _SERVER, _TOOLS = "Glob", "Grep", "LS", "LSP", "ToolSearch"
NAMES: tuple[str, ...] = (_NAMES, _CONTENT, _FOLDER, _SERVER, _TOOLS)

_NOTHING = ("No files found", "No matches found")
_FOUND = re.compile(r"\AFound (\d{1,9}) files?\b[^\n]*\n?")
_AROUND = ("-A", "-B", "-C", "context")


def describe(call: ToolCall) -> CallDescription:
    special = _SPECIAL.get(call.name)
    if special is not None:
        return special(call)
    given = ToolFields(call.input)
    if "pattern" not in given:
        return _folder(call)
    pattern, path = given.need("pattern"), given.text("path")
    where = f" in {path}" if path else ""
    find, result = _names if call.name == _NAMES else _content, nodes.good_result(call)
    outcome, shown = find(call, result) if result is not None else ("", ())
    return CallDescription(f"{call.name} {pattern}{where}", outcome, (*given.rest(), *shown))


def _folder(call: ToolCall) -> CallDescription:
    given, text = ToolFields(call.input), nodes.result_text(call)
    number = sum(line.lstrip().startswith("- ") for line in text.split("\n"))
    outcome = human.count(max(number - 1, 0), "entry", "entries") if number else ""
    return CallDescription(f"{call.name} {given.text('path')}", outcome, (*given.rest(), *nodes.terminal_nodes(text)))


def _names(call: ToolCall, result: Result) -> tuple[str, tuple[Node, ...]]:
    detail = nodes.result_fields(call)
    if "filenames" not in detail:
        return _listed(result.text)
    number = detail.number("totalMatches") or detail.number("numFiles")
    names = _texts(detail.items("filenames"))
    files, cut = human.count(len(names) if number is None else number, "file"), detail.flag("truncated")
    return summary.join_facts(files, "cut" if cut else "", detail.took("durationMs")), _files(names)


def _content(call: ToolCall, result: Result) -> tuple[str, tuple[Node, ...]]:
    detail = nodes.result_fields(call)
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


def _asked_server(call: ToolCall) -> CallDescription:
    """A question to a language server: where something is defined, used or documented."""
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    place = given.text("filePath")
    for key in ("line", "character"):
        number = given.number(key)
        place += "" if number is None else f":{number:.0f}"
    outcome = summary.join_facts(detail.count("resultCount", "result"), detail.count("fileCount", "file"))
    answer = nodes.printed_nodes(nodes.result_text(call) or detail.text("result"))
    return CallDescription(f"{call.name} {given.need('operation')} {place}", outcome, (*given.rest(), *answer))


def _found_tools(call: ToolCall) -> CallDescription:
    """Tools that were not loaded yet."""
    given, result = ToolFields(call.input), nodes.good_result(call)
    query = given.need("query")
    names = [_tool_name(part) for part in result.parts] if result else []
    matches = [_tool_name(match) for match in nodes.result_fields(call).items("matches")]
    found = list(dict.fromkeys((*matches, *names)))
    outcome = human.count(len(found), "tool") if result else ""
    shown = (*given.rest(), *_files(found), *nodes.answer_nodes(call))
    return CallDescription(f"{call.name} {query}", outcome, shown, parts=bool(result))


def _tool_name(part: Json) -> str:
    """A match is a name; a piece of the answer refers to one and says nothing else."""
    if isinstance(part, str):
        return part
    fields = ToolFields(part)
    name = fields.first("tool_name", "name")
    fields.text("type")
    if not name or fields:
        raise ValueError("no reference to a tool")
    return name


_SPECIAL = {_FOLDER: _folder, _SERVER: _asked_server, _TOOLS: _found_tools}
