"""Opens the archive's database: where it lies, its tables, its key, errors and swaps of files."""

import os
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

import apsw

from unspool.errors import Busy, NoRoom, NotFound, Unreadable, UnspoolError, UsageProblem
from unspool.files import settle
from unspool.store.archive import page_checksums
from unspool.store.archive.keys import cipher_key

ARCHIVE, INDEX = "archive.db", "index.db"


def archive_folder(given: Path | None = None) -> Path:
    """The folder named, else the one the environment names, else unspool's in the user's data folder."""
    named = given or os.environ.get("UNSPOOL_ARCHIVE")
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "unspool"


APPLICATION = 0x756E7370
"""`unsp`, so that the file says what it is."""
VERSION = 1

TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- A place that files came from: whose, on which machine.
CREATE TABLE origin(
  id INTEGER PRIMARY KEY,
  machine TEXT NOT NULL, user TEXT NOT NULL, root TEXT NOT NULL, agent TEXT NOT NULL,
  UNIQUE(machine, user, root, agent)
);

CREATE TABLE file(
  id INTEGER PRIMARY KEY,
  origin INTEGER NOT NULL REFERENCES origin,
  path TEXT NOT NULL,                 -- below the root, with slashes
  UNIQUE(origin, path)
);

-- What a file held. A file that grew is the same generation; one that was rewritten or shrank begins a new one.
CREATE TABLE generation(
  id INTEGER PRIMARY KEY,
  file INTEGER NOT NULL REFERENCES file,
  number INTEGER NOT NULL,
  size INTEGER NOT NULL,
  modified INTEGER NOT NULL,          -- nanoseconds
  changed INTEGER NOT NULL,           -- nanoseconds of the last change of its inode; 0 where it must be looked at again
  inode INTEGER NOT NULL,
  seen REAL NOT NULL,                 -- when it was first kept
  gone REAL,                          -- when it was first missed at its origin
  chain BLOB NOT NULL,                -- digest over where it came from, the generation before it, and every piece
  UNIQUE(file, number)
);

-- Bytes of a generation, in order, as a slice of a pack.
CREATE TABLE piece(
  generation INTEGER NOT NULL REFERENCES generation,
  start INTEGER NOT NULL,
  size INTEGER NOT NULL,
  pack INTEGER NOT NULL REFERENCES pack,
  place INTEGER NOT NULL,             -- byte offset in the unpacked pack
  digest BLOB NOT NULL,               -- SHA-256 of the bytes
  PRIMARY KEY(generation, start)
) WITHOUT ROWID;
CREATE INDEX piece_digest ON piece(digest);
CREATE INDEX piece_pack ON piece(pack);

-- Bytes of many files together, compressed with zstd; `base` is a pack that they are compressed against.
CREATE TABLE pack(
  id INTEGER PRIMARY KEY,
  size INTEGER NOT NULL,              -- unpacked
  base INTEGER REFERENCES pack,
  data BLOB NOT NULL
);

-- Ids that packs hold, a few of them, for finding the pack that new content resembles.
CREATE TABLE trait(hash INTEGER PRIMARY KEY, pack INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX trait_pack ON trait(pack);

-- Files that were removed for good and must not come back, by a digest of their name alone.
CREATE TABLE tombstone(name BLOB PRIMARY KEY, time REAL NOT NULL) WITHOUT ROWID;
"""

MIGRATIONS: dict[int, str] = {}
"""SQL that brings an archive of a version to the next."""

SEVERAL_AGENTS = """
CREATE TABLE origin_with_agent(
  id INTEGER PRIMARY KEY,
  machine TEXT NOT NULL, user TEXT NOT NULL, root TEXT NOT NULL, agent TEXT NOT NULL,
  UNIQUE(machine, user, root, agent)
);
INSERT INTO origin_with_agent SELECT id, machine, user, root, agent FROM origin;
DROP TABLE origin;
ALTER TABLE origin_with_agent RENAME TO origin;
"""
"""Lets a folder be the place of more than one agent, in an archive that was made when there was one. Done when that
is needed, because older versions of unspool read the rest as before."""


@contextmanager
def sqlite_errors_told(path: Path) -> Iterator[None]:
    """Errors of SQLite about the database at `path` become ours."""
    try:
        yield
    except apsw.Error as error:
        raise _our_error(error, path) from error


@contextmanager
def transaction(db: apsw.Connection) -> Iterator[None]:
    """All of the changes, or none where anything is raised."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _our_error(error: apsw.Error, path: Path) -> UnspoolError:
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return Busy(f"{path} is in use by another process for longer than is waited for; nothing was changed.")
        case apsw.FullError():
            return NoRoom(f"No room is left for {path}; what was kept before is safe, the next run goes on from it.")
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError() | apsw.AuthError():
            return Unreadable(f"Cannot open {path}: {error}.")
        case apsw.CorruptError() | apsw.NotADBError() | apsw.FormatError():
            return Unreadable(f"{path} is damaged ({error}); `unspool verify --repair` saves what can be saved.")
        case apsw.IOError():
            return UnspoolError(f"Cannot read or write {path}: {error}; nothing that was safe before is lost.")
    return UnspoolError(f"{path}: {error}.")


_CHUNK = 1 << 20
BESIDE = ("-journal", "-wal", "-shm")


def swap_file(new: Path, path: Path) -> None:
    """Move a finished file to where another one is; what lay beside the old one is nothing to the new."""
    with new.open("rb+") as stream:
        os.fsync(stream.fileno())
    for suffix in BESIDE:
        erase_file(path.with_name(path.name + suffix))
    new.replace(path)
    settle(path.parent)


def erase_file(path: Path) -> None:
    """Overwrite a file and remove it. What a disk or a snapshot keeps besides is beyond any program."""
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return
    overwrite_with_zeros(descriptor)
    path.unlink(missing_ok=True)


def overwrite_with_zeros(descriptor: int) -> None:
    """Fill an open file with zeros, empty it, and close it."""
    try:
        left = os.fstat(descriptor).st_size
        while left > 0:
            left -= os.write(descriptor, bytes(min(_CHUNK, left)))
        os.fsync(descriptor)
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def remove_database(path: Path) -> None:
    """Make sure that a database file of that name, and what lies beside it, is not there."""
    for suffix in ("", *BESIDE):
        erase_file(path.with_name(path.name + suffix))


class OpenDatabase:
    """A database of ours that is open. Use it in a `with`, or close it."""

    def __init__(self, db: apsw.Connection, path: Path) -> None:
        self.db = db
        self.path = path

    def close(self) -> None:
        self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def note(self, name: str, value: str) -> None:
        """Have the database say something about itself."""
        self.db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (name, value))

    def meta(self, name: str) -> str:
        """What was noted; empty where nothing was."""
        return self.db.execute("SELECT value FROM meta WHERE key = ?", (name,)).get or ""


_WAIT_MS = 60_000
_CACHE_KB = 8_000
"""Packs are most of the file, and whoever needs one twice has it unpacked."""


_CIPHER = "chacha20"
"""ChaCha20-Poly1305: every page is authenticated. Named, so that another default of the library changes nothing."""


def unlock(db: apsw.Connection, path: Path, key: str) -> None:
    """Have a connection to a database decrypt and encrypt with a key; a wrong one shows when something is read."""
    db.pragma("cipher", _CIPHER)
    db.pragma("key", cipher_key(path, path.with_name(ARCHIVE), key))


def connect_archive(path: Path, key: str | None, *, readonly: bool) -> apsw.Connection:
    """A connection to an archive; a new file gets its tables."""
    db = open_connection(path, key, readonly=readonly)
    with ExitStack() as unless_all_is_well:
        unless_all_is_well.callback(db.close)
        try:
            _prepare(db, path, key, readonly=readonly)
        except apsw.ReadOnlyError:
            db.close()
            _recover(path, key)
            return connect_archive(path, key, readonly=True)
        unless_all_is_well.pop_all()
    return db


def open_connection(path: Path, key: str | None, *, readonly: bool) -> apsw.Connection:
    """A bare connection, of which nothing has been read yet."""
    if not readonly:
        try:
            make_private_file(path)
        except OSError as error:
            raise Unreadable(f"Cannot write the archive {path}: {error.strerror or error}.") from None
    flags = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE
    with sqlite_errors_told(path):
        real = os.path.realpath(path)  # a file layer of one's own is not told of links in a path
        db = apsw.Connection(real, flags=flags, vfs=page_checksums.checksum_layer() if key is None else None)
        db.set_busy_timeout(_WAIT_MS)
        if key is not None:
            unlock(db, path, key)
    return db


def make_private_file(path: Path) -> None:
    """The file, readable by its owner alone, where there is none."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _prepare(db: apsw.Connection, path: Path, key: str | None, *, readonly: bool) -> None:
    try:
        version = _version(db, path, key)
    except apsw.ReadOnlyError:
        if not readonly:
            raise Unreadable(f"Cannot write the archive {path}: it is read-only.") from None
        raise
    if version == 0 and readonly:
        raise NotFound(f"{path} is empty yet; `unspool sync` fills it.")
    with sqlite_errors_told(path):
        db.pragma("cache_size", -_CACHE_KB)
        db.pragma("trusted_schema", "OFF")
        if readonly:
            return
        db.pragma("journal_mode", "truncate")
        db.pragma("synchronous", "FULL")
        db.pragma("secure_delete", "ON")
        if version == 0:
            _create(db, encrypted=key is not None)
        elif version < VERSION:
            _migrate(db)


def _recover(path: Path, key: str | None) -> None:
    """A process was killed while it wrote: only a connection that may write can take back its half of a change."""
    db = open_connection(path, key, readonly=False)
    try:
        with sqlite_errors_told(path):
            db.pragma("user_version")
    finally:
        db.close()


def _version(db: apsw.Connection, path: Path, key: str | None) -> int:
    """The version of the archive; 0 of an empty file."""
    try:
        db.execute("BEGIN")  # so that all three are of one moment, while another process makes the archive
        version: int = db.pragma("user_version")
        application = db.pragma("application_id")
        empty = db.pragma("schema_version") == 0
        db.execute("COMMIT")
    except apsw.ReadOnlyError:
        raise
    except apsw.NotADBError:
        why = "it is encrypted, or damaged" if key is None else "the key is wrong, or it is damaged"
        raise Unreadable(f"Cannot open the archive {path}: {why}.") from None
    except apsw.Error:
        with sqlite_errors_told(path):
            raise
    if not empty and application == APPLICATION and version == 0:
        raise Unreadable(f"{path} is damaged; `unspool verify --repair` saves what can be saved.")
    if not empty and application != APPLICATION:
        raise Unreadable(f"{path} is no archive of unspool.")
    if version > VERSION:
        raise UsageProblem(f"{path} was written by a newer unspool (version {version}); upgrade to read it.")
    return version


def _create(db: apsw.Connection, *, encrypted: bool) -> None:
    if not encrypted:
        db.reserve_bytes(None, page_checksums.RESERVED)
    db.pragma("page_size", page_checksums.PAGE)
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
