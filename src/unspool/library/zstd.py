"""A zstd stream unpacked, that says so where its data ends early or breaks."""

import io
from typing import BinaryIO

import zstandard

_CHUNK = 1 << 17


class Unpacked(io.RawIOBase):
    """The plain bytes of a stream of one or more frames; EOFError where the last is not whole."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._rest = b""
        self._plain = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        while not self._plain:
            given = self._rest or self._packed.read(_CHUNK)
            self._rest = b""
            if not given:
                if self._frame is not None:
                    raise EOFError("the data ends in the middle of a frame")
                return 0
            self._plain = memoryview(self._unpack(given))
        size = min(len(into), len(self._plain))
        into[:size] = self._plain[:size]
        self._plain = self._plain[size:]
        return size

    def _unpack(self, given: bytes) -> bytes:
        self._frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
        try:
            plain = self._frame.decompress(given)
        except zstandard.ZstdError as error:
            raise EOFError(str(error)) from None
        if self._frame.eof:
            self._rest, self._frame = self._frame.unused_data, None
        return plain
