"""The shape of a line as far as the validator looks: what is not named here is skipped without being decoded."""

from typing import Any

import msgspec
from msgspec import Raw

NOTHING = Raw(b"")


class Source(msgspec.Struct, gc=False):
    """Where the bytes of a picture are."""

    type: str | None = None
    media_type: str | None = None
    data: Raw = NOTHING


class Block(msgspec.Struct, gc=False):
    """A content block."""

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
    source: Source | None = None


class Message(msgspec.Struct, gc=False):
    """What is sent to the model, or comes from it."""

    id: str | None = None
    role: str | None = None
    model: str | None = None
    content: list[Block] | str | None = None


class Origin(msgspec.Struct, gc=False, rename="camel"):
    """The line that a line was copied from."""

    session_id: str | None = None
    message_uuid: str | None = None


class Attachment(msgspec.Struct, gc=False):
    """What an attachment may refer to."""

    type: str | None = None
    source_uuid: str | None = None


class Snapshot(msgspec.Struct, gc=False, rename="camel"):
    """The message that a checkpoint of files belongs to."""

    message_id: str | None = None


class Detail(msgspec.Struct, gc=False):
    """The part of a tool's own record that repeats the text of its result."""

    stdout: Raw = NOTHING


class Shape(msgspec.Struct, gc=False, rename="camel"):
    """A line."""

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
    message: Message | None = None
    tool_use_result: Raw = NOTHING
    forked_from: Origin | None = None
    compact_metadata: Any = None
    microcompact_metadata: Any = None
    attachment: Attachment | None = None
    leaf_uuid: str | None = None
    message_id: str | None = None
    snapshot_message_id: str | None = None
    snapshot: Snapshot | None = None
    retracted_message_uuids: list[str] | None = None
    supersedes_uuids: list[str] | None = None
    refused_user_message_uuid: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    last_prompt: str | None = None
    summary: Any = None
