"""Removes files from an archive for good, and proves that their bytes are gone."""

import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.agents.records import session_name
from unspool.errors import Ambiguous, NotFound
from unspool.store.archive.archive import ArchiveDatabase, KeptFile, path_for_database
from unspool.store.archive.chain import Origin, bytes_digest, name_digest
from unspool.store.archive.line_filter import Drops, filtered_pieces, split_lines
from unspool.store.archive.pack_writer import (
    Packer,
    line_ids,
    next_pack,
    note_highest_pack,
    packing,
    remember_ids,
    renumber,
)
from unspool.store.archive.packs import compress

Belongs = Callable[[str, str], str]
"""The session that a path of an agent, by its id, belongs to; empty where it is no single session's."""
_SHOWN = 20


class SessionFile(NamedTuple):
    origin: int
    place: Origin
    kept: KeptFile


def files_by_session(archive: ArchiveDatabase, belongs: Belongs) -> dict[tuple[str, str], list[SessionFile]]:
    """The files of every session, by its agent and id."""
    found: dict[tuple[str, str], list[SessionFile]] = {}
    for origin, place in archive.origins().items():
        for path, kept in archive.kept(origin).items():
            if session := belongs(place.agent, path):
                found.setdefault((place.agent, session), []).append(SessionFile(origin, place, kept))
    return found


def find_session_files(archive: ArchiveDatabase, name: str, belongs: Belongs) -> tuple[str, list[SessionFile]]:
    """The session of that id, or the only one whose id begins so, and its files. It is called by its id, and with its
    agent before that where other agents have sessions of that id, of which one must be named."""
    found = files_by_session(archive, belongs)
    agents = Counter(session for _, session in found)
    known = {session_name(agent, session) if agents[session] > 1 else session: (agent, session)
             for agent, session in found}  # fmt: skip
    alike = [key for key, (_, session) in known.items() if session == name]
    if len(alike) > 1:
        raise Ambiguous(f"{len(alike)} agents have a session {name}. Name the agent too:", tuple(sorted(alike)))
    whole = next((key for key, one in known.items() if name == session_name(*one)), name)
    key = match_id(known, whole)
    return key, found[known[key]]


def match_id(known: Collection[str], name: str) -> str:
    """The id of that name, or the only one that begins so."""
    fits = [name] if name in known else sorted(session for session in known if name and session.startswith(name))
    if not fits:
        raise NotFound(f"The archive holds no session {name!r}.")
    if len(fits) > 1:
        more = [f"and {len(fits) - _SHOWN} more"] if len(fits) > _SHOWN else []
        raise Ambiguous(f"{len(fits)} sessions begin with {name!r}:", (*fits[:_SHOWN], *more))
    return fits[0]


WINDOW = 64
_MOST = 48
_CHUNK = 8 * 1024 * 1024


class Erasure(msgspec.Struct, frozen=True):
    """What was looked for, and found."""

    samples: int
    """Pieces of 64 bytes of what was removed, plain and as it was packed, which no file that stays has too."""
    found: int = 0
    """How many of them are still somewhere; 0 is the proof."""
    where: tuple[str, ...] = ()
    shared: int = 0
    """Further samples that files which stay have too, and that are not looked for therefore."""


class ErasureSamples(msgspec.Struct, frozen=True):
    """Bytes of files, and of the packs that hold them, from all over both."""

    plain: frozenset[bytes]
    packed: frozenset[bytes]


def take_samples(
    archive: ArchiveDatabase, files: Iterable[int], lines: "Mapping[int, Sequence[bytes]] | None" = None
) -> ErasureSamples:
    """Samples to be looked for once these files, and these lines of other generations, are removed."""
    generations = [one for file in files for one in archive.generations(file)]
    numbers = [*(one.generation for one in generations), *(lines or ())]
    packs = sorted({piece.pack for number in numbers for piece in archive.pieces(number)})
    plain = _windows(
        [one.size for one in generations], lambda at, start: archive.read(generations[at].generation, start, WINDOW)
    )
    going = [line for some in (lines or {}).values() for line in some]
    plain |= _windows([len(line) for line in going], lambda at, start: going[at][start : start + WINDOW])
    blobs = [archive.db.execute("SELECT length(data) FROM pack WHERE id = ?", (pack,)).get for pack in packs]
    part = "SELECT substr(data, ?, ?) FROM pack WHERE id = ?"
    packed = _windows(blobs, lambda at, start: archive.db.execute(part, (start + 1, WINDOW, packs[at])).get)
    return ErasureSamples(plain, packed)


def _windows(sizes: list[int], read: Callable[[int, int], bytes]) -> frozenset[bytes]:
    """Windows of things of these sizes; `read` gives that of a thing at a place."""
    room = [max(0, size - WINDOW + 1) for size in sizes]
    if not sum(room):
        return frozenset()
    chosen = random.Random(sum(room))  # noqa: S311  any will do
    picked = chosen.choices(range(len(room)), room, k=_MOST)
    found = (read(at, chosen.randrange(room[at])) for at in picked)
    return frozenset(window for window in found if len(set(window)) > 8)  # no blanks or rows of dashes


def look_for_samples(archive: ArchiveDatabase, sought: ErasureSamples) -> Erasure:
    """Look for samples in every pack, and for those that are in none in the bytes of all files of the folder."""
    plain, packed = set(sought.plain), set(sought.packed)
    for pack, data in archive.db.execute("SELECT id, data FROM pack"):
        raw = archive.unpacked(pack)
        plain -= {window for window in plain if window in raw}
        packed -= {window for window in packed if window in data}  # what stays may begin as it did
    own = plain | packed
    where: dict[str, set[bytes]] = {}
    # Every file: also a broken archive that was put aside, or what a killed process left.
    for path in sorted(path for path in archive.path.parent.rglob("*") if path.is_file()):
        if found := {window for chunk in _chunks(path) for window in own if window in chunk}:
            where[str(path)] = found
    return Erasure(len(own), len(set().union(*where.values())), tuple(where), len(sought.plain) - len(plain))


def _chunks(path: Path) -> Iterator[bytes]:
    """A file's bytes, in chunks that overlap by less than a sample."""
    before = b""
    with path.open("rb") as stream:
        while data := stream.read(_CHUNK):
            yield before + data
            before = data[-WINDOW + 1 :]


class FileToForget(msgspec.Struct, frozen=True):
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


def files_to_forget(archive: ArchiveDatabase, files: Collection[SessionFile]) -> list[FileToForget]:
    numbers = _numbers(files)
    query = f"""
    SELECT coalesce(sum(size), 0) FROM piece AS mine
    WHERE generation IN (SELECT id FROM generation WHERE file = ?) AND EXISTS (
      SELECT 1 FROM piece AS other JOIN generation ON generation.id = other.generation
      WHERE other.pack = mine.pack AND other.place = mine.place AND generation.file NOT IN ({numbers})
    )"""  # noqa: S608  numbers
    found = []
    for one in files:
        sizes = [kept.size for kept in archive.generations(one.kept.file)]
        shared = archive.db.execute(query, (one.kept.file,)).get
        place = one.place
        found.append(FileToForget(place.machine, place.root, one.kept.path, len(sizes), sum(sizes), shared))
    return found


def _numbers(files: Collection[SessionFile]) -> str:
    """The files as a list for SQL; they are numbers."""
    return ",".join(str(int(one.kept.file)) for one in files)


class LinesToForget(NamedTuple):
    """Lines that go from files which stay, and the names that they are buried by."""

    files: Collection[SessionFile] = ()
    drops: Drops = lambda _: False
    names: Collection[str] = ()


_NONE = LinesToForget()


def forget(
    archive: ArchiveDatabase,
    files: Collection[SessionFile],
    then: Callable[[], None] = lambda: None,
    parts: LinesToForget = _NONE,
) -> Erasure:
    """Remove files, and lines of others, with all their generations, and prove that nothing of them is left in the
    archive's folder.

    `then` is to remove them from whatever else lies there, before that proof.
    """
    sought = take_samples(archive, [one.kept.file for one in files], _going_lines(archive, parts))
    with archive.writing():
        touched = _remove(archive, files)
        for one in parts.files:
            touched |= rewrite_file(archive, one.kept.file, parts.drops)
        repack(archive, touched)
        names = (*(one.kept.path for one in files), *parts.names)
        rows = ((name_digest(archive.salt, name), time.time()) for name in names)
        archive.db.executemany("INSERT OR REPLACE INTO tombstone VALUES(?, ?)", rows)
    archive.compact()
    then()
    return look_for_samples(archive, sought)


def _going_lines(archive: ArchiveDatabase, parts: LinesToForget) -> dict[int, list[bytes]]:
    """The lines that go, each once, by the generation they are met in first."""
    found: dict[int, list[bytes]] = {}
    seen = set[bytes]()
    for kept in (kept for one in parts.files for kept in archive.generations(one.kept.file)):
        for line in split_lines(archive.stream(kept.generation)):
            if parts.drops(line) and line not in seen:
                seen.add(line)
                found.setdefault(kept.generation, []).append(line)
    return found


def unbury(archive: ArchiveDatabase, names: Iterable[str], parted: Iterable[str] = ()) -> int:
    """Let what has these names be kept again; how many had a tombstone. `parted` are files that may lack lines for
    it: the next sync looks at them again."""
    found = 0
    with archive.writing():
        for name in names:
            for salt in archive.salts:
                archive.db.execute("DELETE FROM tombstone WHERE name = ?", (name_digest(salt, name),))
                found += archive.db.changes()
        again = "UPDATE generation SET changed = 0 WHERE file IN (SELECT id FROM file WHERE path = ?)"
        archive.db.executemany(again, ((path_for_database(path),) for path in parted))
    return found


def _remove(archive: ArchiveDatabase, files: Collection[SessionFile]) -> set[int]:
    """Take the rows of files away; the packs that held their bytes."""
    numbers = _numbers(files)
    mine = f"SELECT id FROM generation WHERE file IN ({numbers})"  # noqa: S608  numbers
    packs = f"SELECT DISTINCT pack FROM piece WHERE generation IN ({mine})"  # noqa: S608  numbers
    touched = {pack for (pack,) in archive.db.execute(packs)}
    archive.db.execute(f"DELETE FROM piece WHERE generation IN ({mine})")  # noqa: S608  numbers
    archive.db.execute(f"DELETE FROM generation WHERE file IN ({numbers})")  # noqa: S608  numbers
    archive.db.execute(f"DELETE FROM file WHERE id IN ({numbers})")  # noqa: S608  numbers
    return touched


def rewrite_file(archive: ArchiveDatabase, file: int, drops: Drops) -> set[int]:
    """Give every generation of a file other bytes: its own without some lines. The packs that held them."""
    touched = set[int]()
    with packing(archive) as packer:
        for kept in archive.generations(file):
            if any(drops(line) for line in split_lines(archive.stream(kept.generation))):
                touched |= _rewrite(archive, kept.generation, drops, packer)
    renumber(archive, file)
    return touched


def _rewrite(archive: ArchiveDatabase, generation: int, drops: Drops, packer: Packer) -> set[int]:
    pieces, size = archive.pieces(generation), 0
    rows = []
    for data in filtered_pieces(archive.stream(generation), drops):
        rows.append((generation, size, len(data), *packer.put(data), bytes_digest(data)))
        size += len(data)
    archive.db.execute("DELETE FROM piece WHERE generation = ?", (generation,))
    archive.db.executemany("INSERT INTO piece VALUES(?, ?, ?, ?, ?, ?)", rows)
    archive.db.execute("UPDATE generation SET size = ? WHERE id = ?", (size, generation))
    return {piece.pack for piece in pieces}


def repack(archive: ArchiveDatabase, packs: Collection[int]) -> None:
    """Write packs anew with nothing in them but what pieces still speak of; those without any go.

    What was compressed against one of them is compressed anew.
    """
    note_highest_pack(archive)
    bases = {base for (base,) in archive.db.execute("SELECT DISTINCT base FROM pack WHERE base IS NOT NULL")}
    for pack in sorted(packs, key=lambda pack: (pack not in bases, pack)):
        raw = archive.unpacked(pack)
        number, rest = _shrunk(archive, pack, raw)
        _rebase(archive, pack, (number, rest))
        archive.db.execute("DELETE FROM trait WHERE pack = ?", (pack,))
        archive.db.execute("DELETE FROM pack WHERE id = ?", (pack,))
        archive.drop_cached(pack)
        if rest:
            remember_ids(archive, number, line_ids(rest))


def _shrunk(archive: ArchiveDatabase, pack: int, raw: bytes) -> tuple[int, bytes]:
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
        row = (number, len(rest), base, compress(bytes(rest), against))
        archive.db.execute("INSERT INTO pack VALUES(?, ?, ?, ?)", row)
    return number, bytes(rest)


def _rebase(archive: ArchiveDatabase, old: int, new: tuple[int, bytes]) -> None:
    """Compress what had one pack as its base against another, or alone where that is empty."""
    number, against = new
    for (pack,) in list(archive.db.execute("SELECT id FROM pack WHERE base = ?", (old,))):
        data = compress(archive.unpacked(pack), against or None)
        query = "UPDATE pack SET base = ?, data = ? WHERE id = ?"
        archive.db.execute(query, (number if against else None, data, pack))
