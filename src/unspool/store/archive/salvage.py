"""Copies rows of a broken archive into a new file, and converts archives to another key."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from unspool.errors import NoRoom, Unreadable, UnspoolError
from unspool.store.archive.archive import ArchiveDatabase
from unspool.store.archive.database import (
    ARCHIVE,
    INDEX,
    open_connection,
    overwrite_with_zeros,
    remove_database,
    sqlite_errors_told,
    swap_file,
)
from unspool.store.archive.keys import is_weak
from unspool.store.archive.pack_writer import renumber
from unspool.store.archive.page_checksums import PAGE
from unspool.store.archive.verify import verify_archive

_PROBES = 100_000
"""Most numbers that are tried one by one between rows that could be read."""

Row = tuple[Any, ...]


class ArchiveTable(NamedTuple):
    """A table: its name, its columns with the key first, and whether the key is a number that rows are found by."""

    name: str
    columns: str
    key: str
    numbered: bool


TABLES = (
    ArchiveTable("meta", "key, value", "key", False),
    ArchiveTable("origin", "id, machine, user, root, agent", "id", True),
    ArchiveTable("file", "id, origin, path", "id", True),
    ArchiveTable("generation", "id, file, number, size, modified, changed, inode, seen, gone, chain", "id", True),
    ArchiveTable("piece", "generation, start, size, pack, place, digest", "generation, start", False),
    ArchiveTable("pack", "id, size, base, data", "id", True),
    ArchiveTable("trait", "hash, pack", "hash", False),
    ArchiveTable("tombstone", "name, time", "name", False),
)


def table_rows(db: apsw.Connection, table: ArchiveTable) -> Iterator[Row]:
    """Every row of a table, by its key."""
    query = f"SELECT {table.columns} FROM {table.name} ORDER BY {table.key}"  # noqa: S608  our own names
    return db.execute(query)


def put_row(db: apsw.Connection, table: ArchiveTable, row: Row) -> None:
    """Store a row; one that is there under the same key, or fits no rule of the table, is not stored."""
    marks = ", ".join("?" * len(row))
    db.execute(f"INSERT OR IGNORE INTO {table.name}({table.columns}) VALUES({marks})", row)


def copy_rows(source: apsw.Connection, target: apsw.Connection) -> None:
    """Copy every row into an archive that has none but its own meta."""
    target.execute("DELETE FROM meta")
    for table in TABLES:
        for row in table_rows(source, table):
            put_row(target, table, row)


def same_rows(one: apsw.Connection, other: apsw.Connection) -> bool:
    both = (zip_longest(table_rows(one, table), table_rows(other, table)) for table in TABLES)
    return all(row == twin for rows in both for row, twin in rows)


def readable_rows(db: apsw.Connection, table: ArchiveTable) -> Iterator[Row]:
    """The rows of a damaged table that can be read: from either end up to the damage, then number by number."""
    last = first = None
    keys, select = table.key.split(", "), f"SELECT {table.columns} FROM {table.name}"  # noqa: S608  our own names
    for row in _until_damage(db, f"{select} NOT INDEXED ORDER BY {', '.join(f'{key} ASC' for key in keys)}"):
        last = row[0]
        yield row
    for row in _until_damage(db, f"{select} NOT INDEXED ORDER BY {', '.join(f'{key} DESC' for key in keys)}"):
        first = row[0]
        yield row  # where nothing is damaged these were all seen before, which does no harm
    if table.numbered and isinstance(first, int):
        begin = last if isinstance(last, int) else 0
        for number in range(begin + 1, min(first, begin + _PROBES)):
            yield from _until_damage(db, f"{select} WHERE {table.key} = ?", number)


def _until_damage(db: apsw.Connection, query: str, *values: int) -> Iterator[Row]:
    with suppress(apsw.Error, UnicodeDecodeError):
        yield from db.execute(query, values)


_COUNTS = slice(28, 40)
"""Where the header has the number of pages, and where and how many free ones there are."""

_SIGNS = (
    "SELECT count(*) = 1 FROM meta WHERE key = 'id'",
    "SELECT count(*) > 0 FROM generation WHERE number > 0 AND length(chain) = 32",
    "SELECT count(*) > 0 AND min(length(digest)) = 32 FROM piece NOT INDEXED",
    "SELECT count(*) > 0 AND min(substr(data, 1, 4)) = x'28B52FFD' FROM pack",
    "SELECT count(*) > 0 FROM piece INDEXED BY piece_pack JOIN pack ON pack.id = piece.pack WHERE piece.pack > 0",
    "SELECT count(*) > 0 FROM file JOIN origin ON origin.id = file.origin",
)


def with_new_first_page(path: Path, room: Path) -> apsw.Connection | None:
    """A copy of a plain archive, below a folder, with a first page that makes it readable; None where none does."""
    for number, page in enumerate(_first_pages(room)):
        copy = room / f"{number}.db"
        shutil.copyfile(path, copy)
        page[_COUNTS] = (path.stat().st_size // PAGE).to_bytes(4) + bytes(8)
        with copy.open("r+b") as stream:
            stream.write(page)
        db = open_connection(copy, None, readonly=True)
        if _sensible(db):
            return db
        db.close()
        copy.unlink()
    return None


def _first_pages(room: Path) -> Iterator[bytearray]:
    """Those that there are: of an archive as it was made, and as compacting leaves it."""
    with ArchiveDatabase.open(room / "front") as archive:
        yield bytearray(archive.path.read_bytes()[:PAGE])
        archive.compact()
        yield bytearray(archive.path.read_bytes()[:PAGE])


def _sensible(db: apsw.Connection) -> bool:
    """Whether the tables are where that page says."""
    try:
        return all(db.execute(query).get for query in _SIGNS)
    except (apsw.Error, UnicodeDecodeError):
        return False


_BROKEN = ".damaged"
UNUSED_PACKS = (
    "DELETE FROM pack WHERE id NOT IN (SELECT pack FROM piece) AND id NOT IN (SELECT base FROM pack WHERE base > 0)",
    "DELETE FROM trait WHERE pack NOT IN (SELECT id FROM pack)",
)
_ORPHANS = (
    "DELETE FROM file WHERE origin NOT IN (SELECT id FROM origin)",
    "DELETE FROM generation WHERE file NOT IN (SELECT id FROM file)",
    "DELETE FROM piece WHERE generation NOT IN (SELECT id FROM generation)",
    "DELETE FROM file WHERE id NOT IN (SELECT file FROM generation)",
    *UNUSED_PACKS,
)


@contextmanager
def _new_file(folder: Path, suffix: str) -> Iterator[Path]:
    """Where an archive is made that takes the place of one; what is left there before and after is erased."""
    beside = folder / (ARCHIVE + suffix) / ARCHIVE
    _clear(beside)
    try:
        yield beside
    finally:
        _clear(beside)


def _clear(beside: Path) -> None:
    if beside.parent.is_dir():
        remove_database(beside)
        shutil.rmtree(beside.parent)


def salvage(folder: Path, key: str | None) -> Path:
    """Put the archive of a folder together anew; the path of the broken file, which is kept."""
    path = folder / ARCHIVE
    with _new_file(folder, ".salvage") as beside, closing(_open_broken(path, key, beside.parent)) as broken:
        with ArchiveDatabase.open(beside.parent, key=key) as made:
            _fill(broken, made)
        broken.close()
        kept = folder / f"{ARCHIVE}{_BROKEN}-{int(time.time())}"
        kept.hardlink_to(path)
        swap_file(beside, path)
    return kept


def _open_broken(path: Path, key: str | None, room: Path) -> apsw.Connection:
    """The broken database, with a new first page where its own cannot be used."""
    broken = open_connection(path, key, readonly=True)
    with suppress(apsw.Error):
        if broken.execute("SELECT count(*) FROM sqlite_schema").get:
            return broken
    room.mkdir(mode=0o700, exist_ok=True)
    found = with_new_first_page(path, room) if key is None else None
    return found or broken


def _fill(broken: apsw.Connection, made: ArchiveDatabase) -> None:
    with made.writing():
        name = made.salt
        made.db.execute("DELETE FROM meta")
        found = 0
        for table in TABLES:
            for row in readable_rows(broken, table):
                put_row(made.db, table, row)
                found += table.name in ("generation", "pack")
        if not found:
            raise Unreadable(
                f"Nothing in {made.path.parent.parent / ARCHIVE} can be read any more. Move it away; the next"
                " `unspool sync` keeps what the sources still have."
            )
        made.db.execute("INSERT OR IGNORE INTO meta VALUES('id', ?)", (name,))
        for query in _ORPHANS:
            made.db.execute(query)
        for (file,) in list(made.db.execute("SELECT id FROM file")):
            renumber(made, file)


def convert(folder: Path, old: str | None, new: str | None) -> None:
    """Give the archive of a folder another key; None is none. The index goes: the next sync makes it with that key.

    An archive that is not clean is refused, so that the new one is known to be whole.
    """
    if not verify_archive(folder, key=old).clean:
        raise Unreadable(f"The archive in {folder} is damaged; run `unspool verify --repair` first.")
    path = folder / ARCHIVE
    with (
        _new_file(folder, ".new") as beside,
        ArchiveDatabase.open(folder, key=old) as archive,
        sqlite_errors_told(path),
    ):
        archive.db.execute("BEGIN EXCLUSIVE")  # whoever writes must wait, and then meets another file
        _copy(archive, beside, new)
        remove_database(folder / INDEX)
        before = os.open(path, os.O_RDWR)
        swap_file(beside, path)
        archive.close()  # ends the transaction; the file that it was about has no name any more
        overwrite_with_zeros(before)


@cache
def strengthen(folder: Path, key: str | None) -> None:
    """Write an archive that older versions encrypted anew, by the same passphrase and with the stronger key made of
    it; for whoever has the turn to write. One that is damaged, or that there is no room for, stays as it is."""
    if key is not None and is_weak(folder / ARCHIVE):
        with suppress(Unreadable, NoRoom):
            convert(folder, key, key)


def _copy(archive: ArchiveDatabase, beside: Path, key: str | None) -> None:
    with ArchiveDatabase.open(beside.parent, key=key) as made:
        with made.writing():
            copy_rows(archive.db, made.db)
        if not same_rows(archive.db, made.db):
            raise UnspoolError("The new archive is not equal to the old one; nothing was changed.")
    if not verify_archive(beside.parent, key=key).clean:
        raise UnspoolError("The new archive is not clean; nothing was changed.")
