"""Removing files from an archive for good: rows, bytes, traces; a tombstone each, so that they do not come back."""

import time
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

import msgspec

from unspool.archive.archive import Archive
from unspool.archive.chain import name_digest
from unspool.archive.chosen import Chosen
from unspool.archive.erasure import Erasure, look, samples
from unspool.archive.packer import next_pack, remember, spend, traits
from unspool.archive.packing import packed


class Going(msgspec.Struct, frozen=True):
    """One file that would go."""

    machine: str
    root: str
    path: str
    generations: int
    bytes: int
    """Of all its generations."""
    shared: int
    """Of these, bytes that files which stay have too: they stay in those."""


class _Slice(NamedTuple):
    place: int
    size: int


def going(archive: Archive, files: Collection[Chosen]) -> list[Going]:
    """What forgetting these files would take away."""
    numbers = _numbers(files)
    return [_going(archive, one, numbers) for one in files]


def _numbers(files: Collection[Chosen]) -> str:
    """The files as a list for SQL; they are numbers."""
    return ",".join(str(int(one.kept.file)) for one in files)


def _going(archive: Archive, one: Chosen, numbers: str) -> Going:
    generations = archive.generations(one.kept.file)
    query = f"""
    SELECT coalesce(sum(size), 0) FROM piece AS mine
    WHERE generation IN (SELECT id FROM generation WHERE file = ?) AND EXISTS (
      SELECT 1 FROM piece AS other JOIN generation ON generation.id = other.generation
      WHERE other.pack = mine.pack AND other.place = mine.place AND generation.file NOT IN ({numbers})
    )"""  # noqa: S608  numbers
    shared = archive.db.execute(query, (one.kept.file,)).get
    total = sum(kept.size for kept in generations)
    return Going(one.place.machine, one.place.root, one.kept.path, len(generations), total, shared)


def forget(archive: Archive, files: Collection[Chosen], then: Callable[[], None] = lambda: None) -> Erasure:
    """Remove files with all their generations, and prove that nothing of them is left in the archive's folder.

    `then` is to remove them from whatever else lies there, before that proof.
    """
    sought = samples(archive, [one.kept.file for one in files])
    with archive.writing():
        _remove(archive, files)
        _bury(archive, (one.kept.path for one in files))
    archive.compact()
    then()
    return look(archive, sought)


def _bury(archive: Archive, paths: Iterable[str]) -> None:
    rows = ((name_digest(archive.salt, path), time.time()) for path in paths)
    archive.db.executemany("INSERT OR REPLACE INTO tombstone VALUES(?, ?)", rows)


def unbury(archive: Archive, paths: Iterable[str]) -> int:
    """Let files of these names be kept again; how many had a tombstone."""
    found = 0
    with archive.writing():
        for path in paths:
            for salt in archive.salts:
                archive.db.execute("DELETE FROM tombstone WHERE name = ?", (name_digest(salt, path),))
                found += archive.db.changes()
    return found


def _remove(archive: Archive, files: Collection[Chosen]) -> None:
    numbers = _numbers(files)
    mine = f"SELECT id FROM generation WHERE file IN ({numbers})"  # noqa: S608  numbers
    touched = [
        pack
        for (pack,) in archive.db.execute(f"SELECT DISTINCT pack FROM piece WHERE generation IN ({mine})")  # noqa: S608
    ]
    archive.db.execute(f"DELETE FROM piece WHERE generation IN ({mine})")  # noqa: S608  numbers
    archive.db.execute(f"DELETE FROM generation WHERE file IN ({numbers})")  # noqa: S608  numbers
    archive.db.execute(f"DELETE FROM file WHERE id IN ({numbers})")  # noqa: S608  numbers
    repacked(archive, touched)


def repacked(archive: Archive, packs: Collection[int]) -> None:
    """Write packs anew with nothing in them but what pieces still speak of; those without any go.

    What was compressed against one of them is compressed anew.
    """
    spend(archive)
    bases = {base for (base,) in archive.db.execute("SELECT DISTINCT base FROM pack WHERE base IS NOT NULL")}
    for pack in sorted(packs, key=lambda pack: (pack not in bases, pack)):
        raw = archive.unpacked(pack)
        number, rest = _shrunk(archive, pack, raw)
        _rebase(archive, pack, (number, rest))
        archive.db.execute("DELETE FROM trait WHERE pack = ?", (pack,))
        archive.db.execute("DELETE FROM pack WHERE id = ?", (pack,))
        archive.unshelve(pack)
        if rest:
            remember(archive, number, traits(rest))


def _shrunk(archive: Archive, pack: int, raw: bytes) -> tuple[int, bytes]:
    """A new pack with the parts of one that are still spoken of; its number and bytes."""
    number, rest = next_pack(archive), bytearray()
    query = "SELECT DISTINCT place, size FROM piece WHERE pack = ? ORDER BY place, size"
    for one in [_Slice(*row) for row in archive.db.execute(query, (pack,))]:
        move = "UPDATE piece SET pack = ?, place = ? WHERE pack = ? AND place = ? AND size = ?"
        archive.db.execute(move, (number, len(rest), pack, one.place, one.size))
        rest += raw[one.place : one.place + one.size]
    base: int | None = archive.db.execute("SELECT base FROM pack WHERE id = ?", (pack,)).get
    if rest:
        against = None if base is None else archive.unpacked(base)
        row = (number, len(rest), base, packed(bytes(rest), against))
        archive.db.execute("INSERT INTO pack VALUES(?, ?, ?, ?)", row)
    return number, bytes(rest)


def _rebase(archive: Archive, old: int, new: tuple[int, bytes]) -> None:
    """Compress what had one pack as its base against another, or alone where that is empty."""
    number, against = new
    for (pack,) in list(archive.db.execute("SELECT id FROM pack WHERE base = ?", (old,))):
        data = packed(archive.unpacked(pack), against or None)
        query = "UPDATE pack SET base = ?, data = ? WHERE id = ?"
        archive.db.execute(query, (number if against else None, data, pack))
