"""Agents that work together: messages between them, teams made and dissolved, advice asked for."""

from unspool.model import ToolCall
from unspool.tools import nodes as plain
from unspool.tools import nodes as reply
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription, KeyFields

_MESSAGE = "SendMessage"
_TABLE = {
    "TeamCreate": KeyFields(("team_name",), ("description",)),
    "TeamDelete": KeyFields(("team_name",)),
    "ListAgents": KeyFields(),
    "advisor": KeyFields(("question",), ("question",)),
}
NAMES: tuple[str, ...] = (_MESSAGE, *_TABLE)


def describe(call: ToolCall) -> CallDescription:
    return _sent(call) if call.name == _MESSAGE else plain.describe_by_fields(call, _TABLE)


def _sent(call: ToolCall) -> CallDescription:
    given = ToolFields(call.input)
    to, summary = given.first("to", "recipient"), given.text("summary")
    key = "message" if isinstance(given.see("message"), str) else "content"
    message = given.text(key)
    said = summary or message or given.text("type")
    nodes = (*reply.prose_nodes(message), *given.rest(), *reply.printed_nodes(reply.result_text(call)))
    return CallDescription(
        f"{call.name} → {to or 'everyone'}: {said}", "sent" if reply.good_result(call) else "", nodes
    )
