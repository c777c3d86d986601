"""What is billed: the usage of a request, and the billed requests of a log, read as quickly as can be.

A line without the word "assistant" is never looked at; of one with it, only what is billed is decoded. A line that
does not have the usual shape is understood by the parser.
"""

import io
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from typing import BinaryIO, cast

import msgspec

from unspool.agents.claude_code.line import SYNTHETIC, IterationRecord, UsageRecord
from unspool.agents.lines import starts_document
from unspool.agents.values import moment
from unspool.model import BY_PLACE, Call, Usage

_BLOCK = 512 * 1024
_HEAD = 4096
_ANSWER = b'"assistant"'
"""What every line says that is billed, and few others."""


_ADVICE = "advisor_message"


def parse_usage(record: UsageRecord | IterationRecord, *, floor: bool = False) -> Usage:
    """The tokens of a request, or of one pass of it; `floor` where these figures are not the last."""
    lives = record.cache_creation
    written, hour = record.cache_creation_input_tokens or 0, 0
    if lives is not None:
        hour = lives.ephemeral_1h_input_tokens or 0
        # Versions before 2.1.152 left the flat figure at 0 where the API filled only the nested one.
        nested = hour + (lives.ephemeral_5m_input_tokens or 0)
        written = nested if nested > written else written
    server = None
    if isinstance(record, UsageRecord):
        server = record.server_tool_use
        if record.iterations and written:
            # Of a request of several passes the lifetimes may be the first pass's only.
            passes = [one.cache_creation for one in record.iterations if one.type != _ADVICE]
            hour = max(hour, min(written, sum(one.ephemeral_1h_input_tokens or 0 for one in passes if one is not None)))
    return Usage(
        record.input_tokens or 0,
        record.output_tokens or 0,
        record.cache_read_input_tokens or 0,
        written,
        hour,
        server.web_search_requests or 0 if server is not None else 0,
        server.web_fetch_requests or 0 if server is not None else 0,
        floor=floor,
    )


def advisor_calls(record: UsageRecord, message: str, request: str, time: datetime | None) -> tuple[Call, ...]:
    """The requests of advisors that a message asked: the message's own figures do not hold them."""
    asked = [one for one in record.iterations if one.type == _ADVICE] if record.iterations else ()
    if not asked:
        return ()
    _, tier, geo = billing_terms(record)
    return tuple(
        Call(f"{message}+{number}:{request}", one.model or "", parse_usage(one), time, "", tier, geo)
        for number, one in enumerate(asked, 1)
    )


def billing_terms(record: UsageRecord) -> tuple[str, str, str]:
    """(speed, tier, geography) where they change the price; empty for the standard."""
    speed, tier, geo = record.speed, record.service_tier, record.inference_geo
    return (
        "" if speed is None or speed == "standard" else speed,
        "" if tier is None or tier == "standard" else tier,
        "" if geo is None or geo in ("not_available", "global") else geo,
    )


class _BilledMessage(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    usage: UsageRecord | None = None
    stop_reason: str | None = None


class _Progress(msgspec.Struct):
    agentId: str | None = None  # noqa: N815  the log's own name
    message: "_BilledLine | None" = None


class _BilledLine(msgspec.Struct):
    type: str | None = None
    uuid: str | None = None
    requestId: str | None = None  # noqa: N815  the log's own name
    timestamp: str | None = None
    message: _BilledMessage | None = None
    data: _Progress | None = None
    """Of a line that repeats a subagent's: that line."""

    def billed(self, logged: Collection[str]) -> "_BilledLine | None":
        """The assistant's line that it is, or that it repeats of a subagent without a log of its own."""
        if self.type == "assistant":
            return self
        if self.type != "progress" or self.data is None or not self.data.agentId or self.data.agentId in logged:
            return None
        nested = self.data.message
        if nested is None or nested.type != "assistant":
            return None
        nested.timestamp = nested.timestamp or self.timestamp
        return nested


_decode = msgspec.json.Decoder(_BilledLine).decode


class _Restart(Exception):
    """The log is one document, or a message is told by its place only, and its place is not known here."""


Understand = Callable[[BinaryIO], Iterator[Call]]
"""Gives the calls of lines that must be understood by the parser."""


def billed_calls(stream: BinaryIO, understand: Understand, logged: Collection[str] = ()) -> Iterator[Call]:
    """A call for each line that was billed, as `Ledger.add` takes them; copies of one request may follow one another.

    The key is the message's id and the request's, with a colon between. The stream must stand at its start. `logged`
    are the subagents that have a log of their own.
    """
    try:
        yield from _quickly(stream, understand, logged)
    except _Restart:
        stream.seek(0)
        yield from understand(stream)


def _quickly(stream: BinaryIO, understand: Understand, logged: Collection[str]) -> Iterator[Call]:
    last: _BilledLine | None = None
    for lines, end in _whole_lines(stream):
        for raw in _answers(lines, end):
            try:
                line = _decode(raw).billed(logged)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                yield from _unusual(bytes(raw), understand)
                continue
            if line is None or _repeats(line, last):
                continue
            last, message = line, line.message
            if message is None or (record := message.usage) is None or message.model == SYNTHETIC:
                continue
            identity, request = message.id or line.uuid, line.requestId or ""
            if not identity:
                yield from _unusual(bytes(raw), understand)
                continue
            used, time = parse_usage(record, floor=not message.stop_reason), moment(line.timestamp)
            yield Call(f"{identity}:{request}", message.model or "", used, time, *billing_terms(record))
            if record.iterations:
                yield from advisor_calls(record, identity, request, time)


def _whole_lines(stream: BinaryIO) -> Iterator[tuple[bytearray, int]]:
    """The log in pieces, each with where its last whole line ends. A piece holds only until the next is asked for: all
    are read into the same memory, what follows the last whole line again at its beginning."""
    piece, kept, begun = bytearray(_BLOCK), 0, False
    while size := cast("io.BufferedReader", stream).readinto(memoryview(piece)[kept:]):
        filled = kept + size
        if not begun and starts_document(bytes(piece[: min(_HEAD, filled)])):
            raise _Restart
        begun, end = True, piece.rfind(b"\n", kept, filled) + 1
        if end:
            yield piece, end
            piece[: filled - end] = piece[end:filled]
        kept = filled - end
        if kept > len(piece) // 2:  # a long line
            piece = piece[:kept] + bytearray(2 * len(piece) - kept)
    yield piece, kept


def _answers(lines: bytearray, stop: int) -> Iterator[memoryview]:
    """The lines that may be an answer of a model."""
    view, end = memoryview(lines), 0
    while (found := lines.find(_ANSWER, end, stop)) >= 0:
        start = lines.rfind(b"\n", end, found) + 1 or end
        end = lines.find(b"\n", found, stop)
        end = end if end >= 0 else stop
        yield view[start:end]


def _repeats(line: _BilledLine, last: _BilledLine | None) -> bool:
    """Whether a line says nothing of its request that the line before has not said earlier."""
    if last is None or line.message != last.message or line.requestId != last.requestId:
        return False
    now, before = line.timestamp or "", last.timestamp or ""
    alike = len(now) == len(before) and now.endswith("Z") and before.endswith("Z")
    return alike and now >= before and line.message is not None and bool(line.message.id)


def _unusual(raw: bytes, understand: Understand) -> Iterator[Call]:
    """What the parser makes of a line of which only its bytes are known."""
    for call in understand(io.BytesIO(raw)):
        if call.key.startswith(BY_PLACE):
            raise _Restart
        yield call
