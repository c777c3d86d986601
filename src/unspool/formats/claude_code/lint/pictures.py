"""Pictures as the model's service takes them: kind, size in bytes, size in pixels."""

import binascii

from unspool.formats.claude_code.lint.shape import Block
from unspool.formats.pixels import HEAD, KINDS, kind_of, size_of

LARGEST_BYTES = 5 * 1024 * 1024
"""Of base64, as the service counts."""
LARGEST_SIDE = 8000

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


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
    if media not in KINDS:
        return "bad-image", f"A picture is of the kind {media[:40] or 'unknown'}, which the model does not take."
    if len(data) > LARGEST_BYTES:
        return "oversized-image", f"A picture has {len(data):,} bytes; the model takes {LARGEST_BYTES:,}."
    head = binascii.a2b_base64(data[: min(HEAD, len(data) - len(data) % 4)])
    real = kind_of(head)
    if real and real != media:
        return "bad-image", f"A picture is called {media} and is {real}."
    width, height = size_of(head)
    if max(width, height) > LARGEST_SIDE:
        return "oversized-image", f"A picture has {width} × {height} pixels; the model takes {LARGEST_SIDE} a side."
    return None
