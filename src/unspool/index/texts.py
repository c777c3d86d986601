"""The text of a document, from the line of the log that it was taken from."""

import io
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from unspool.formats import FORMATS, Format, by_id
from unspool.formats.lines import Cursor, Lines
from unspool.model import Event, Notice, Result, Text, Thinking, ToolCall, Unknown

_BLOCKS: dict[str, tuple[type, ...]] = {
    "answer": (Text,),
    "thinking": (Thinking,),
    "call": (ToolCall,),
    "result": (Result,),
    "notice": (Notice, Unknown),
}


class Line(NamedTuple):
    """A line of a log, understood: the texts in it that may be meant, and when it was written."""

    texts: tuple[str, ...]
    time: datetime | None = None


def read(raw: bytes, agent: str, kind: str, tool: str = "") -> Line:
    """The texts of one kind on a line; every text on it where none is of that kind, and the line itself at last."""
    entry = next(Lines(_DECODER).entries(io.BytesIO(raw), Cursor()), None)
    if entry is None or entry.data is None:
        return Line((raw.decode(errors="replace").strip(),))
    event = _format(agent).parser(None).event(entry)
    return Line(_texts(event, kind, tool) or tuple(strings(entry.data)) or ("",), event.time)


def _format(agent: str) -> Format:
    return by_id(agent) if any(one.id == agent for one in FORMATS) else FORMATS[0]


def _texts(event: Event, kind: str, tool: str) -> tuple[str, ...]:
    if kind == "prompt" and event.prompt is not None:
        prompt = event.prompt
        return (f"{prompt.command} {prompt.arguments}\n{prompt.text}" if prompt.command else prompt.text,)
    blocks: list[Any] = [block for block in event.blocks if isinstance(block, _BLOCKS.get(kind, ()))]
    named = [block for block in blocks if tool and getattr(block, "name", "") == tool]
    found = [_text(block) for block in named or blocks]
    if kind == "notice" and event.side is not None:
        found += [text for text in (event.side.data.get("content"),) if isinstance(text, str)]
    return tuple(filter(None, found))


def _text(block: Any) -> str:
    if isinstance(block, ToolCall):
        return "\n".join(strings(block.input))
    if isinstance(block, Unknown):
        return "\n".join(strings(block.data))
    text: str = block.text
    return text


def strings(data: Any) -> list[str]:
    """Every string in plain data, in order."""
    found: list[str] = []
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            waiting.extend(reversed(value.values()))
        elif isinstance(value, list):
            waiting.extend(reversed(value))
    return found


_DECODER = msgspec.json.Decoder()
