"""The documented rules of the Messages API for the messages of a request, written down by themselves.

They say what the provider refuses. They share nothing with the validator, so that the two can be held against each
other: what the one passes, the other must pass.
"""

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

Message = dict[str, Any]
_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
_MEDIA = {"image/jpeg", "image/png", "image/gif", "image/webp"}
_LARGEST = 5 * 1024 * 1024
_OF_USER = {"text", "image", "document", "tool_result", "search_result"}
_OF_ASSISTANT = {"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "fallback"}


def refusals(messages: list[Message]) -> list[str]:
    """What the provider would say of a request with these messages, followed by a prompt; nothing where it answers."""
    found = list(_shape(messages))
    for index, message in enumerate(messages):
        found += [f"messages.{index}: {why}" for why in _blocks(message)]
        found += [f"messages.{index}: {why}" for why in _calls(messages, index)]
    ids = Counter(call for message in messages for call in _ids(message, "tool_use", "id"))
    return [*found, *(f"`tool_use` ids must be unique: {one}" for one, times in ids.items() if times > 1)]


def _shape(messages: list[Message]) -> Iterator[str]:
    if not messages:
        yield "messages: at least one message is required"
        return
    if messages[0]["role"] != "user":
        yield "messages: first message must use the user role"
    for index, message in enumerate(messages):
        if message["role"] != ("user", "assistant")[index % 2] and messages[0]["role"] == "user":
            yield f"messages.{index}: roles must alternate"
        if not message["content"]:
            yield f"messages.{index}: all messages must have non-empty content"


def _blocks(message: Message) -> Iterator[str]:
    allowed = _OF_USER if message["role"] == "user" else _OF_ASSISTANT
    for at, block in enumerate(message["content"]):
        kind = str(block.get("type"))
        if kind not in allowed and not kind.endswith("_tool_result"):
            yield f"content.{at}: unexpected {kind}"
        yield from (f"content.{at}: {why}" for why in _block(block))
    last = message["content"][-1].get("type") if message["content"] else ""
    if message["role"] == "assistant" and last in {"thinking", "redacted_thinking"}:
        yield "the final block in an assistant message cannot be thinking"


def _block(block: dict[str, Any]) -> Iterator[str]:
    kind = str(block.get("type"))
    if kind == "text" and not (isinstance(block.get("text"), str) and block["text"].strip()):
        yield "text content blocks must contain non-whitespace text"
    if kind == "thinking" and not (isinstance(block.get("signature"), str) and block["signature"]):
        yield "thinking.signature: field required"
    if kind == "tool_use" and not isinstance(block.get("input"), dict):
        yield "tool_use.input: input should be a valid dictionary"
    if kind in {"tool_use", "tool_result"} and not _ID.match(str(block.get("id") or block.get("tool_use_id") or "")):
        yield f"{kind}: id should match pattern ^[a-zA-Z0-9_-]+$"
    if kind == "image":
        yield from _image(block.get("source"))
    if kind == "tool_result":
        yield from _result(block.get("content"))


def _result(content: object) -> Iterator[str]:
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, list):
        yield "tool_result.content: should be a string or a list"
        return
    for block in content:
        if isinstance(block, dict) and block.get("type") == "image":
            yield from _image(block.get("source"))
        elif not isinstance(block, dict):
            yield "tool_result.content: blocks should be objects"


def _image(source: object) -> Iterator[str]:
    if not isinstance(source, dict):
        yield "image.source: field required"
        return
    if source.get("type") != "base64":
        return
    data = source.get("data")
    if source.get("media_type") not in _MEDIA or not isinstance(data, str) or not data:
        yield "image.source: media type or data"
    elif len(data) > _LARGEST:
        yield "image exceeds 5 MB maximum"
    else:
        try:
            base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            yield "image.source.data: invalid base64"


def _calls(messages: list[Message], index: int) -> Iterator[str]:
    message = messages[index]
    following = messages[index + 1] if index + 1 < len(messages) else {"content": []}
    before = messages[index - 1] if index else {"content": []}
    if message["role"] == "assistant":
        answers = _ids(following, "tool_result", "tool_use_id")
        for call in _ids(message, "tool_use", "id"):
            if answers.count(call) != 1:
                yield f"`tool_use` {call} must have one `tool_result` in the next message, not {answers.count(call)}"
        return
    calls = _ids(before, "tool_use", "id")
    for answer in _ids(message, "tool_result", "tool_use_id"):
        if answer not in calls:
            yield f"`tool_result` {answer} has no `tool_use` in the previous message"
    kinds = [block.get("type") == "tool_result" for block in message["content"]]
    if kinds != sorted(kinds, reverse=True):
        yield "`tool_result` blocks must come first"


def _ids(message: Message, kind: str, name: str) -> list[str]:
    return [str(block.get(name)) for block in message["content"] if block.get("type") == kind]
