"""Damaged lines, read as far as they can be.

Nothing raises and nothing is lost: what is no JSON object becomes an entry that says why, with its bytes.
"""

import json
import math
from collections.abc import Iterator

from unspool.model import Entry, Json, Place

BOM = b"\xef\xbb\xbf"
_TRIES = 64
"""How many places of a torn line are tried for the start of a whole object."""

_scan = json.JSONDecoder().raw_decode


def is_blank(raw: bytes) -> bool:
    return not raw or raw.isspace() or raw == BOM


def mended(raw: bytes, number: int, offset: int) -> Iterator[Entry]:
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
