"""Tools of MCP servers, named `mcp__server__tool`, and what servers offer to read."""

from unspool import human
from unspool.doc import Node, Table
from unspool.model import Json, ToolCall
from unspool.tools import fields, other
from unspool.tools import nodes as reply
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

_PREFIX = "mcp__"
_LISTS = ("ListMcpResources", "ListMcpResourcesTool", "ReadMcpResourceDir", "ReadMcpResourceDirTool")
_READS = ("ReadMcpResource", "ReadMcpResourceTool", "RefreshMcpTools", "RefreshMcpToolsTool")
NAMES: tuple[str, ...] = (f"{_PREFIX}*", *_LISTS, *_READS)

_COLUMNS = ("uri", "name", "mimeType", "description", "server")


def describe(call: ToolCall) -> CallDescription:
    if call.name.startswith(_PREFIX):
        return _called(call)
    return _listed(call) if call.name in _LISTS else _read(call)


def _called(call: ToolCall) -> CallDescription:
    server, _, tool = call.name.removeprefix(_PREFIX).partition("__")
    shown = other.describe(call)
    summary = f"{server} > {tool} {other.subject(call.input)}" if tool else f"{server} {other.subject(call.input)}"
    return CallDescription(summary, _counted(call) or shown.outcome, shown.nodes)


def _counted(call: ToolCall) -> str:
    """How many things a list holds that was answered as JSON."""
    text = reply.result_text(call)
    if not text.lstrip().startswith("["):
        return ""
    try:
        value = fields.parse_json(text)
    except ValueError:
        return ""
    return human.count(len(value), "item") if isinstance(value, list) else ""


def _where(given: ToolFields) -> str:
    return " > ".join(word for word in (given.text("server"), given.text("uri")) if word)


def _listed(call: ToolCall) -> CallDescription:
    given, result = ToolFields(call.input), reply.good_result(call)
    detail: Json = result.detail if result else None
    found = detail.get("resources") if isinstance(detail, dict) else detail
    entries = [ToolFields(entry) for entry in found] if isinstance(found, list) else []
    used = tuple(name for name in _COLUMNS if any(entry.see(name) for entry in entries))
    rows = tuple(tuple(fields.json_text(entry.see(name) or "") for name in used) for entry in entries)
    shown: tuple[Node, ...] = (Table(used, rows),) if rows else reply.answer_nodes(call)
    outcome = human.count(len(rows), "resource") if isinstance(found, list) else ""
    return CallDescription(f"{call.name} {_where(given)}", outcome, (*given.rest(), *shown))


def _read(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), reply.result_fields(call)
    summary = f"{call.name} {_where(given)}"
    shown = tuple(node for entry in detail.items("contents") for node in _content(ToolFields(entry)))
    nodes = (*given.rest(), *(shown or reply.answer_nodes(call)), *reply.terminal_nodes(detail.text("error")))
    return CallDescription(summary, human.count(len(shown), "part") if shown else "", nodes)


def _content(entry: ToolFields) -> tuple[Node, ...]:
    text = entry.text("text")
    return (*reply.printed_nodes(text), *reply.field_nodes(("saved to", entry.text("blobSavedTo"))))
