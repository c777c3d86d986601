"""A picture to show to an agent: a red dot."""

import struct
import zlib

_SIDE = 8


def dot() -> bytes:
    """A PNG of eight by eight red points."""
    header = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    rows = (b"\0" + b"\xff\0\0" * _SIDE) * _SIDE
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
