"""Removing files from an archive for good: rows, bytes, traces; a tombstone each, so that they do not come back."""

import time
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

import msgspec

from unspool.archive.archive import Archive, stored
from unspool.archive.chain import digest, name_digest
from unspool.archive.chosen import Chosen
from unspool.archive.erasure import Erasure, look, samples
from unspool.archive.numbering import renumbered
from unspool.archive.packer import Packer, next_pack, remember, spend, traits
from unspool.archive.packing import packed
from unspool.archive.sieve import Drops, cut, split


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


class Parts(NamedTuple):
    """Lines that go from files which stay, and the names that they are buried by."""

    files: Collection[Chosen] = ()
    drops: Drops = lambda _: False
    names: Collection[str] = ()


_NONE = Parts()


def forget(
    archive: Archive, files: Collection[Chosen], then: Callable[[], None] = lambda: None, parts: Parts = _NONE
) -> Erasure:
    """Remove files, and lines of others, with all their generations, and prove that nothing of them is left in the
    archive's folder.

    `then` is to remove them from whatever else lies there, before that proof.
    """
    sought = samples(archive, [one.kept.file for one in files], _going_lines(archive, parts))
    with archive.writing():
        touched = _remove(archive, files)
        for one in parts.files:
            touched |= rewritten(archive, one.kept.file, parts.drops)
        repacked(archive, touched)
        _bury(archive, (*(one.kept.path for one in files), *parts.names))
    archive.compact()
    then()
    return look(archive, sought)


def _going_lines(archive: Archive, parts: Parts) -> dict[int, list[bytes]]:
    """The lines that go, each once, by the generation they are met in first."""
    found: dict[int, list[bytes]] = {}
    seen = set[bytes]()
    for kept in (kept for one in parts.files for kept in archive.generations(one.kept.file)):
        for line in split(archive.stream(kept.generation)):
            if parts.drops(line) and line not in seen:
                seen.add(line)
                found.setdefault(kept.generation, []).append(line)
    return found


def _bury(archive: Archive, names: Iterable[str]) -> None:
    rows = ((name_digest(archive.salt, name), time.time()) for name in names)
    archive.db.executemany("INSERT OR REPLACE INTO tombstone VALUES(?, ?)", rows)


def unbury(archive: Archive, names: Iterable[str], parted: Iterable[str] = ()) -> int:
    """Let what has these names be kept again; how many had a tombstone. `parted` are files that may lack lines for
    it: the next sync looks at them again."""
    found = 0
    with archive.writing():
        for name in names:
            for salt in archive.salts:
                archive.db.execute("DELETE FROM tombstone WHERE name = ?", (name_digest(salt, name),))
                found += archive.db.changes()
        again = "UPDATE generation SET changed = 0 WHERE file IN (SELECT id FROM file WHERE path = ?)"
        archive.db.executemany(again, ((stored(path),) for path in parted))
    return found


def _remove(archive: Archive, files: Collection[Chosen]) -> set[int]:
    """Take the rows of files away; the packs that held their bytes."""
    numbers = _numbers(files)
    mine = f"SELECT id FROM generation WHERE file IN ({numbers})"  # noqa: S608  numbers
    packs = f"SELECT DISTINCT pack FROM piece WHERE generation IN ({mine})"  # noqa: S608  numbers
    touched = {pack for (pack,) in archive.db.execute(packs)}
    archive.db.execute(f"DELETE FROM piece WHERE generation IN ({mine})")  # noqa: S608  numbers
    archive.db.execute(f"DELETE FROM generation WHERE file IN ({numbers})")  # noqa: S608  numbers
    archive.db.execute(f"DELETE FROM file WHERE id IN ({numbers})")  # noqa: S608  numbers
    return touched


def rewritten(archive: Archive, file: int, drops: Drops) -> set[int]:
    """Give every generation of a file other bytes: its own without some lines. The packs that held them."""
    touched = set[int]()
    packer = Packer(archive)
    try:
        packer.begin()
        for kept in archive.generations(file):
            if any(drops(line) for line in split(archive.stream(kept.generation))):
                touched |= _sifted(archive, kept.generation, drops, packer)
        packer.flush()
    finally:
        packer.close()
    renumbered(archive, file)
    return touched


def _sifted(archive: Archive, generation: int, drops: Drops, packer: Packer) -> set[int]:
    pieces, size = archive.pieces(generation), 0
    rows = []
    for data in cut(line for line in split(archive.stream(generation)) if not drops(line)):
        rows.append((generation, size, len(data), *packer.put(data), digest(data)))
        size += len(data)
    archive.db.execute("DELETE FROM piece WHERE generation = ?", (generation,))
    archive.db.executemany("INSERT INTO piece VALUES(?, ?, ?, ?, ?, ?)", rows)
    archive.db.execute("UPDATE generation SET size = ? WHERE id = ?", (size, generation))
    return {piece.pack for piece in pieces}


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
