"""The table of hub routes, and the router that finds the one a request takes."""

import hmac
from collections.abc import Callable, Sequence
from enum import StrEnum
from importlib import import_module
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, NamedTuple, cast

import msgspec
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from unspool.hub.errors import BadRequest
from unspool.hub.people.users import Person
from unspool.hub.store.blobs import unpack
from unspool.hub.store.connect import Store

MB = 1024 * 1024
Networks = tuple[IPv4Network | IPv6Network, ...]
PROXY_SECRET = "Proxy-Secret"  # noqa: S105  the name of a header


class HubSettings(NamedTuple):
    url: str = ""
    """Where people reach it, such as https://hub.example; empty: at whatever name it is asked by."""
    header: str = ""
    """The header in which a reverse proxy says who asks; empty: no header is believed."""
    proxies: Networks = ()
    """Where reverse proxies ask from: they are believed in that header, and in where somebody comes from."""
    proxy_secret: str = ""
    """What they show in the header `PROXY_SECRET`; empty: their address is enough."""
    upload: int = 512 * MB
    """Bytes of one upload."""
    quota: int = 20 * 1024 * MB
    """Bytes that a person may keep, unless theirs is another."""
    an_hour: int = 100_000
    """Requests of a person or an address in an hour."""
    open_shares: bool = False
    """Whether anybody may upload a share, as session-share's service lets them."""
    door: bool = True
    """Whether what arrives is searched for secrets, and refused where there are any."""


class Hub(NamedTuple):
    store: Store
    terms: HubSettings = HubSettings()


def hub(request: Request) -> Hub:
    return cast("Hub", request.app.state.hub)


def person(request: Request) -> Person:
    return cast("Person", request.state.person)


def client_address(request: Request, terms: HubSettings) -> str:
    """Where somebody comes from, for counting what they do; empty where that is not known.

    X-Forwarded-For is read from the right, as far as our proxies wrote it: anybody could have written the rest.
    """
    nearest = request.client.host if request.client else ""
    if not is_proxy(nearest, request.headers, terms):
        return nearest
    said = [one for value in request.headers.getlist("x-forwarded-for") for one in value.split(",")]
    while said and is_within(nearest, terms.proxies):
        address = parse_ip(said.pop())
        if address is None:
            break
        nearest = str(address)
    return nearest


def is_proxy(peer: str, headers: Headers, terms: HubSettings) -> bool:
    """Whether a request came through a reverse proxy that is to be believed."""
    shown, secret = (one.encode(errors="replace") for one in (headers.get(PROXY_SECRET, ""), terms.proxy_secret))
    return is_within(peer, terms.proxies) and (not secret or hmac.compare_digest(shown, secret))


def is_within(address: str, networks: Networks) -> bool:
    found = parse_ip(address)
    return found is not None and any(found.version == one.version and found in one for one in networks)


def parse_ip(text: str) -> IPv4Address | IPv6Address | None:
    """An address as a proxy writes it, perhaps with a port; one of IPv4 within IPv6 is that of IPv4."""
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        found = ip_address(host)
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found


def request_body(request: Request) -> bytes:
    """What was sent, which `auth` has read whole."""
    return cast("bytes", getattr(request.state, "body", b""))


def read_json(request: Request, kind: Any = Any) -> Any:
    """What was sent, as JSON of a kind; BadRequest with the reason where it is not as it should be."""
    try:
        return msgspec.json.decode(request_body(request), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"What was sent is not as it should be: {error}.") from None


_AT_ONCE = 1024 * 1024
"""Bytes up to which a content is sent whole: a piece at a time costs a change of threads each."""


def blob_response(request: Request, digest: str, kind: str, headers: dict[str, str]) -> Response:
    """A content, packed where the client takes that; 304 where the client has what its ETag says."""
    known = [one.strip() for one in request.headers.get("if-none-match", "").split(",")]
    if headers["ETag"] in known and headers["Cache-Control"] != "no-store":
        return Response(status_code=304, headers=headers)
    blob, pieces = hub(request).store.blobs.packed(digest)
    packed = blob.encoding == "gzip" and _takes_gzip(request)
    size = blob.stored if packed else blob.size
    headers = {**headers, "Content-Length": str(size), **({"Content-Encoding": "gzip"} if packed else {})}
    body = pieces if packed else unpack(pieces, blob.encoding)
    if size <= _AT_ONCE:
        return Response(b"".join(body), headers=headers, media_type=kind)
    return StreamingResponse(body, headers=headers, media_type=kind)


def _takes_gzip(request: Request) -> bool:
    for one in request.headers.get("accept-encoding", "").split(","):
        name, _, weight = one.partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


PARTS = ("monitoring", "web.render", "web.session_pages", "web.pages", "people.api", "sessions.routes", "shares.routes")
"""Modules with ROUTES, in the order they are tried: shares last, whose addresses begin with anything."""


class Needs(StrEnum):
    NOTHING = "nothing"
    """Anybody; what the handler shows is open, or it asks for more itself (an address of 128 bits, a password)."""
    SHARING = "sharing"
    """A person, or anybody where the hub lets anybody share."""
    PERSON = "person"
    ADMIN = "admin"
    READ = "read"
    """On the project that the path names as {project}, or on that of its {session}."""
    WRITE = "write"
    OWN = "own"
    MINE = "mine"
    """To own the share that the path names as {address}, or to be an admin with more than a token for pushing."""


class HubRoute(NamedTuple):
    path: str
    """As Starlette has it: `/api/shares/{address}`. Paths below `/api/` answer trouble in JSON, others as a page."""
    handler: Callable[..., Any]
    """`def` or `async def`, of a request. What it may raise is in `errors`; NotFound is 404."""
    needs: Needs
    act: str = ""
    """For the audit log, such as `share.delete`; empty: nothing worth a line."""
    method: str = "GET"
    scopes: tuple[str, ...] = ("all", "read")
    """Tokens that are good for it; a route that changes something says ("all",) or ("all", "push")."""
    body: int = 256 * 1024
    """Bytes that may be sent. Up to this size `auth` reads them whole; 0: the handler streams them itself."""
    free: bool = False
    """Whether it counts against nobody's limit of requests."""


def all_routes() -> tuple[HubRoute, ...]:
    return tuple(route for part in PARTS for route in import_module(f"unspool.hub.{part}").ROUTES)


_TAKEN = "unspool.way"


class Router(BaseRoute):
    """All routes as one; of those that fit a path the first one is taken, as if they were tried in order."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.routes = tuple(routes)
        self._open = tuple(route for route in routes if _beginning(route.path) is None)
        self._named = {
            name: tuple(route for route in routes if _beginning(route.path) in (name, None))
            for name in {_beginning(route.path) for route in routes}
            if name is not None
        }

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """The first route that fits; where none does, the first that only the method does not fit."""
        half: Scope | None = None
        first = scope["path"].split("/", 2)[1:2]
        for route in self._named.get(first[0] if first else "", self._open):
            match, child = route.matches(scope)
            if match is Match.FULL:
                return match, {**child, _TAKEN: route}
            if match is Match.PARTIAL and half is None:
                half = {**child, _TAKEN: route}
        return (Match.NONE, {}) if half is None else (Match.PARTIAL, half)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        taken: Any = scope[_TAKEN]
        await taken.handle(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        raise NotImplementedError("routes have no names")


def _beginning(path: str) -> str | None:
    """How the paths of a route begin, up to their second slash; None where they begin with anything."""
    first = path.split("/", 2)[1]
    return None if "{" in first else first
