"""Who there is: people, invitations and teams, for admins."""

from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.asked import hub, person
from unspool.hub.people import invitations, roster, teams, tokens
from unspool.hub.web.forms import fields, onward
from unspool.hub.web.render import page


def people(request: Request) -> Response:
    """Everybody, and what can be done about them."""
    return _shown(request)


def invite(request: Request) -> Response:
    """A new invitation; its link is shown this once."""
    sent, here = fields(request), hub(request)
    wish = invitations.Wish(sent.get("name", ""), sent.get("team", ""), bool(sent.get("admin")))
    secret = invitations.made(here.store.db, person(request), wish)
    request.state.target = invitations.opened(here.store.db, secret).id
    url = here.terms.url or f"{request.url.scheme}://{request.headers.get('host', '')}"
    return _shown(request, link=invitations.link(url, secret))


def invitation_ended(request: Request) -> Response:
    """An invitation that nobody can take any more."""
    invitations.revoked(hub(request).store.db, request.path_params["id"])
    return onward("/people")


def person_ended(request: Request) -> Response:
    """Somebody who is let in no more, from this moment."""
    roster.ended(hub(request).store.db, request.path_params["person"])
    return onward("/people")


def person_back(request: Request) -> Response:
    """Somebody who left and may come in again."""
    roster.back(hub(request).store.db, request.path_params["person"])
    return onward("/people")


def person_changed(request: Request) -> Response:
    """Somebody who is an admin now, or no more."""
    roster.changed(hub(request).store.db, request.path_params["person"], admin=fields(request).get("admin") == "1")
    return onward("/people")


def service_made(request: Request) -> Response:
    """A program with a token of its own, shown this once."""
    sent, db = fields(request), hub(request).store.db
    scope = sent.get("scope", "read") if sent.get("scope") in tokens.SCOPES else "read"
    with db.transaction():
        made = roster.added(db, roster.Wish(sent.get("name", ""), "service"))
        secret = tokens.made(db, tokens.Wish(made, "service", "token", scope))
    request.state.target = made
    return _shown(request, secret=secret)


def team_made(request: Request) -> Response:
    """A new team."""
    request.state.target = teams.made(hub(request).store.db, fields(request).get("name", ""))
    return onward("/people#teams")


def team_joined(request: Request) -> Response:
    """Somebody more in a team."""
    db = hub(request).store.db
    request.state.detail = {"person": roster.found(db, fields(request).get("person", "")).id}
    teams.joined(db, request.path_params["team"], request.state.detail["person"])
    return onward("/people#teams")


def team_left(request: Request) -> Response:
    """Somebody less in a team."""
    db = hub(request).store.db
    request.state.detail = {"person": roster.found(db, fields(request).get("person", "")).id}
    teams.left(db, request.path_params["team"], request.state.detail["person"])
    return onward("/people#teams")


def team_ended(request: Request) -> Response:
    """A team no more."""
    teams.ended(hub(request).store.db, request.path_params["team"])
    return onward("/people#teams")


def _shown(request: Request, link: str = "", secret: str = "") -> Response:
    db = hub(request).store.db
    everybody = roster.listed(db, everybody=True)
    return page(
        request, "People", "people.html",
        here=[one for one in everybody if one.ended is None], gone=[one for one in everybody if one.ended is not None],
        invitations=invitations.listed(db), teams=teams.listed(db), link=link, secret=secret, scopes=tokens.SCOPES,
    )  # fmt: skip
