"""Connections to PostgreSQL that the threads of a process share.

One that the server has let go of is noticed before it is used, without a question on the wire. While a server starts
again, those who ask wait for it a little; once it has been away for longer they are told at once, and the first who
asks when it is back has it.
"""

import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
from psycopg.pq import TransactionStatus

from unspool.hub.trouble import Trouble

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


class Pool:
    """At most so many connections, each made when it is needed first."""

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
            raise Trouble("The hub's database has too much to do; try again.")
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
