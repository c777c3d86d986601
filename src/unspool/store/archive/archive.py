"""The archive: bytes of files as they were, from many places, for good."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

import apsw

from unspool.errors import NotFound, Unreadable
from unspool.store.archive.chain import Origin
from unspool.store.archive.database import (
    ARCHIVE,
    SEVERAL_AGENTS,
    OpenDatabase,
    connect_archive,
    sqlite_errors_told,
    transaction,
)
from unspool.store.archive.line_filter import Tombstones
from unspool.store.archive.packs import Damaged, Pack, PackCache, WantedLine


class KeptFile(NamedTuple):
    """The last generation of a file."""

    path: str
    file: int
    generation: int
    number: int
    size: int
    modified: int
    changed: int
    inode: int
    gone: float | None
    chain: bytes


class PackPiece(NamedTuple):
    """A slice of a pack: bytes of a generation."""

    start: int
    size: int
    pack: int
    place: int
    digest: bytes


_KEPT = """
SELECT file.path, file.id, generation.id, number, size, modified, changed, inode, gone, chain
FROM file JOIN generation ON generation.file = file.id
"""
_READY = 1000
"""Lines that are made ready at once."""
_LAST = " AND number = (SELECT max(number) FROM generation AS other WHERE other.file = file.id)"


class ArchiveDatabase(OpenDatabase):
    """An open archive."""

    def __init__(self, db: apsw.Connection, path: Path) -> None:
        super().__init__(db, path)
        self._packs = PackCache(self._pack)
        self._lines: dict[tuple[int, int], bytes] = {}
        """Those that were made ready, by generation and place."""

    @classmethod
    def open(cls, folder: Path, *, key: str | None = None, readonly: bool = False) -> Self:
        """The archive of a folder; made where there is none, unless it is only to be read."""
        path = folder / ARCHIVE
        if readonly and not path.exists():
            raise NotFound(f"There is no archive in {folder} yet; `unspool sync` makes it.")
        return cls(connect_archive(path, key, readonly=readonly), path)

    def hold(self, most: int) -> None:
        """Keep no more than so many bytes unpacked, where several are open at once."""
        self._packs.room = most

    def close(self) -> None:
        self._lines = {}
        self._packs.clear()
        super().close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all of it, or nothing."""
        with sqlite_errors_told(self.path), ExitStack() as unless_all_is_well:
            unless_all_is_well.callback(self._packs.clear)  # packs that are taken back may be on it
            with transaction(self.db):
                yield
            unless_all_is_well.pop_all()

    def compact(self) -> None:
        """Write the file anew, without room for what is no longer in it."""
        with sqlite_errors_told(self.path):
            self.db.pragma("temp_store", "FILE")  # it may be larger than the memory
            self.db.execute("VACUUM")
            self.db.pragma("temp_store", "DEFAULT")

    def _rows(self, query: str, values: tuple[str | bytes | int, ...] = ()) -> list[tuple[Any, ...]]:
        with sqlite_errors_told(self.path):
            return list(self.db.execute(query, values))

    # Where files came from

    def origin(self, origin: Origin) -> int:
        """The number of a place; a new one where it is met for the first time."""
        query = "SELECT id FROM origin WHERE machine = ? AND user = ? AND root = ? AND agent = ?"
        with sqlite_errors_told(self.path):
            known: int | None = self.db.execute(query, origin).get
            if known is None:
                add = "INSERT INTO origin(machine, user, root, agent) VALUES(?, ?, ?, ?) ON CONFLICT DO NOTHING"
                self.db.execute(add, origin)
                known = self.db.execute(query, origin).get
            if known is None:
                self.db.execute(SEVERAL_AGENTS)
                self.db.execute(add, origin)
                known = self.db.execute(query, origin).get
        assert known is not None  # noqa: S101  it was just put there
        return known

    def origins(self) -> dict[int, Origin]:
        rows = self._rows("SELECT id, machine, user, root, agent FROM origin ORDER BY id")
        return {number: Origin(*rest) for number, *rest in rows}

    def meta(self, name: str) -> str:
        with sqlite_errors_told(self.path):
            return super().meta(name)

    # What is kept

    def kept(self, origin: int) -> dict[str, KeptFile]:
        """The last generation of every file of a place, by path."""
        rows = self._rows(_KEPT + "WHERE file.origin = ?" + _LAST, (origin,))
        return {name: KeptFile(name, *rest) for name, rest in ((path_from_database(row[0]), row[1:]) for row in rows)}

    def last(self, origin: int, path: str) -> KeptFile | None:
        """The last generation of one file."""
        query = _KEPT + "WHERE file.origin = ? AND file.path = ? ORDER BY number DESC LIMIT 1"
        rows = self._rows(query, (origin, path_for_database(path)))
        return KeptFile(path, *rows[0][1:]) if rows else None

    def generations(self, file: int) -> list[KeptFile]:
        """Every generation of a file, the first one first."""
        rows = self._rows(_KEPT + "WHERE file.id = ? ORDER BY number", (file,))
        return [KeptFile(path_from_database(row[0]), *row[1:]) for row in rows]

    def versions(self, origin: int) -> dict[str, list[tuple[KeptFile, float]]]:
        """Every generation of every file of a place with when it was first kept, by path, the first one first."""
        query = _KEPT.replace("chain\n", "chain, seen\n") + "WHERE file.origin = ? ORDER BY file.id, number"
        found: dict[str, list[tuple[KeptFile, float]]] = {}
        for path, *rest, seen in self._rows(query, (origin,)):
            name = path_from_database(path)
            found.setdefault(name, []).append((KeptFile(name, *rest), seen))
        return found

    def pieces(self, generation: int, start: int = 0) -> list[PackPiece]:
        """Where the bytes of a generation are, in order, from the piece on that `start` lies in."""
        query = (
            "SELECT start, size, pack, place, digest FROM piece"
            " WHERE generation = ? AND start + size > ? ORDER BY start"
        )
        return [PackPiece(*row) for row in self._rows(query, (generation, start))]

    def read(self, generation: int, start: int = 0, size: int | None = None) -> bytes:
        """Bytes of a generation: all, or `size` of them from `start`."""
        end = None if size is None else start + size
        return b"".join(raw[first:last] for raw, first, last in self._spans(generation, start, end))

    def stream(self, generation: int, start: int = 0) -> Iterator[bytes]:
        """All bytes of a generation, in chunks of no more than a pack."""
        return (raw[first:last] for raw, first, last in self._spans(generation, start, None))

    def line(self, generation: int, place: int) -> bytes:
        """The line that begins at a byte, without its end."""
        ready = self._lines.get((generation, place))
        if ready is not None:
            return ready
        found = bytearray()
        for raw, first, last in self._spans(generation, place, None, self._start):
            end = raw.find(b"\n", first, last)
            found += raw[first : last if end < 0 else end]
            if end >= 0:
                break
        return bytes(found)

    def prepare(self, places: Iterable[tuple[int, int]]) -> None:
        """Make ready to read the lines that begin at these bytes of these generations, in place of those before."""
        where: dict[tuple[int, int], tuple[int, WantedLine]] = {}
        wanted: dict[int, list[WantedLine]] = {}
        query = (
            "SELECT pack, place - start, place + size FROM piece"
            " WHERE generation = ? AND start <= ? ORDER BY start DESC LIMIT 1"
        )
        for one in islice(places, _READY):
            for pack, shift, limit in self._rows(query, one):
                where[one] = pack, WantedLine(one[1] + shift, limit)
                wanted.setdefault(pack, []).append(where[one][1])
        self._lines = {}
        with suppress(Damaged, NotFound):  # whoever reads the line is told
            found = self._packs.picked(wanted)
            lines = ((one, found.get((pack, line.place))) for one, (pack, line) in where.items())
            self._lines = {one: line for one, line in lines if line is not None}

    def _spans(
        self, generation: int, start: int, end: int | None, unpack: "Callable[[int, int], bytes] | None" = None
    ) -> Iterator[tuple[bytes, int, int]]:
        """The slices of unpacked packs that bytes of a generation are."""
        at, again = start, True
        while again and (end is None or at < end):
            again = False
            for piece in self.pieces(generation, at):
                if end is not None and piece.start >= end:
                    return
                try:
                    raw = unpack(piece.pack, piece.place + piece.size) if unpack else self.unpacked(piece.pack)
                except NotFound as error:  # packed anew since we looked: look again, unless it is missing for good
                    again = self.pieces(generation, at)[:1] != [piece]
                    if not again:
                        raise Unreadable(str(error)) from None
                    break
                last = piece.size if end is None else min(piece.size, end - piece.start)
                yield raw, piece.place + max(0, at - piece.start), piece.place + last
                at = piece.start + last

    def unpacked(self, pack: int) -> bytes:
        """All bytes of a pack; NotFound where there is none, Unreadable where it is damaged."""
        with self._reading(pack):
            return self._packs.get(pack)

    def _start(self, pack: int, upto: int) -> bytes:
        """The bytes of a pack at least so far; what comes after them is not looked at."""
        with self._reading(pack):
            return self._packs.get_start(pack, upto)

    @contextmanager
    def _reading(self, pack: int) -> Iterator[None]:
        try:
            with sqlite_errors_told(self.path):
                yield
        except Damaged as error:
            message = f"{self.path} is damaged in pack {pack} ({error}); run `unspool verify --repair`."
            raise Unreadable(message) from None

    def drop_cached(self, pack: int) -> None:
        """Have a pack read anew the next time it is needed."""
        self._packs.drop(pack)

    def _pack(self, number: int) -> Pack:
        row: Any = self.db.execute("SELECT id, size, base, data FROM pack WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise NotFound(f"{self.path} is damaged: pack {number} is missing; run `unspool verify --repair`.")
        return Pack(*row)

    # What was forgotten

    def buried(self) -> frozenset[bytes]:
        """The names of what was forgotten."""
        return frozenset(name for (name,) in self._rows("SELECT name FROM tombstone"))

    def graves(self) -> Tombstones:
        """What was forgotten, here or in an archive that was merged into this one."""
        return Tombstones(self.buried(), self.salts)

    @property
    def salts(self) -> tuple[str, ...]:
        """What names in tombstones are salted with: this archive's id, and those of archives merged into it."""
        return (self.salt, *self.meta("salts").split())

    @property
    def salt(self) -> str:
        """What makes the names in tombstones this archive's own."""
        return self.meta("id")


def path_from_database(stored: str | bytes) -> str:
    """A path as Python has it: undecodable bytes are kept apart in the database."""
    return stored if isinstance(stored, str) else os.fsdecode(stored)


def path_for_database(path: str) -> str | bytes:
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path
