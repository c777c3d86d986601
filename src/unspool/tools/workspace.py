"""Where work is done: worktrees entered and left, workflows run."""

from unspool.doc import Code, Node
from unspool.model import ToolCall
from unspool.tools import nodes, summary
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription, KeyFields

_WORKFLOW = "Workflow"
_TABLE = {
    "EnterWorktree": KeyFields(("name", "path"), (), ("worktreeBranch", "worktreePath")),
    "ExitWorktree": KeyFields(("action",), (), ("worktreeBranch", "worktreePath")),
}
NAMES: tuple[str, ...] = (*_TABLE, _WORKFLOW)

_LAUNCHED = {"async_launched": "in background", "remote_launched": "remote"}


def describe(call: ToolCall) -> CallDescription:
    return _workflow(call) if call.name == _WORKFLOW else nodes.describe_by_fields(call, _TABLE)


def _workflow(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    name = given.first("name", "title", "scriptPath", "description") or detail.text("workflowName")
    script = given.text("script")
    shown: tuple[Node, ...] = (Code(script, "javascript", "script"),) if script else ()
    status, run = detail.text("status"), detail.text("runId")
    outcome = summary.join_facts((_LAUNCHED.get(status, status), f"run {run}" if run else ""))
    told = (*nodes.printed_nodes(nodes.result_text(call)), *nodes.link_nodes(detail.text("sessionUrl"), "session"))
    return CallDescription(f"{call.name} {name}", outcome, (*shown, *given.rest(), *told))
