"""Commands run in a shell, here and in the background: the command, what it printed, and what it did."""

from unspool import human
from unspool.doc import Code, Node
from unspool.model import ToolCall
from unspool.tools import nodes, summary
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription
from unspool.tools.printed import output_nodes

_LANGUAGES = {"Bash": "bash", "PowerShell": "powershell"}
_OUTPUTS = ("BashOutput", "TaskOutput", "AgentOutputTool")
_WATCH = "Monitor"
_STOPS = ("KillShell", "KillBash", "TaskStop")
NAMES: tuple[str, ...] = (*_LANGUAGES, *_OUTPUTS, *_STOPS, _WATCH)


def describe(call: ToolCall) -> CallDescription:
    if call.name == _WATCH:
        return _watched(call)
    if call.name in _OUTPUTS:
        return _read(call)
    return _stopped(call) if call.name in _STOPS else _ran(call)


def _ran(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    command = given.need("command")
    code = Code(command, _LANGUAGES.get(call.name, "bash"))
    purpose = given.text("description").strip()
    row = f"{call.name} {purpose or command}"
    said = () if summary.short_line(row) == row else nodes.prose_nodes(purpose)
    asked = (*said, code, *given.rest())
    shown, counted = _shown(call, detail, command)
    done, links = _git(detail.within("gitOperation"))
    return CallDescription(row, summary.join_facts(counted, *_endings(detail), *done), (*asked, *shown, *links))


def _shown(call: ToolCall, detail: ToolFields, command: str) -> tuple[tuple[Node, ...], str]:
    """Output and its length. The text of the result is whole where output was spilled and read back."""
    result = nodes.good_result(call)
    if result is None:
        return (), ""
    kept = "stdout" in detail or "stderr" in detail
    out, err = detail.text("stdout"), detail.text("stderr")
    if detail.flag("isImage") and result.images:
        return nodes.terminal_nodes(err), "image"
    if (result.spilled and not result.missing) or not kept:
        out, err = result.text, ""
    number = summary.count_lines(out.strip("\n")) + summary.count_lines(err.strip("\n"))
    printed = output_nodes(out, command)
    shown = (*printed, *nodes.terminal_nodes(err)) or output_nodes(result.text, command)
    return shown, human.count(number, "line") if number else "no output"


def _endings(detail: ToolFields) -> tuple[str, ...]:
    """How a command ended, where it did not simply end."""
    limit, task = detail.took("timedOutAfterMs"), detail.text("backgroundTaskId")
    return (
        "interrupted" if detail.flag("interrupted") else "",
        f"timed out after {limit}" if limit else "",
        f"in background as {task}" if task else "",
        detail.text("returnCodeInterpretation"),
    )


def _git(git: ToolFields) -> tuple[tuple[str, ...], tuple[Node, ...]]:
    """What a command did to a repository, and links to it."""
    if not git:
        return (), ()
    request = git.within("pr")
    number = request.number("number")
    pull = "" if number is None else f"pull request {number:.0f} {request.text('action')}"
    commit, push, branch = git.within("commit"), git.within("push"), git.within("branch")
    sha, pushed, ref = commit.text("sha"), push.text("branch"), branch.text("ref")
    done = (
        f"{commit.text('kind') or 'committed'} {sha[:10]}" if sha else "",
        f"pushed {pushed}" if pushed else "",
        f"{branch.text('action')} {ref}" if ref else "",
        pull,
    )
    return done, nodes.link_nodes(request.text("url"))


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
