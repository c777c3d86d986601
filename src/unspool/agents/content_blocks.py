"""Messages of content blocks (text, thinking, tool_use, tool_result, image), as many agents log them."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from unspool.agents.events import (
    answered,
    as_message,
    as_notice,
    as_prompt,
    called,
    picture,
    said,
    thought,
    words_of,
)
from unspool.agents.values import decode_object, items, mapping, text, whole
from unspool.model import Block, Event, Image, Json, Notice, Part, Result, Unknown, Usage

Role = Callable[[str], str]
_REMINDERS = ("<system-reminder>", "<system_reminder>", "<environment_details>", "<environment_context>")
_TEXTS = ("text", "input_text", "output_text")
_CALLS = ("tool_use", "server_tool_use", "toolCall", "tool-call")
_RESULTS = ("tool_result", "toolResult", "tool-result")


def blocks_of(content: Json) -> list[dict[str, Any]]:
    """The blocks of a content; a plain text is one."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [mapping(one) if not isinstance(one, str) else {"type": "text", "text": one} for one in items(content)]


def user_event(event: Event, content: Json) -> Event:
    """What came from the user's side: the words typed, answers of tools, and what the agent put in."""
    typed: list[str] = []
    images: list[Image] = []
    rest: list[Block | Result] = []
    for block in blocks_of(content):
        kind, words = block.get("type"), text(block.get("text"))
        if kind in _RESULTS:
            rest.append(result_of(event, block))
        elif kind in _TEXTS and (words.startswith(_REMINDERS) or (typed and words.startswith("Contents of "))):
            rest.append(Notice(event.place, "reminder", words, {}, event.id, event.time))
        elif kind in _TEXTS:
            typed.append(words)
        elif kind == "image":
            images.append(image_of(event, block))
        else:
            rest.append(Unknown(event.place, text(kind) or "block", block, id=event.id, time=event.time))
    if typed or images:
        as_prompt(event, "\n\n".join(typed).strip(), tuple(images))
    elif any(isinstance(one, Result) for one in rest):
        event.kind, event.turn = "result", True
    event.blocks = tuple(rest)
    if not rest and event.prompt is None:
        return as_notice(event, "info")
    return event


def answer_event(event: Event, part: Part, content: Json, role: Role) -> Event:
    """What a model answered: words, thoughts and calls, in their order."""
    found: list[Block] = []
    for block in blocks_of(content):
        kind = block.get("type")
        if kind in _TEXTS:
            found.append(said(event, part.message, text(block.get("text"))))
        elif kind in ("thinking", "reasoning"):
            words = text(block.get("thinking")) or text(block.get("text"))
            found.append(thought(event, part.message, words, text(block.get("signature"))))
        elif kind == "redacted_thinking":
            found.append(thought(event, part.message, ""))
        elif kind in _CALLS:
            name, given = text(block.get("name")), decode_object(block.get("input", block.get("arguments")))
            found.append(called(event, part.message, text(block.get("id")), name, given, role(name)))
        elif kind == "image":
            found.append(image_of(event, block))
        else:
            found.append(Unknown(event.place, text(kind) or "block", block, part.message, event.id, event.time))
    return as_message(event, part, found)


def result_of(event: Event, block: dict[str, Any]) -> Result:
    """What a block says that a tool answered."""
    content = block.get("content")
    names = (text(block.get(key)) for key in ("tool_use_id", "toolUseID", "toolCallId", "id"))
    failed = block.get("is_error") is True or block.get("isError") is True
    found = answered(event, next(filter(None, names), ""), words_of(content), error=failed)
    held = [one for one in blocks_of(content) if one.get("type") == "image"]
    return replace(found, images=tuple(image_of(event, one) for one in held))


def image_of(event: Event, block: dict[str, Any]) -> Image:
    source = mapping(block.get("source")) or block
    kind = text(source.get("media_type")) or text(source.get("mimeType")) or text(source.get("mediaType"))
    return picture(event, kind, text(source.get("data")), text(source.get("url")))


def usage_of(used: Json) -> Usage | None:
    """Usage under the names of the Messages API, or those in one word; input does not hold what the cache does."""
    given = mapping(used)
    if not given:
        return None
    names = (
        ("input_tokens", "inputTokens"),
        ("output_tokens", "outputTokens"),
        ("cache_read_input_tokens", "cacheReadInputTokens", "cacheReadTokens", "cache_read_tokens"),
        (
            "cache_creation_input_tokens",
            "cacheCreationInputTokens",
            "cacheCreationTokens",
            "cache_write_tokens",
            "cacheWriteTokens",
        ),
    )
    sent, output, read, written = (next((whole(given[key]) for key in keys if key in given), 0) for keys in names)
    thought_ = min(output, whole(given.get("thinkingTokens")))
    return Usage(sent, output, read, written, reasoning=thought_) if sent or output or read or written else None
