"""Work in the background: its output, its end, and watching it."""

from unspool import human
from unspool.doc import Code, Node
from unspool.model import ToolCall
from unspool.tools import nodes, summary
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

_OUTPUT = ("BashOutput", "TaskOutput", "AgentOutputTool")
_WATCH = "Monitor"
NAMES: tuple[str, ...] = (*_OUTPUT, "KillShell", "KillBash", "TaskStop", _WATCH)


def describe(call: ToolCall) -> CallDescription:
    if call.name == _WATCH:
        return _watched(call)
    return _read(call) if call.name in _OUTPUT else _stopped(call)


def _read(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    name = given.first("bash_id", "task_id", "agentId", "agent_id")
    task = detail.within("task") if "task" in detail else detail
    outputs = tuple(task.text(key) for key in ("stdout", "stderr", "output"))
    answer = task.text("result")
    code = task.number("exitCode")
    shown = (*_ended(outputs, code), *nodes.prose_nodes(answer)) or nodes.terminal_nodes(nodes.result_text(call))
    number = sum(summary.count_lines(output.strip("\n")) for output in outputs)
    outcome = summary.join_facts(
        task.text("status") or detail.text("retrieval_status"),
        "" if code is None else f"exit {code:.0f}",
        human.count(number, "line") if number else "",
    )
    command = task.first("command", "description")
    return CallDescription(f"{call.name} {name} {command}", outcome, (*given.rest(), *shown))


def _ended(outputs: tuple[str, ...], code: float | None) -> tuple[Node, ...]:
    """The outputs, with the exit code on the first that there is."""
    number = None if code is None else int(code)
    first, *rest = [output for output in outputs if output.strip()] or [""]
    return (*nodes.terminal_nodes(first, number), *(node for output in rest for node in nodes.terminal_nodes(output)))


def _stopped(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    name = given.first("shell_id", "task_id")
    command = detail.first("command")
    outcome = "stopped" if nodes.good_result(call) else ""
    return CallDescription(f"{call.name} {name} {command}", outcome, (*given.rest(), *nodes.answer_nodes(call)))


def _watched(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    command, socket = given.text("command"), given.within("ws").text("url")
    what = given.text("description") or command or socket
    watched = (Code(command, "bash"),) if command else nodes.field_nodes(("socket", socket))
    task, limit = detail.text("taskId"), detail.number("timeoutMs")
    outcome = summary.join_facts(f"task {task}" if task else "", human.duration(limit / 1000) if limit else "")
    return CallDescription(f"{call.name} {what}", outcome, (*watched, *given.rest(), *nodes.answer_nodes(call)))
