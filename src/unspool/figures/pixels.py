"""The size of a picture in pixels, read from the first bytes of its data."""

import struct
from base64 import b64decode
from binascii import Error
from collections.abc import Callable

_HEAD = 96_000
"""Characters of base64 that are looked at: before its size, a photograph may hold a preview of itself."""
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def pixels(data: str) -> tuple[int, int]:
    """Width and height of a picture in base64; zeros where its data does not tell."""
    try:
        head = b64decode(data[:_HEAD].encode("ascii"))
        return next((size(head) for start, size in _SIZES if head.startswith(start)), (0, 0))
    except (Error, ValueError, struct.error, IndexError):
        return 0, 0


def _png(head: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", head, 16)
    return width, height


def _gif(head: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", head, 6)
    return width, height


def _jpeg(head: bytes) -> tuple[int, int]:
    at = 2
    while True:
        _, marker, length = struct.unpack_from(">BBH", head, at)
        if marker in _START_OF_FRAME:
            height, width = struct.unpack_from(">HH", head, at + 5)
            return width, height
        at += 2 + length


def _webp(head: bytes) -> tuple[int, int]:
    if head[12:16] == b"VP8X":
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    if head[12:16] == b"VP8L":
        (bits,) = struct.unpack_from("<I", head, 21)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack_from("<HH", head, 26)
    return width & 0x3FFF, height & 0x3FFF


_SIZES: tuple[tuple[bytes, Callable[[bytes], tuple[int, int]]], ...] = (
    (b"\x89PNG\r\n", _png),
    (b"GIF8", _gif),
    (b"\xff\xd8", _jpeg),
    (b"RIFF", _webp),
)
