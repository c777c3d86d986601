"""Records in PostgreSQL: a pool of connections for all threads of a process."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import count
from typing import Any, Literal

import psycopg
from psycopg import errors
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus

from unspool.errors import UsageProblem
from unspool.hub.store.database import Row, Value, kept
from unspool.hub.store.pool import Connection, Pool
from unspool.hub.trouble import Conflict, Full, Trouble

_CONNECTIONS = 8
_ROWS = 1000
"""Rows of a long answer that are held at a time."""
_USUAL: dict[str, Any] = {
    "application_name": "unspool-hub",
    "connect_timeout": 5,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
_NUMBERS = count()
_BOUNDS = b"SET statement_timeout = '30s'; SET lock_timeout = '20s'; SET idle_in_transaction_session_timeout = '60s'"
"""A statement that takes longer, or a transaction that does nothing for so long, must not hold up the others."""


class Postgres:
    """A database on a server; what its address says goes before what is usual here."""

    dialect: Literal["sqlite", "postgresql"] = "postgresql"

    def __init__(self, address: str) -> None:
        self._local = threading.local()
        self._pool = Pool(partial(_connected, _whole(address)), _CONNECTIONS)
        _greet(self._pool)

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        """The connection of this thread's transaction, or any."""
        with _told():
            if (held := self._held()) is not None:
                yield held
                return
            with self._pool.connection() as connection:
                yield connection

    def _held(self) -> Connection | None:
        return getattr(self._local, "connection", None)

    def rows(self, sql: str, *values: Value) -> list[Row]:
        """All rows of a query."""
        with self._connection() as connection:
            return connection.execute(_own(sql), kept(values)).fetchall()

    def row(self, sql: str, *values: Value) -> Row | None:
        """The first row of a query, if any."""
        with self._connection() as connection:
            found: Row | None = connection.execute(_own(sql), kept(values)).fetchone()
            return found

    def each(self, sql: str, *values: Value) -> Iterator[Row]:
        """The rows of a query one after the other."""
        with self._connection() as connection, connection.cursor(f"each_{next(_NUMBERS)}") as cursor:
            cursor.itersize = _ROWS
            yield from cursor.execute(_own(sql), kept(values))

    def run(self, sql: str, *values: Value) -> int:
        """Change something; how many rows were changed."""
        with self._connection() as connection:
            return connection.execute(_own(sql), kept(values)).rowcount

    def many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        """The same change for each of many rows."""
        if not rows:
            return
        with self.transaction(), self._connection() as connection, connection.cursor() as cursor:
            cursor.executemany(_own(sql), [kept(row) for row in rows])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        with self._connection() as connection, connection.transaction(), self._holding(connection):
            yield
            if connection.info.transaction_status == TransactionStatus.INERROR:  # its end would undo it silently
                raise Conflict("A part of this was refused, so nothing of it was done.")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read is of one moment."""
        with self._connection() as connection, connection.transaction(), self._holding(connection):
            connection.execute(
                b"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0;"
                b"SET LOCAL idle_in_transaction_session_timeout = 0"
            )
            yield

    @contextmanager
    def _holding(self, connection: Connection) -> Iterator[None]:
        """All that this thread does goes through one connection."""
        before, self._local.connection = self._held(), connection
        try:
            yield
        finally:
            self._local.connection = before

    def alone(self, name: str) -> None:
        """Nobody else is past this line with the same name, in any process, until the transaction ends."""
        if self._held() is None:
            raise RuntimeError("one is alone in a transaction only")
        number = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)
        self.run("SELECT pg_advisory_xact_lock(?::bigint)", number)

    def script(self, sql: str) -> None:
        """Statements that bring no values."""
        with self._connection() as connection:
            connection.execute(sql.encode())

    def well(self) -> bool:
        """Whether it answers now."""
        try:
            return self.row("SELECT 1") == (1,)
        except (Trouble, Full):
            return False

    def close(self) -> None:
        """Let go of every connection."""
        self._pool.close()


class _Number(Loader):
    """A sum or a mean as SQLite gives it: a whole number, or one with a point."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


def _whole(address: str) -> str:
    """An address with what is usual here where it says nothing."""
    try:
        given = conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        raise UsageProblem("This is no address of a database: postgresql://user@host/name is one.") from None
    return make_conninfo(**{**_USUAL, **given})


def _connected(address: str) -> Connection:
    connection: psycopg.Connection[Any] = psycopg.connect(address, autocommit=True)
    connection.adapters.register_loader("numeric", _Number)
    connection.execute(_BOUNDS)
    return connection


def _greet(pool: Pool) -> None:
    """Say in the server's own words why it does not let the hub in, to whoever starts it."""
    try:
        with pool.connection():
            pass
    except psycopg.OperationalError as error:
        reason = " ".join(str(error).split()) or "it does not answer"
        raise Trouble(f"The hub's database cannot be used: {reason}.") from None


@lru_cache(1024)
def _own(sql: str) -> bytes:
    """A statement as the driver wants it."""
    return sql.replace("%", "%%").replace("?", "%s").encode()


@contextmanager
def _told() -> Iterator[None]:
    """Say of a server that does not do what it should."""
    try:
        yield
    except errors.UniqueViolation:
        raise Conflict("There is one already.") from None
    except errors.DiskFull:
        raise Full("The hub's database has no room; what was kept before is safe.") from None
    except errors.InFailedSqlTransaction:
        raise Conflict("A part of this was refused, so nothing of it was done.") from None
    except (psycopg.OperationalError, psycopg.InterfaceError, errors.ReadOnlySqlTransaction) as error:
        raise Trouble("The hub's database does not answer; try again.") from error
