"""Lines taken out of packs as these are unpacked, several packs at a time.

Nothing else of a pack is held: memory for all of it takes as long to get as its bytes take to unpack.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import Thread
from typing import Any, NamedTuple

from unspool.archive.packing import Damaged, Pack, unpacker

_STEP = 256 * 1024


class Wanted(NamedTuple):
    """The line that begins at a byte of a pack. It goes on elsewhere where it does not end before `limit`."""

    place: int
    limit: int


class Job(NamedTuple):
    """Lines wanted of one pack."""

    pack: Pack
    base: bytes | None
    wanted: Sequence[Wanted]


Picked = dict[tuple[int, int], bytes]
"""Lines without their ends, by pack and place."""


def picked(jobs: Sequence[Job]) -> Picked:
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


def _pick(jobs: Sequence[Job], found: Picked) -> None:
    plain = unpacker()  # which has its memory by the second pack
    for job in jobs:
        with suppress(Damaged), (plain if job.base is None else unpacker(job.base)).stream_reader(job.pack.data) as raw:
            found.update(((job.pack.id, place), line) for place, line in _lines(raw, job.wanted))


def _lines(raw: Any, wanted: Sequence[Wanted]) -> Iterator[tuple[int, bytes]]:
    waiting = sorted(set(wanted), reverse=True)
    begun: dict[Wanted, bytearray] = {}
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
