"""Opening the archive's database: private, checked, of this version or brought to it."""

import os
import uuid
from contextlib import ExitStack
from pathlib import Path

import apsw

from unspool.archive import pages
from unspool.archive.schema import APPLICATION, MIGRATIONS, TABLES, VERSION
from unspool.archive.trouble import told, transaction
from unspool.errors import NotFound, Unreadable, UsageProblem

_WAIT_MS = 60_000
_CACHE_KB = 8_000
"""Packs are most of the file, and whoever needs one twice has it unpacked."""
_CIPHER = "chacha20"
"""ChaCha20-Poly1305: every page is authenticated. Named, so that another default of the library changes nothing."""


def connect(path: Path, key: str | None, *, readonly: bool) -> apsw.Connection:
    """A connection to an archive; a new file gets its tables."""
    db = opened(path, key, readonly=readonly)
    with ExitStack() as unless_all_is_well:
        unless_all_is_well.callback(db.close)
        try:
            _prepare(db, path, key, readonly=readonly)
        except apsw.ReadOnlyError:
            db.close()
            _recover(path, key)
            return connect(path, key, readonly=True)
        unless_all_is_well.pop_all()
    return db


def opened(path: Path, key: str | None, *, readonly: bool) -> apsw.Connection:
    """A bare connection, of which nothing has been read yet."""
    if not readonly:
        _make(path)
    flags = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE
    with told(path):
        real = os.path.realpath(path)  # a file layer of one's own is not told of links in a path
        db = apsw.Connection(real, flags=flags, vfs=pages.layer() if key is None else None)
        db.set_busy_timeout(_WAIT_MS)
        if key is not None:
            db.pragma("cipher", _CIPHER)
            db.pragma("key", key)
    return db


def _make(path: Path) -> None:
    """The file, private to the user, where there is none."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise Unreadable(f"Cannot write the archive {path}: {error.strerror or error}.") from None


def _prepare(db: apsw.Connection, path: Path, key: str | None, *, readonly: bool) -> None:
    try:
        version = _version(db, path, key)
    except apsw.ReadOnlyError:
        if not readonly:
            raise Unreadable(f"Cannot write the archive {path}: it is read-only.") from None
        raise
    if version == 0 and readonly:
        raise NotFound(f"{path} is empty yet; `unspool sync` fills it.")
    with told(path):
        _set(db, readonly=readonly)
        if version == 0 and not readonly:
            _create(db, encrypted=key is not None)
        elif 0 < version < VERSION and not readonly:
            _migrate(db)


def _recover(path: Path, key: str | None) -> None:
    """A process was killed while it wrote: only a connection that may write can take back its half of a change."""
    db = opened(path, key, readonly=False)
    try:
        with told(path):
            db.pragma("user_version")
    finally:
        db.close()


def _version(db: apsw.Connection, path: Path, key: str | None) -> int:
    """The version of the archive; 0 of an empty file."""
    try:
        version: int = db.pragma("user_version")
        application = db.pragma("application_id")
        empty = db.pragma("schema_version") == 0
    except apsw.ReadOnlyError:
        raise
    except apsw.NotADBError:
        why = "it is encrypted, or damaged" if key is None else "the key is wrong, or it is damaged"
        raise Unreadable(f"Cannot open the archive {path}: {why}.") from None
    except apsw.Error:
        with told(path):
            raise
    if not empty and application == APPLICATION and version == 0:
        raise Unreadable(f"{path} is damaged; `unspool verify --repair` saves what can be saved.")
    if not empty and application != APPLICATION:
        raise Unreadable(f"{path} is no archive of unspool.")
    if version > VERSION:
        raise UsageProblem(f"{path} was written by a newer unspool (version {version}); upgrade to read it.")
    return version


def _set(db: apsw.Connection, *, readonly: bool) -> None:
    db.pragma("cache_size", -_CACHE_KB)
    db.pragma("trusted_schema", "OFF")
    if not readonly:
        db.pragma("journal_mode", "truncate")
        db.pragma("synchronous", "FULL")
        db.pragma("secure_delete", "ON")


def _create(db: apsw.Connection, *, encrypted: bool) -> None:
    if not encrypted:
        db.reserve_bytes(None, pages.RESERVED)
    db.pragma("page_size", pages.PAGE)
    with transaction(db):
        if db.pragma("user_version") != 0:
            return  # another process was quicker
        db.execute(TABLES)
        db.execute("INSERT INTO meta VALUES('id', ?)", (str(uuid.uuid4()),))
        db.pragma("application_id", APPLICATION)
        db.pragma("user_version", VERSION)


def _migrate(db: apsw.Connection) -> None:
    with transaction(db):
        for step in range(db.pragma("user_version"), VERSION):
            db.execute(MIGRATIONS[step])
        db.pragma("user_version", VERSION)
