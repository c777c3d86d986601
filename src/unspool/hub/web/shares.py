"""One's own shares, for people: sent, changed, ended."""

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from unspool.hub.asked import hub, person
from unspool.hub.shares import api
from unspool.hub.shares.expiry import delete
from unspool.hub.shares.keeping import change
from unspool.hub.shares.share import COLUMNS, Share, live
from unspool.hub.shares.wish import Wish, asked
from unspool.hub.trouble import HubError
from unspool.hub.web.forms import fields, onward
from unspool.hub.web.render import page
from unspool.hub.work import aside

_MOST = 200
_NEVER = 0
"""As a wish has it: no end."""


def shares(request: Request) -> Response:
    """The list, and the form that sends one more."""
    return _shown(request)


async def sent(request: Request) -> Response:
    """A bundle from a form: shown at its address, or why not."""
    try:
        share = await api.taken(request, Wish())
    except HubError as error:
        answer = _shown(request, wrong=str(error))
        answer.status_code = error.status
        return answer
    return RedirectResponse(f"/shares#{share.address}", 303)


async def changed(request: Request) -> Response:
    """The same content, otherwise."""
    share = await aside(live, hub(request).store.db, request.path_params["address"])
    await aside(change, hub(request), share, _wish(fields(request)))
    return onward(f"/shares#{share.address}")


def ended(request: Request) -> Response:
    """The end of a share."""
    delete(hub(request).store.db, request.path_params["address"])
    return onward("/shares")


def _wish(form: dict[str, str]) -> Wish:
    """What a form asks for; a field that is left as it is asks for nothing."""
    given: dict[str, Any] = {"raw": form.get("raw") == "1", "listed": form.get("listed") == "1"}
    if form.get("password"):
        given["password"] = form["password"]
    if form.get("open") == "1":
        given["password"] = ""
    if form.get("expires"):
        given["expires"] = _NEVER if form["expires"] == "never" else asked({"expires": form["expires"]}, {}).expires
    return Wish(**given)


def _shown(request: Request, wrong: str = "") -> Response:
    here, who = hub(request), person(request)
    rows = here.store.db.rows(
        f"SELECT {COLUMNS} FROM share WHERE owner = ? ORDER BY ended IS NOT NULL, created DESC LIMIT ?",  # noqa: S608
        who.id,
        _MOST,
    )
    url = here.terms.url.rstrip("/") or str(request.base_url).rstrip("/")
    return page(
        request, "Shares", "shares.html", scripts=("copy.js",), shares=[Share(*r) for r in rows], url=url, wrong=wrong
    )
