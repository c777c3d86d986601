"""The app started: a socket, a token, the guard around the app, the sync behind it, a browser before it.

It ends within two seconds of a signal, whatever is going on, and nothing of it stays.
"""

import asyncio
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import uvicorn
from anyio.to_thread import current_default_thread_limiter

from unspool.app.background import Background
from unspool.app.desk import Desk
from unspool.app.guard import Guard, Terms, new_token
from unspool.app.guard_hosts import Hosts, is_loopback
from unspool.app.guard_limits import HEADERS
from unspool.app.server import create
from unspool.app.start_listener import LOOPBACK, address, browser_there, listener, room_for_readers
from unspool.app.start_memory import give_back
from unspool.app.start_protocol import Patient
from unspool.prices import PriceTable
from unspool.sync.stop import heeding

_AT_ONCE = 4
"""Requests that are worked on at the same time; each holds connections to the databases, and their memory."""
_READERS = 2000
"""Connections at the same time; more are told to come back."""
_LAST_RESORT = 1.7
"""Seconds after which the end no longer waits for anything; what runs then only reads."""

Say = Callable[[str], None]


class Wanted(NamedTuple):
    """How the app is to be started."""

    folder: Path
    """Of the archive."""
    sources: tuple[Path, ...] = ()
    key: str | None = None
    prices: PriceTable | None = None
    host: str = ""
    """Empty: this machine alone."""
    port: int | None = None
    """None: the usual one, or any."""
    browser: bool = True
    read_only: bool = False
    at: str = "/"
    """The page to open."""


def run(wanted: Wanted, say: Say, warn: Say) -> int:
    """Serve until a signal; its number. UsageProblem where it cannot listen as asked."""
    room_for_readers()
    give_back()
    with listener(wanted.host or LOOPBACK, wanted.port) as door:
        started = _Started(wanted, door)
        if wanted.host and not is_loopback(wanted.host):
            warn(
                f"Whoever can reach {wanted.host} and has the token can read all your sessions;"
                " what is sent is not encrypted."
            )
        with heeding(started.hear):
            say(f"unspool is at {started.address}")
            say("Ctrl-C ends it.")
            started.serve()
        return started.signal


class _Started:
    """An app on its socket."""

    def __init__(self, wanted: Wanted, door: socket.socket) -> None:
        self._wanted, self._door = wanted, door
        port = door.getsockname()[1]
        desk = Desk(wanted.folder, wanted.sources, wanted.key, wanted.prices)
        self._background = Background(wanted.folder, wanted.sources, wanted.key, desk.prices)
        app = create(desk)
        app.state.background = self._background
        app.state.read_only = wanted.read_only
        terms = Terms(Hosts(port, wanted.host), new_token(), wanted.read_only)
        self._guard = Guard(app, terms)
        self._server = _Server(_config(self._guard))
        self._place = address(wanted.host or LOOPBACK, port)
        self.address = self._with(terms.token)
        self.signal = 0

    def _with(self, token: str) -> str:
        return f"{self._place}{self._wanted.at}?token={token}"

    def serve(self) -> None:
        """Serve until the end is asked for."""
        if not self._wanted.read_only:
            self._background.start()
        try:
            asyncio.run(self._serve())
        finally:
            self._background.stop()

    async def _serve(self) -> None:
        current_default_thread_limiter().total_tokens = _AT_ONCE
        if self._wanted.browser and browser_there(os.environ, sys.platform):
            # Other users of the machine see what programs are started with: the browser gets a token for one use.
            opening = self._with(self._guard.ticket())
            threading.Thread(target=webbrowser.open, args=(opening,), daemon=True).start()
        await self._server.serve([self._door])

    def hear(self, number: int) -> None:
        """Be told of a signal: the first one begins the end."""
        if self.signal:
            return
        self.signal = number
        self._server.should_exit = True
        self._background.ask()
        ending = threading.Timer(_LAST_RESORT, self._end)
        ending.daemon = True
        ending.start()

    def _end(self) -> None:
        """The end, though a query still runs; it reads only, so nothing is broken off that matters."""
        self._background.stop(0.0)  # it was asked at the first signal
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(128 + self.signal if self.signal == signal.SIGINT else 0)


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever started it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _config(app: Guard) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=Patient,
        ws="none",
        lifespan="off",
        access_log=False,  # addresses hold the token
        log_config=None,
        log_level="critical",
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
        limit_concurrency=_READERS,
        h11_max_incomplete_event_size=2 * HEADERS,
    )
