"""The billed requests of a log, read as quickly as can be.

A line without the word "usage" as a key is never looked at; of one with it, only what is billed is decoded. A line
that does not have the usual shape is understood by the parser.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import msgspec
from msgspec.structs import replace

from unspool.agents.claude_code.line import SYNTHETIC, UsageRecord
from unspool.agents.claude_code.messages import billing_terms, parse_usage
from unspool.agents.lines import starts_document
from unspool.agents.values import moment
from unspool.model import BY_PLACE, Call

_BLOCK = 4 * 1024 * 1024
_HEAD = 4096
_KEY = b'"usage"'


class _BilledMessage(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    usage: UsageRecord | None = None
    stop_reason: str | None = None


class _BilledLine(msgspec.Struct):
    type: str | None = None
    uuid: str | None = None
    requestId: str | None = None  # noqa: N815  the log's own name
    timestamp: str | None = None
    message: _BilledMessage | None = None


_decode = msgspec.json.Decoder(_BilledLine).decode


class _Restart(Exception):
    """The log is one document, or a message is told by its place only, and its place is not known here."""


Understand = Callable[[BinaryIO], Iterator[Call]]
"""Gives the calls of lines that must be understood by the parser."""


def billed_calls(stream: BinaryIO, understand: Understand) -> Iterator[Call]:
    """A call for each line that was billed, as `Ledger.add` takes them; copies of one request may follow one another.

    The key is the message's id and the request's, with a colon between. The stream must stand at its start.
    """
    block = stream.read(_BLOCK)
    try:
        yield from _quickly(block, stream, understand)
    except _Restart:
        stream.seek(0)
        yield from understand(stream)


def _quickly(block: bytes, stream: BinaryIO, understand: Understand) -> Iterator[Call]:
    if starts_document(block[:_HEAD]):
        raise _Restart
    last: _BilledLine | None = None
    for lines in _whole_lines(block, stream):
        for raw in _with_usage(lines):
            try:
                line = _decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                yield from _unusual(bytes(raw), understand)
                continue
            if line.type != "assistant" or _repeats(line, last):
                continue
            last = line
            yield from _calls(line, raw, understand)


def _whole_lines(block: bytes, stream: BinaryIO) -> Iterator[bytes]:
    """The log in pieces that end with a line."""
    begun: list[bytes] = []
    while block:
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join((*begun, block[:end])) if begun else block[:end]
            begun.clear()
        begun.append(block[end:])
        block = stream.read(_BLOCK)
    yield b"".join(begun)


def _with_usage(lines: bytes) -> Iterator[memoryview]:
    view, end = memoryview(lines), 0
    found = lines.find(_KEY)
    while found >= 0:
        start = lines.rfind(b"\n", end, found) + 1 or end
        end = lines.find(b"\n", found)
        end = end if end >= 0 else len(lines)
        yield view[start:end]
        found = lines.find(_KEY, end)


def _repeats(line: _BilledLine, last: _BilledLine | None) -> bool:
    """Whether a line says nothing of its request that the line before has not said earlier."""
    if last is None or line.message != last.message or line.requestId != last.requestId:
        return False
    now, before = line.timestamp or "", last.timestamp or ""
    alike = len(now) == len(before) and now.endswith("Z") and before.endswith("Z")
    return alike and now >= before and line.message is not None and bool(line.message.id)


def _calls(line: _BilledLine, raw: memoryview, understand: Understand) -> Iterable[Call]:
    """The call of a line, if it was billed."""
    message = line.message
    if message is None or message.usage is None or message.model == SYNTHETIC:
        return ()
    identity = message.id or line.uuid
    if not identity:
        return _unusual(bytes(raw), understand)
    used = replace(parse_usage(message.usage), floor=not message.stop_reason)
    key = f"{identity}:{line.requestId or ''}"
    return (Call(key, message.model or "", used, moment(line.timestamp), *billing_terms(message.usage)),)


def _unusual(raw: bytes, understand: Understand) -> Iterator[Call]:
    """What the parser makes of a line of which only its bytes are known."""
    for call in understand(io.BytesIO(raw)):
        if call.key.startswith(BY_PLACE):
            raise _Restart
        yield call
