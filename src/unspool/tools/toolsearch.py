"""Looking for tools that are not loaded yet."""

from unspool.doc import Code, Node
from unspool.model import Json, ToolCall
from unspool.tools import reply, words
from unspool.tools.given import Given
from unspool.tools.shown import Shown

NAMES: tuple[str, ...] = ("ToolSearch",)


def describe(call: ToolCall) -> Shown:
    given, result = Given(call.input), reply.good(call)
    query = given.need("query")
    names = [_name(part) for part in result.parts] if result else []
    matches = [_name(match) for match in reply.detail(call).items("matches")]
    found = list(dict.fromkeys((*matches, *names)))
    listed: tuple[Node, ...] = (Code("\n".join(found)),) if found else ()
    nodes = (*given.rest(), *listed, *reply.printed(reply.text(call)))
    return Shown(f"{call.name} {query}", words.count(len(found), "tool") if result else "", nodes, parts=bool(result))


def _name(part: Json) -> str:
    """A match is a name; a piece of the answer refers to one and says nothing else."""
    if isinstance(part, str):
        return part
    fields = Given(part)
    name = fields.first("tool_name", "name")
    fields.text("type")
    if not name or fields:
        raise ValueError("no reference to a tool")
    return name
