"""A line of the conversation, typed: what is read of it by name, and bulk left as bytes.

A usual line is decoded straight into these shapes. One with a field of another type, or a block that is not one of
the usual four, is decoded to plain data first; `line_of` takes from that what fits and keeps the rest whole.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from unspool.agents.claude_code.known import BESIDE
from unspool.agents.values import LARGEST, mapping, text, whole
from unspool.model import Json

CONVERSATION = frozenset({"user", "assistant", "system", "attachment", "progress"})
"""Types of lines that are known to have a place in the tree."""
_USUAL = {"user": ("text", "tool_result"), "assistant": ("text", "thinking", "tool_use")}
SYNTHETIC = "<synthetic>"
"""The model of messages that the agent wrote itself."""
_ABSENT = Raw(b"null")
_Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)] | None


class CacheLifetimes(msgspec.Struct, gc=False):
    ephemeral_1h_input_tokens: _Count = 0
    ephemeral_5m_input_tokens: _Count = 0


class ServerToolUse(msgspec.Struct, gc=False):
    web_search_requests: _Count = 0
    web_fetch_requests: _Count = 0


class IterationRecord(msgspec.Struct):
    """One pass of a request: the model's own, or one that it asked another model for."""

    type: str | None = None
    model: str | None = None
    input_tokens: _Count = 0
    output_tokens: _Count = 0
    cache_read_input_tokens: _Count = 0
    cache_creation_input_tokens: _Count = 0
    cache_creation: CacheLifetimes | None = None


class UsageRecord(msgspec.Struct):
    """Tokens of one request, as a line tells them."""

    input_tokens: _Count = 0
    output_tokens: _Count = 0
    cache_read_input_tokens: _Count = 0
    cache_creation_input_tokens: _Count = 0
    cache_creation: CacheLifetimes | None = None
    server_tool_use: ServerToolUse | None = None
    speed: str | None = None
    service_tier: str | None = None
    inference_geo: str | None = None
    iterations: list[IterationRecord] | None = None


class ContentBlock(msgspec.Struct):
    """A piece of a message's content. Bulk is bytes, or plain data where the line was read that way."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = _ABSENT
    tool_use_id: str | None = None
    content: Raw = _ABSENT
    is_error: bool | None = None
    whole: Any = msgspec.field(name="(whole)", default=None)
    """All of it, where it is not one of the usual kinds."""


class MessageRecord(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    usage: UsageRecord | None = None
    stop_reason: str | None = None
    content: str | list[ContentBlock] | None = None


_NAMES = {
    "session": "sessionId",
    "source_assistant": "sourceToolAssistantUUID",
    "source_call": "sourceToolUseID",
    "streamed_session": "session_id",
    "streamed_caller": "parent_tool_use_id",
    "streamed_result": "tool_use_result",
    "whole": "(whole)",
}


def _json_name(name: str) -> str:
    first, *rest = name.split("_")
    return _NAMES.get(name) or first + "".join(word.capitalize() for word in rest)


class Line(msgspec.Struct, rename=_json_name):
    """What a line says of itself, of its session and of its message."""

    type: str = ""
    uuid: str | None = None
    parent_uuid: str | UnsetType | None = UNSET
    timestamp: str | None = None
    is_sidechain: bool | None = None
    agent_id: str | None = None
    is_meta: bool | None = None
    team_name: str | None = None
    session: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    slug: str | None = None
    entrypoint: str | None = None
    session_kind: str | None = None
    forked_from: dict[str, Any] | None = None
    message: MessageRecord | None = None

    source_assistant: str | None = None
    source_call: str | None = None
    tool_use_result: Raw = _ABSENT
    tool_denial_kind: str | None = None
    user_feedback: str | None = None
    permission_decision: dict[str, Any] | None = None
    is_compact_summary: bool | None = None
    origin: dict[str, Any] | None = None
    prompt_source: str | None = None
    plan_content: str | None = None
    permission_mode: str | None = None

    request_id: str | None = None
    request_ref: str | None = None
    api_block_index: int | None = None
    is_aborted_mid_stream: bool | None = None
    effort: str | None = None
    is_api_error_message: bool | None = None
    supersedes_uuids: list[str] | None = None
    thinking_duration_ms: int | None = None

    streamed_session: str | UnsetType | None = UNSET
    streamed_caller: str | None = None
    streamed_result: Raw | UnsetType = UNSET
    whole: Any = None
    """All of it as plain data, where it is not a usual line."""


_decode = msgspec.json.Decoder(Line).decode


def decode_line(raw: bytes) -> Line | None:
    """A usual line of the conversation; None for any other, which only its plain data can tell.

    Bulk that is left as bytes is known to be JSON, but for numbers beyond what a float holds.
    """
    try:
        if not raw.isascii():
            raw.decode()
        line = _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    usual = _USUAL.get(line.type)
    if usual is None:
        return line if line.type in CONVERSATION else None
    message = line.message
    if message is None or not message.content or line.is_api_error_message or message.model == SYNTHETIC:
        return None
    if isinstance(message.content, list):
        for block in message.content:
            kind = block.type
            missing = block.text is None if kind == "text" else block.thinking is None and kind == "thinking"
            if missing or kind not in usual:
                return None
    return line


def has_place(data: Mapping[str, Any]) -> bool:
    """Whether a line has a place in the tree: it is of the conversation, or of a type that nobody knows and says
    which line it follows."""
    kind = data.get("type")
    if not isinstance(kind, str) or not kind:
        return False
    return kind in CONVERSATION or (kind not in BESIDE and isinstance(data.get("uuid"), str) and "parentUuid" in data)


def plain(bulk: Any) -> Json:
    """Bulk as plain data."""
    return msgspec.json.decode(bulk) if isinstance(bulk, Raw) else bulk


class _ChangedLines(msgspec.Struct):
    type: Raw = _ABSENT
    structuredPatch: list[Json] | None = None  # noqa: N815  as the log spells it


def changed_lines(twin: Any) -> Json:
    """The record of a change without the file that it was made in, where its lines are told without that."""
    try:
        found = msgspec.json.decode(twin, type=_ChangedLines)
    except msgspec.ValidationError:
        return plain(twin)
    if not found.structuredPatch:
        return plain(twin)
    return {"type": plain(found.type), "structuredPatch": found.structuredPatch}


_FLAGS = ("is_sidechain", "is_meta", "is_compact_summary", "is_aborted_mid_stream", "is_api_error_message")
_OBJECTS = ("forked_from", "permission_decision", "origin")
_OTHERS = frozenset({
    "parent_uuid", "message", "tool_use_result", "streamed_session", "streamed_result", "api_block_index",
    "supersedes_uuids", "thinking_duration_ms", "whole", *_FLAGS, *_OBJECTS,
})  # fmt: skip
_TEXTS = tuple(field for field in msgspec.structs.fields(Line) if field.name not in _OTHERS)
_BLOCK_TEXTS = ("text", "thinking", "signature", "id", "name", "tool_use_id")


def line_of(data: dict[str, Json]) -> Line:
    """Any line of plain data as this shape; what has another type than it should have counts as not there."""
    line = Line(whole=data)
    for field in _TEXTS:
        value = data.get(field.encode_name)
        if isinstance(value, str):
            setattr(line, field.name, value)
    parent = data.get("parentUuid", UNSET)
    line.parent_uuid = parent if isinstance(parent, str) or parent is UNSET else None
    for name in _FLAGS:
        setattr(line, name, data.get(_json_name(name)) is True)
    for name in _OBJECTS:
        setattr(line, name, mapping(data.get(_json_name(name))) or None)
    line.tool_use_result = data.get("toolUseResult")  # type: ignore[assignment]
    if "session_id" in data:
        line.streamed_session = text(data["session_id"])
    line.streamed_result = data.get("tool_use_result", UNSET)
    index = data.get("apiBlockIndex")
    line.api_block_index = index if isinstance(index, int) else None
    superseded = data.get("supersedesUuids")
    line.supersedes_uuids = [text(one) for one in superseded] if isinstance(superseded, list) else None
    line.thinking_duration_ms = whole(data.get("thinkingDurationMs"))
    line.message = _message(mapping(data.get("message")))
    return line


def _message(data: dict[str, Json]) -> MessageRecord:
    said = data.get("content")
    content: str | list[ContentBlock] | None
    if isinstance(said, list):
        content = [_block(one) for one in said]
    else:
        content = said if isinstance(said, str) or said is None else [ContentBlock("content", whole=said)]
    return MessageRecord(
        text(data.get("id")),
        text(data.get("model")),
        usage_of(data.get("usage")),
        text(data.get("stop_reason")),
        content,
    )


def _block(data: Json) -> ContentBlock:
    if not isinstance(data, dict):
        return ContentBlock(whole=data)
    block = ContentBlock(text(data.get("type")), whole=data)
    block.input, block.content = data.get("input"), data.get("content")  # type: ignore[assignment]
    for name in _BLOCK_TEXTS:
        value = data.get(name)
        if isinstance(value, str):
            setattr(block, name, value)
    block.is_error = data.get("is_error") is True
    return block


def usage_of(data: Json) -> UsageRecord | None:
    if not isinstance(data, dict):
        return None
    server, passes = data.get("server_tool_use"), data.get("iterations")
    return UsageRecord(
        *_counts(data),
        _lifetimes(data),
        ServerToolUse(whole(server.get("web_search_requests")), whole(server.get("web_fetch_requests")))
        if isinstance(server, dict)
        else None,
        text(data.get("speed")),
        text(data.get("service_tier")),
        text(data.get("inference_geo")),
        [
            IterationRecord(text(one.get("type")), text(one.get("model")), *_counts(one), _lifetimes(one))
            for one in passes
            if isinstance(one, dict)
        ]
        if isinstance(passes, list)
        else None,
    )


def _counts(data: dict[str, Json]) -> tuple[int, int, int, int]:
    return (
        whole(data.get("input_tokens")),
        whole(data.get("output_tokens")),
        whole(data.get("cache_read_input_tokens")),
        whole(data.get("cache_creation_input_tokens")),
    )


def _lifetimes(data: dict[str, Json]) -> CacheLifetimes | None:
    lives = data.get("cache_creation")
    if not isinstance(lives, dict):
        return None
    return CacheLifetimes(whole(lives.get("ephemeral_1h_input_tokens")), whole(lives.get("ephemeral_5m_input_tokens")))
