"""Records in PostgreSQL, with a pool of connections."""

import select
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import count
from typing import Any, Literal, NamedTuple

import psycopg
from psycopg import errors
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Format, TransactionStatus
from psycopg.types.numeric import NumericBinaryLoader

from unspool.errors import UsageProblem
from unspool.hub.errors import Conflict, StoreFull, StoreUnavailable
from unspool.hub.store.database import Database, Row, Value, as_kept
from unspool.hub.store.words import INTEGERS, NumberArray

Connection = psycopg.Connection[Any]

_WAIT = 10.0
"""Seconds that one waits for its turn."""
_PATIENCE = 5.0
"""Seconds that a server may be away before nobody waits for it any more."""
_PAUSE = 0.1
_IDLE = 600.0
_LIFE = 3600.0
"""Seconds after which a connection is made anew: servers move."""


class _Idle(NamedTuple):
    connection: Connection
    made: float
    since: float


class ConnectionPool:
    def __init__(self, connect: Callable[[], Connection], most: int) -> None:
        self._connect = connect
        self._turns = threading.BoundedSemaphore(most)
        self._guard = threading.Lock()
        self._idle: list[_Idle] = []
        self._away: float | None = None
        self._closed = False

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection that nobody else uses; OperationalError where there is none to be had."""
        if not self._turns.acquire(timeout=_WAIT):
            raise StoreUnavailable("The hub's database has too much to do; try again.")
        try:
            connection, made = self._usable() or (self._connected(), time.monotonic())
            try:
                yield connection
            finally:
                self._back(connection, made)
        finally:
            self._turns.release()

    def close(self) -> None:
        """Let go of every connection, and of those in use when they come back."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for one in idle:
            one.connection.close()

    def _usable(self) -> tuple[Connection, float] | None:
        """The connection that was used last, if there is one that still is."""
        while True:
            with self._guard:
                if not self._idle:
                    return None
                one = self._idle.pop()
            if _quiet(one.connection) and time.monotonic() - one.made < _LIFE:
                return one.connection, one.made
            one.connection.close()

    def _connected(self) -> Connection:
        """A new connection, from a server that may be just starting."""
        while True:
            try:
                connection = self._connect()
            except psycopg.OperationalError:
                with self._guard:
                    self._away = self._away or time.monotonic()
                    if self._closed or time.monotonic() - self._away > _PATIENCE:
                        raise
                time.sleep(_PAUSE)
            else:
                self._away = None
                return connection

    def _back(self, connection: Connection, made: float) -> None:
        """Keep a connection for the next one, unless something is wrong with it."""
        fine = not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
        now = time.monotonic()
        with self._guard:
            done = [connection]
            if fine and not self._closed:
                self._idle.append(_Idle(connection, made, now))
                done = [one.connection for one in self._idle if now - one.since > _IDLE]
                self._idle = [one for one in self._idle if now - one.since <= _IDLE]
        for one in done:
            one.close()


def _quiet(connection: Connection) -> bool:
    """Whether a connection that nobody uses says nothing: only its end is told unasked."""
    if connection.closed:
        return False
    if not hasattr(select, "poll"):  # Windows: it is noticed by its use
        return True
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)


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


class Postgres(Database):
    """A database on a server; what its address says goes before what is usual here."""

    dialect: Literal["sqlite", "postgresql"] = "postgresql"

    def __init__(self, address: str) -> None:
        self._local = threading.local()
        try:
            given = conninfo_to_dict(address)
        except psycopg.ProgrammingError:
            raise UsageProblem("This is no address of a database: postgresql://user@host/name is one.") from None
        whole = make_conninfo(**{**_USUAL, **given})
        self._pool = ConnectionPool(partial(_connected, whole), _CONNECTIONS)
        try:
            with self._pool.connection():
                pass
        except psycopg.OperationalError as error:  # in the server's own words, to whoever starts the hub
            reason = " ".join(str(error).split()) or "it does not answer"
            raise StoreUnavailable(f"The hub's database cannot be used: {reason}.") from None

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        """The connection of this thread's transaction, or any."""
        with _as_hub_errors():
            if (held := self._held()) is not None:
                yield held
                return
            with self._pool.connection() as connection:
                yield connection

    def _held(self) -> Connection | None:
        return getattr(self._local, "connection", None)

    def rows(self, sql: str, *values: Value) -> list[Row]:
        with self._connection() as connection:  # in binary, bytes take half of what they do as text
            return connection.execute(_own(sql), as_kept(values), binary=True).fetchall()

    def row(self, sql: str, *values: Value) -> Row | None:
        with self._connection() as connection:
            found: Row | None = connection.execute(_own(sql), as_kept(values)).fetchone()
            return found

    def each(self, sql: str, *values: Value) -> Iterator[Row]:
        with self._connection() as connection, connection.cursor(f"each_{next(_NUMBERS)}") as cursor:
            cursor.itersize = _ROWS
            yield from cursor.execute(_own(sql), as_kept(values), binary=True)

    def run(self, sql: str, *values: Value) -> int:
        with self._connection() as connection:
            return connection.execute(_own(sql), as_kept(values)).rowcount

    def many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        if not rows:
            return
        inside = nullcontext() if self._held() is not None else self.transaction()
        with inside, self._connection() as connection, connection.cursor() as cursor:
            cursor.executemany(_own(sql), [as_kept(row) for row in rows])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._connection() as connection, connection.transaction(), self._holding(connection):
            yield
            if connection.info.transaction_status == TransactionStatus.INERROR:  # its end would undo it silently
                raise Conflict("A part of this was refused, so nothing of it was done.")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
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
        if self._held() is None:
            raise RuntimeError("one is alone in a transaction only")
        number = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)
        self.run("SELECT pg_advisory_xact_lock(?::bigint)", number)

    def script(self, sql: str) -> None:
        with self._connection() as connection:
            connection.execute(sql.encode())

    def close(self) -> None:
        self._pool.close()


class _Number(Loader):
    """A sum or a mean as SQLite gives it: a whole number, or one with a point."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


class _BinaryNumber(NumericBinaryLoader):
    """The same of what comes in binary."""

    def load(self, data: Buffer) -> int | float:  # type: ignore[override]
        found = super().load(data)
        return int(found) if found.as_tuple().exponent == 0 else float(found)


class _NumbersDumper(Dumper):
    """Numbers as they are."""

    format = Format.BINARY
    oid = INTEGERS

    def dump(self, obj: NumberArray) -> Buffer:
        return obj


def _connected(address: str) -> Connection:
    connection: psycopg.Connection[Any] = psycopg.connect(address, autocommit=True)
    for loader in (_Number, _BinaryNumber):
        connection.adapters.register_loader("numeric", loader)
    connection.adapters.register_dumper(NumberArray, _NumbersDumper)
    connection.execute(_BOUNDS)
    return connection


@lru_cache(1024)
def _own(sql: str) -> bytes:
    return sql.replace("%", "%%").replace("?", "%s").encode()


@contextmanager
def _as_hub_errors() -> Iterator[None]:
    try:
        yield
    except errors.UniqueViolation:
        raise Conflict("There is one already.") from None
    except errors.DiskFull:
        raise StoreFull("The hub's database has no room; what was kept before is safe.") from None
    except errors.InFailedSqlTransaction:
        raise Conflict("A part of this was refused, so nothing of it was done.") from None
    except (psycopg.OperationalError, psycopg.InterfaceError, errors.ReadOnlySqlTransaction) as error:
        raise StoreUnavailable("The hub's database does not answer; try again.") from error
