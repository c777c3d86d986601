"""The size of a picture in pixels, read from its first bytes."""

import struct
from collections.abc import Callable

HEAD = 96_000
"""Characters of base64 that are looked at: before its size, a photograph may hold a preview of itself."""
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def kind_of(head: bytes) -> str:
    """The media type that the first bytes of a picture tell; empty where they tell none that is known."""
    return next((kind for kind, (start, _) in KINDS.items() if head.startswith(start)), "")


def size_of(head: bytes) -> tuple[int, int]:
    """Width and height; zeros where the first bytes do not tell."""
    kind = kind_of(head)
    try:
        return KINDS[kind][1](head) if kind else (0, 0)
    except (struct.error, IndexError):
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


KINDS: dict[str, tuple[bytes, Callable[[bytes], tuple[int, int]]]] = {
    "image/png": (b"\x89PNG\r\n", _png),
    "image/jpeg": (b"\xff\xd8", _jpeg),
    "image/gif": (b"GIF8", _gif),
    "image/webp": (b"RIFF", _webp),
}
"""How pictures of each kind begin, and what tells their size."""
