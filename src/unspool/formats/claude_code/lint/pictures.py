"""Pictures as the model's service takes them: kind, size in bytes, size in pixels."""

import binascii
import struct
from collections.abc import Callable

from unspool.formats.claude_code.lint.shape import Block

LARGEST_BYTES = 5 * 1024 * 1024
"""Of base64, as the service counts."""
LARGEST_SIDE = 8000

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_HEAD = 96_000
"""Characters that are looked at: a photograph may hold a preview of itself before its size."""
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def flaw_of_picture(block: Block) -> tuple[str, str] | None:
    """(rule, sentence) where an image or document block would be refused."""
    source = block.source
    if source is None or source.type is None:
        return ("bad-image", "A picture has no source.") if block.type == "image" else None
    if source.type != "base64":
        return None
    raw = memoryview(source.data)
    data = bytes(raw[1:-1]).replace(b"\\/", b"/") if bytes(raw[:1]) == b'"' else b""
    if not data:
        return "bad-image", "A picture has no data."
    if data.rstrip(b"=").translate(None, _ALPHABET) or len(data) % 4 == 1:
        return "bad-image", "The data of a picture is no base64."
    return _flaw_of_image(data, source.media_type or "") if block.type == "image" else None


def _flaw_of_image(data: bytes, media: str) -> tuple[str, str] | None:
    if media not in _KINDS:
        return "bad-image", f"A picture is of the kind {media[:40] or 'unknown'}, which the model does not take."
    if len(data) > LARGEST_BYTES:
        return "oversized-image", f"A picture has {len(data):,} bytes; the model takes {LARGEST_BYTES:,}."
    head = binascii.a2b_base64(data[: min(_HEAD, len(data) - len(data) % 4)])
    real = next((kind for kind, (start, _) in _KINDS.items() if head.startswith(start)), "")
    if real and real != media:
        return "bad-image", f"A picture is called {media} and is {real}."
    width, height = _pixels(head, real)
    if max(width, height) > LARGEST_SIDE:
        return "oversized-image", f"A picture has {width} × {height} pixels; the model takes {LARGEST_SIDE} a side."
    return None


def _pixels(head: bytes, kind: str) -> tuple[int, int]:
    """Width and height; zeros where the data does not tell."""
    try:
        return _KINDS[kind][1](head) if kind else (0, 0)
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
        if marker in _FRAMES:
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


_KINDS: dict[str, tuple[bytes, Callable[[bytes], tuple[int, int]]]] = {
    "image/png": (b"\x89PNG\r\n", _png),
    "image/jpeg": (b"\xff\xd8", _jpeg),
    "image/gif": (b"GIF8", _gif),
    "image/webp": (b"RIFF", _webp),
}
