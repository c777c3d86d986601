"""The hub as an ASGI app, with its routes protected, audited and logged; how it is started, and its own jobs."""

import asyncio
import socket
import sys
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from secrets import token_hex
from typing import Any, NamedTuple

import uvicorn
from anyio.to_thread import current_default_thread_limiter
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from unspool.errors import NotFound, UnspoolError, UsageProblem
from unspool.hub.auth import NOTHING, NotAuthenticated, protect
from unspool.hub.errors import HubError, StoreUnavailable, TooManyRequests
from unspool.hub.monitoring import HealthCheck, Metrics, RequestLog, Write, log_to_stderr
from unspool.hub.people.audit import AuditedReads, mark_head, write_audit
from unspool.hub.people.erasure import resume_erasures
from unspool.hub.people.rate_limit import RateLimiter, forget_old_counts
from unspool.hub.people.tokens import create_token
from unspool.hub.people.users import ANYBODY, OWNER, add_user
from unspool.hub.routes import Hub, HubRoute, HubSettings, Router, all_routes
from unspool.hub.shares.share_store import expire_shares
from unspool.hub.store.connect import StorePlace, open_store
from unspool.hub.store.database import Database
from unspool.hub.store.texts import sweep_parts
from unspool.hub.store.verify import tidy_daily
from unspool.hub.web.render import page_assets, render
from unspool.hub.workers import stop_workers
from unspool.store.sync.lock import heed_signals
from unspool.web.guard import MAX_HEADERS
from unspool.web.server import LOOPBACK, TimeoutProtocol, open_listener, raise_open_file_limit, server_url

_SOON = 5
"""Seconds after which something that is not there now is worth another try."""


def error_response(request: Request, error: Exception) -> Response:
    status, reason = _status_and_reason(error)
    headers = dict(getattr(error, "headers", None) or {})
    if isinstance(error, TooManyRequests):
        headers["Retry-After"] = str(error.after)
    if isinstance(error, StoreUnavailable):
        headers["Retry-After"] = str(_SOON)
    if isinstance(error, NotAuthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        # where it happened and not what it says, which may be of what somebody wrote
        sys.stderr.write("".join([*traceback.format_tb(error.__traceback__), type(error).__name__, "\n"]))
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": HTTPStatus(status).phrase, "reason": reason}, status, headers)
    body = render("trouble.html", status=status, reason=reason, sign_in=status == 401, styles=page_assets().styles)
    return HTMLResponse(body, status, headers)


def _status_and_reason(error: Exception) -> tuple[int, str]:
    """What nobody foresaw says nothing of itself: it may hold anything."""
    if isinstance(error, HubError):
        return error.status, str(error)
    if isinstance(error, NotFound):
        return HTTPStatus.NOT_FOUND, NOTHING
    if isinstance(error, UsageProblem):
        return HTTPStatus.BAD_REQUEST, str(error)
    if isinstance(error, HTTPException):
        reason = NOTHING if error.status_code == HTTPStatus.NOT_FOUND else HTTPStatus(error.status_code).phrase
        return error.status_code, reason
    return HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong here; the hub's log has it."


HANDLERS: dict[Any, Any] = dict.fromkeys((HTTPException, HubError, UnspoolError, OSError, Exception), error_response)
_TARGETS = ("address", "session", "project", "person", "team", "token", "id")
"""Names in a path that tell what is meant, the nearest first."""
_SAFE = ("GET", "HEAD")

Answer = Callable[[Request], Awaitable[Response]]


class HubApp(RequestLog):
    state: State
    routes: tuple[Route, ...]


def create_app(hub: Hub, log: Write | None = None) -> HubApp:
    """The hub's app. `log` takes a line for every request."""
    router = Router([_route(route) for route in all_routes()])
    app = Starlette(routes=[router], exception_handlers=HANDLERS)
    app.state.hub = hub
    app.state.rate_limiter = RateLimiter(hub.store.db, hub.terms.an_hour)
    app.state.reads = AuditedReads(hub.store.db)
    app.state.metrics = Metrics()
    app.state.health = HealthCheck()
    app.state.stopping = False
    served = HubApp(app, app.state.metrics, log)
    served.state, served.routes = app.state, router.routes
    return served


def _route(route: HubRoute) -> Route:
    """Tells the request log which route was taken; an error is an answer, so that it is logged too."""
    answer = _audited(route) if route.act else protect(route)

    async def handler(request: Request) -> Response:
        request.state.way = route.path
        try:
            return await answer(request)
        except HubError as error:
            return error_response(request, error)

    return Route(route.path, handler, methods=[route.method])


def _audited(route: HubRoute) -> Answer:
    """A handler whose use is written down.

    A change is written down before it begins and when it has ended, so that none happens unseen even if this process
    is killed between the two; reading is written down soon after. What strangers ask in vain is not, or they could
    fill the log.
    """
    changes = route.method not in _SAFE

    async def begun(request: Request) -> None:
        await run_in_threadpool(_note, request, route, "asked")
        request.state.begun = True

    answer = protect(route, begun if changes else None)

    async def handler(request: Request) -> Response:
        try:
            given = await answer(request)
        except HubError as error:
            known = getattr(request.state, "person", ANYBODY).known
            within_limits = known and error.status != TooManyRequests.status
            if getattr(request.state, "begun", False) or within_limits:
                await run_in_threadpool(_note, request, route, f"refused {error.status}")
            raise
        outcome = "done" if given.status_code < 400 else f"refused {given.status_code}"
        if changes:
            await run_in_threadpool(_note, request, route, outcome)
        else:
            request.app.state.reads.add(request.state.person, route.act, _target(request), outcome)
        return given

    return handler


def _note(request: Request, route: HubRoute, outcome: str) -> None:
    person = getattr(request.state, "person", ANYBODY)
    detail = {"request": request.state.request, **getattr(request.state, "detail", {})}
    write_audit(request.app.state.hub.store.db, person, route.act, _target(request), outcome, detail)


def _target(request: Request) -> str:
    """What was meant: as the handler says, or as the path does."""
    target: str = getattr(request.state, "target", "")
    return target or next((str(request.path_params[name]) for name in _TARGETS if name in request.path_params), "")


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
            Job("seal", 5.0, lambda: mark_head(hub.store)),
            Job("texts", 2.0, lambda: sweep_parts(hub.store.db)),
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
    store = open_store(wanted.place, say=say)
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
        access_log=False,  # addresses may be secrets; `RequestLog` writes the log
        log_config=None,
        log_level="critical",
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=_GRACE,
        limit_concurrency=_READERS,
        h11_max_incomplete_event_size=2 * MAX_HEADERS,
    )
