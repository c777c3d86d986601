"""The size of pictures, read from their first bytes, as the model's service limits it."""

import base64
import struct

import msgspec
import pytest

from tests.log_builder.prompts import make_png
from unspool.agents.claude_code.lint.block_rules import flaw_of_picture
from unspool.agents.claude_code.lint.field_types import BlockFields


def jpeg(width: int, height: int) -> bytes:
    """A preview, then the frame that tells the size."""
    preview = b"\xff\xe1" + struct.pack(">H", 4002) + bytes(4000)
    return b"\xff\xd8" + preview + b"\xff\xc2" + struct.pack(">HBHH", 11, 8, height, width) + bytes(6)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(3)


def webp_extended(width: int, height: int) -> bytes:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF" + bytes(4) + b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4) + sides


def webp_lossless(width: int, height: int) -> bytes:
    return b"RIFF" + bytes(4) + b"WEBPVP8L" + bytes(4) + b"\x2f" + struct.pack("<I", (height - 1) << 14 | (width - 1))


def webp_lossy(width: int, height: int) -> bytes:
    return b"RIFF" + bytes(4) + b"WEBPVP8 " + bytes(10) + struct.pack("<HH", width, height)


def grey(width: int, height: int) -> bytes:
    return make_png(width, height, bytes(width * height))


MAKERS = {
    "image/png": [grey],
    "image/jpeg": [jpeg],
    "image/gif": [gif],
    "image/webp": [webp_extended, webp_lossless, webp_lossy],
}
CASES = [(media, make) for media, makers in MAKERS.items() for make in makers]


def flaw(data: str, media: str, kind: str = "image") -> str:
    block = {"type": kind, "source": {"type": "base64", "media_type": media, "data": data}}
    found = flaw_of_picture(msgspec.json.decode(msgspec.json.encode(block), type=BlockFields))
    return found[0] if found else ""


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(("media", "make"), CASES)
def test_no_side_may_be_too_long(media: str, make: object) -> None:
    assert callable(make)
    assert flaw(encoded(make(8000, 3)), media) == ""
    assert flaw(encoded(make(8001, 3)), media) == "oversized-image"
    assert flaw(encoded(make(3, 9000)), media) == "oversized-image"


@pytest.mark.parametrize(("media", "make"), CASES)
def test_a_torn_picture_is_not_measured(media: str, make: object) -> None:
    assert callable(make)
    for size in range(1, 40):
        assert flaw(encoded(make(9, 9)[:size]), media) in ("", "bad-image")


def test_bytes_are_counted_as_base64() -> None:
    data = encoded(grey(2, 2) + bytes(3_933_000))
    fits = data[: 5 * 1024 * 1024]
    assert len(fits) == 5 * 1024 * 1024
    assert flaw(fits, "image/png") == ""
    assert flaw(fits + "AAAA", "image/png") == "oversized-image"


@pytest.mark.parametrize("data", ["", "a b", "AAAAA", "é"])
def test_what_is_no_base64_is_refused(data: str) -> None:
    assert flaw(data, "image/png") == "bad-image"
    assert flaw(data, "application/pdf", "document") == "bad-image"


def test_slashes_may_be_escaped() -> None:
    raw = b'{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"\\/9j\\/4AAQ"}}'
    assert flaw_of_picture(msgspec.json.decode(raw, type=BlockFields)) is None


@pytest.mark.parametrize(
    "source", [{"type": "url", "url": "https://example.org/x.png"}, {"type": "file", "file_id": "f"}]
)
def test_pictures_that_lie_elsewhere_are_not_looked_at(source: dict[str, str]) -> None:
    block = msgspec.json.encode({"type": "image", "source": source})
    assert flaw_of_picture(msgspec.json.decode(block, type=BlockFields)) is None
