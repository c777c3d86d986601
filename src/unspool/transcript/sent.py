"""A request to a model, exactly as it was sent: parameters, system prompt, tools and every message, as nodes."""

from collections.abc import Iterator
from datetime import UTC, tzinfo

import msgspec

from unspool import human
from unspool.doc import Code, Fields, Fold, Heading, Node, Prose, Raw, Terminal
from unspool.model import Block, Image, Notice, Result, Text, Thinking, ToolCall, Unknown
from unspool.model.request import SentMessage, SentRequest
from unspool.tools import data
from unspool.tools.ansi import spans
from unspool.transcript.notices import notice_nodes
from unspool.transcript.pictures import picture
from unspool.transcript.prompts import prompt_nodes

_ROLES = {"user": "User", "assistant": "Assistant", "system": "System", "": "Not in the log"}


def request_nodes(request: SentRequest, zone: tzinfo | None = UTC) -> Iterator[Node]:
    """All of a request, in the order that it is read by the model."""
    yield Heading("request", 1, f"Request {request.id[:8]}")
    yield Fields(tuple(_facts(request, zone)))
    if request.system:
        words = "\n\n".join(request.system)
        yield Fold("notice:system-prompt", "System prompt", f"{len(words):,} characters", children=(Prose(words),))
    if request.tools:
        tools = tuple(_tool(tool) for tool in request.tools)
        yield Fold("notice:tools", "Tools", human.count(len(tools), "definition"), children=tools)
    for number, message in enumerate(request.messages, 1):
        yield Heading("message", 3, f"{number} · {_ROLES.get(message.role, message.role)}")
        yield from _message(message)


def _facts(request: SentRequest, zone: tzinfo | None) -> Iterator[tuple[str, str]]:
    yield "id", request.id
    yield "when", human.moment(request.time, zone)
    yield "for", request.purpose
    yield "whole", "yes" if request.complete else "no: the log does not hold all of it"
    for name, value in request.parameters.items():
        yield name, value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _tool(tool: dict[str, object]) -> Fold:
    name = tool.get("name")
    return Fold("tool", name if isinstance(name, str) else "tool", children=(Code(data.text(tool), "json"),))


def _message(message: SentMessage) -> Iterator[Node]:
    if message.prompt is not None:
        yield from prompt_nodes(message.prompt)
    for block in message.blocks:
        yield from _block(block)


def _block(block: Block | Result) -> Iterator[Node]:
    match block:
        case Text():
            yield Prose(block.text)
        case Thinking():
            yield Fold("thinking", "Thinking", "" if block.text else "signature alone", children=(Prose(block.text),))
        case ToolCall():
            yield Fold("tool", block.name, "asked", open=True, children=(Code(data.text(block.input), "json"),))
        case Result():
            inside: list[Node] = [Terminal(spans(block.text)), *map(picture, block.images)]
            inside += [Raw(data.text(part)) for part in block.parts]
            yield Fold("tool", "Result", "error" if block.error else "", open=True, children=tuple(inside))
        case Image():
            yield picture(block)
        case Notice():
            yield from notice_nodes(block, 3)
        case Unknown():
            yield Raw(data.text(block.data), block.what)
