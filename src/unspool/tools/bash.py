"""Commands run in a shell: the command, what it printed, and what it did to the repository."""

from unspool import human
from unspool.doc import Code, Node
from unspool.model import ToolCall
from unspool.tools import nodes as reply
from unspool.tools import summary
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

NAMES: tuple[str, ...] = ("Bash", "PowerShell")

_LANGUAGE = {"PowerShell": "powershell"}


def describe(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), reply.result_fields(call)
    command = given.need("command")
    code = Code(command, _LANGUAGE.get(call.name, "bash"))
    asked = (*reply.prose_nodes(given.text("description")), code, *given.rest())
    shown, counted = _shown(call, detail)
    git = detail.within("gitOperation")
    request = git.within("pr")
    number = request.number("number")
    pull = "" if number is None else f"pull request {number:.0f} {request.text('action')}"
    outcome = summary.join_facts(counted, *_endings(detail), *_git(git), pull)
    return CallDescription(f"{call.name} {command}", outcome, (*asked, *shown, *reply.link_nodes(request.text("url"))))


def _shown(call: ToolCall, detail: ToolFields) -> tuple[tuple[Node, ...], str]:
    """Output and its length. The text of the result is whole where output was spilled and read back."""
    result = reply.good_result(call)
    if result is None:
        return (), ""
    kept = "stdout" in detail or "stderr" in detail
    out, err = detail.text("stdout"), detail.text("stderr")
    if detail.flag("isImage") and result.images:
        return reply.terminal_nodes(err), "image"
    if (result.spilled and not result.missing) or not kept:
        out, err = result.text, ""
    number = summary.count_lines(out.strip("\n")) + summary.count_lines(err.strip("\n"))
    nodes = (*reply.terminal_nodes(out), *reply.terminal_nodes(err)) or reply.terminal_nodes(result.text)
    return nodes, human.count(number, "line") if number else "no output"


def _endings(detail: ToolFields) -> tuple[str, ...]:
    """How a command ended, where it did not simply end."""
    limit, task = detail.took("timedOutAfterMs"), detail.text("backgroundTaskId")
    return (
        "interrupted" if detail.flag("interrupted") else "",
        f"timed out after {limit}" if limit else "",
        f"in background as {task}" if task else "",
        detail.text("returnCodeInterpretation"),
    )


def _git(git: ToolFields) -> tuple[str, ...]:
    commit, push, branch = git.within("commit"), git.within("push"), git.within("branch")
    sha, pushed, ref = commit.text("sha"), push.text("branch"), branch.text("ref")
    return (
        f"{commit.text('kind') or 'committed'} {sha[:10]}" if sha else "",
        f"pushed {pushed}" if pushed else "",
        f"{branch.text('action')} {ref}" if ref else "",
    )
