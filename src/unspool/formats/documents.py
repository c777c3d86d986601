"""Logs that are one JSON document instead of lines: web exports, event lists, bare arrays."""

import re
from typing import Any

import msgspec

from unspool.formats.decode import scrub
from unspool.model import Entry, Place

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


def entries(data: bytes) -> list[Entry] | None:
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
        found.append(_entry(raw, Place(line, offset, len(raw))))
        offset += len(raw)
    return found


def _entry(raw: bytes, place: Place) -> Entry:
    value: Any = _any.decode(raw)
    if isinstance(value, dict):
        scrub(value)
        return Entry(place, raw, value)
    return Entry(place, raw, None, f"not an object but {type(value).__name__}")
