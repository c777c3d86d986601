"""Lines of type assistant: a piece of a message each, or what the agent says itself when a request fails."""

import json

from msgspec.structs import replace

from unspool.formats.claude_code.media import KINDS, image
from unspool.formats.claude_code.results import content as result_content
from unspool.formats.claude_code.roles import role
from unspool.formats.claude_code.usage import billing, usage
from unspool.formats.claude_code.values import items, mapping, text, whole
from unspool.model import Block, Event, Json, Notice, Part, Place, Result, Text, Thinking, ToolCall, Unknown

SYNTHETIC = "<synthetic>"
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


def assistant(event: Event, data: dict[str, Json]) -> None:
    """Fill an event from an assistant line."""
    message = mapping(data.get("message"))
    model = text(message.get("model"))
    synthetic = model == SYNTHETIC
    identity = text(message.get("id"))
    record = message.get("usage")
    index = data.get("apiBlockIndex")
    event.kind = "message"
    event.part = Part(
        identity if identity and not synthetic else event.id,
        text(data.get("requestId")),
        model,
        usage(record),
        text(message.get("stop_reason")),
        index if isinstance(index, int) else -1,
        synthetic,
        data.get("isAbortedMidStream") is True,
        text(data.get("effort")),
        *billing(record),
        text(data.get("requestRef")),
    )
    if synthetic or data.get("isApiErrorMessage") is True:
        event.blocks = (_failure(event, data, message),)
        return
    superseded = data.get("supersedesUuids")
    event.retracts = tuple(text(line) for line in superseded) if isinstance(superseded, list) else ()
    said = message.get("content")
    if isinstance(said, str):
        event.blocks = (Text(event.place, said, event.part.message, event.id, event.time),)
    else:
        event.blocks = tuple(_block(block, event, event.part.message) for block in items(said))
    took = whole(data.get("thinkingDurationMs"))
    if took and len(event.blocks) == 1 and isinstance(event.blocks[0], Thinking):
        event.blocks = (replace(event.blocks[0], milliseconds=took),)


def _failure(event: Event, data: dict[str, Json], message: dict[str, Json]) -> Notice:
    words, _, _ = result_content(message.get("content"), event.place)
    facts = {key: data[key] for key in ("error", "errorDetails", "apiErrorStatus") if data.get(key) is not None}
    kind = "api-error" if data.get("isApiErrorMessage") is True else "agent"
    return Notice(event.place, kind, words, facts, event.id, event.time)


def _block(block: Json, event: Event, message: str) -> Block | Result:
    kind = text(block.get("type")) if isinstance(block, dict) else ""
    place, line, time = event.place, event.id, event.time
    if kind in _CALLS:
        return _call(block, event, message)
    if kind == "text" and isinstance(block.get("text"), str):
        return Text(place, block["text"], message, line, time)
    if kind == "thinking" and isinstance(block.get("thinking"), str):
        return Thinking(place, block["thinking"], message, line, time, text(block.get("signature")))
    if kind == "redacted_thinking":
        return Thinking(place, "", message, line, time, text(block.get("data")), redacted=True)
    if kind.endswith("_tool_result") and isinstance(block.get("tool_use_id"), str):
        return _server_result(block, event)
    if kind == "fallback":
        return Notice(place, "model-switch", _switch(block), dict(block), line, time)
    if kind in KINDS:
        return image(block, place)
    return Unknown(place, kind or "content", block, message, line, time)


def _call(block: dict[str, Json], event: Event, message: str) -> ToolCall:
    given = block.get("input")
    if isinstance(given, str):
        given = _decoded(given)
    name = text(block.get("name"))
    return ToolCall(
        event.place,
        text(block.get("id")),
        name,
        given,
        "unanswered",
        role(name),
        message=message,
        id=event.id,
        time=event.time,
        server=block.get("type") != "tool_use",
    )


def _decoded(given: str) -> Json:
    """Versions before 2.1.92 wrote some inputs as JSON in a string."""
    try:
        value = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return value if isinstance(value, dict) else given


def _server_result(block: dict[str, Json], event: Event) -> Result:
    content = block.get("content")
    words, images, parts = result_content(content, event.place)
    kind = text(mapping(content).get("type"))
    error = kind.endswith("_error") or block.get("is_error") is True
    return Result(
        event.place,
        block["tool_use_id"],
        words or text(mapping(content).get("text")),
        error,
        images,
        content if not isinstance(content, str) else None,
        parts if isinstance(content, list) else (),
        id=event.id,
        time=event.time,
    )


def _switch(block: dict[str, Json]) -> str:
    before, after = (text(mapping(block.get(key)).get("model")) for key in ("from", "to"))
    return f"{before} → {after}"


def unplaced(place: Place, data: dict[str, Json]) -> Unknown:
    """A line of a type nobody has met."""
    return Unknown(place, text(data.get("type")) or "line", data)
