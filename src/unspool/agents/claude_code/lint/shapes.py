"""The shape of a line as the validator decodes it; fields of wrong types are dropped."""

from typing import Any

import msgspec
from msgspec import Raw

NOTHING = Raw(b"")


class ImageSource(msgspec.Struct, gc=False):
    """Where the bytes of a picture are."""

    type: str | None = None
    media_type: str | None = None
    data: Raw = NOTHING


class BlockShape(msgspec.Struct, gc=False):
    type: str | None = None
    id: str | None = None
    tool_use_id: str | None = None
    name: str | None = None
    text: Raw = NOTHING
    signature: Raw = NOTHING
    thinking: Raw = NOTHING
    data: Raw = NOTHING
    input: Raw = NOTHING
    content: Raw = NOTHING
    is_error: Any = None
    source: ImageSource | None = None


class MessageShape(msgspec.Struct, gc=False):
    """What is sent to the model, or comes from it."""

    id: str | None = None
    role: str | None = None
    model: str | None = None
    content: list[BlockShape] | str | None = None


class OriginShape(msgspec.Struct, gc=False, rename="camel"):
    """The line that a line was copied from."""

    session_id: str | None = None
    message_uuid: str | None = None


class AttachmentShape(msgspec.Struct, gc=False):
    """What an attachment may refer to."""

    type: str | None = None
    source_uuid: str | None = None


class SnapshotShape(msgspec.Struct, gc=False, rename="camel"):
    """The message that a checkpoint of files belongs to."""

    message_id: str | None = None


class DetailShape(msgspec.Struct, gc=False):
    """The part of a tool's own record that repeats the text of its result."""

    stdout: Raw = NOTHING


class LineShape(msgspec.Struct, gc=False, rename="camel"):
    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = None
    session_again: str | None = msgspec.field(name="session_id", default=None)
    timestamp: str | None = None
    agent_id: str | None = None
    entrypoint: str | None = None
    session_kind: str | None = None
    team_name: str | None = None
    agent_name: str | None = None
    slug: str | None = None
    is_sidechain: Any = None
    is_meta: Any = None
    is_compact_summary: Any = None
    is_api_error_message: Any = None
    request_ref: Any = None
    source_assistant: str | None = msgspec.field(name="sourceToolAssistantUUID", default=None)
    message: MessageShape | None = None
    tool_use_result: Raw = NOTHING
    forked_from: OriginShape | None = None
    compact_metadata: Any = None
    microcompact_metadata: Any = None
    attachment: AttachmentShape | None = None
    leaf_uuid: str | None = None
    message_id: str | None = None
    snapshot_message_id: str | None = None
    snapshot: SnapshotShape | None = None
    retracted_message_uuids: list[str] | None = None
    supersedes_uuids: list[str] | None = None
    refused_user_message_uuid: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    last_prompt: str | None = None
    summary: Any = None


_TEXTS = tuple(
    field.encode_name for field in msgspec.structs.fields(LineShape) if field.type == str | None
)  # fmt: skip
_OBJECTS = {
    "forkedFrom": ("sessionId", "messageUuid"),
    "attachment": ("type", "source_uuid"),
    "snapshot": ("messageId",),
}
_LISTS = ("retractedMessageUuids", "supersedesUuids")


def drop_wrong_types(data: dict[str, Any]) -> list[str]:
    """Take out, in place, every field that is not of its type; their names."""
    wrong = _cleaned(data, _TEXTS, str, "")
    for name, fields in _OBJECTS.items():
        wrong += _cleaned(data, (name,), dict, "")
        if isinstance(data.get(name), dict):
            wrong += _cleaned(data[name], fields, str, f"{name}.")
    wrong += _cleaned(data, _LISTS, list, "")
    for name in _LISTS:
        if data.get(name) is not None and not all(isinstance(item, str) for item in data[name]):
            data[name] = [item for item in data[name] if isinstance(item, str)]
            wrong.append(name)
    return wrong + _tamed_message(data)


def _cleaned(data: dict[str, Any], names: tuple[str, ...], kind: type, prefix: str) -> list[str]:
    wrong = [name for name in names if data.get(name) is not None and not isinstance(data[name], kind)]
    for name in wrong:
        del data[name]
    return [f"{prefix}{name}" for name in wrong]


def _tamed_message(data: dict[str, Any]) -> list[str]:
    wrong = _cleaned(data, ("message",), dict, "")
    message = data.get("message")
    if message is None:
        return wrong
    wrong += _cleaned(message, ("id", "role", "model"), str, "message.")
    content = message.get("content")
    if isinstance(content, list):
        return wrong + _tamed_blocks(message, content)
    if content is not None and not isinstance(content, str):
        del message["content"]
        wrong.append("message.content")
    return wrong


def _tamed_blocks(message: dict[str, Any], content: list[Any]) -> list[str]:
    wrong: list[str] = []
    if not all(isinstance(block, dict) for block in content):
        wrong.append("message.content")
        message["content"] = content = [block for block in content if isinstance(block, dict)]
    for block in content:
        wrong += _cleaned(block, ("type", "id", "tool_use_id", "name"), str, "message.content.")
        wrong += _cleaned(block, ("source",), dict, "message.content.")
        if isinstance(block.get("source"), dict):
            wrong += _cleaned(block["source"], ("type", "media_type"), str, "message.content.source.")
    return wrong
