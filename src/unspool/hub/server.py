"""The hub as an ASGI app: routes protected, audited and logged; errors turned into responses."""

import sys
import traceback
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

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
from unspool.hub.monitoring import HealthCheck, Metrics, RequestLog, Write
from unspool.hub.people.audit import AuditedReads, write_audit
from unspool.hub.people.rate_limit import RateLimiter
from unspool.hub.people.users import ANYBODY
from unspool.hub.routes import Hub, HubRoute, Router, all_routes
from unspool.hub.web.render import page_assets, render

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
