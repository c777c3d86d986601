"""Names of spans by OpenTelemetry's conventions for generative AI, in both generations of them at once: observers know
the one or the other."""

from collections.abc import Iterable, Iterator

from unspool.agents.telemetry import (
    Attributes,
    EventShape,
    Observed,
    ObservedCall,
    ObservedRequest,
    ObservedTurn,
    SpanShape,
)
from unspool.model import Json, Notice, Prompt, Session, ToolCall, Usage
from unspool.prices.table import model_provider
from unspool.render.exchange.messages import call_arguments, json_text
from unspool.render.exchange.steps import prompt_text, result_text, tool_definitions

_UNKNOWN = "unknown"
"""Stands where the conventions want a provider and the name of the model does not tell it."""


class GenAiNames:
    """`invoke_agent`, `chat` and `execute_tool`. What was used stands on `chat` alone, so that nobody adds it twice."""

    def service(self, session: Session) -> str:
        return session.agent

    def shared(self, session: Session) -> Attributes:
        return {"session.id": session.id, "gen_ai.conversation.id": session.id}

    def turn(self, turn: ObservedTurn, *, content: bool) -> SpanShape | None:
        name = turn.subagent_kind or turn.subagent or turn.session.agent
        own: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            **_provider(turn.model),
            "gen_ai.agent.name": name,
            "gen_ai.agent.id": turn.subagent,
            "gen_ai.agent.version": turn.session.versions[-1] if turn.session.versions else "",
            "gen_ai.request.model": turn.model,
            "unspool.turn": turn.number,
            "unspool.branch": turn.branch,
        }
        if content and turn.prompt is not None:
            own["gen_ai.input.messages"] = json_text([_message("user", [_text(prompt_text(turn.prompt))])])
        return SpanShape(f"invoke_agent {name}", _said(own))

    def request(self, request: ObservedRequest, *, content: bool) -> SpanShape:
        own: Attributes = {
            "gen_ai.operation.name": "chat",
            **_provider(request.model),
            "gen_ai.request.model": request.model,
            "gen_ai.response.model": request.model,
            "gen_ai.response.id": request.message,
            "gen_ai.request.reasoning.level": request.effort,
            **_used(request.usage),
        }
        own |= {"gen_ai.usage.cost": float(request.cost)} if request.cost is not None else {}
        own |= {"gen_ai.response.finish_reasons": [request.stop]} if request.stop else {}
        own |= {"gen_ai.conversation.compacted": True} if request.compacted else {}
        if content:
            own |= _spoken(request)
        return SpanShape(f"chat {request.model}".strip(), _said(own), remote=True)

    def call(self, call: ObservedCall, *, content: bool) -> SpanShape:
        used = call.call
        own: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": used.name or _UNKNOWN,
            "gen_ai.tool.call.id": used.call_id,
            "gen_ai.tool.type": "extension" if used.server else "function",
            "error.type": "" if used.end == "ok" else used.end,
        }
        if content:
            own["gen_ai.tool.call.arguments"] = json_text(call_arguments(used))
            own["gen_ai.tool.call.result"] = result_text(used)
        return SpanShape(f"execute_tool {used.name}".strip(), _said(own))

    def events(self, what: Observed, *, content: bool) -> Iterator[EventShape]:
        return iter(())  # all of it stands on the spans


def _provider(model: str) -> Attributes:
    name = model_provider(model) or _UNKNOWN
    return {"gen_ai.provider.name": name, "gen_ai.system": name}


def _used(usage: Usage) -> Attributes:
    """What a request used; nothing where nobody logged it."""
    if not usage.total:
        return {}
    own: Attributes = {
        "gen_ai.usage.input_tokens": usage.context,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
        "gen_ai.usage.cache_write.input_tokens": usage.cache_write,
    }
    return own | ({"gen_ai.usage.reasoning.output_tokens": usage.reasoning} if usage.reasoning else {})


def _said(attributes: Attributes) -> Attributes:
    """Attributes that say something: none is empty, and no number that nobody counts is zero."""
    return {name: value for name, value in attributes.items() if value != "" and (value or name != "unspool.branch")}


def _spoken(request: ObservedRequest) -> Attributes:
    """What came since the answer before, not all that was sent again with it, and what was answered."""
    own: Attributes = {}
    system = [one.text for one in request.heard if isinstance(one, Notice) and one.kind == "system-prompt"]
    if system:
        own["gen_ai.system_instructions"] = json_text([_text(words) for words in system])
        own["gen_ai.tool.definitions"] = json_text(
            [{"type": "function", "name": one.name} for one in tool_definitions(request.session) if one.declared]
        )
    if heard := list(_heard(request.heard)):
        own["gen_ai.input.messages"] = json_text(heard)
    parts = [{"type": "reasoning", "content": request.thoughts}] if request.thoughts else []
    parts += [_text(request.words)] if request.words else []
    calls = ({"type": "tool_call", "id": c.call_id, "name": c.name, "arguments": c.input} for c in request.calls)
    if parts := [*parts, *calls]:
        own["gen_ai.output.messages"] = json_text([_message("assistant", parts)])
    return own


def _heard(heard: Iterable[Prompt | ToolCall | Notice]) -> Iterator[dict[str, Json]]:
    for one in heard:
        if isinstance(one, ToolCall):
            part = {"type": "tool_call_response", "id": one.call_id, "response": result_text(one)}
            yield _message("tool", [part])
        elif isinstance(one, Prompt):
            yield _message("user", [_text(prompt_text(one))])
        elif one.kind != "system-prompt":
            yield _message("user", [_text(one.text)])


def _message(role: str, parts: list[dict[str, Json]]) -> dict[str, Json]:
    return {"role": role, "parts": parts}


def _text(words: str) -> dict[str, Json]:
    return {"type": "text", "content": words}
