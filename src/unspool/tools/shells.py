"""Work in the background: its output, its end, and watching it."""

from unspool.doc import Code, Node
from unspool.model import ToolCall
from unspool.tools import reply, words
from unspool.tools.given import Given
from unspool.tools.shown import Shown

_OUTPUT = ("BashOutput", "TaskOutput", "AgentOutputTool")
_WATCH = "Monitor"
NAMES: tuple[str, ...] = (*_OUTPUT, "KillShell", "KillBash", "TaskStop", _WATCH)


def describe(call: ToolCall) -> Shown:
    if call.name == _WATCH:
        return _watched(call)
    return _read(call) if call.name in _OUTPUT else _stopped(call)


def _read(call: ToolCall) -> Shown:
    given, detail = Given(call.input), reply.detail(call)
    name = given.first("bash_id", "task_id", "agentId", "agent_id")
    task = detail.within("task") if "task" in detail else detail
    outputs = tuple(task.text(key) for key in ("stdout", "stderr", "output"))
    answer = task.text("result")
    code = task.number("exitCode")
    shown = (*_ended(outputs, code), *reply.prose(answer)) or reply.terminal(reply.text(call))
    number = sum(words.lines(output.strip("\n")) for output in outputs)
    outcome = words.joined(
        (
            task.text("status") or detail.text("retrieval_status"),
            "" if code is None else f"exit {code:.0f}",
            words.count(number, "line") if number else "",
        )
    )
    command = task.first("command", "description")
    return Shown(f"{call.name} {name} {command}", outcome, (*given.rest(), *shown))


def _ended(outputs: tuple[str, ...], code: float | None) -> tuple[Node, ...]:
    """The outputs, with the exit code on the first that there is."""
    number = None if code is None else int(code)
    first, *rest = [output for output in outputs if output.strip()] or [""]
    return (*reply.terminal(first, number), *(node for output in rest for node in reply.terminal(output)))


def _stopped(call: ToolCall) -> Shown:
    given, detail = Given(call.input), reply.detail(call)
    name = given.first("shell_id", "task_id")
    command = detail.first("command")
    outcome = "stopped" if reply.good(call) else ""
    return Shown(f"{call.name} {name} {command}", outcome, (*given.rest(), *reply.printed(reply.text(call))))


def _watched(call: ToolCall) -> Shown:
    given, detail = Given(call.input), reply.detail(call)
    command, socket = given.text("command"), given.within("ws").text("url")
    what = given.text("description") or command or socket
    watched = (Code(command, "bash"),) if command else reply.fields(("socket", socket))
    task = detail.text("taskId")
    limit = detail.number("timeoutMs")
    outcome = words.joined((f"task {task}" if task else "", words.duration(limit / 1000) if limit else ""))
    return Shown(f"{call.name} {what}", outcome, (*watched, *given.rest(), *reply.printed(reply.text(call))))
