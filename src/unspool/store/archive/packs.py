"""Packs: bytes of many files compressed together, lines picked out of them, and a cache of open ones."""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import Any, NamedTuple

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
    id: int
    size: int
    base: int | None
    data: bytes


def compress(raw: bytes, base: bytes | None = None) -> bytes:
    """The bytes compressed, against `base` where one is given."""
    parameters = zstandard.ZstdCompressionParameters.from_level(
        _LEVEL, window_log=_WINDOW, hash_log=_HASH, enable_ldm=base is not None, write_checksum=True
    )
    return zstandard.ZstdCompressor(dict_data=_dictionary(base), compression_params=parameters).compress(raw)


def decompress(data: bytes, size: int, base: bytes | None = None) -> bytes:
    """The bytes again; raises `Damaged` where they are not `size` bytes as they were packed."""
    if not 0 < size <= PACK or zstandard.frame_content_size(data) != size:  # else a few bytes could fill the memory
        raise Damaged("the size of the pack is wrong")
    raw = decompressor(base).decompress(data)
    if len(raw) != size:
        raise Damaged("the size of the pack is wrong")
    return raw


def decompress_start(data: bytes, upto: int, base: bytes | None = None) -> bytes:
    """The first bytes of a pack, `upto` of them where it has as many."""
    with decompressor(base).stream_reader(data) as stream:
        return stream.read(upto)


def decompressor(base: bytes | None = None) -> zstandard.ZstdDecompressor:
    """What unpacks packs that were compressed against `base`."""
    return zstandard.ZstdDecompressor(dict_data=_dictionary(base), max_window_size=_LARGEST_WINDOW)


def _dictionary(base: bytes | None) -> zstandard.ZstdCompressionDict | None:
    return None if base is None else zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


_STEP = 256 * 1024


class WantedLine(NamedTuple):
    """The line that begins at a byte of a pack. It goes on elsewhere where it does not end before `limit`."""

    place: int
    limit: int


class PickJob(NamedTuple):
    """Lines wanted of one pack."""

    pack: Pack
    base: bytes | None
    wanted: Sequence[WantedLine]


Picked = dict[tuple[int, int], bytes]
"""Lines without their ends, by pack and place."""


def pick_lines(jobs: Sequence[PickJob]) -> Picked:
    """The lines that could be read and end where they should; whoever reads the others is told why not."""
    found: Picked = {}
    share = max(1, min(len(jobs), os.cpu_count() or 1))
    threads = [Thread(target=_pick, args=(jobs[number::share], found)) for number in range(1, share)]
    for thread in threads:
        thread.start()
    _pick(jobs[::share], found)
    for thread in threads:
        thread.join()
    return found


def _pick(jobs: Sequence[PickJob], found: Picked) -> None:
    plain = decompressor()  # which has its memory by the second pack
    for job in jobs:
        with (
            suppress(Damaged),
            (plain if job.base is None else decompressor(job.base)).stream_reader(job.pack.data) as raw,
        ):
            found.update(((job.pack.id, place), line) for place, line in _lines(raw, job.wanted))


def _lines(raw: Any, wanted: Sequence[WantedLine]) -> Iterator[tuple[int, bytes]]:
    waiting = sorted(set(wanted), reverse=True)
    begun: dict[WantedLine, bytearray] = {}
    room, at = bytearray(_STEP), 0
    while (waiting or begun) and (size := raw.readinto(room)):
        while waiting and waiting[-1].place < at + size:
            begun[waiting.pop()] = bytearray()
        for one in list(begun):
            first, last = max(0, one.place - at), min(size, one.limit - at)
            end = room.find(b"\n", first, last)
            begun[one] += room[first : last if end < 0 else end]
            if end >= 0:
                yield one.place, bytes(begun.pop(one))
            elif at + size >= one.limit:
                del begun[one]
        at += size


_MOST_OF_IT = 0.8
"""Of a pack: who wants more of it gets it whole."""
_OPEN_BYTES = 96 * 1024 * 1024
_AT_ONCE = 16
"""Packs that lines are taken out of together: their packed bytes are held for it."""


class PackCache:
    """Unpacked packs, the last used kept as long as there is room."""

    def __init__(self, load: Callable[[int], Pack]) -> None:
        self._load = load
        self._open: OrderedDict[int, bytes] = OrderedDict()
        self._parts: set[int] = set()
        """Those of them that were unpacked only as far as was needed."""
        self._asked: set[int] = set()
        """Packs that lines were taken out of."""
        self._bytes = 0
        self.room = _OPEN_BYTES
        """Bytes of packs that are kept open."""

    def get(self, number: int, *, as_base: bool = False) -> bytes:
        known = self._open.get(number)
        if known is not None and number not in self._parts:
            self._open.move_to_end(number)
            return known
        pack = self._load(number)
        if as_base and pack.base is not None:
            raise Damaged("a base has a base itself")  # never written; it could go round in circles
        raw = decompress(pack.data, pack.size, self._base(pack))
        self._put(number, raw)
        return raw

    def get_start(self, number: int, upto: int) -> bytes:
        """A pack's bytes, unpacked at least so far: reading a line near its beginning need not wait for the rest."""
        known = self._open.get(number, b"")
        if len(known) >= upto:
            self._open.move_to_end(number)
            return known
        pack = self._load(number)
        if not 0 < upto <= pack.size * _MOST_OF_IT or pack.size > PACK:
            return self.get(number)
        raw = decompress_start(pack.data, upto, self._base(pack))
        self._put(number, raw)
        self._parts.add(number)
        return raw

    def picked(self, wanted: Mapping[int, Sequence[WantedLine]]) -> Picked:
        """Lines of packs that had better not be opened for them: of those asked for the first time, or too many."""
        found: Picked = {}
        numbers = [number for number in wanted if self._passing(number)]
        for first in range(0, len(numbers), _AT_ONCE):
            found.update(pick_lines(list(self._jobs(numbers[first : first + _AT_ONCE], wanted))))
        return found

    def _jobs(self, numbers: Iterable[int], wanted: Mapping[int, Sequence[WantedLine]]) -> Iterable[PickJob]:
        for pack in map(self._load, numbers):
            if all(one.limit <= pack.size <= PACK for one in wanted[pack.id]):
                yield PickJob(pack, self._base(pack), wanted[pack.id])

    def _passing(self, number: int) -> bool:
        """Whether a pack is not to be opened: who asks twice will ask again, as long as none must go for it."""
        again = number in self._asked
        self._asked.add(number)
        return number not in self._open and not (again and self._bytes + PACK <= self.room)

    def _base(self, pack: Pack) -> bytes | None:
        return None if pack.base is None else self.get(pack.base, as_base=True)

    def _put(self, number: int, raw: bytes) -> None:
        self.drop(number)
        self._open[number] = raw
        self._bytes += len(raw)
        while self._bytes > self.room and len(self._open) > 1:
            self.drop(next(iter(self._open)))

    def drop(self, number: int) -> None:
        self._bytes -= len(self._open.pop(number, b""))
        self._parts.discard(number)

    def clear(self) -> None:
        self._open.clear()
        self._parts.clear()
        self._bytes = 0
