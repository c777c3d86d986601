"""Subagents: what one was asked, what it answered, and what that took."""

from unspool.doc import Node
from unspool.model import Json, ToolCall
from unspool.tools import reply, words
from unspool.tools.given import Given
from unspool.tools.shown import Shown

NAMES: tuple[str, ...] = ("Task", "Agent")

_LAUNCHED = {"async_launched": "in background", "remote_launched": "remote", "teammate_spawned": "teammate"}


def describe(call: ToolCall) -> Shown:
    given, detail = Given(call.input), reply.detail(call)
    kind, what = given.text("subagent_type"), given.text("description")
    asked = (
        *reply.fields(("type", kind), ("model", given.text("model") or detail.text("resolvedModel"))),
        *reply.prose(given.text("prompt")),
        *given.rest(),
    )
    title = ": ".join(word for word in (kind, what) if word)
    answer = _answer(call, detail)
    return Shown(f"{call.name} {title}", _outcome(detail), (*asked, *answer, *_where(detail)))


def _outcome(detail: Given) -> str:
    tokens, uses, took = (detail.number(key) for key in ("totalTokens", "totalToolUseCount", "totalDurationMs"))
    status = detail.text("status")
    return words.joined(
        (
            _LAUNCHED.get(status, "" if status == "completed" else status),
            detail.text("name"),
            "interrupted" if detail.flag("wasInterrupted") else "",
            "" if tokens is None else words.count(tokens, "token"),
            "" if uses is None else words.count(uses, "tool use"),
            "" if took is None else words.duration(took / 1000),
        )
    )


def _answer(call: ToolCall, detail: Given) -> tuple[Node, ...]:
    """The agent's own words; the text of the result has remarks for the model behind them."""
    content = detail.take("content")
    if isinstance(content, str) or not content:
        return reply.prose(content or reply.text(call))
    return tuple(node for part in content for node in _part(part))


def _part(part: Json) -> tuple[Node, ...]:
    fields = Given(part)
    fields.text("type")
    text = fields.need("text")
    return (*reply.prose(text), *fields.rest())


def _where(detail: Given) -> tuple[Node, ...]:
    """Where the work goes on, or was done."""
    told = reply.fields(
        ("agent", detail.first("agentId", "agent_id", "taskId")),
        ("team", detail.text("team_name")),
        ("output", detail.text("outputFile")),
        ("worktree", detail.text("worktreePath")),
        ("branch", detail.text("worktreeBranch")),
    )
    return (*reply.link(detail.text("sessionUrl"), "session"), *told)
