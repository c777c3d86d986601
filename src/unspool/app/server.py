"""Builds the app from its routes and serves it: socket, token, background sync, browser, shutdown."""

import asyncio
import ctypes
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import uvicorn
from anyio.to_thread import current_default_thread_limiter
from starlette.applications import Starlette

from unspool.app import (
    api_routes,
    beside,
    compare_page,
    context_file_pages,
    context_page,
    dashboard,
    file_pages,
    home,
    live_pages,
    marks,
    render,
    search_pages,
    session_routes,
    settings_page,
    share_review,
    story_page,
)
from unspool.app.auth import AccessTerms, Guard, new_token
from unspool.app.background_sync import BackgroundSync
from unspool.app.context import AppContext
from unspool.app.desktop import open_page
from unspool.app.error_pages import EXCEPTION_HANDLERS
from unspool.app.instance import AppInstance, RunningApp
from unspool.prices import PriceTable
from unspool.store.sync.lock import heed_signals
from unspool.web.guard import MAX_HEADERS, AllowedHosts, is_loopback
from unspool.web.server import LOOPBACK, TimeoutProtocol, has_browser, open_listener, raise_open_file_limit, server_url

ROUTES = (
    *render.ROUTES,
    *home.ROUTES,
    *marks.ROUTES,
    *settings_page.ROUTES,
    *api_routes.ROUTES,
    *search_pages.ROUTES,
    *dashboard.ROUTES,
    *file_pages.ROUTES,
    *context_page.ROUTES,
    *context_file_pages.ROUTES,
    *live_pages.ROUTES,
    *share_review.ROUTES,
    *compare_page.ROUTES,
    *story_page.ROUTES,
    *beside.ROUTES,
    *session_routes.ROUTES,
)
"""In the order they are tried: the pages of a session last, for they take any name below it."""


def create_app(context: AppContext) -> Starlette:
    """The app without its guard, which whoever serves it puts around it."""
    app = Starlette(routes=[*ROUTES], exception_handlers=EXCEPTION_HANDLERS)
    app.state.context = context
    app.state.own_context = None  # the person's own, while the demo is shown
    app.state.background = None
    app.state.read_only = False
    return app


_ARENAS, _OWN_PAGES = -8, -3
"""M_ARENA_MAX and M_MMAP_THRESHOLD of GNU's malloc.h."""
_LARGE = 1024 * 1024


def return_freed_memory() -> None:
    """Before threads begin: what one of them frees is there for all, and large pieces go back to the system at once.

    The GNU library else keeps what was freed for each thread, which adds up to more than the app itself takes. Where
    there is another library nothing happens.
    """
    if sys.platform == "linux":
        with suppress(AttributeError, OSError):
            library = ctypes.CDLL(None)
            library.mallopt(_ARENAS, 1)
            library.mallopt(_OWN_PAGES, _LARGE)


_AT_ONCE = 4
"""Requests that are worked on at the same time; each holds connections to the databases, and their memory."""
_READERS = 2000
"""Connections at the same time; more are told to come back."""
_LAST_RESORT = 1.7
"""Seconds after which the end no longer waits for anything; what runs then only reads."""

Say = Callable[[str], None]


class ServeOptions(NamedTuple):
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
    window: bool = False
    """Whether it is shown in a window of its own, where a browser has such windows."""

    @property
    def instance(self) -> AppInstance:
        """The place of the one app that serves this archive and these sources by these rules."""
        return AppInstance(self.folder.absolute(), *self.sources, self.host, self.read_only)


def serve_app(wanted: ServeOptions, say: Say, warn: Say) -> int:
    """Serve until a signal; its number. Where an app of this kind runs already its page is shown instead, and that is
    all. UsageProblem where it cannot listen as asked."""
    with wanted.instance as place:
        found = place.running()
        if found is not None and wanted.port in (None, urlsplit(found[0].url).port):
            show_running(wanted, *found, say)
            return 0
        raise_open_file_limit()
        return_freed_memory()
        with open_listener(wanted.host or LOOPBACK, wanted.port) as listener:
            started = _Started(wanted, listener)
            place.announce(started.running)
            if wanted.host and not is_loopback(wanted.host):
                warn(
                    f"Whoever can reach {wanted.host} and has the token can read all your sessions;"
                    " what is sent is not encrypted."
                )
            with heed_signals(started.on_signal):
                say(f"unspool is at {started.address}")
                say("Ctrl-C ends it.")
                started.serve()
            return started.signal


def show_running(wanted: ServeOptions, app: RunningApp, ticket: str, say: Say) -> None:
    """Show the page that is wanted by an app that runs already."""
    say(f"unspool is running at {app.url}{wanted.at}?token={app.token}")
    if wanted.browser and has_browser(os.environ, sys.platform):
        open_page(f"{app.url}{wanted.at}?token={ticket}", window=wanted.window)


class _Started:
    def __init__(self, wanted: ServeOptions, listener: socket.socket) -> None:
        self._wanted, self._listener = wanted, listener
        port = listener.getsockname()[1]
        context = AppContext(wanted.folder, wanted.sources, wanted.key, wanted.prices)
        self._background = BackgroundSync(wanted.folder, wanted.sources, wanted.key, context.prices)
        app = create_app(context)
        app.state.background = self._background
        app.state.read_only = wanted.read_only
        terms = AccessTerms(AllowedHosts(port, wanted.host), new_token(), wanted.read_only)
        self._guard = Guard(app, terms)
        self._server = _Server(_config(self._guard))
        self.running = RunningApp(server_url(wanted.host or LOOPBACK, port), terms.token, os.getpid())
        self._page = f"{self.running.url}{wanted.at}"
        self.address = f"{self._page}?token={terms.token}"
        self.signal = 0

    def serve(self) -> None:
        if not self._wanted.read_only:
            self._background.start()
        try:
            asyncio.run(self._serve())
        finally:
            self._background.stop()

    async def _serve(self) -> None:
        current_default_thread_limiter().total_tokens = _AT_ONCE
        if self._wanted.browser and has_browser(os.environ, sys.platform):
            # Other users of the machine see what programs are started with: the browser gets a token for one use.
            opening = f"{self._page}?token={self._guard.ticket()}"
            showing = threading.Thread(target=open_page, args=(opening,), kwargs={"window": self._wanted.window})
            showing.daemon = True
            showing.start()
        await self._server.serve([self._listener])

    def on_signal(self, number: int) -> None:
        """The first signal begins the end."""
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
        http=TimeoutProtocol,
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
        h11_max_incomplete_event_size=2 * MAX_HEADERS,
    )
