"""Packs: bytes of many files, compressed together; and the few that were opened last, kept open."""

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import NamedTuple

import zstandard

PACK = 8 * 1024 * 1024
"""Most bytes of one pack, unpacked. Larger ones are smaller in sum and slower to read from."""
_LEVEL = 3
_WINDOW = 24
"""Of 2^24 bytes: a pack and its base."""
_HASH = 20
"""Of 2^20 entries: the usual table of this level forgets what was said a megabyte ago."""
_MOST_OF_IT = 0.8
"""Of a pack: who wants more of it gets it whole."""
_OPEN_BYTES = 96 * 1024 * 1024
_PREPARED = 12
"""Packs that are unpacked together: no more than there is room for."""
_WORTH_THREADS = 3

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
    raw = zstandard.ZstdDecompressor(dict_data=_dictionary(base), max_window_size=1 << 27).decompress(data)
    if len(raw) != size:
        raise Damaged("the size of the pack is wrong")
    return raw


def begun(data: bytes, upto: int, base: bytes | None = None) -> bytes:
    """The first bytes of a pack, `upto` of them where it has as many."""
    unpacker = zstandard.ZstdDecompressor(dict_data=_dictionary(base), max_window_size=1 << 27)
    with unpacker.stream_reader(data) as stream:
        return stream.read(upto)


def _dictionary(base: bytes | None) -> zstandard.ZstdCompressionDict | None:
    return None if base is None else zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


class Shelf:
    """Unpacked packs, the last used kept as long as there is room."""

    def __init__(self, load: Callable[[int], Pack]) -> None:
        self._load = load
        self._open: OrderedDict[int, bytes] = OrderedDict()
        self._parts: set[int] = set()
        """Those of them that were unpacked only as far as was needed."""
        self._bytes = 0
        self.room = _OPEN_BYTES
        """Bytes of packs that are kept open."""

    def get(self, number: int, *, as_base: bool = False) -> bytes:
        """A pack's bytes, unpacked."""
        known = self._open.get(number)
        if known is not None and number not in self._parts:
            self._open.move_to_end(number)
            return known
        pack = self._load(number)
        if as_base and pack.base is not None:
            raise Damaged("a base has a base itself")  # never written; it could go round in circles
        raw = unpacked(pack.data, pack.size, None if pack.base is None else self.get(pack.base, as_base=True))
        self._put(number, raw)
        return raw

    def begun(self, number: int, upto: int) -> bytes:
        """A pack's bytes, unpacked at least so far: reading a line near its beginning need not wait for the rest."""
        known = self._open.get(number, b"")
        if len(known) >= upto:
            self._open.move_to_end(number)
            return known
        pack = self._load(number)
        if not 0 < upto <= pack.size * _MOST_OF_IT or pack.size > PACK:
            return self.get(number)
        raw = begun(pack.data, upto, None if pack.base is None else self.get(pack.base, as_base=True))
        self._put(number, raw)
        self._parts.add(number)
        return raw

    def prepare(self, wanted: Mapping[int, int]) -> None:
        """Have packs unpacked, each at least so far, several at a time: unpacking waits for no other thread."""
        todo = {number: upto for number, upto in wanted.items() if len(self._open.get(number, b"")) < upto}
        if len(todo) < _WORTH_THREADS:
            return
        from concurrent.futures import ThreadPoolExecutor  # dear to import, and not needed for a line or two

        packs = [self._load(number) for number in list(todo)[: min(_PREPARED, self.room // PACK)]]
        bases = {pack.base: self.get(pack.base, as_base=True) for pack in packs if pack.base is not None}
        with ThreadPoolExecutor(min(len(packs), os.cpu_count() or 1)) as pool:
            raws = list(pool.map(lambda pack: begun(pack.data, todo[pack.id], bases.get(pack.base)), packs))
        for pack, raw in zip(packs, raws, strict=True):
            self._put(pack.id, raw)
            self._parts.add(pack.id)

    def _put(self, number: int, raw: bytes) -> None:
        self.drop(number)
        self._open[number] = raw
        self._bytes += len(raw)
        while self._bytes > self.room and len(self._open) > 1:
            self.drop(next(iter(self._open)))

    def drop(self, number: int) -> None:
        """Forget a pack."""
        self._bytes -= len(self._open.pop(number, b""))
        self._parts.discard(number)

    def clear(self) -> None:
        self._open.clear()
        self._parts.clear()
        self._bytes = 0
