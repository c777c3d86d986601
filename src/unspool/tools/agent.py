"""Subagents: what one was asked, what it answered, and what that took."""

from unspool.doc import Node
from unspool.model import Json, ToolCall
from unspool.tools import nodes, summary
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

NAMES: tuple[str, ...] = ("Task", "Agent")

_LAUNCHED = {"async_launched": "in background", "remote_launched": "remote", "teammate_spawned": "teammate"}


def describe(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    kind, what = given.text("subagent_type"), given.text("description")
    model = given.text("model") or detail.text("resolvedModel")
    told = nodes.field_nodes(("type", kind), ("model", model))
    asked = (*told, *nodes.prose_nodes(given.text("prompt")), *given.rest())
    title = ": ".join(word for word in (kind, what) if word)
    answer = _answer(call, detail)
    return CallDescription(f"{call.name} {title}", _outcome(detail), (*asked, *answer, *_where(detail)))


def group(call: ToolCall) -> str:
    """Subagents of one type that are started one after the other stand together."""
    return ToolFields(call.input).text("subagent_type")


def _outcome(detail: ToolFields) -> str:
    status = detail.text("status")
    return summary.join_facts(
        _LAUNCHED.get(status, "" if status == "completed" else status),
        detail.text("name"),
        "interrupted" if detail.flag("wasInterrupted") else "",
        detail.count("totalTokens", "token"),
        detail.count("totalToolUseCount", "tool use"),
        detail.took("totalDurationMs"),
    )


def _answer(call: ToolCall, detail: ToolFields) -> tuple[Node, ...]:
    """The agent's own words; the text of the result has remarks for the model behind them."""
    content = detail.take("content")
    if isinstance(content, str) or not content:
        return nodes.prose_nodes(content or nodes.result_text(call))
    return tuple(node for part in content for node in _part(part))


def _part(part: Json) -> tuple[Node, ...]:
    fields = ToolFields(part)
    fields.text("type")
    text = fields.need("text")
    return (*nodes.prose_nodes(text), *fields.rest())


def _where(detail: ToolFields) -> tuple[Node, ...]:
    """Where the work goes on, or was done."""
    told = nodes.field_nodes(
        ("agent", detail.first("agentId", "agent_id", "taskId")),
        ("team", detail.text("team_name")),
        ("output", detail.text("outputFile")),
        ("worktree", detail.text("worktreePath")),
        ("branch", detail.text("worktreeBranch")),
    )
    return (*nodes.link_nodes(detail.text("sessionUrl"), "session"), *told)
