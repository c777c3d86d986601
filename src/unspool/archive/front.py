"""A new first page for an archive whose own is destroyed: all archives of a version have the same tables in it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw

from unspool.archive.archive import Archive
from unspool.archive.connect import opened
from unspool.archive.pages import PAGE

_COUNT, _FREE = slice(28, 32), slice(32, 40)
"""Where the header has the number of pages, and of free ones."""

_SIGNS = (
    "SELECT count(*) = 1 FROM meta WHERE key = 'id'",
    "SELECT count(*) > 0 FROM generation WHERE number > 0 AND length(chain) = 32",
    "SELECT count(*) > 0 AND min(length(digest)) = 32 FROM piece NOT INDEXED",
    "SELECT count(*) > 0 AND min(substr(data, 1, 4)) = x'28B52FFD' FROM pack",
    "SELECT count(*) > 0 FROM piece INDEXED BY piece_pack JOIN pack ON pack.id = piece.pack WHERE piece.pack > 0",
    "SELECT count(*) > 0 FROM file JOIN origin ON origin.id = file.origin",
)


def fronted(path: Path, room: Path) -> apsw.Connection | None:
    """A copy of a plain archive, below a folder, with a first page that makes it readable; None where none does."""
    for number, page in enumerate(_fronts(room)):
        copy = room / f"{number}.db"
        shutil.copyfile(path, copy)
        with copy.open("r+b") as stream:
            stream.write(_fitted(page, copy.stat().st_size // PAGE))
        db = opened(copy, None, readonly=True)
        if _sensible(db):
            return db
        db.close()
        copy.unlink()
    return None


def _fronts(room: Path) -> Iterator[bytes]:
    """The first pages that there are: of an archive as it was made, and as compacting leaves it."""
    with Archive.open(room / "front") as archive:
        yield _first(archive.path)
        archive.compact()
        yield _first(archive.path)


def _first(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(PAGE)


def _fitted(page: bytes, count: int) -> bytes:
    made = bytearray(page)
    made[_COUNT] = count.to_bytes(4)
    made[_FREE] = bytes(8)
    return bytes(made)


def _sensible(db: apsw.Connection) -> bool:
    """Whether the tables are where that page says."""
    try:
        return all(db.execute(query).get for query in _SIGNS)
    except (apsw.Error, UnicodeDecodeError):
        return False
