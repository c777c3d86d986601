"""How contents are packed in the object store: zstd, gzip or not at all."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, cast

import zstandard

from unspool.hub.store.objects import CHUNK
from unspool.hub.trouble import Trouble

_LEVEL = 6


class Damaged(Trouble):
    """What was stored cannot be unpacked."""


def packed(data: bytes, encoding: str) -> bytes:
    """A content as it is stored."""
    if encoding == "zstd":
        return zstandard.ZstdCompressor(_LEVEL).compress(data)
    if encoding == "gzip":
        packer = zlib.compressobj(6, zlib.DEFLATED, 31)
        return packer.compress(data) + packer.flush()
    return data


def unpacked(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """A content as it was, from how it is stored, in pieces of bounded size; Damaged where it cannot be unpacked."""
    try:
        yield from _UNPACK[encoding](pieces)
    except (zlib.error, zstandard.ZstdError) as error:
        raise Damaged("A content is damaged in the object store.") from error


def _of_gzip(pieces: Iterable[bytes]) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(31)
    for piece in pieces:
        rest = piece
        while rest and not unpacker.eof:
            if made := unpacker.decompress(rest, CHUNK):
                yield made
            rest = unpacker.unconsumed_tail


def _of_zstd(pieces: Iterable[bytes]) -> Iterator[bytes]:
    source = cast("IO[bytes]", _Pieces(piece for piece in pieces if piece))
    yield from zstandard.ZstdDecompressor().read_to_iter(source, write_size=CHUNK)


class _Pieces:
    """Pieces, as one who reads from a file wants them."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = b""

    def read(self, size: int) -> bytes:
        """At most so many bytes, nothing at the end: more would be written past the end of the reader's memory."""
        held = self._left or next(self._pieces, b"")
        self._left = held[size:]
        return held[:size]


_UNPACK: dict[str, Callable[[Iterable[bytes]], Iterator[bytes]]] = {"": iter, "zstd": _of_zstd, "gzip": _of_gzip}
