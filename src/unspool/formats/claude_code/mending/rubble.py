"""Bytes that are no lines, made lines as far as they can be read."""

import json
from collections.abc import Iterable, Iterator

from unspool.formats.claude_code.lint.reading import objects
from unspool.formats.claude_code.lint.taming import tamed
from unspool.formats.claude_code.mending.rows import Cleared, Row, encoded
from unspool.formats.findings import Deed

_BOM = b"\xef\xbb\xbf"
_TRIES = 64
"""Places of a torn line that are tried for the start of a whole one."""


def cleared(lines: Iterable[bytes]) -> Cleared:
    """Lines that can all be read; those that could be before are the same bytes."""
    found = Cleared()
    for number, raw in enumerate(lines, 1):
        found.rows.extend(Row(number, line) for line in _readable(raw, number, found.deeds))
    return found


def _readable(raw: bytes, number: int, deeds: list[Deed]) -> Iterator[bytes]:
    body = _text(raw, number, deeds)
    if not body.strip():
        return
    value = _value(body)
    if isinstance(value, dict):
        yield _typed(_ended(body, number, deeds), value, number, deeds)
    elif value is not None:
        deeds.append(Deed("bad-json-type", number, "The line was no object, and was taken out.", lost=raw))
    else:
        yield from _parts(body, raw, number, deeds)


def _value(body: bytes) -> object:
    try:
        return json.loads(body, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None


def _refused(name: str) -> None:
    raise ValueError(name)


def _text(raw: bytes, number: int, deeds: list[Deed]) -> bytes:
    """The line without what no text has: bytes that are no UTF-8, a byte-order mark, NULs."""
    if number == 1 and raw.startswith(_BOM):
        deeds.append(Deed("byte-order-mark", number, "The byte-order mark was taken off."))
        raw = raw[len(_BOM) :]
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        deeds.append(Deed("not-utf8", number, f"Bytes that are no text became “�”, the first at {error.start}."))
        raw = raw.decode(errors="replace").encode()
    if b"\0" in raw:
        deeds.append(Deed("nul-bytes", number, f"{raw.count(0):,} NUL bytes were taken out."))
        raw = raw.replace(b"\0", b"")
    return raw


def _ended(raw: bytes, number: int, deeds: list[Deed]) -> bytes:
    if raw.endswith(b"\n"):
        return raw
    deeds.append(Deed("no-newline", number, "The last line was given its end."))
    return raw + b"\n"


def _typed(body: bytes, value: dict[str, object], number: int, deeds: list[Deed]) -> bytes:
    wrong = tamed(value)
    if not wrong:
        return _whole_characters(body, value, number, deeds)
    deeds.append(Deed("bad-json-type", number, f"Of a type that they never have, and taken out: {', '.join(wrong)}."))
    return encoded(value)


def _whole_characters(body: bytes, value: dict[str, object], number: int, deeds: list[Deed]) -> bytes:
    if b"\\ud" not in body.lower():
        return body
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        deeds.append(Deed("lone-surrogate", number, "Halves of characters became “�”."))
        return encoded(value)
    return body


def _parts(body: bytes, raw: bytes, number: int, deeds: list[Deed]) -> Iterator[bytes]:
    """Lines that were glued together, or the whole one behind a torn one."""
    text = body.decode().strip()
    found = objects(text)
    if found:
        deeds.append(Deed("glued-lines", number, f"{len(found)} lines that were glued together were parted."))
    else:
        found, lost = _salvaged(text)
        what = "its whole rest is a line again" if found else "it was taken out"
        deeds.append(Deed("torn-line", number, f"The line was torn; {what}.", lost=lost.encode() if found else raw))
    for value in found:
        tamed(value)
        yield encoded(value)


def _salvaged(text: str) -> tuple[list[dict[str, object]], str]:
    """The whole lines at the end, or at the beginning, of a torn text; and the rest."""
    at = 0
    for _ in range(_TRIES):
        at = text.find('{"', at + 1)
        if at < 0:
            break
        found = objects(text[at:])
        if found and all("type" in value for value in found):
            return list(found), text[:at]
    return _leading(text)


def _leading(text: str) -> tuple[list[dict[str, object]], str]:
    found: list[dict[str, object]] = []
    at = 0
    decoder = json.JSONDecoder()
    while at < len(text):
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        if not isinstance(value, dict) or "type" not in value:
            break
        found.append(value)
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return found, text[at:]
