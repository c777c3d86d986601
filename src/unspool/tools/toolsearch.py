"""Looking for tools that are not loaded yet."""

from unspool import human
from unspool.doc import Code, Node
from unspool.model import Json, ToolCall
from unspool.tools import nodes as reply
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

NAMES: tuple[str, ...] = ("ToolSearch",)


def describe(call: ToolCall) -> CallDescription:
    given, result = ToolFields(call.input), reply.good_result(call)
    query = given.need("query")
    names = [_name(part) for part in result.parts] if result else []
    matches = [_name(match) for match in reply.result_fields(call).items("matches")]
    found = list(dict.fromkeys((*matches, *names)))
    listed: tuple[Node, ...] = (Code("\n".join(found)),) if found else ()
    nodes = (*given.rest(), *listed, *reply.printed_nodes(reply.result_text(call)))
    return CallDescription(
        f"{call.name} {query}", human.count(len(found), "tool") if result else "", nodes, parts=bool(result)
    )


def _name(part: Json) -> str:
    """A match is a name; a piece of the answer refers to one and says nothing else."""
    if isinstance(part, str):
        return part
    fields = ToolFields(part)
    name = fields.first("tool_name", "name")
    fields.text("type")
    if not name or fields:
        raise ValueError("no reference to a tool")
    return name
