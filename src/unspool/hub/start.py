"""Starts a hub, with the jobs that it does by itself."""

import asyncio
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import NamedTuple

import uvicorn
from anyio.to_thread import current_default_thread_limiter
from starlette.datastructures import State

from unspool.errors import UnspoolError
from unspool.hub.monitoring import log_to_stderr
from unspool.hub.people.audit import seal_audit
from unspool.hub.people.erasure import resume_erasures
from unspool.hub.people.rate_limit import forget_old_counts
from unspool.hub.people.tokens import create_token
from unspool.hub.people.users import OWNER, add_user
from unspool.hub.routes import Hub, HubSettings
from unspool.hub.server import HubApp, create_app
from unspool.hub.sessions.session_store import sweep_passages
from unspool.hub.shares.share_store import expire_shares
from unspool.hub.store.connect import StorePlace, open_store
from unspool.hub.store.database import Database
from unspool.hub.store.verify import tidy_daily
from unspool.hub.workers import stop_workers
from unspool.store.sync.lock import heed_signals
from unspool.web.guard import MAX_HEADERS
from unspool.web.server import LOOPBACK, TimeoutProtocol, open_listener, raise_open_file_limit, server_url

_PATIENCE = 15.0
"""Seconds that the end waits for the job at hand."""


class Job(NamedTuple):
    name: str
    every: float
    do: Callable[[], object]
    last: bool = True
    """Whether it is done once more at the end."""


class JobThread(threading.Thread):
    def __init__(self, jobs: tuple[Job, ...]) -> None:
        super().__init__(name="jobs", daemon=True)
        self._jobs = jobs
        self._ended = threading.Event()

    def stop(self) -> None:
        """End after the job at hand, and do what must not stay undone once more."""
        self._ended.set()
        self.join(_PATIENCE)
        for job in self._jobs:
            if job.last:
                _done(job)

    def run(self) -> None:
        due = {job.name: time.monotonic() + job.every for job in self._jobs}
        while not self._ended.wait(max(0.05, min(due.values()) - time.monotonic())):
            for job in self._jobs:
                if due[job.name] <= time.monotonic():
                    _done(job)
                    due[job.name] = time.monotonic() + job.every


def _done(job: Job) -> None:
    """Do a job; where a store does not answer, it is done the next time."""
    try:
        job.do()
    except UnspoolError as error:
        sys.stderr.write(f'{{"chore": "{job.name}", "trouble": "{type(error).__name__}"}}\n')


def background_jobs(hub: Hub, state: State) -> tuple[JobThread, JobThread]:
    """What a hub does by itself: what is quick, and beside it what takes long and can be broken off anywhere."""
    quick = JobThread(
        (
            Job("audit", 0.2, state.reads.flush),
            Job("pace", 5.0, state.rate_limiter.flush),
            Job("seal", 5.0, lambda: seal_audit(hub.store.db)),
            Job("passages", 2.0, lambda: sweep_passages(hub.store.db)),
            Job("expiry", 60.0, lambda: expire_shares(hub.store)),
            Job("erase", 60.0, lambda: resume_erasures(hub.store)),
            Job("pace.old", 3600.0, lambda: forget_old_counts(hub.store.db)),
        )
    )
    return quick, JobThread((Job("tidy", 600.0, lambda: tidy_daily(hub.store), last=False),))


def create_first_admin(db: Database) -> str | None:
    """The token of the first admin, who is made where there is none; None ever after, in whichever process."""
    with db.transaction():
        db.alone("admins")
        if db.row("SELECT 1 FROM person WHERE admin = 1 AND ended IS NULL LIMIT 1") is not None:
            return None
        taken = db.row("SELECT 1 FROM person WHERE name = 'owner'") is not None
        person = add_user(db, f"owner {token_hex(2)}" if taken else "owner", OWNER, admin=True)
        return create_token(db, person, "the first start")


PORT = 8750
_THREADS = 16
"""Requests that are worked on at the same time."""
_READERS = 4000
_GRACE = 20
"""Seconds that requests which have begun are given when the end is asked for."""

Say = Callable[[str], None]


class HubOptions(NamedTuple):
    place: StorePlace
    terms: HubSettings = HubSettings()
    host: str = LOOPBACK
    port: int | None = None
    quiet: bool = False
    """No line in the log for every request."""


def run(wanted: HubOptions, say: Say) -> int:
    """Serve until a signal, then let what has begun come to its end; the signal's number."""
    raise_open_file_limit()
    store = open_store(wanted.place)
    try:
        with open_listener(wanted.host, PORT if wanted.port is None else wanted.port) as listener:
            token = create_first_admin(store.db)
            hub = Hub(store, wanted.terms)
            served = create_app(hub, None if wanted.quiet else log_to_stderr)
            server, signals = _Server(_config(served)), list[int]()

            def stop(number: int) -> None:
                signals.append(number)
                served.state.stopping = True
                server.should_exit = True

            with heed_signals(stop):
                say(f"The hub is at {wanted.terms.url or server_url(wanted.host, listener.getsockname()[1])}")
                if token is not None:
                    say(f"The owner's token, which is shown this once: {token}")
                _serve(server, listener, background_jobs(hub, served.state))
            return signals[0] if signals else 0
    finally:
        stop_workers()
        store.db.close()


def _serve(server: "_Server", listener: socket.socket, jobs: Sequence[JobThread]) -> None:
    async def serve() -> None:
        current_default_thread_limiter().total_tokens = _THREADS
        await server.serve([listener])

    for one in jobs:
        one.start()
    try:
        asyncio.run(serve())
    finally:
        for one in jobs:
            one.stop()


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever started it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _config(served: HubApp) -> uvicorn.Config:
    return uvicorn.Config(
        served,
        loop="asyncio",
        http=TimeoutProtocol,
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
        h11_max_incomplete_event_size=2 * MAX_HEADERS,
    )
