"""Work for later: waking up, recurring prompts, triggers elsewhere."""

from unspool import human
from unspool.model import ToolCall
from unspool.tools import nodes as plain
from unspool.tools import nodes as reply
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription, KeyFields

_WAKE = "ScheduleWakeup"
_TABLE = {
    "CronCreate": KeyFields(("cron",), ("prompt",), ("humanSchedule",)),
    "CronDelete": KeyFields(("id",)),
    "CronList": KeyFields(),
    "RemoteTrigger": KeyFields(("action",), (), ("summary", "status")),
}
NAMES: tuple[str, ...] = (_WAKE, *_TABLE)


def describe(call: ToolCall) -> CallDescription:
    return _woken(call) if call.name == _WAKE else plain.describe_by_fields(call, _TABLE)


def _woken(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), reply.result_fields(call)
    delay, reason = given.number("delaySeconds"), given.text("reason")
    clamped = detail.number("clampedDelaySeconds")
    when = "" if delay is None else f"in {human.duration(delay)}"
    outcome = f"in {human.duration(clamped)}" if clamped is not None and clamped != delay else ""
    nodes = (*reply.prose_nodes(given.text("prompt")), *given.rest(), *reply.printed_nodes(reply.result_text(call)))
    return CallDescription(f"{call.name} {when}: {reason}" if reason else f"{call.name} {when}", outcome, nodes)
