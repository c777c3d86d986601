"""Who may ask, and for what: put around the whole app, so that no handler has to think of it.

A request must mean this server (Host), come from its own pages or from outside any page (Origin, Sec-Fetch-Site),
and bring the token of this start: as a cookie, which the opened address sets, or as `Authorization: Bearer`. Only POST
changes anything. Whatever is refused learns nothing but why; what is the same for everybody needs no token.
"""

import hmac
import secrets
import time
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from unspool.app.render import ASSET_URLS, LOOK, PUBLIC_URLS, render_template
from unspool.web.guard import AllowedHosts, Refusal, SecurityHeaders, check_size, read_body

METHODS = ("GET", "HEAD", "POST")
_TOKEN = "token"  # noqa: S105  the name of a parameter
_MINUTE = 60.0
TICKET = "/ticket"
"""Where a program that has the token gets one for a browser."""
_COMMAND = "unspool open"
_IN = Refusal(401, "This needs the token of the running app.")


class AccessTerms(NamedTuple):
    hosts: AllowedHosts
    token: str
    """256 bits, made anew at every start."""
    read_only: bool = False

    @property
    def cookie(self) -> str:
        """Its name has the port in it: browsers keep the cookies of all ports of a host together."""
        return f"unspool-{self.hosts.port}"


def new_token() -> str:
    return secrets.token_urlsafe(32)


class Guard:
    def __init__(self, app: ASGIApp, terms: AccessTerms) -> None:
        self._inside = app
        self._terms = terms
        self._tickets: dict[str, float] = {}
        self._outside = SecurityHeaders(self._admit)

    def ticket(self) -> str:
        """A token that lets in once, within a minute."""
        now, made = time.monotonic(), new_token()
        self._tickets = {one: end for one, end in self._tickets.items() if end > now}
        self._tickets[made] = now + _MINUTE
        return made

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":  # there is nothing else to be had here
            await self._outside(scope, receive, send)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        refusal = check_size(scope) or self._stranger(scope["method"], headers)
        if refusal is not None:
            await _refused(refusal, scope)(scope, receive, send)
        elif scope["method"] != "POST" and (answer := self._entering(scope) or self._giving(scope, headers)):
            await answer(scope, receive, send)
        elif not self._known(headers) and (scope["method"] == "POST" or scope["path"] not in PUBLIC_URLS):
            await _refused(_IN, scope)(scope, receive, send)
        else:
            body = await read_body(receive) if scope["method"] == "POST" else receive
            if isinstance(body, Refusal):
                await _refused(body, scope)(scope, receive, send)
            else:
                await self._inside(scope, body, send)

    def _stranger(self, method: str, headers: Headers) -> Refusal | None:
        """Why a request is refused whoever sent it."""
        host = headers.get("host", "")
        if not self._terms.hosts.own(host):
            return Refusal(421, "This server does not answer to that name.")
        if method not in METHODS:
            return Refusal(405, "Only GET, HEAD and POST are answered.")
        if method != "POST":  # begun by our own pages or outside any page, or a link to a page was followed
            followed = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
            allowed = followed or headers.get("sec-fetch-site", "none") in ("same-origin", "none")
            return None if allowed else Refusal(403, "Other sites may not read this.")
        if self._terms.read_only:
            return Refusal(403, "The app was started with --read-only; nothing can be changed.")
        return None if self._from_ours(headers, host) else Refusal(403, "Only the app's own pages may change anything.")

    def _from_ours(self, headers: Headers, host: str) -> bool:
        """Whether a page of ours sends this; a program that brings the token itself is none, and need say nothing.

        Pages that tell nobody where they come from send `null` as Origin; there the browser's own word is needed.
        """
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if site is not None:
            return site == "same-origin" and (origin in (None, "null") or self._terms.hosts.same(origin, host))
        if origin is not None:
            return self._terms.hosts.same(origin, host)
        return "authorization" in headers

    def _entering(self, scope: Scope) -> Response | None:
        """The answer to an address with a token: the same address without it, and a cookie."""
        given = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        tokens = [value for name, value in given if name == _TOKEN]
        if not tokens:
            return None
        if not all(self._fits(token) or self._spent(token) for token in tokens):
            return _refused(_IN, scope)
        rest = urlencode([pair for pair in given if pair[0] != _TOKEN])
        # One slash, whatever was asked for: two of them would lead to another server.
        path = "/" + scope["raw_path"].decode("latin-1").replace("\\", "/").lstrip("/")
        answer = PlainTextResponse("", 303, {"Location": f"{path}?{rest}" if rest else path})
        answer.set_cookie(self._terms.cookie, self._terms.token, path="/", httponly=True, samesite="strict")
        return answer

    def _giving(self, scope: Scope, headers: Headers) -> Response | None:
        """A ticket, for a program that brings the token itself: no page can ask for one."""
        if scope["path"] != TICKET or not self._bears(headers):
            return None
        return PlainTextResponse(self.ticket())

    def _bears(self, headers: Headers) -> bool:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and self._fits(bearer.strip())

    def _known(self, headers: Headers) -> bool:
        if self._bears(headers):
            return True
        parts = [part.strip().partition("=") for line in headers.getlist("cookie") for part in line.split(";")]
        values = [value for name, _, value in parts if name == self._terms.cookie]
        return any(self._fits(value) for value in values[:4])

    def _spent(self, token: str) -> bool:
        """Whether it is a ticket; it is none any more then."""
        found = next((one for one in self._tickets if _same(token, one)), None)
        return found is not None and time.monotonic() < self._tickets.pop(found)

    def _fits(self, token: str) -> bool:
        return _same(token, self._terms.token)


def _same(given: str, secret: str) -> bool:
    """Takes as long whichever character differs."""
    return hmac.compare_digest(given.encode(errors="replace"), secret.encode())


def _refused(refusal: Refusal, scope: Scope) -> Response:
    """A page, or data for a program, that says no and how to get in; it has nothing of the app in it."""
    status, reason = refusal
    more = {"Allow": ", ".join(METHODS)} if status == 405 else {}
    more |= {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    more |= {"Connection": "close"} if status in (408, 413) else {}
    if scope["path"].startswith("/api/") or "application/json" in Headers(scope=scope).get("accept", ""):
        way = f" Run `{_COMMAND}`: it prints an address with the token." if status == 401 else ""
        return JSONResponse(
            {"status": status, "error": HTTPStatus(status).phrase, "reason": reason + way}, status, more
        )
    page = render_template(
        "refused.html", status=status, reason=reason, command=_COMMAND, look=LOOK, icon=ASSET_URLS["icon.svg"]
    )
    return HTMLResponse(str(page), status, more)
