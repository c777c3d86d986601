"""Bytes of a log to entries and events: lines, documents, and damaged lines read as far as they go."""

import io
import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, BinaryIO, NamedTuple, Protocol

import msgspec

from unspool.model import Entry, Event, Facts, Json, Place, Problem

BOM = b"\xef\xbb\xbf"
_TRIES = 64
"""How many places of a torn line are tried for the start of a whole object."""

_DIGITS = 300
"""From so many digits on a whole number is beyond what a float holds, or nearly."""

_CALLED = {
    type(None): "null", bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list",
}  # fmt: skip
_scan = json.JSONDecoder().raw_decode
_decode = msgspec.json.Decoder().decode


def is_blank(raw: bytes) -> bool:
    return not raw or raw.isspace() or raw == BOM


def recover_entries(raw: bytes, number: int, offset: int) -> Iterator[Entry]:
    """What can be read of a line that is no JSON object: its values, and the rubble with what is wrong with it."""
    body, why = _trimmed(raw)
    if not body:
        if not is_blank(raw):
            yield _entry((raw, number, offset), (0, len(raw)), None, "only NUL bytes")
        return
    text, why = _text(body, why)
    found = list(_values(text))
    if len(found) == 1:
        _, _, value, problem = found[0]
        yield _entry((raw, number, offset), (0, len(raw)), value, problem or why or "read after a repair")
        return
    at, read = raw.find(body), 0
    for start, end, value, problem in found:
        at += _bytes(text[read:start])
        size = _bytes(text[start:end])
        yield _entry((raw, number, offset), (at, size), value, problem or why)
        at, read = at + size, end


def _bytes(text: str) -> int:
    return len(text.encode(errors="surrogateescape"))


def _trimmed(raw: bytes) -> tuple[bytes, str]:
    """The line without byte-order mark, NUL bytes and white space around it, and what was taken off."""
    body = raw.strip(b" \t\r\n")
    why = ""
    if body.startswith(BOM):
        body, why = body[len(BOM) :], "byte-order mark"
    whole = body.strip(b"\0 \t\r\n")
    return whole, "NUL bytes around it" if len(whole) != len(body) else why


def _text(body: bytes, why: str) -> tuple[str, str]:
    try:
        return body.decode(), why
    except UnicodeDecodeError as error:
        # Bytes that are no UTF-8 stay countable until the places are known; `scrub` makes them U+FFFD.
        return body.decode(errors="surrogateescape"), f"not UTF-8 at byte {error.start}"


def _values(text: str) -> Iterator[tuple[int, int, Json | None, str]]:
    """Cut a line into (start, end, value, problem): whole JSON values and the rubble between them."""
    at = _skip(text, 0)
    while at < len(text):
        value, end, why = _value(text, at)
        if why:
            end = _resume(text, at)
        yield at, end, value, why
        at = _skip(text, end)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n\0":
        at += 1
    return at


def _value(text: str, at: int) -> tuple[Json | None, int, str]:
    try:
        value, end = _scan(text, at)
    except RecursionError:
        return None, len(text), "nested too deeply"
    except json.JSONDecodeError as error:
        return None, len(text), f"not JSON: {error.msg.removesuffix(' at')} at character {error.pos}"
    except ValueError as error:
        return None, len(text), f"not JSON: {error}"
    if not isinstance(value, dict):
        return None, len(text), _no_object(value)
    scrub(value)
    return value, end, ""


def _no_object(value: Json) -> str:
    return f"not an object but {_CALLED[type(value)]}"


def _resume(text: str, start: int) -> int:
    """Where after a torn start a whole object stands that reaches to the end of the line; else the end."""
    at = start
    for _ in range(_TRIES):
        at = text.find('{"', at + 1)
        if at < 0:
            break
        try:
            value, end = _scan(text, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and "type" in value and _skip(text, end) >= len(text):
            return at
    return len(text)


def _entry(line: tuple[bytes, int, int], span: tuple[int, int], data: Json | None, why: str) -> Entry:
    (raw, number, offset), (start, size) = line, span
    return Entry(Place(number, offset + start, size), raw[start : start + size], data, why)


def sound_value(raw: bytes) -> Any:
    """What a piece of JSON says; a number beyond what can be held is None, as `scrub` makes it."""
    try:
        return _decode(raw)
    except msgspec.ValidationError:
        held = [json.loads(bytes(raw), parse_int=lambda digits: int(digits) if len(digits) < _DIGITS else None)]
        scrub(held)
        return held[0]


def scrub(value: Json) -> None:
    """Replace in place what no encoder takes: lone surrogates, endless numbers, integers beyond 64 bits."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        pairs = list(item.items()) if isinstance(item, dict) else list(enumerate(item))
        for key, inner in pairs:
            if isinstance(inner, dict | list):
                waiting.append(inner)
            else:
                item[key] = _plain(inner)
        if isinstance(item, dict):
            for key in [key for key in item if not key.isascii() and key != _plain(key)]:
                item[_plain(key)] = item.pop(key)


def _plain(value: Json) -> Json:
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return float(value) if abs(value) < 10**300 else None
    return value


class Cursor(NamedTuple):
    """Where the next read begins: everything before it was read and ended in a newline."""

    offset: int = 0
    line: int = 1


class LineParser(Protocol):
    """Understands the lines of one log, in order."""

    facts: Facts

    def event(self, entry: Entry) -> Event:
        """The event of any line."""

    def usual(self, raw: bytes, place: Place) -> Event | None:
        """The event of a line that is as most are, made quicker than from its plain data; None for any other."""


class PlainParser(ABC):
    """Understands lines from their plain data. What an agent adds is `line`."""

    def __init__(self) -> None:
        self.facts = Facts()

    def usual(self, raw: bytes, place: Place) -> Event | None:
        return None

    def event(self, entry: Entry) -> Event:
        place = entry.place
        if entry.data is None:
            return Event("problem", place, problem=Problem(place, entry.problem, entry.raw))
        event = self.line(entry.data, place)
        if entry.problem:
            event.problem = Problem(place, entry.problem, entry.raw, mended=True)
        return event

    @abstractmethod
    def line(self, data: dict[str, Json], place: Place) -> Event:
        """The event of a line; what it says of its session goes into `facts`."""

    def note_time(self, time: datetime | None) -> None:
        """A session lasts from its first line to its last."""
        widen_span(self.facts, time)


def widen_span(facts: Facts, time: datetime | None) -> None:
    """Let a session last from its earliest time to its latest."""
    if time is not None:
        if facts.started is None or time < facts.started:
            facts.started = time
        if facts.ended is None or time > facts.ended:
            facts.ended = time


class LogEvents:
    """The events of one log in order, read as they are taken from it; an agent whose logs are no lines has another.

    `facts` grow on the way; `blank`, `size` and `cursor` are right once the last one was taken.
    """

    def __init__(self, parser: LineParser, stream: BinaryIO, start: Cursor | None = None) -> None:
        self._parser, self._stream = parser, stream
        self.facts = parser.facts
        self.blank = 0
        self.cursor = start or Cursor()
        self.size = self.cursor.offset
        self.is_document = False
        """Whether what was read was one document instead of lines."""

    def __iter__(self) -> Iterator[Event]:
        stream: Iterable[bytes] = self._stream
        if self.cursor.offset == 0 and _may_be_document(self._stream):
            data = self._stream.read()
            found = document_entries(data)
            if found is not None:
                self.is_document, self.size = True, len(data)
                return map(self._parser.event, found)
            stream = io.BytesIO(data)
        return self._lines(stream)

    def more(self, stream: BinaryIO) -> list[Event]:
        """What came since the last line was taken, of a stream that stands at `cursor`; whole lines only."""
        return list(self._lines(line for line in stream if line.endswith(b"\n")))

    def _lines(self, stream: Iterable[bytes]) -> Iterator[Event]:
        usual, understand = self._parser.usual, self._parser.event
        offset, number = self.cursor
        end = offset
        for raw in stream:
            end += len(raw)
            event = usual(raw, Place(number, offset, len(raw)))
            if event is not None:
                yield event
            elif is_blank(raw):
                self.blank += 1
            else:
                yield from map(understand, line_entries(raw, number, offset))
            if not raw.endswith(b"\n"):
                break  # an unfinished line is read again
            offset = end
            number += 1
        self.size, self.cursor = end, Cursor(offset, number)


_HEAD = 4096


def _may_be_document(stream: BinaryIO) -> bool:
    """Whether the stream begins like one JSON document; nothing of it is consumed."""
    return isinstance(stream, io.BufferedReader) and starts_document(stream.peek(_HEAD)[:_HEAD])


def line_entries(
    raw: bytes, number: int = 1, offset: int = 0, decode: Callable[[bytes], Any] = _decode
) -> Iterator[Entry]:
    """What one line holds: an object, or as much as can be read of it."""
    try:
        data = decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        data = None
    if isinstance(data, dict):
        yield Entry(Place(number, offset, len(raw)), raw, data)
    elif not is_blank(raw):
        yield from recover_entries(raw, number, offset)


def read_entries(stream: Iterable[bytes], start: Cursor | None = None) -> Iterator[Entry]:
    """The entries of a file of JSON lines; a log that is one document is taken apart."""
    offset, number = start or Cursor()
    if isinstance(stream, io.BufferedReader) and offset == 0 and _may_be_document(stream):
        data = stream.read()
        found = document_entries(data)
        if found is not None:
            yield from found
            return
        stream = io.BytesIO(data)
    for raw in stream:
        yield from line_entries(raw, number, offset)
        offset += len(raw)
        number += 1


_HOLDERS = ("loglines", "data", "events", "messages")
"""Keys under which exports keep their entries."""


class _Event(msgspec.Struct):
    payload: msgspec.Raw = msgspec.Raw(b"null")


_parts = msgspec.json.Decoder(dict[str, msgspec.Raw])
_list = msgspec.json.Decoder(list[msgspec.Raw])
_event = msgspec.json.Decoder(_Event)


def starts_document(head: bytes) -> bool:
    """Whether the first bytes of a log look like a document rather than a line."""
    body = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if body.startswith(b"[") or re.match(rb"\{\s*\n", body):
        return True
    first = re.match(rb'\{\s*"(?:data|events|messages|has_more|next_cursor|first_id|last_id)"\s*:', body)
    return first is not None or re.search(rb'"loglines"\s*:\s*\[', body) is not None


def document_entries(data: bytes) -> list[Entry] | None:
    """The entries of a document, each with its exact bytes and place; None where it is none."""
    try:
        items = _items(data)
        return _entries(data, items) if items is not None else None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _items(data: bytes) -> list[msgspec.Raw] | None:
    body = data.removeprefix(b"\xef\xbb\xbf")
    if body.lstrip().startswith(b"["):
        return _list.decode(body)
    parts = _parts.decode(body)
    for key in _HOLDERS:
        if key in parts and bytes(parts[key]).lstrip().startswith(b"["):
            return [_payload(item) for item in _list.decode(bytes(parts[key]))]
    return None


def _payload(item: msgspec.Raw) -> msgspec.Raw:
    """The entry inside an event of the newer export; the item itself in the older."""
    try:
        inner = _event.decode(bytes(item)).payload
    except msgspec.ValidationError:
        return item
    return inner if bytes(inner).strip() != b"null" else item


def _entries(data: bytes, items: list[msgspec.Raw]) -> list[Entry]:
    found = []
    offset, line, counted = 0, 1, 0
    for item in items:
        raw = bytes(item)
        offset = data.find(raw, offset)
        line += data.count(b"\n", counted, offset)
        counted = offset
        found.append(_document_entry(raw, Place(line, offset, len(raw))))
        offset += len(raw)
    return found


def _document_entry(raw: bytes, place: Place) -> Entry:
    value: Any = _decode(raw)
    if isinstance(value, dict):
        scrub(value)
        return Entry(place, raw, value)
    return Entry(place, raw, None, _no_object(value))
