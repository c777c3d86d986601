"""Skills and slash commands that the model called."""

from unspool.model import ToolCall
from unspool.tools import plain
from unspool.tools.plain import About
from unspool.tools.shown import Shown

_TABLE = {
    "Skill": About(("skill", "command", "name"), ("args",), ("status",)),
    "SlashCommand": About(("command",)),
}
NAMES: tuple[str, ...] = tuple(_TABLE)


def describe(call: ToolCall) -> Shown:
    return plain.describe(call, _TABLE)
