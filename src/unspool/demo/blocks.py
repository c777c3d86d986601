"""Content blocks of a message: what the assistant says and what a person pastes."""

import base64
import struct
import zlib
from typing import Any

from unspool.demo.chain import Chain
from unspool.demo.usage import Fields

Block = Fields


class Blocks(Chain):
    """Makers of content blocks; they draw ids from the log they are made for."""

    def think(self, text: str = "") -> Block:
        """Reasoning; without text, only its signature, as most logs since 2.1.100 have it."""
        return {"type": "thinking", "thinking": text, "signature": self.ids.signature()}

    def redacted(self) -> Block:
        """Reasoning that the provider encrypted."""
        return {"type": "redacted_thinking", "data": self.ids.signature()}

    def text(self, text: str) -> Block:
        """Words of the assistant."""
        return {"type": "text", "text": text}

    def use(self, name: str, **arguments: Any) -> Block:
        """A tool call; hand it to `result` to answer it."""
        block: Block = {"type": "tool_use", "id": self.ids.tool(), "name": name, "input": arguments}
        return {**block, "caller": {"type": "direct"}} if self.since("2.1.80") else block

    def server_use(self, name: str, **arguments: Any) -> Block:
        """A tool the provider runs itself."""
        return {
            "type": "server_tool_use",
            "id": self.ids.tool().replace("toolu", "srvtoolu"),
            "name": name,
            "input": arguments,
        }

    def image(self, png: bytes, media_type: str = "image/png") -> Block:
        """A picture inside the log."""
        data = base64.b64encode(png).decode("ascii")
        return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def png(width: int, height: int, rows: bytes) -> bytes:
    """A greyscale PNG of those pixels, one byte each, row after row."""
    scanlines = b"".join(b"\0" + rows[at : at + width] for at in range(0, width * height, width))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(scanlines, 9)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
