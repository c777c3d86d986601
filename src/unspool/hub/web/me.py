"""One's own: what one may, and what lets one in."""

from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.asked import hub, person
from unspool.hub.people import projects, quota, teams, tokens
from unspool.hub.people.person import Person
from unspool.hub.store.blobs import DAY, now
from unspool.hub.trouble import Refused, Unfit
from unspool.hub.web.forms import fields, onward
from unspool.hub.web.render import page


def me(request: Request) -> Response:
    """Who one is here, one's projects, tokens and browsers."""
    return _shown(request)


def token_made(request: Request) -> Response:
    """A new token, shown this once."""
    sent, who = fields(request), person(request)
    scope, days = sent.get("scope", "all"), sent.get("days", "")
    if scope not in tokens.SCOPES or (days and not days.isdecimal()):
        raise Unfit("A token has a scope, and a number of days or none.")
    if scope not in _scopes(who):
        raise Refused("Only admins make tokens for the hub's figures.")
    expires = now() + int(days[:5]) * DAY if days else None
    secret = tokens.made(
        hub(request).store.db, tokens.Wish(who.id, sent.get("label", "")[:80], "token", scope, expires)
    )
    request.state.target = who.id
    return _shown(request, secret)


def token_ended(request: Request) -> Response:
    """A token or a browser that lets nobody in any more."""
    tokens.revoked(hub(request).store.db, request.path_params["token"], person(request).id)
    return onward("/me")


def _scopes(who: Person) -> tuple[str, ...]:
    return tokens.SCOPES if who.admin else tokens.OWN


def _shown(request: Request, secret: str = "") -> Response:
    here, who = hub(request), person(request)
    db = here.store.db
    return page(
        request, who.name, "me.html",
        projects=projects.listed(db, who), teams=teams.listed(db, who.id), tokens=tokens.listed(db, who.id),
        secret=secret, url=here.terms.url, scopes=_scopes(who), kept=quota.kept(db, who.id),
        most=quota.allowed(db, who.id, here.terms.quota),
    )  # fmt: skip
