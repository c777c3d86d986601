"""Skills and slash commands that the model called."""

from unspool.model import ToolCall
from unspool.tools import nodes
from unspool.tools.nodes import CallDescription, KeyFields

_TABLE = {
    "Skill": KeyFields(("skill", "command", "name"), ("args",), ("status",)),
    "SlashCommand": KeyFields(("command",)),
}
NAMES: tuple[str, ...] = tuple(_TABLE)


def describe(call: ToolCall) -> CallDescription:
    return nodes.describe_by_fields(call, _TABLE)
