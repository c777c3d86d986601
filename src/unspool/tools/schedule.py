"""Work for later: waking up, recurring prompts, triggers elsewhere."""

from unspool.model import ToolCall
from unspool.tools import plain, reply, words
from unspool.tools.given import Given
from unspool.tools.plain import About
from unspool.tools.shown import Shown

_WAKE = "ScheduleWakeup"
_TABLE = {
    "CronCreate": About(("cron",), ("prompt",), ("humanSchedule",)),
    "CronDelete": About(("id",)),
    "CronList": About(),
    "RemoteTrigger": About(("action",), (), ("summary", "status")),
}
NAMES: tuple[str, ...] = (_WAKE, *_TABLE)


def describe(call: ToolCall) -> Shown:
    return _woken(call) if call.name == _WAKE else plain.describe(call, _TABLE)


def _woken(call: ToolCall) -> Shown:
    given, detail = Given(call.input), reply.detail(call)
    delay, reason = given.number("delaySeconds"), given.text("reason")
    clamped = detail.number("clampedDelaySeconds")
    when = "" if delay is None else f"in {words.duration(delay)}"
    outcome = f"in {words.duration(clamped)}" if clamped is not None and clamped != delay else ""
    nodes = (*reply.prose(given.text("prompt")), *given.rest(), *reply.printed(reply.text(call)))
    return Shown(f"{call.name} {when}: {reason}" if reason else f"{call.name} {when}", outcome, nodes)
