"""The index's database: made anew where it is missing, of another version, or damaged."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import apsw

from unspool.errors import NotFound, Unreadable
from unspool.store.archive.database import INDEX, OpenDatabase, make_private_file, sqlite_errors_told, unlock
from unspool.store.archive.keys import is_weak
from unspool.store.index.schema import TABLES, VERSION

_WAIT_MS = 60_000
_CACHE_KB = 22_000
_HASH_BYTES = 32 * 1024 * 1024
"""Words gathered in memory before they are written: more of them make a smaller index, and quicker."""
_SEGMENTS = 8
"""So many pieces of the full-text index are joined: fewer at a time, and words are written more often."""


_MUCH = 12
"""One page of so many may stay empty."""


class OtherVersion(Unreadable):
    """An index that another version of unspool made; the archive has all that a new one needs."""


class Index(OpenDatabase):
    """An open index."""

    @classmethod
    def open(cls, folder: Path, *, key: str | None = None, readonly: bool = False) -> Self:
        """The index of a folder; whoever may write makes it where there is none that fits."""
        path = folder / INDEX
        if readonly:
            return cls(_readable(path, key), path)
        try:
            db = _connection(path, key)
            fits = db.pragma("user_version") == VERSION and not (key and is_weak(path))
        except (apsw.NotADBError, apsw.CorruptError):
            fits = False
        if not fits:
            db = _fresh(path, key)
        return cls(db, path)

    def shrink(self) -> None:
        """Give back the room that merging words left empty, where it is much."""
        free: int = self.db.pragma("freelist_count")
        if free * _MUCH > self.db.pragma("page_count"):
            self.db.execute("PRAGMA incremental_vacuum").fetchall()


def _readable(path: Path, key: str | None) -> apsw.Connection:
    if not path.exists():
        raise NotFound(f"There is no index in {path.parent} yet; `unspool sync` makes it.")
    try:
        db = _connection(path, key)
        version = db.pragma("user_version")
    except (apsw.NotADBError, apsw.CorruptError):
        raise Unreadable(f"Cannot read {path}; `unspool sync` makes it anew (or the key is wrong).") from None
    if version != VERSION:
        raise OtherVersion(f"{path} is of another version; `unspool sync` makes it anew.")
    db.pragma("query_only", True)
    return db


def _connection(path: Path, key: str | None) -> apsw.Connection:
    if not path.exists():
        make_private_file(path)
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    db.set_busy_timeout(_WAIT_MS)
    if key is not None:
        unlock(db, path, key)
    db.pragma("cache_size", -_CACHE_KB)
    db.pragma("temp_store", "memory")
    db.pragma("synchronous", "off")  # what a power cut takes, the next sync makes anew
    return db


@contextmanager
def index_errors_told(folder: Path) -> Iterator[None]:
    """Errors of SQLite about the index of a folder become ours; but not damage, which making it anew mends."""
    try:
        yield
    except apsw.CorruptError:
        raise
    except apsw.Error:
        with sqlite_errors_told(folder / INDEX):
            raise


def discard_index(folder: Path) -> None:
    """Take the index of a folder away; the next sync makes it anew."""
    for name in (INDEX, f"{INDEX}-wal", f"{INDEX}-shm"):
        (folder / name).unlink(missing_ok=True)


def _fresh(path: Path, key: str | None) -> apsw.Connection:
    discard_index(path.parent)
    db = _connection(path, key)
    db.pragma("page_size", 8192)
    db.pragma("auto_vacuum", "incremental")
    db.pragma("journal_mode", "wal")
    with db:
        db.execute(TABLES)
        db.execute("INSERT INTO words(words, rank) VALUES('hashsize', ?), ('automerge', ?)", (_HASH_BYTES, _SEGMENTS))
        db.pragma("user_version", VERSION)
    return db
