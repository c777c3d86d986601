"""The hub as an app: every way, guarded, audited and watched."""

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import State
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from unspool.hub.door import guarded
from unspool.hub.health import Wellness
from unspool.hub.hub import Hub
from unspool.hub.metrics import Metrics
from unspool.hub.people.audit import Reads, note
from unspool.hub.people.pace import Pace
from unspool.hub.people.person import ANYBODY
from unspool.hub.signpost import Signpost
from unspool.hub.telling import HANDLERS, told
from unspool.hub.trouble import HubError, TooMuch
from unspool.hub.watching import Watching, Write
from unspool.hub.ways import Way, ways

_TARGETS = ("address", "session", "project", "person", "team", "token", "id")
"""Names in a path that tell what is meant, the nearest first."""
_SAFE = ("GET", "HEAD")

Answer = Callable[[Request], Awaitable[Response]]


class Served(Watching):
    """A hub, for whoever serves it."""

    state: State
    routes: tuple[Route, ...]


def create(hub: Hub, log: Write | None = None) -> Served:
    """The hub's app. `log` takes a line for every request."""
    signpost = Signpost([_route(way) for way in ways()])
    app = Starlette(routes=[signpost], exception_handlers=HANDLERS)
    app.state.hub = hub
    app.state.pace = Pace(hub.store.db, hub.terms.an_hour)
    app.state.reads = Reads(hub.store.db)
    app.state.metrics = Metrics()
    app.state.wellness = Wellness()
    app.state.stopping = False
    served = Served(app, app.state.metrics, log)
    served.state, served.routes = app.state, signpost.routes
    return served


def _route(way: Way) -> Route:
    answer = _audited(way) if way.act else guarded(way)
    return Route(way.path, _named(way, answer), methods=[way.method])


def _named(way: Way, answer: Answer) -> Answer:
    """A handler that tells those who watch which way was taken; trouble is an answer, so that it is watched too."""

    async def handler(request: Request) -> Response:
        request.state.way = way.path
        try:
            return await answer(request)
        except HubError as error:
            return told(request, error)

    return handler


def _audited(way: Way) -> Answer:
    """A handler whose use is written down.

    A change is written down before it begins and when it has ended, so that none happens unseen even if this process
    is killed between the two; reading is written down soon after. What strangers ask in vain is not, or they could
    fill the log.
    """
    changes = way.method not in _SAFE

    async def begun(request: Request) -> None:
        await run_in_threadpool(_note, request, way, "asked")
        request.state.begun = True

    answer = guarded(way, begun if changes else None)

    async def handler(request: Request) -> Response:
        try:
            given = await answer(request)
        except HubError as error:
            if _telling(request, error.status):
                await run_in_threadpool(_note, request, way, f"refused {error.status}")
            raise
        outcome = "done" if given.status_code < 400 else f"refused {given.status_code}"
        if changes:
            await run_in_threadpool(_note, request, way, outcome)
        else:
            request.app.state.reads.add(request.state.person, way.act, _target(request), outcome)
        return given

    return handler


def _telling(request: Request, status: int) -> bool:
    """Whether a refusal is worth a line: of what was begun, and of what somebody known tried within their pace."""
    known = getattr(request.state, "person", ANYBODY).known
    return getattr(request.state, "begun", False) or (known and status != TooMuch.status)


def _note(request: Request, way: Way, outcome: str) -> None:
    person = getattr(request.state, "person", ANYBODY)
    detail = {"request": request.state.request, **getattr(request.state, "detail", {})}
    note(request.app.state.hub.store.db, person, way.act, _target(request), outcome, detail)


def _target(request: Request) -> str:
    """What was meant: as the handler says, or as the path does."""
    said = getattr(request.state, "target", "")
    return said or next((str(request.path_params[name]) for name in _TARGETS if name in request.path_params), "")
