"""A hub started: its store opened, its first owner made, served until a signal asks for its end."""

import asyncio
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import uvicorn
from anyio.to_thread import current_default_thread_limiter

from unspool.app.guard_limits import HEADERS
from unspool.app.start_listener import LOOPBACK, address, listener, room_for_readers
from unspool.app.start_protocol import Patient
from unspool.hub.chores import Chores
from unspool.hub.daily import chores
from unspool.hub.hub import Hub, Terms
from unspool.hub.people.first import owner
from unspool.hub.server import Served, create
from unspool.hub.store.opening import Place, opened
from unspool.hub.watching import stderr
from unspool.hub.work import finish
from unspool.sync.stop import heeding

PORT = 8750
_THREADS = 16
"""Requests that are worked on at the same time."""
_READERS = 4000
_GRACE = 20
"""Seconds that requests which have begun are given when the end is asked for."""

Say = Callable[[str], None]


class Wanted(NamedTuple):
    """How a hub is to be started."""

    place: Place
    terms: Terms = Terms()
    host: str = LOOPBACK
    port: int | None = None
    quiet: bool = False
    """No line in the log for every request."""


def run(wanted: Wanted, say: Say) -> int:
    """Serve until a signal; its number."""
    room_for_readers()
    store = opened(wanted.place)
    try:
        with listener(wanted.host, PORT if wanted.port is None else wanted.port) as door:
            token = owner(store.db)
            hub = Hub(store, wanted.terms)
            served = create(hub, None if wanted.quiet else stderr)
            running = Running(served, door)
            with heeding(running.hear):
                say(f"The hub is at {wanted.terms.url or address(wanted.host, door.getsockname()[1])}")
                if token is not None:
                    say(f"The owner's token, which is shown this once: {token}")
                running.serve(chores(hub, served.state))
            return running.signal
    finally:
        finish()
        store.db.close()


class Running:
    """A hub on its socket."""

    def __init__(self, served: Served, door: socket.socket) -> None:
        self._served, self._door = served, door
        self._server = _Server(_config(served))
        self.signal = 0

    def serve(self, work: Sequence[Chores]) -> None:
        """Serve until the end is asked for, then let what has begun come to its end."""
        for one in work:
            one.start()
        try:
            asyncio.run(self._serve())
        finally:
            for one in work:
                one.stop()

    async def _serve(self) -> None:
        current_default_thread_limiter().total_tokens = _THREADS
        await self._server.serve([self._door])

    def hear(self, number: int) -> None:
        """Be told of a signal: the first one begins the end."""
        self.signal = self.signal or number
        self._served.state.stopping = True
        self._server.should_exit = True


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever started it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _config(served: Served) -> uvicorn.Config:
    return uvicorn.Config(
        served,
        loop="asyncio",
        http=Patient,
        ws="none",
        lifespan="off",
        access_log=False,  # addresses may be secrets; `watching` writes the log
        log_config=None,
        log_level="critical",
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=_GRACE,
        limit_concurrency=_READERS,
        h11_max_incomplete_event_size=2 * HEADERS,
    )
