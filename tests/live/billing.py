"""What the played model says a request used: figures that follow from the request, as the real services' do.

A token is about four characters. The prompt is tools, system and messages, in this order; what an earlier request had
cached up to a breakpoint is read, what is new up to the last breakpoint is written, the rest is plain input.
"""

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

CHARACTERS = 4
"""Of text, per token."""


class Piece(NamedTuple):
    """A tool, a system text or a block of a message; `mark` is the lifetime asked for by a cache breakpoint on it."""

    size: int
    digest: bytes
    mark: str = ""


class Used(NamedTuple):
    """Tokens of a prompt."""

    plain: int
    read: int
    written: int
    written_hour: int

    @property
    def whole(self) -> int:
        return sum(self)


def tokens(characters: int) -> int:
    return max(1, -(-characters // CHARACTERS))


def _piece(data: Any, mark: Any = None) -> Piece:
    lifetime = str(mark.get("ttl", "5m")) if isinstance(mark, dict) else ""
    if isinstance(data, dict):
        data = {name: value for name, value in data.items() if name != "cache_control"}
    raw = msgspec.json.encode(data, order="sorted")
    return Piece(len(raw), hashlib.sha256(raw).digest(), lifetime)


def pieces(asked: dict[str, Any]) -> Iterator[Piece]:
    """A request to the Messages API, in the order in which it is cached."""
    for tool in asked.get("tools") or []:
        yield _piece(tool, tool.get("cache_control"))
    system = asked.get("system") or []
    for block in [{"type": "text", "text": system}] if isinstance(system, str) else system:
        yield _piece(block, block.get("cache_control"))
    for message in asked.get("messages") or []:
        content = message.get("content") or []
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            yield _piece({**block, "role": message.get("role")}, block.get("cache_control"))


def items(asked: dict[str, Any]) -> Iterator[Piece]:
    """A request to the Responses or the Gemini API, which cache by themselves, wherever two requests begin alike."""
    yield _piece([asked.get("instructions"), asked.get("systemInstruction"), asked.get("tools")], {})
    for item in asked.get("input") or asked.get("contents") or []:
        yield _piece(item, {})


class Cache:
    """What earlier requests left behind."""

    def __init__(self) -> None:
        self._known: set[bytes] = set()

    def bill(self, model: str, parts: Iterator[Piece]) -> Used:
        """Count a prompt, and keep what it asked to be kept."""
        prefix = hashlib.sha256(model.encode()).digest()
        size = read = marked = 0
        hour = False
        fresh: set[bytes] = set()
        for part in parts:
            prefix = hashlib.sha256(prefix + part.digest).digest()
            size += part.size
            if prefix in self._known:
                read = size
            if part.mark:
                fresh.add(prefix)
                marked, hour = size, part.mark == "1h"
        self._known |= fresh
        read = min(read, marked)
        written = (marked - read) // CHARACTERS
        plain = tokens(size - marked)
        return Used(plain, read // CHARACTERS, 0 if hour else written, written if hour else 0)
