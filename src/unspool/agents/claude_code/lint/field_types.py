"""The fields of a line that rules are about, with their types; what is of another type is as if it were not there."""

from typing import Any, TypedDict, get_type_hints

from unspool.agents.values import moment


class SourceFields(TypedDict, total=False):
    """Where the bytes of a picture are."""

    type: str | None
    media_type: str | None
    data: Any


class BlockFields(TypedDict, total=False):
    type: str | None
    id: str | None
    tool_use_id: str | None
    name: str | None
    text: Any
    signature: Any
    thinking: Any
    input: Any
    content: Any
    source: SourceFields | None


class MessageFields(TypedDict, total=False):
    """What is sent to the model, or comes from it."""

    id: str | None
    role: str | None
    model: str | None
    content: list[BlockFields] | str | None


class OriginFields(TypedDict, total=False):
    """The line that a line was copied from."""

    sessionId: str | None
    messageUuid: str | None


class AttachmentFields(TypedDict, total=False):
    """What an attachment may refer to."""

    type: str | None
    source_uuid: str | None


class SnapshotFields(TypedDict, total=False):
    """The message that a checkpoint of files belongs to."""

    messageId: str | None


class LineFields(TypedDict, total=False):
    type: str | None
    subtype: str | None
    uuid: str | None
    parentUuid: str | None
    logicalParentUuid: str | None
    sessionId: str | None
    session_id: str | None
    timestamp: str | None
    agentId: str | None
    entrypoint: str | None
    sessionKind: str | None
    teamName: str | None
    agentName: str | None
    slug: str | None
    isSidechain: Any
    isMeta: Any
    isCompactSummary: Any
    isApiErrorMessage: Any
    requestRef: Any
    sourceToolAssistantUUID: str | None
    message: MessageFields | None
    toolUseResult: Any
    forkedFrom: OriginFields | None
    compactMetadata: Any
    microcompactMetadata: Any
    attachment: AttachmentFields | None
    leafUuid: str | None
    messageId: str | None
    snapshotMessageId: str | None
    snapshot: SnapshotFields | None
    retractedMessageUuids: list[str] | None
    supersedesUuids: list[str] | None
    refusedUserMessageUuid: str | None
    customTitle: str | None
    aiTitle: str | None
    lastPrompt: str | None
    summary: Any


def _texts(fields: Any) -> tuple[str, ...]:
    return tuple(name for name, kind in get_type_hints(fields).items() if kind == str | None)


_LINE, _BLOCK, _SOURCE = _texts(LineFields), _texts(BlockFields), _texts(SourceFields)
_OBJECTS = {
    "forkedFrom": _texts(OriginFields),
    "attachment": _texts(AttachmentFields),
    "snapshot": _texts(SnapshotFields),
    "message": _texts(MessageFields),
}
_LISTS = ("retractedMessageUuids", "supersedesUuids")


def drop_wrong_types(data: dict[str, Any]) -> list[str]:
    """Take out, in place, every field of a line that is not of its type; their names."""
    wrong = _drop(data, _LINE, str, "")
    if data.get("timestamp") and moment(data["timestamp"]) is None:
        del data["timestamp"]
        wrong.append("timestamp")
    for name, texts in _OBJECTS.items():
        wrong += _drop(data, (name,), dict, "")
        wrong += _drop(data.get(name) or {}, texts, str, f"{name}.")
    wrong += _drop(data, _LISTS, list, "")
    for name in _LISTS:
        if any(not isinstance(item, str) for item in data.get(name) or ()):
            data[name] = [item for item in data[name] if isinstance(item, str)]
            wrong.append(name)
    return wrong + _drop_content(data.get("message") or {})


def _drop(data: dict[str, Any], names: tuple[str, ...], kind: type, prefix: str) -> list[str]:
    wrong = [name for name in names if data.get(name) is not None and not isinstance(data[name], kind)]
    for name in wrong:
        del data[name]
    return [f"{prefix}{name}" for name in wrong]


def _drop_content(message: dict[str, Any]) -> list[str]:
    content = message.get("content")
    if content is None or isinstance(content, str):
        return []
    if not isinstance(content, list):
        del message["content"]
        return ["message.content"]
    kept = [block for block in content if isinstance(block, dict)]
    wrong = ["message.content"] if len(kept) < len(content) else []
    message["content"] = kept
    for block in kept:
        wrong += _drop(block, _BLOCK, str, "message.content.")
        wrong += _drop(block, ("source",), dict, "message.content.")
        wrong += _drop(block.get("source") or {}, _SOURCE, str, "message.content.source.")
    return wrong
