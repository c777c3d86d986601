"""Filling packs: bytes are put in, sealed when a pack is full, compressed beside the work, and stored in order."""

import zlib
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from unspool.archive.packing import PACK, packed
from unspool.errors import NotFound, Unreadable

if TYPE_CHECKING:
    from unspool.archive.archive import Archive

_IN_FLIGHT = 2
_ID = b'"uuid":"'
_ID_END = len(_ID) + 36
"""Lines that were copied into another file keep their id, whatever else is rewritten in them."""
_SAMPLE = 16
"""One of so many ids is remembered."""
_ALIKE = 4
"""So many remembered ids in common, and two packs are taken to share content."""
_AT_ONCE = 4
"""Most packs that are open."""
_LAST_PACK = "last_pack"


class _Open:
    """A pack that is being filled."""

    def __init__(self, number: int, base: int | None) -> None:
        self.number, self.base = number, base
        self.raw, self.traits = bytearray(), set[int]()

    def resembles(self, ids: set[int]) -> bool:
        common = len(self.traits & ids)
        return common >= _ALIKE and common * 2 >= len(ids)


class Packer:
    """Makes packs within a transaction that somebody else begins and ends. Close it.

    One pack is open for each base, so that copies of one thing meet in one pack, whatever comes between them.
    """

    def __init__(self, archive: "Archive") -> None:
        self._archive, self._db = archive, archive.db
        self._open: dict[int | None, _Open] = {}
        self._waiting: list[tuple[_Open, int, Future[bytes]]] = []
        self._next = 0
        self._pool = ThreadPoolExecutor(_IN_FLIGHT)

    def begin(self) -> None:
        """A transaction began: whatever an earlier one left undone is gone."""
        self._open, self._waiting = {}, []
        self._next = next_pack(self._archive)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def put(self, data: bytes) -> tuple[int, int]:
        """Take in bytes, no more than a pack's; the pack they will be in, and their place there."""
        ids = traits(data)
        pack = self._roomy(self._base(ids), len(data))
        place = len(pack.raw)
        pack.raw += data
        pack.traits |= ids
        return pack.number, place

    def flush(self) -> None:
        """Store everything that was put in."""
        for base in list(self._open):
            self._seal(base)
        while self._waiting:
            self._land()

    def _base(self, ids: set[int]) -> int | None:
        """What to compress bytes against: the base of an open pack that they resemble, or a pack that they do."""
        near = next((pack for pack in self._open.values() if pack.resembles(ids)), None)
        return near.base if near is not None else self._alike(ids)

    def _roomy(self, base: int | None, size: int) -> _Open:
        """The open pack of a base, with room for so many bytes."""
        if base in self._open and len(self._open[base].raw) + size > PACK:
            self._seal(base)
        if base not in self._open:
            if len(self._open) >= _AT_ONCE:
                self._seal(next(iter(self._open)))
            self._open[base] = _Open(self._next, base)
            self._next += 1
        return self._open[base]

    def _alike(self, ids: set[int]) -> int | None:
        query = (
            "SELECT coalesce(pack.base, pack.id) FROM trait JOIN pack ON pack.id = trait.pack"
            " WHERE hash IN (SELECT value FROM json_each(?))"
        )
        packs = Counter(pack for (pack,) in self._db.execute(query, (str(list(ids)),)))
        best = packs.most_common(1)
        return best[0][0] if best and best[0][1] >= _ALIKE and best[0][1] * 2 >= len(ids) else None

    def _seal(self, base: int | None) -> None:
        """Close the open pack of a base and compress it beside what follows."""
        pack = self._open.pop(base)
        against = None if base is None else self._readable(base)
        pack.base = None if against is None else base
        raw, pack.raw = bytes(pack.raw), bytearray()
        self._waiting.append((pack, len(raw), self._pool.submit(packed, raw, against)))
        remember(self._archive, pack.number, pack.traits)
        if len(self._waiting) > _IN_FLIGHT:
            self._land()

    def _readable(self, base: int) -> bytes | None:
        """A pack to compress against; none where it is damaged, for new files are kept all the same."""
        try:
            return self._archive.unpacked(base)
        except (NotFound, Unreadable):
            return None

    def _land(self) -> None:
        """Store the pack that was sealed first."""
        pack, size, data = self._waiting.pop(0)
        row = (pack.number, size, pack.base, data.result())
        self._db.execute("INSERT INTO pack VALUES(?, ?, ?, ?)", row)


def next_pack(archive: "Archive") -> int:
    """A number that no pack has or ever had: a reader may still hold what one of that number was."""
    highest = archive.db.execute("SELECT max(id) FROM pack").get or 0
    return int(max(highest, int(archive.meta(_LAST_PACK) or 0))) + 1


def spend(archive: "Archive") -> None:
    """Before packs go: note the highest number that was ever used."""
    archive.note(_LAST_PACK, str(next_pack(archive) - 1))


def remember(archive: "Archive", pack: int, ids: set[int]) -> None:
    """Note that a pack holds these ids."""
    archive.db.executemany("INSERT OR IGNORE INTO trait VALUES(?, ?)", ((crc, pack) for crc in ids))


def traits(data: bytes) -> set[int]:
    """Some of the ids that lines carry."""
    found = set()
    for line in data.split(b"\n"):
        at = line.rfind(_ID)
        if at >= 0 and (crc := zlib.crc32(line[at : at + _ID_END])) % _SAMPLE == 0:
            found.add(crc)
    return found
