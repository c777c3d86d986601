"""The names under which Claude Code itself tells OpenTelemetry of its work: spans of prompts, requests and tools, and
events. What a log does not hold (who the user is, the terminal, attempts that failed) is not told."""

from collections.abc import Iterator
from datetime import UTC

import msgspec

from unspool.agents.telemetry import (
    Attributes,
    EventShape,
    Observed,
    ObservedCall,
    ObservedNotice,
    ObservedRequest,
    ObservedTurn,
    SpanShape,
)
from unspool.model import Session, ToolCall

_EVENTS = {"compaction": "compaction", "api-error": "api_error", "refusal": "api_refusal"}
"""What is told of notices, by their kinds."""


class ClaudeTelemetry:
    """Spans and events as `CLAUDE_CODE_ENABLE_TELEMETRY` has them; words only where they are wanted."""

    def service(self, session: Session) -> str:
        return "claude-code"

    def shared(self, session: Session) -> Attributes:
        return {"session.id": session.id}

    def turn(self, turn: ObservedTurn, *, content: bool) -> SpanShape | None:
        if turn.subagent:
            return None
        length = len(turn.prompt.text) if turn.prompt is not None else 0
        own: Attributes = {"user_prompt_length": length, "interaction.sequence": turn.number}
        own["interaction.duration_ms"] = turn.milliseconds
        if content and turn.prompt is not None:
            own["user_prompt"] = turn.prompt.text
        return _span("claude_code.interaction", own)

    def request(self, request: ObservedRequest, *, content: bool) -> SpanShape:
        own: Attributes = {
            **_used(request),
            "gen_ai.system": "anthropic",
            "gen_ai.request.model": request.model,
            "gen_ai.response.id": request.message,
            "success": True,
            "attempt": 1,
        }
        if request.stop:
            own |= {"stop_reason": request.stop, "gen_ai.response.finish_reasons": [request.stop]}
        return _span("claude_code.llm_request", own, remote=True)

    def call(self, call: ObservedCall, *, content: bool) -> SpanShape:
        used = call.call
        own: Attributes = {
            "tool_name": used.name,
            "tool_use_id": used.call_id,
            "gen_ai.tool.call.id": used.call_id,
            "duration_ms": call.milliseconds,
            "success": used.end == "ok",
        }
        if content:
            given = used.input if isinstance(used.input, dict) else {}
            fields = (("file_path", "file_path"), ("full_command", "command"))
            own |= {name: given[field] for name, field in fields if isinstance(given.get(field), str)}
        return _span("claude_code.tool", own)

    def events(self, what: Observed, *, content: bool) -> Iterator[EventShape]:
        for name, attributes in self._told(what, content=content):
            told = {"event.name": name, "event.timestamp": what.time.astimezone(UTC).isoformat(timespec="milliseconds")}
            yield EventShape(f"claude_code.{name}", told | attributes)

    def _told(self, what: Observed, *, content: bool) -> Iterator[tuple[str, Attributes]]:
        match what:
            case ObservedTurn() if what.prompt is not None and not what.subagent:
                asked = what.prompt
                own: Attributes = {"prompt_length": len(asked.text), "prompt.id": asked.id, "message.uuid": asked.id}
                own |= {"command_name": asked.command.lstrip("/")} if asked.command else {}
                yield "user_prompt", own | ({"prompt": asked.text} if content else {})
            case ObservedRequest():
                yield "api_request", _billed(what)
                if what.words:
                    own = {"response_length": len(what.words), "model": what.model, "request_id": what.request}
                    yield "assistant_response", own | ({"response": what.words} if content else {})
            case ObservedCall():
                yield "tool_result", _result(what, content=content)
                if what.call.agents:
                    yield "subagent_completed", {"duration_ms": what.milliseconds, "tool_use_id": what.call.call_id}
            case ObservedNotice() if what.notice.kind in _EVENTS:
                yield _EVENTS[what.notice.kind], {"error": what.notice.text} if content else {}
            case _:
                return


def _span(name: str, attributes: Attributes, *, remote: bool = False) -> SpanShape:
    return SpanShape(name, {"span.type": name.removeprefix("claude_code."), **attributes}, remote)


def _used(request: ObservedRequest) -> Attributes:
    usage = request.usage
    return {
        "model": request.model,
        "duration_ms": request.milliseconds,
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_tokens": usage.cache_read,
        "cache_creation_tokens": usage.cache_write,
        "request_id": request.request,
        "query_source": "subagent" if request.subagent else "main",
    }


def _billed(request: ObservedRequest) -> Attributes:
    own = _used(request)
    own |= {name: value for name, value in (("speed", request.speed), ("effort", request.effort)) if value}
    if request.cost is not None:
        own |= {"cost_usd": float(request.cost), "cost_usd_micros": round(request.cost * 1_000_000)}
    return own


def _result(observed: ObservedCall, *, content: bool) -> Attributes:
    call = observed.call
    own: Attributes = {
        "tool_name": call.name,
        "tool_use_id": call.call_id,
        "success": call.end == "ok",
        "duration_ms": observed.milliseconds,
        "tool_input_size_bytes": len(_input(call)),
        "tool_result_size_bytes": len(call.result.text.encode(errors="replace")) if call.result is not None else 0,
    }
    own |= {"error_type": call.end} if call.end != "ok" else {}
    return own | ({"tool_parameters": _input(call).decode(errors="replace")} if content else {})


def _input(call: ToolCall) -> bytes:
    try:
        return msgspec.json.encode(call.input)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return b""
