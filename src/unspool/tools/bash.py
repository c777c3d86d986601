"""Commands run in a shell: the command, what it printed, and what it did to the repository."""

from unspool.doc import Code, Node
from unspool.model import ToolCall
from unspool.tools import reply, words
from unspool.tools.given import Given
from unspool.tools.shown import Shown

NAMES: tuple[str, ...] = ("Bash", "PowerShell")

_LANGUAGE = {"PowerShell": "powershell"}


def describe(call: ToolCall) -> Shown:
    given, detail = Given(call.input), reply.detail(call)
    command = given.need("command")
    asked = (
        *reply.prose(given.text("description")),
        Code(command, _LANGUAGE.get(call.name, "bash")),
        *given.rest(),
    )
    shown, counted = _shown(call, detail)
    git = detail.within("gitOperation")
    request = git.within("pr")
    outcome = words.joined((counted, *_endings(detail), *_git(git), _request(request)))
    return Shown(f"{call.name} {command}", outcome, (*asked, *shown, *reply.link(request.text("url"))))


def _shown(call: ToolCall, detail: Given) -> tuple[tuple[Node, ...], str]:
    """Output and its length. The text of the result is whole where output was spilled and read back."""
    result = reply.good(call)
    if result is None:
        return (), ""
    kept = "stdout" in detail or "stderr" in detail
    out, err = detail.text("stdout"), detail.text("stderr")
    if detail.flag("isImage") and result.images:
        return reply.terminal(err), "image"
    if (result.spilled and not result.missing) or not kept:
        out, err = result.text, ""
    number = words.lines(out.strip("\n")) + words.lines(err.strip("\n"))
    nodes = (*reply.terminal(out), *reply.terminal(err)) or reply.terminal(result.text)
    return nodes, words.count(number, "line") if number else "no output"


def _endings(detail: Given) -> tuple[str, ...]:
    """How a command ended, where it did not simply end."""
    limit = detail.number("timedOutAfterMs")
    task = detail.text("backgroundTaskId")
    return (
        "interrupted" if detail.flag("interrupted") else "",
        "" if limit is None else f"timed out after {words.duration(limit / 1000)}",
        f"in background as {task}" if task else "",
        detail.text("returnCodeInterpretation"),
    )


def _git(git: Given) -> tuple[str, ...]:
    commit, push, branch = git.within("commit"), git.within("push"), git.within("branch")
    sha, pushed, ref = commit.text("sha"), push.text("branch"), branch.text("ref")
    return (
        f"{commit.text('kind') or 'committed'} {sha[:10]}" if sha else "",
        f"pushed {pushed}" if pushed else "",
        f"{branch.text('action')} {ref}" if ref else "",
    )


def _request(request: Given) -> str:
    number = request.number("number")
    return "" if number is None else f"pull request {number:.0f} {request.text('action')}"
