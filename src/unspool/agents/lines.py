"""Bytes of a log to entries: lines, documents, and damaged lines read as far as they go."""

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from unspool.agents.base import Decoder
from unspool.model import Entry, Json, Place

BOM = b"\xef\xbb\xbf"
_TRIES = 64
"""How many places of a torn line are tried for the start of a whole object."""

_scan = json.JSONDecoder().raw_decode


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
        return None, len(text), f"not JSON: {error.msg} at character {error.pos}"
    except ValueError as error:
        return None, len(text), f"not JSON: {error}"
    if not isinstance(value, dict):
        return None, len(text), f"not an object but {type(value).__name__}"
    scrub(value)
    return value, end, ""


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


class Lines:
    """The entries of a stream, line by line. `blank`, `size` and `cursor` are right once the last one was taken."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self.blank = 0
        self.size = 0
        self.cursor = Cursor()

    def entries(self, stream: Iterable[bytes], start: Cursor) -> Iterator[Entry]:
        """Every value of every line of a stream that stands at `start`; blank lines are counted only."""
        decode = self._decoder.decode
        offset, number = self.cursor = start
        size = offset
        for raw in stream:
            size += len(raw)
            try:
                data = decode(raw)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                data = None
            if isinstance(data, dict):
                yield Entry(Place(number, offset, len(raw)), raw, data)
            elif is_blank(raw):
                self.blank += 1
            else:
                yield from recover_entries(raw, number, offset)
            if not raw.endswith(b"\n"):
                break  # an unfinished line is read again
            offset = size
            number += 1
        self.size, self.cursor = size, Cursor(offset, number)


_HOLDERS = ("loglines", "data", "events", "messages")
"""Keys under which exports keep their entries."""


class _Event(msgspec.Struct):
    payload: msgspec.Raw = msgspec.Raw(b"null")


_parts = msgspec.json.Decoder(dict[str, msgspec.Raw])
_list = msgspec.json.Decoder(list[msgspec.Raw])
_event = msgspec.json.Decoder(_Event)
_any = msgspec.json.Decoder()


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
        found.append(_entry_documents(raw, Place(line, offset, len(raw))))
        offset += len(raw)
    return found


def _entry_documents(raw: bytes, place: Place) -> Entry:
    value: Any = _any.decode(raw)
    if isinstance(value, dict):
        scrub(value)
        return Entry(place, raw, value)
    return Entry(place, raw, None, f"not an object but {type(value).__name__}")
