"""Lines whose fields have types that they never have: made readable, and told which."""

from typing import Any

import msgspec

from unspool.formats.claude_code.lint.shape import Shape

_TEXTS = tuple(
    field.encode_name for field in msgspec.structs.fields(Shape) if field.type == str | None
)  # fmt: skip
_OBJECTS = {
    "forkedFrom": ("sessionId", "messageUuid"),
    "attachment": ("type", "source_uuid"),
    "snapshot": ("messageId",),
}
_LISTS = ("retractedMessageUuids", "supersedesUuids")


def tamed(data: dict[str, Any]) -> list[str]:
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
