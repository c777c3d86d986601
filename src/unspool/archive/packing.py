"""Packs: bytes of many files, compressed together."""

from typing import NamedTuple

import zstandard

PACK = 8 * 1024 * 1024
"""Most bytes of one pack, unpacked. Larger ones are smaller in sum and slower to read from."""
_LEVEL = 3
_WINDOW = 24
"""Of 2^24 bytes: a pack and its base."""
_HASH = 20
"""Of 2^20 entries: the usual table of this level forgets what was said a megabyte ago."""
_LARGEST_WINDOW = 1 << 27

Damaged = zstandard.ZstdError
"""What unpacking raises where the bytes are not what was packed."""


class Pack(NamedTuple):
    """A row of the archive."""

    id: int
    size: int
    base: int | None
    data: bytes


def packed(raw: bytes, base: bytes | None = None) -> bytes:
    """The bytes compressed, against `base` where one is given."""
    parameters = zstandard.ZstdCompressionParameters.from_level(
        _LEVEL, window_log=_WINDOW, hash_log=_HASH, enable_ldm=base is not None, write_checksum=True
    )
    return zstandard.ZstdCompressor(dict_data=_dictionary(base), compression_params=parameters).compress(raw)


def unpacked(data: bytes, size: int, base: bytes | None = None) -> bytes:
    """The bytes again; raises `Damaged` where they are not `size` bytes as they were packed."""
    if not 0 < size <= PACK or zstandard.frame_content_size(data) != size:  # else a few bytes could fill the memory
        raise Damaged("the size of the pack is wrong")
    raw = unpacker(base).decompress(data)
    if len(raw) != size:
        raise Damaged("the size of the pack is wrong")
    return raw


def begun(data: bytes, upto: int, base: bytes | None = None) -> bytes:
    """The first bytes of a pack, `upto` of them where it has as many."""
    with unpacker(base).stream_reader(data) as stream:
        return stream.read(upto)


def unpacker(base: bytes | None = None) -> zstandard.ZstdDecompressor:
    """What unpacks packs that were compressed against `base`."""
    return zstandard.ZstdDecompressor(dict_data=_dictionary(base), max_window_size=_LARGEST_WINDOW)


def _dictionary(base: bytes | None) -> zstandard.ZstdCompressionDict | None:
    return None if base is None else zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
