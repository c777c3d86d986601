"""Where work is done: worktrees entered and left, workflows run."""

from unspool.doc import Code, Node
from unspool.model import ToolCall
from unspool.tools import plain, reply, words
from unspool.tools.given import Given
from unspool.tools.plain import About
from unspool.tools.shown import Shown

_WORKFLOW = "Workflow"
_TABLE = {
    "EnterWorktree": About(("name", "path"), (), ("worktreeBranch", "worktreePath")),
    "ExitWorktree": About(("action",), (), ("worktreeBranch", "worktreePath")),
}
NAMES: tuple[str, ...] = (*_TABLE, _WORKFLOW)

_LAUNCHED = {"async_launched": "in background", "remote_launched": "remote"}


def describe(call: ToolCall) -> Shown:
    return _workflow(call) if call.name == _WORKFLOW else plain.describe(call, _TABLE)


def _workflow(call: ToolCall) -> Shown:
    given, detail = Given(call.input), reply.detail(call)
    name = given.first("name", "title", "scriptPath", "description") or detail.text("workflowName")
    script = given.text("script")
    shown: tuple[Node, ...] = (Code(script, "javascript", "script"),) if script else ()
    status, run = detail.text("status"), detail.text("runId")
    outcome = words.joined((_LAUNCHED.get(status, status), f"run {run}" if run else ""))
    told = (*reply.printed(reply.text(call)), *reply.link(detail.text("sessionUrl"), "session"))
    return Shown(f"{call.name} {name}", outcome, (*shown, *given.rest(), *told))
