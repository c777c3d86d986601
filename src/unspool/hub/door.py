"""Who is asking, and whether they may: around every way of the hub, so that no handler has to think of it.

A person is known by a token (`Authorization: Bearer`), by the cookie that signing in sets, or by the header of a
reverse proxy, where the hub is told to believe one. A browser's request that changes something must come from the
hub's own pages. What a person may not know of answers as what is not there.
"""

import asyncio
import hmac
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from unspool.app.guard_limits import BODY, PATIENCE, too_much
from unspool.hub.hub import Hub
from unspool.hub.people import proxy
from unspool.hub.people.person import ANYBODY, Person
from unspool.hub.people.rights import Right, right
from unspool.hub.people.tokens import bearer
from unspool.hub.trouble import Hidden, HubError, Refused, TooLarge, Unfit
from unspool.hub.ways import Needs, Way

COOKIE = "unspool-hub"
_RIGHTS = {Needs.READ: Right.READ, Needs.WRITE: Right.WRITE, Needs.OWN: Right.OWN}
_SAFE = ("GET", "HEAD")
_SLOWEST = 64 * 1024
"""Bytes a second of what is large."""
NOTHING = "There is nothing at this address."


class Stranger(HubError):
    """Somebody who has to say who they are first."""

    status = 401


Before = Callable[[Request], Awaitable[None]]


def guarded(way: Way, before: Before | None = None) -> Callable[[Request], Awaitable[Response]]:
    """The handler of a way, for those who may; `before` is awaited once it is clear that they may."""
    streams = inspect.iscoroutinefunction(way.handler)
    probe = streams and way.free and way.needs is Needs.NOTHING  # it is nobody's, and waits for no thread

    async def answer(request: Request) -> Response:
        request.state.act = way.act
        if probe:
            request.state.person = ANYBODY
            return await _awaited(way, request)
        sent = bool(way.body) and request.method not in _SAFE
        if not (streams or sent or before):
            return await run_in_threadpool(_at_once, way, request)
        await run_in_threadpool(admitted, request, way)
        if sent:
            await _whole(request, way.body)
        if before:
            await before(request)
        return await _awaited(way, request) if streams else await run_in_threadpool(_answered, way, request)

    return answer


def _at_once(way: Way, request: Request) -> Response:
    """Admission and answer in one thread: to go to another one and back costs more than either."""
    admitted(request, way)
    return _answered(way, request)


def _answered(way: Way, request: Request) -> Response:
    given: Response = way.handler(request)
    return given


async def _awaited(way: Way, request: Request) -> Response:
    given: Response = await way.handler(request)
    return given


def admitted(request: Request, way: Way) -> Person:
    """Who asks, once it is clear that they may."""
    hub: Hub = request.app.state.hub
    try:
        person = _person(hub, request)
    except HubError:
        request.app.state.pace.spent(f"address {_peer(request)}")
        raise
    request.state.person = person
    if not way.free:
        request.app.state.pace.spent(person.id or f"address {_peer(request)}")
    if request.method not in _SAFE and person.by != "token":
        _from_ours(request, hub, sure=person.known)
    if person.known and way.needs is not Needs.NOTHING and person.scope not in way.scopes:
        raise Refused(f"This token is good for {person.scope} only.")
    _satisfied(hub, person, way, request.path_params)
    return person


def _person(hub: Hub, request: Request) -> Person:
    """Whoever the request says it is from; a token that does not hold is not the same as none."""
    given = request.headers.get("authorization")
    if given is not None:
        scheme, _, secret = given.partition(" ")
        person = bearer(hub.store.db, secret.strip()) if scheme.lower() == "bearer" else None
        if person is None:
            raise Stranger("This token does not let anybody in (any more).")
        return person
    known = proxy.identified(hub, _peer(request), request.headers)
    if known is not None:
        return known
    cookie = request.cookies.get(COOKIE)
    return (bearer(hub.store.db, cookie, "browser") if cookie else None) or ANYBODY


def _satisfied(hub: Hub, person: Person, way: Way, path: dict[str, Any]) -> None:
    """Return if the person has what the way needs; say no otherwise."""
    if way.needs is Needs.NOTHING or (way.needs is Needs.SHARING and hub.terms.open_shares and not person.known):
        return
    if not person.known:
        raise Stranger("Sign in first, or bring a token.")
    if way.needs is Needs.ADMIN and not person.admin:
        raise Refused("This is for admins.")
    if way.needs is Needs.MINE and not _owns(hub, person, path["address"]):
        raise Hidden(NOTHING)
    if way.needs in _RIGHTS:
        has = right(hub.store.db, person, _project(hub, path))
        if has is Right.NONE:
            raise Hidden(NOTHING)
        if has < _RIGHTS[way.needs]:
            raise Refused(f"This needs the right to {way.needs} in this project.")


def _owns(hub: Hub, person: Person, address: str) -> bool:
    found = hub.store.db.row("SELECT owner FROM share WHERE address = ?", address)
    return found is not None and (person.admin or hmac.compare_digest(found[0], person.id))


def _project(hub: Hub, path: dict[str, Any]) -> str:
    """The id of the project that a path means, by its id or name or by a session of it; empty where there is none."""
    db = hub.store.db
    if "session" in path:
        found = db.row("SELECT project FROM session WHERE id = ?", path["session"])
    else:
        named = path["project"]
        found = db.row("SELECT id FROM project WHERE id = ? OR name = ?", named, named)
    if found is None:
        raise Hidden(NOTHING)
    project: str = found[0]
    return project


def _from_ours(request: Request, hub: Hub, *, sure: bool) -> None:
    """Return if a request comes from the hub's own pages; unless `sure`, also if it comes from no browser at all."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:  # no page can set it; the origin is "null" where pages tell no referrer
        ours = site == "same-origin"
    elif origin is not None:
        own = hub.terms.url.rstrip("/") or f"{request.url.scheme}://{request.headers.get('host', '')}"
        ours = origin.partition("://")[2] == own.partition("://")[2]
    else:
        ours = not sure
    if not ours:
        raise Refused("Other sites may not do this.")


def _peer(request: Request) -> str:
    return request.client.host if request.client else ""


async def _whole(request: Request, most: int) -> None:
    """Read what was sent, which is kept with the request; refuse what is too large or does not come."""
    if (refusal := too_much(request.scope, most)) is not None:
        raise (TooLarge if refusal.status == 413 else Unfit)(refusal.reason)
    patience = PATIENCE + max(0, most - BODY) // _SLOWEST  # who may send more has a slow line, too
    body = bytearray()
    try:
        async with asyncio.timeout(patience):
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    raise TooLarge(f"More than {most:,} bytes were sent.")
    except TimeoutError:
        raise Unfit(f"What was sent did not come within {patience:g} seconds.") from None
    request.state.body = bytes(body)
    request._body = request.state.body  # what request.body(), .json() and .form() give from now on
