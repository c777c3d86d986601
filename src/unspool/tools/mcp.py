"""Tools of MCP servers, named `mcp__server__tool`, and what servers offer to read."""

from unspool.doc import Node, Table
from unspool.model import Json, ToolCall
from unspool.tools import data, other, reply, words
from unspool.tools.given import Given
from unspool.tools.shown import Shown

_PREFIX = "mcp__"
_LISTS = ("ListMcpResources", "ListMcpResourcesTool", "ReadMcpResourceDir", "ReadMcpResourceDirTool")
_READS = ("ReadMcpResource", "ReadMcpResourceTool", "RefreshMcpTools", "RefreshMcpToolsTool")
NAMES: tuple[str, ...] = (f"{_PREFIX}*", *_LISTS, *_READS)

_COLUMNS = ("uri", "name", "mimeType", "description", "server")


def describe(call: ToolCall) -> Shown:
    if call.name.startswith(_PREFIX):
        return _called(call)
    return _listed(call) if call.name in _LISTS else _read(call)


def _called(call: ToolCall) -> Shown:
    server, _, tool = call.name.removeprefix(_PREFIX).partition("__")
    shown = other.describe(call)
    summary = f"{server} > {tool} {other.subject(call.input)}" if tool else f"{server} {other.subject(call.input)}"
    return Shown(summary, _counted(call) or shown.outcome, shown.nodes)


def _counted(call: ToolCall) -> str:
    """How many things a list holds that was answered as JSON."""
    text = reply.text(call)
    if not text.lstrip().startswith("["):
        return ""
    try:
        value = data.parsed(text)
    except ValueError:
        return ""
    return words.count(len(value), "item") if isinstance(value, list) else ""


def _where(given: Given) -> str:
    return " > ".join(word for word in (given.text("server"), given.text("uri")) if word)


def _listed(call: ToolCall) -> Shown:
    given, result = Given(call.input), reply.good(call)
    detail: Json = result.detail if result else None
    found = detail.get("resources") if isinstance(detail, dict) else detail
    rows = [_row(Given(entry)) for entry in found] if isinstance(found, list) else []
    used = [number for number in range(len(_COLUMNS)) if any(row[number] for row in rows)]
    table = Table(
        tuple(_COLUMNS[number] for number in used), tuple(tuple(row[number] for number in used) for row in rows)
    )
    shown: tuple[Node, ...] = (table,) if rows else reply.printed(reply.text(call))
    outcome = words.count(len(rows), "resource") if isinstance(found, list) else ""
    return Shown(f"{call.name} {_where(given)}", outcome, (*given.rest(), *shown))


def _row(entry: Given) -> tuple[str, ...]:
    return tuple(data.text(entry.take(name) or "") for name in _COLUMNS)


def _read(call: ToolCall) -> Shown:
    given, detail = Given(call.input), reply.detail(call)
    summary = f"{call.name} {_where(given)}"
    shown = tuple(node for entry in detail.items("contents") for node in _content(Given(entry)))
    nodes = (*given.rest(), *(shown or reply.printed(reply.text(call))), *reply.terminal(detail.text("error")))
    return Shown(summary, words.count(len(shown), "part") if shown else "", nodes)


def _content(entry: Given) -> tuple[Node, ...]:
    text = entry.text("text")
    return (*reply.printed(text), *reply.fields(("saved to", entry.text("blobSavedTo"))))
