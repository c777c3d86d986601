"""What a conversation puts into a model's window, piece by piece: its kind, its tool, and its tokens, estimated."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from unspool.figures.pixels import pixels
from unspool.figures.tokens import CALL, RESULT, estimate, image
from unspool.model import Block, Image, Json, Notice, Prompt, Result, Text, Thinking, ToolCall, Unknown
from unspool.model.window import KINDS

(
    INSTRUCTIONS, PROMPTS, ANSWERS, THINKING, TOOL_INPUT, FILES, TOOL_OUTPUT, IMAGES, SUMMARIES, OTHER,
) = range(len(KINDS))  # fmt: skip

_UNSENT = frozenset(
    {
        "progress", "duration", "retry", "info", "recap", "compaction", "micro-compaction", "denied", "refusal",
        "model-switch", "api-error", "system-prompt",
    }
)  # fmt: skip
"""Notices for the person alone: no model is told."""
_NOTICES = {
    "memory": INSTRUCTIONS,
    "reminder": INSTRUCTIONS,
    "plan-mode": INSTRUCTIONS,
    "skill": INSTRUCTIONS,
    "caveat": INSTRUCTIONS,
    "attachment": INSTRUCTIONS,
    "environment": INSTRUCTIONS,
    "offer": INSTRUCTIONS,
    "meta": INSTRUCTIONS,
    "summary": SUMMARIES,
    "bash-output": TOOL_OUTPUT,
    "command-output": TOOL_OUTPUT,
}
_WORDS_ALONE = frozenset({"hook", "environment", "offer", "reminder", "plan-mode"})
"""Notices of which only the words go on to the model."""
_PREVIEW = 2000
"""Characters that a model is shown of an output that was put into a file."""

Measure = Callable[[str], int]


class Piece(NamedTuple):
    """Something that was put into the window."""

    kind: int
    """Its place in KINDS."""
    tokens: int
    tool: str = ""
    line: str = ""
    """The id of the line it came with."""
    call: str = ""
    """The id of the tool call that it is a side of."""


def of_prompt(prompt: Prompt, measure: Measure = estimate) -> Iterator[Piece]:
    """A prompt's words and pictures; of a command, what it was expanded to."""
    words = f"{prompt.command} {prompt.arguments}\n{prompt.text}" if prompt.command else prompt.text
    yield Piece(PROMPTS, measure(words), "", prompt.id)
    yield from _pictures(prompt.images, prompt.id)


def of_block(block: Block | Result, measure: Measure = estimate) -> Iterator[Piece]:
    """What one block put into the window: of a call both sides. Thinking without its words counts for nothing."""
    match block:
        case Text():
            yield Piece(ANSWERS, measure(block.text), "", block.id)
        case Thinking():
            yield Piece(THINKING, measure(block.text), "", block.id)
        case ToolCall():
            if block.state != "orphan":
                yield of_input(block, measure)
            if block.result is not None:
                yield from of_result(block.result, block.name, block.role, measure)
        case Result():
            yield from of_result(block, measure=measure)
        case Image():
            yield from _pictures((block,), block.id)
        case Notice() if block.kind not in _UNSENT:
            yield from _of_notice(block, measure)
        case Unknown():
            yield Piece(OTHER, measure(_words(block.data)), "", block.id)


def of_input(call: ToolCall, measure: Measure = estimate) -> Piece:
    """What a call says."""
    return Piece(
        TOOL_INPUT, CALL + measure(call.name) + measure(_written(call.input)), call.name, call.id, call.call_id
    )


def of_result(result: Result, tool: str = "", role: str = "", measure: Measure = estimate) -> Iterator[Piece]:
    """What a tool answered, as far as the model saw it."""
    text = result.text[:_PREVIEW] if result.spilled else result.text
    tokens = RESULT + measure(text) + sum(measure(_words(part)) for part in result.parts)
    kind = FILES if role == "read" and not result.error else TOOL_OUTPUT
    yield Piece(kind, tokens, tool, result.id, result.call_id)
    for piece in _pictures(result.images, result.id):
        yield piece._replace(tool=tool, call=result.call_id)


def _of_notice(notice: Notice, measure: Measure) -> Iterator[Piece]:
    kind = FILES if "filename" in notice.facts else _NOTICES.get(notice.kind, OTHER)
    tokens = measure(notice.text)
    if notice.kind not in _WORDS_ALONE and not (notice.kind == "memory" and notice.text):
        tokens += measure(_words(notice.facts))
    if tokens:
        yield Piece(kind, tokens, "", notice.id)
    yield from _pictures(notice.images, notice.id)


def _pictures(images: tuple[Image, ...], line: str) -> Iterator[Piece]:
    for one in images:
        if one.media_type.startswith("text/"):
            yield Piece(FILES, estimate(one.data), "", line)
        else:
            yield Piece(IMAGES, image(*pixels(one.data)), "", line)


def _written(data: Json) -> str:
    """Data as a model writes it."""
    try:
        return msgspec.json.encode(data).decode()
    except (ValueError, TypeError, OverflowError, RecursionError):
        return _words(data)  # numbers and halves of characters that no writer takes


def _words(data: Json) -> str:
    """Every string in data, each on its line."""
    found: list[str] = []
    waiting: list[Any] = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return "\n".join(found)
