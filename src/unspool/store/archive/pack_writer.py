"""Writes packs, renumbers generations, and joins small packs."""

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from unspool.errors import NotFound, Unreadable
from unspool.store.archive.archive import ArchiveDatabase
from unspool.store.archive.chain import bytes_digest, first_link, next_link
from unspool.store.archive.packs import PACK, compress

_IN_FLIGHT = 2
_ids = re.compile(rb'"uuid":".{0,36}', re.DOTALL).findall
"""Lines that were copied into another file keep their id, whatever else is rewritten in them."""
_SAMPLE = 16
"""One of so many ids is remembered."""
_ALIKE = 4
"""So many remembered ids in common, and two packs are taken to share content."""
_AT_ONCE = 4
"""Most packs that are open."""
_LAST_PACK = "last_pack"


class _OpenPack:
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

    def __init__(self, archive: ArchiveDatabase) -> None:
        self._archive, self._db = archive, archive.db
        self._open: dict[int | None, _OpenPack] = {}
        self._waiting: list[tuple[_OpenPack, int, Future[bytes]]] = []
        self._places: dict[tuple[bytes, int], tuple[int, int]] = {}
        """Where pieces are that were stored, by their digest and size."""
        self._next = 0
        self._pool = ThreadPoolExecutor(_IN_FLIGHT)

    def begin(self) -> None:
        """A transaction began: whatever an earlier one left undone is gone."""
        self._open, self._waiting, self._places = {}, [], {}
        self._next = next_pack(self._archive)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def put(self, data: bytes) -> tuple[int, int]:
        """Take in bytes, no more than a pack's; the pack they will be in, and their place there."""
        ids = line_ids(data)
        near = next((pack for pack in self._open.values() if pack.resembles(ids)), None)
        pack = self._roomy(near.base if near is not None else self._alike(ids), len(data))
        place = len(pack.raw)
        pack.raw += data
        pack.traits |= ids
        return pack.number, place

    def store(self, generation: int, start: int, data: bytes, *, reuse: bool = False) -> bytes:
        """Take in bytes as a piece of a generation, once however often they come; their digest.

        `reuse`: nor are bytes stored again that the archive had before.
        """
        digest = bytes_digest(data)
        place = self._places.get((digest, len(data)))
        if place is None and reuse:
            query = "SELECT pack, place FROM piece WHERE digest = ? AND size = ? LIMIT 1"
            place = self._db.execute(query, (digest, len(data))).fetchone()
        self._places[digest, len(data)] = place = place or self.put(data)
        row = (generation, start, len(data), *place, digest)
        self._db.execute("INSERT INTO piece VALUES(?, ?, ?, ?, ?, ?)", row)
        return digest

    def flush(self) -> None:
        """Store everything that was put in."""
        for base in list(self._open):
            self._seal(base)
        while self._waiting:
            self._land()

    def _roomy(self, base: int | None, size: int) -> _OpenPack:
        """The open pack of a base, with room for so many bytes."""
        if base in self._open and len(self._open[base].raw) + size > PACK:
            self._seal(base)
        if base not in self._open:
            if len(self._open) >= _AT_ONCE:
                self._seal(next(iter(self._open)))
            self._open[base] = _OpenPack(self._next, base)
            self._next += 1
        return self._open[base]

    def _alike(self, ids: set[int]) -> int | None:
        """A pack to compress bytes against, for it holds many of the same lines."""
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
        self._waiting.append((pack, len(raw), self._pool.submit(compress, raw, against)))
        remember_ids(self._archive, pack.number, pack.traits)
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


@contextmanager
def packing(archive: ArchiveDatabase) -> Iterator[Packer]:
    """A packer for the transaction that is open; what was put in is stored at the end."""
    packer = Packer(archive)
    try:
        packer.begin()
        yield packer
        packer.flush()
    finally:
        packer.close()


def next_pack(archive: ArchiveDatabase) -> int:
    """A number that no pack has or ever had: a reader may still hold what one of that number was."""
    highest = archive.db.execute("SELECT max(id) FROM pack").get or 0
    return int(max(highest, int(archive.meta(_LAST_PACK) or 0))) + 1


def note_highest_pack(archive: ArchiveDatabase) -> None:
    """Before packs go: note the highest number that was ever used."""
    archive.note(_LAST_PACK, str(next_pack(archive) - 1))


def remember_ids(archive: ArchiveDatabase, pack: int, ids: set[int]) -> None:
    archive.db.executemany("INSERT OR IGNORE INTO trait VALUES(?, ?)", ((crc, pack) for crc in ids))


def line_ids(data: bytes) -> set[int]:
    """Some of the ids that lines carry."""
    return {crc for crc in map(zlib.crc32, _ids(data)) if crc % _SAMPLE == 0}


def renumber(archive: ArchiveDatabase, file: int, order: Sequence[int] = ()) -> None:
    """Number the generations of a file from 1, in the order given or that they have, and make their chains fit."""
    kept = {one.generation: one for one in archive.generations(file)}
    order = order or list(kept)
    if [kept[one].number for one in order] != list(range(1, len(order) + 1)):
        # Numbers out of the way, so that no two are equal while they change.
        archive.db.execute("UPDATE generation SET number = -1000000000000 - id WHERE file = ?", (file,))
    before = b""
    for number, generation in enumerate(order, 1):
        chain = first_link(kept[generation].path, number, before)
        for piece in archive.pieces(generation):
            chain = next_link(chain, piece.size, piece.digest)
        query = "UPDATE generation SET number = ?, chain = ? WHERE id = ?"
        archive.db.execute(query, (number, chain, generation))
        before = chain


SMALL = 1024 * 1024
MANY = 64
_JOINED_BYTES = 4 * PACK
_MOST = 1024
_SMALL = """
FROM pack WHERE size < ? AND base IS NULL AND id NOT IN (SELECT base FROM pack WHERE base IS NOT NULL)
"""
"""Those that have a base, or are one, are small for a reason."""

Piece = tuple[int, int, int, int, int, bytes]
"""Generation, start, size, pack, place, digest."""


def tidy_packs(archive: ArchiveDatabase, many: int = MANY) -> int:
    """Join small packs where there are more than so many of them; how many were joined. Bounded work a call.

    What is kept stays the same to the byte, and is checked on the way; where it is damaged, nothing is done: that is
    for verify to name.
    """
    if archive.db.execute(f"SELECT count(*) {_SMALL}", (SMALL,)).get <= many:
        return 0
    try:
        with archive.writing():
            packs = _oldest_small(archive)
            _join(archive, packs)
    except Unreadable:
        return 0
    return len(packs)


def _oldest_small(archive: ArchiveDatabase) -> list[int]:
    """As many small packs as are joined at once."""
    found, total = [], 0
    for number, size in archive.db.execute(f"SELECT id, size {_SMALL} ORDER BY id LIMIT ?", (SMALL, _MOST)):
        total += size
        if total > _JOINED_BYTES:
            break
        found.append(number)
    return found


def _join(archive: ArchiveDatabase, packs: list[int]) -> None:
    query = "SELECT generation, start, size, pack, place, digest FROM piece WHERE pack = ?"
    pieces: list[Any] = sorted(row for pack in packs for row in archive.db.execute(query, (pack,)))
    note_highest_pack(archive)
    for pack in packs:  # first, so that nothing is compressed against a pack that goes
        archive.db.execute("DELETE FROM trait WHERE pack = ?", (pack,))
    with packing(archive) as packer:
        for run in _runs(pieces):
            data = b"".join(_checked(archive, piece) for piece in run)
            generation, start = run[0][:2]
            remove = "DELETE FROM piece WHERE generation = ? AND start BETWEEN ? AND ?"
            archive.db.execute(remove, (generation, start, run[-1][1]))
            packer.store(generation, start, data)
    for pack in packs:
        archive.db.execute("DELETE FROM pack WHERE id = ?", (pack,))
        archive.drop_cached(pack)
    owner = "SELECT file FROM generation WHERE id = ?"
    for file in {archive.db.execute(owner, (row[0],)).get for row in pieces}:
        renumber(archive, file)


def _runs(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """Pieces of one generation that follow one another, no more than a pack together."""
    for _, group in groupby(pieces, key=lambda piece: piece[0]):
        run: list[Piece] = []
        total = 0
        for piece in group:
            follows = run and run[-1][1] + run[-1][2] == piece[1] and total + piece[2] <= SMALL
            if run and not follows:
                yield run
                run, total = [], 0
            run.append(piece)
            total += piece[2]
        yield run


def _checked(archive: ArchiveDatabase, piece: Piece) -> bytes:
    _, _, size, pack, place, digest = piece
    data = archive.unpacked(pack)[place : place + size]
    if bytes_digest(data) != digest:
        raise Unreadable(f"{archive.path} is damaged in pack {pack}; run `unspool verify --repair`.")
    return data
