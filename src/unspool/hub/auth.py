"""Authentication and authorisation for every hub route."""

import asyncio
import hmac
import inspect
import re
from collections.abc import Awaitable, Callable
from typing import Any, cast
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.errors import BadRequest, Conflict, Forbidden, HubError, NotVisible, TooLarge
from unspool.hub.people.projects import Right, right_on_project
from unspool.hub.people.tokens import person_of_token
from unspool.hub.people.users import ANYBODY, Person, add_user, checked_name
from unspool.hub.routes import Hub, HubRoute, Needs, client_address, is_proxy, parse_ip
from unspool.hub.store.database import Database, find_id
from unspool.web.guard import MAX_BODY, PATIENCE, check_size


def identify_by_proxy(hub: Hub, peer: str, headers: Headers) -> Person | None:
    """Whom the proxy at `peer` vouches for; None where it is no proxy, or vouches for nobody who may come in.

    Forbidden where a page of another site asks: the proxy adds the header to whatever a browser sends.
    """
    if not hub.terms.header or not is_proxy(peer, headers, hub.terms):
        return None
    values = headers.getlist(hub.terms.header)
    if not values or values == [""]:
        return None
    _check_own_name(hub.terms.url, headers)
    if len(values) > 1 or "," in values[0]:
        raise BadRequest("The identity header says more than one name.")
    try:
        name = values[0].encode("latin-1").decode()  # headers are handed on as Latin-1
    except UnicodeError:
        raise BadRequest("The identity header is no UTF-8.") from None
    return _person(hub.store.db, checked_name(name))


def _check_own_name(url: str, headers: Headers) -> None:
    """Return if a request is for the hub's own name, or for an address, to which no other site's name can be led."""
    host = headers.get("host", "")
    name = (urlsplit(f"//{host}").hostname or "") if _HOST.fullmatch(host) else ""
    own = urlsplit(url)
    if name not in (own.hostname, "localhost") and parse_ip(name) is None:
        raise Forbidden("This hub has another name: have the proxy pass Host on, and start the hub with --url.")
    if url and headers.get("origin", "null") not in ("null", f"{own.scheme}://{own.netloc}", f"http://{host}"):
        raise Forbidden("Other sites may not do this.")


def _person(db: Database, name: str) -> Person | None:
    """The person of a name; services, and the owner whom the first start made, come in by their tokens alone."""
    row = db.row("SELECT id, admin, kind, ended FROM person WHERE name = ?", name)
    if row is None:
        try:
            return Person(add_user(db, name), name, by="proxy")
        except Conflict:  # another request of theirs was quicker
            return _person(db, name)
    person, admin, kind, ended = row
    return Person(person, name, bool(admin), by="proxy") if kind == "person" and ended is None else None


COOKIE = "unspool-hub"
_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
_RIGHTS = {Needs.READ: Right.READ, Needs.WRITE: Right.WRITE, Needs.OWN: Right.OWN}
_SAFE = ("GET", "HEAD")
_SLOWEST = 64 * 1024
"""Bytes a second of what is large."""
NOTHING = "There is nothing at this address."


class NotAuthenticated(HubError):
    status = 401


def protect(
    route: HubRoute, before: Callable[[Request], Awaitable[None]] | None = None
) -> Callable[[Request], Awaitable[Response]]:
    """A route's handler, wrapped: who asks is found out, their right is checked and the body read before it runs.

    `before` is awaited once it is clear that they may.
    """
    streams = inspect.iscoroutinefunction(route.handler)
    probe = streams and route.free and route.needs is Needs.NOTHING  # it is nobody's, and waits for no thread

    async def answer(request: Request) -> Response:
        request.state.act = route.act
        if probe:
            request.state.person = ANYBODY
            return cast("Response", await route.handler(request))
        sent = bool(route.body) and request.method not in _SAFE
        if not (streams or sent or before):
            return await run_in_threadpool(in_one_thread, request)
        await run_in_threadpool(authorize, request, route)
        if sent:
            await _read_body(request, route.body)
        if before:
            await before(request)
        answering = route.handler(request) if streams else run_in_threadpool(route.handler, request)
        return cast("Response", await answering)

    def in_one_thread(request: Request) -> Response:
        """Admission and answer in one thread: to go to another one and back costs more than either."""
        authorize(request, route)
        return cast("Response", route.handler(request))

    return answer


def authorize(request: Request, route: HubRoute) -> Person:
    """Who asks. Raises NotAuthenticated, Forbidden, NotVisible or TooManyRequests where they may not."""
    hub: Hub = request.app.state.hub
    try:
        person = _identify(hub, request)
    except HubError:
        request.app.state.rate_limiter.count(f"address {client_address(request, hub.terms)}")
        raise
    request.state.person = person
    if not route.free:
        request.app.state.rate_limiter.count(person.id or f"address {client_address(request, hub.terms)}")
    if request.method not in _SAFE and person.by != "token":
        _check_same_origin(request, hub, sure=person.known)
    if person.known and route.needs is not Needs.NOTHING and person.scope not in route.scopes:
        raise Forbidden(f"This token is good for {person.scope} only.")
    request.state.project = _check_right(hub, person, route, request.path_params)
    return person


def _identify(hub: Hub, request: Request) -> Person:
    """Whoever the request says it is from; a token that does not hold is not the same as none."""
    given = request.headers.get("authorization")
    if given is not None:
        scheme, _, secret = given.partition(" ")
        person = person_of_token(hub.store.db, secret.strip()) if scheme.lower() == "bearer" else None
        if person is None:
            raise NotAuthenticated("This token is unknown or was revoked.")
        return person
    known = identify_by_proxy(hub, _peer(request), request.headers)
    if known is not None:
        return known
    cookie = request.cookies.get(COOKIE)
    return (person_of_token(hub.store.db, cookie, "browser") if cookie else None) or ANYBODY


def _check_right(hub: Hub, person: Person, route: HubRoute, path: dict[str, Any]) -> str:
    """Return if the person has what the route needs, with the id of the project that it is needed on, if any; say no
    otherwise."""
    if route.needs is Needs.NOTHING or (route.needs is Needs.SHARING and hub.terms.open_shares and not person.known):
        return ""
    if not person.known:
        raise NotAuthenticated("Sign in first, or bring a token.")
    if route.needs is Needs.ADMIN and not person.admin:
        raise Forbidden("This is for admins.")
    if route.needs is Needs.MINE:
        owner = hub.store.db.row("SELECT owner FROM share WHERE address = ?", path["address"])
        any_share = person.admin and person.scope != "push"  # what programs push with is for what is their person's own
        if owner is None or not (any_share or hmac.compare_digest(owner[0], person.id)):
            raise NotVisible(NOTHING)
    if route.needs not in _RIGHTS:
        return ""
    project = _project(hub, path)
    has = right_on_project(hub.store.db, person, project)
    if has is Right.NONE:
        raise NotVisible(NOTHING)
    if has < _RIGHTS[route.needs]:
        raise Forbidden(f"This needs the right to {route.needs} in this project.")
    return project


def _project(hub: Hub, path: dict[str, Any]) -> str:
    """The id of the project that a path means, by its id or name or by a session of it; empty where there is none."""
    if "session" in path:
        found = hub.store.db.row("SELECT project FROM session WHERE id = ?", path["session"])
        project = str(found[0]) if found else None
    else:
        project = find_id(hub.store.db, "project", path["project"])
    if project is None:
        raise NotVisible(NOTHING)
    return project


def _check_same_origin(request: Request, hub: Hub, *, sure: bool) -> None:
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
        raise Forbidden("Other sites may not do this.")


def _peer(request: Request) -> str:
    return request.client.host if request.client else ""


async def _read_body(request: Request, most: int) -> None:
    """Read what was sent, which is kept with the request; refuse what is too large or does not come."""
    if (refusal := check_size(request.scope, most)) is not None:
        raise (TooLarge if refusal.status == 413 else BadRequest)(refusal.reason)
    patience = PATIENCE + max(0, most - MAX_BODY) // _SLOWEST  # who may send more has a slow line, too
    body = bytearray()
    try:
        async with asyncio.timeout(patience):
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    raise TooLarge(f"More than {most:,} bytes were sent.")
    except TimeoutError:
        raise BadRequest(f"What was sent did not come within {patience:g} seconds.") from None
    request.state.body = bytes(body)
    request._body = request.state.body  # what request.body(), .json() and .form() give from now on
