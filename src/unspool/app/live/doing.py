"""What a session is doing: the last thing that the end of its log tells, in short."""

from io import BytesIO
from pathlib import Path

import msgspec

from unspool.formats import Found, by_id
from unspool.formats.lines import Cursor, Lines
from unspool.model import Event, Text, ToolCall
from unspool.site import brief
from unspool.tools import describe

_TAIL = 64 * 1024
"""Bytes at the end of a log that are looked at."""
_WORDS = 140


def doing(log: Found) -> str:
    """The last thing that was said or done; empty where the end of the log tells nothing."""
    parser = by_id(log.format).parser(None)
    try:
        with Path(log.path).open("rb") as stream:
            stream.seek(max(0, log.size - _TAIL))
            data = stream.read(_TAIL)
    except OSError:
        return ""
    entries = Lines(msgspec.json.Decoder()).entries(BytesIO(data), Cursor())
    said = [words for entry in entries if (words := _words(parser.event(entry)))]
    return said[-1] if said else ""


def _words(event: Event) -> str:
    if event.prompt is not None and not event.sidechain:
        return f"You: {brief.line(event.prompt, _WORDS)}"
    for block in reversed(event.blocks):
        if isinstance(block, Text) and block.text.strip():
            return brief.plain(block.text, _WORDS)
        if isinstance(block, ToolCall):
            return brief.flat(describe(block).summary, _WORDS)
    return ""
