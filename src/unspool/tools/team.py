"""Agents that work together: messages between them, teams made and dissolved, advice asked for."""

from unspool.model import ToolCall
from unspool.tools import plain, reply
from unspool.tools.given import Given
from unspool.tools.plain import About
from unspool.tools.shown import Shown

_MESSAGE = "SendMessage"
_TABLE = {
    "TeamCreate": About(("team_name",), ("description",)),
    "TeamDelete": About(("team_name",)),
    "ListAgents": About(),
    "advisor": About(("question",), ("question",)),
}
NAMES: tuple[str, ...] = (_MESSAGE, *_TABLE)


def describe(call: ToolCall) -> Shown:
    return _sent(call) if call.name == _MESSAGE else plain.describe(call, _TABLE)


def _sent(call: ToolCall) -> Shown:
    given = Given(call.input)
    to, summary = given.first("to", "recipient"), given.text("summary")
    key = "message" if isinstance(given.see("message"), str) else "content"
    message = given.text(key)
    said = summary or message or given.text("type")
    nodes = (*reply.prose(message), *given.rest(), *reply.printed(reply.text(call)))
    return Shown(f"{call.name} → {to or 'everyone'}: {said}", "sent" if reply.good(call) else "", nodes)
