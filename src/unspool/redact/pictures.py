"""Pictures in base64 without what cameras and programs write beside the pixels: places, names, comments.

Only the parts that hold no pixels and no colours go; the picture looks as before.
"""

import binascii
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_DATA = re.compile(r"data:image/[a-z+.-]{2,20};base64,")
_PNG_TOLD = {b"tEXt", b"zTXt", b"iTXt", b"eXIf", b"tIME"}
_WEBP_TOLD = {b"EXIF", b"XMP "}
_JPEG_KEPT = {0xE0, 0xE2, 0xEE}
"""Segments of applications that say how to read the pixels: JFIF, colour profile, Adobe."""


class Bare(NamedTuple):
    """A picture in base64, and what was taken from it."""

    text: str
    told: bytes


def bare(text: str) -> Bare | None:
    """The picture that a text is, without what it tells; None where it is no picture, or a broken one."""
    if text[:1] not in _FIRST:
        return None
    start = found.end() if (found := _DATA.match(text)) else 0
    strip = next((strip for magic, strip in _KINDS if text.startswith(magic, start)), None)
    if strip is None:
        return None
    try:
        data = binascii.a2b_base64(text[start:], strict_mode=True)
        kept, told = strip(data)
    except (ValueError, IndexError):  # binascii.Error is a ValueError
        return None
    if not told:
        return Bare(text, b"")
    return Bare(text[:start] + binascii.b2a_base64(kept, newline=False).decode("ascii"), told)


def _parted(parts: Iterator[tuple[bool, bytes]]) -> tuple[bytes, bytes]:
    kept: list[bytes] = []
    told: list[bytes] = []
    for tells, part in parts:
        (told if tells else kept).append(part)
    return b"".join(kept), b"".join(told)


def _png(data: bytes) -> tuple[bytes, bytes]:
    def parts() -> Iterator[tuple[bool, bytes]]:
        yield False, data[:8]
        at, kind = 8, b""
        while at < len(data) and kind != b"IEND":
            kind = data[at + 4 : at + 8]
            end = at + 12 + int.from_bytes(data[at : at + 4], "big")
            if end > len(data):
                raise ValueError("a chunk ends after the file")
            yield kind in _PNG_TOLD, data[at:end]
            at = end
        yield True, data[at:]  # what follows the end is no pixels

    return _parted(parts())


def _jpeg(data: bytes) -> tuple[bytes, bytes]:
    def parts() -> Iterator[tuple[bool, bytes]]:
        yield False, data[:2]
        at = 2
        while data[at] == 0xFF and data[at + 1] != 0xDA:
            end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
            if end > len(data) or end < at + 4:
                raise ValueError("a segment ends after the file")
            mark = data[at + 1]
            yield mark == 0xFE or (0xE0 <= mark <= 0xEF and mark not in _JPEG_KEPT), data[at:end]
            at = end
        yield False, data[at:]

    return _parted(parts())


def _webp(data: bytes) -> tuple[bytes, bytes]:
    if data[8:12] != b"WEBP":
        raise ValueError("no picture")

    def parts() -> Iterator[tuple[bool, bytes]]:
        at = 12
        while at < len(data):
            size = int.from_bytes(data[at + 4 : at + 8], "little")
            end = at + 8 + size + size % 2
            yield data[at : at + 4] in _WEBP_TOLD, data[at:end]
            at = end

    kept, told = _parted(parts())
    return b"RIFF" + (len(kept) + 4).to_bytes(4, "little") + b"WEBP" + kept, told


_KINDS: tuple[tuple[str, Callable[[bytes], tuple[bytes, bytes]]], ...] = (
    ("iVBORw0KGgo", _png),
    ("/9j/", _jpeg),
    ("UklGR", _webp),
)
"""How the base64 of each kind begins, and what bares it."""
_FIRST = frozenset({"d", *(magic[0] for magic, _ in _KINDS)})
"""What a picture begins with, or its address."""
