"""An archive whose database is broken: every row that can be read goes into a new file; the broken one stays."""

import shutil
import time
from pathlib import Path

import apsw

from unspool.archive.archive import Archive
from unspool.archive.connect import opened
from unspool.archive.front import fronted
from unspool.archive.numbering import renumbered
from unspool.archive.place import ARCHIVE
from unspool.archive.rows import TABLES, put, readable
from unspool.archive.swap import swapped, without
from unspool.errors import Unreadable

_NEW, _BROKEN = ".salvage", ".damaged"
_ORPHANS = (
    "DELETE FROM file WHERE origin NOT IN (SELECT id FROM origin)",
    "DELETE FROM generation WHERE file NOT IN (SELECT id FROM file)",
    "DELETE FROM piece WHERE generation NOT IN (SELECT id FROM generation)",
    "DELETE FROM file WHERE id NOT IN (SELECT file FROM generation)",
    "DELETE FROM pack WHERE id NOT IN (SELECT pack FROM piece) AND id NOT IN (SELECT base FROM pack WHERE base > 0)",
    "DELETE FROM trait WHERE pack NOT IN (SELECT id FROM pack)",
)


def salvage(folder: Path, key: str | None) -> Path:
    """Put the archive of a folder together anew; the path of the broken file, which is kept."""
    path = folder / ARCHIVE
    beside = folder / (ARCHIVE + _NEW) / ARCHIVE
    without(beside)
    broken = _opened(path, key, beside.parent)
    try:
        with Archive.open(beside.parent, key=key) as fresh:
            _filled(broken, fresh)
        broken.close()
        kept = folder / f"{ARCHIVE}{_BROKEN}-{int(time.time())}"
        kept.hardlink_to(path)
        swapped(beside, path)
    finally:
        broken.close()
        without(beside)
        shutil.rmtree(beside.parent)
    return kept


def _opened(path: Path, key: str | None, room: Path) -> apsw.Connection:
    """The broken database, with a new first page where its own cannot be used."""
    broken = opened(path, key, readonly=True)
    try:
        if broken.execute("SELECT count(*) FROM sqlite_schema").get:
            return broken
    except apsw.Error:
        pass
    room.mkdir(mode=0o700, exist_ok=True)
    found = fronted(path, room) if key is None else None
    return found or broken


def _filled(broken: apsw.Connection, fresh: Archive) -> None:
    with fresh.writing():
        name = fresh.salt
        fresh.db.execute("DELETE FROM meta")
        found = 0
        for table in TABLES:
            for row in readable(broken, table):
                put(fresh.db, table, row)
                found += table.name in ("generation", "pack")
        if not found:
            raise Unreadable(
                f"Nothing in {fresh.path.parent.parent / ARCHIVE} can be read any more. Move it away; the next"
                " `unspool sync` keeps what the sources still have."
            )
        fresh.db.execute("INSERT OR IGNORE INTO meta VALUES('id', ?)", (name,))
        for query in _ORPHANS:
            fresh.db.execute(query)
        for (file,) in list(fresh.db.execute("SELECT id FROM file")):
            renumbered(fresh, file)
