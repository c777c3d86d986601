"""What a database does for the hub, and the one in a file of SQLite.

Statements are written once, in the SQL that SQLite and PostgreSQL share: `?` for a value and never in a literal, times
as whole milliseconds of the epoch, truth as 0 and 1, digests and JSON as text, `ON CONFLICT` for what may be there.
`LIKE` minds case, and says `ESCAPE` where a value may hold a backslash. What only one of them can say (full text) is
asked for by `dialect`, in the module that needs it and nowhere else.

A transaction sees what others commit meanwhile, unless all who matter say `alone` first: what is read in it and must
still hold when it is written (a sum below a limit, the last one of a kind) is read after `alone`.
"""

import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal, Protocol
from weakref import WeakSet

import apsw

from unspool.hub.errors import BadRequest, Conflict, StoreFull, StoreUnavailable

Value = str | int | float | bytes | None
Row = tuple[Any, ...]

_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_MOST = 2**63 - 1
_LOT = 500


class Database(Protocol):
    """An open database, for all threads of a process. StoreUnavailable where it cannot be reached or does not answer.

    Text is kept as it is but for NUL and lone surrogates, which become U+FFFD; a number that 64 bits do not hold is
    `BadRequest`; a second row where there may be one is `Conflict`, and spoils the innermost transaction that it is in.
    """

    @property
    def dialect(self) -> Literal["sqlite", "postgresql"]:
        """Which SQL it speaks beyond the shared part."""

    def rows(self, sql: str, *values: Value) -> list[Row]:
        """All rows of a query."""

    def row(self, sql: str, *values: Value) -> Row | None:
        """The first row of a query, if any."""

    def each(self, sql: str, *values: Value) -> Iterator[Row]:
        """The rows of a query one after the other, however many; inside `snapshot`, and read to the end or closed."""

    def run(self, sql: str, *values: Value) -> int:
        """Change something; how many rows were changed."""

    def many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        """The same change for each of many rows, or for none."""

    def transaction(self) -> AbstractContextManager[None]:
        """All that this thread does in the `with` happens, or nothing of it, and that with the one it is inside of."""

    def snapshot(self) -> AbstractContextManager[None]:
        """All that this thread reads in the `with` is of one moment, and nobody waits for it; nothing is changed."""

    def alone(self, name: str) -> None:
        """Inside a transaction: until its end, nobody else is past this line with the same name."""

    def script(self, sql: str) -> None:
        """Statements that bring no values, for making tables."""

    def well(self) -> bool:
        """Whether the database answers now."""
        try:
            return self.row("SELECT 1") == (1,)
        except (StoreUnavailable, StoreFull):
            return False

    def close(self) -> None:
        """Let go of every connection."""


def as_kept(values: Sequence[Value]) -> tuple[Value, ...]:
    """Values as every database keeps them."""
    return tuple(map(_kept, values))


def _kept(value: Value) -> Value:
    if isinstance(value, str):
        return value if value.isascii() and "\0" not in value else _NO_TEXT.sub("\ufffd", value)
    if isinstance(value, int):
        if not -_MOST <= value <= _MOST:
            raise BadRequest("A number is larger than anything that is counted here.")
        return int(value)
    return value


def batches(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """Values, as many at a time as a statement takes."""
    return (values[start : start + _LOT] for start in range(0, len(values), _LOT))


def placeholders(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def get_setting(db: Database, key: str) -> str | None:
    row = db.row("SELECT value FROM setting WHERE key = ?", key)
    return None if row is None else str(row[0])


def set_setting(db: Database, key: str, value: str) -> None:
    sql = "INSERT INTO setting(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value"
    db.run(sql, key, value)


def find_id(db: Database, table: str, named: str) -> str | None:
    """The id of a person, team or project by id or name; an id counts before a name."""
    sql = f"SELECT id FROM {table} WHERE id = ? OR name = ? ORDER BY id = ? DESC"  # noqa: S608  our own names
    row = db.row(sql, named, named, named)
    return None if row is None else str(row[0])


WAIT_MS = 20_000
"""Milliseconds that a connection waits for others."""
_CACHE_KB = 16_000
_LOG_BYTES = 64 * 1024 * 1024
_UNIQUE = {apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY, apsw.SQLITE_CONSTRAINT_ROWID}


class Sqlite(Database):
    """Records in a file: a connection for each thread, one writer at a time."""

    dialect: Literal["sqlite", "postgresql"] = "sqlite"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = _Local()
        self._open: WeakSet[apsw.Connection] = WeakSet()  # a thread that ends lets go of its own
        self._guard = threading.Lock()
        with _as_hub_errors():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._db.pragma("journal_mode", "wal")

    @property
    def _db(self) -> apsw.Connection:
        if self._local.db is None:
            db = apsw.Connection(os.path.realpath(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
            db.set_busy_timeout(WAIT_MS)
            db.pragma("cache_size", -_CACHE_KB)
            db.pragma("synchronous", "FULL")
            db.pragma("secure_delete", "ON")
            db.pragma("trusted_schema", "OFF")
            db.pragma("case_sensitive_like", "ON")  # as on a server
            db.pragma("journal_size_limit", _LOG_BYTES)
            self._local.db = db
            with self._guard:
                self._open.add(db)
        return self._local.db

    def rows(self, sql: str, *values: Value) -> list[Row]:
        with self._sound():
            return list(self._db.execute(sql, as_kept(values)))

    def row(self, sql: str, *values: Value) -> Row | None:
        found = self.rows(sql, *values)
        return found[0] if found else None

    def each(self, sql: str, *values: Value) -> Iterator[Row]:
        with self._sound():
            yield from self._db.execute(sql, as_kept(values))

    def run(self, sql: str, *values: Value) -> int:
        with self._sound():
            db = self._db
            db.execute(sql, as_kept(values))
            return db.changes()

    def many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        with nullcontext() if self._db.in_transaction else self.transaction(), self._sound():
            self._db.executemany(sql, [as_kept(row) for row in rows])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. It is the writer's turn from the beginning, so that what is read in it still holds."""
        inside = self._db.in_transaction
        with self._sound():
            self._db.execute("SAVEPOINT part" if inside else "BEGIN IMMEDIATE")
        with ExitStack() as otherwise:
            otherwise.callback(self._undone, "ROLLBACK TO part; RELEASE part" if inside else "ROLLBACK")
            yield
            with self._sound():
                self._db.execute("RELEASE part" if inside else "COMMIT")
            otherwise.pop_all()

    def _undone(self, how: str) -> None:
        """Take back what this thread did; a full disk may have done so already, and all of it."""
        if self._db.in_transaction:
            self._db.execute(how)
        self._local.spoiled = False

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with _as_hub_errors():
            self._db.execute("BEGIN; SELECT 1 FROM sqlite_master").fetchall()
        try:
            yield
        finally:
            self._undone("ROLLBACK")

    def alone(self, name: str) -> None:
        """Whoever is in a transaction here is alone."""
        if not self._db.in_transaction:
            raise RuntimeError("one is alone in a transaction only")

    def script(self, sql: str) -> None:
        with self._sound():
            self._db.execute(sql)

    def close(self) -> None:
        """Let go of every connection; no thread may use this any more."""
        with self._guard:
            for db in list(self._open):
                db.close()
            self._open.clear()

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """Say of what cannot be done; a transaction of which a part was refused does no more, as on a server."""
        if self._local.spoiled:
            raise Conflict("A part of this was refused, so nothing of it was done.")
        try:
            with _as_hub_errors():
                yield
        except Conflict:
            self._local.spoiled = self._db.in_transaction
            raise


class _Local(threading.local):
    db: apsw.Connection | None = None
    spoiled = False


@contextmanager
def _as_hub_errors() -> Iterator[None]:
    try:
        yield
    except apsw.ConstraintError as error:
        if getattr(error, "extendedresult", 0) not in _UNIQUE:
            raise
        raise Conflict("There is one already.") from None
    except apsw.FullError:
        raise StoreFull("The hub's disk is full; what was kept before is safe.") from None
    except apsw.BusyError as error:
        raise StoreUnavailable("The hub's database is busy; try again.") from error
    except (apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreUnavailable(f"The hub's database cannot be used: {error}.") from error
    except OSError as error:
        raise StoreUnavailable(f"The hub's database cannot be used: {error.strerror}.") from error
