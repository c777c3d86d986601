"""Oneself: who one is, what one may, and the tokens one has."""

from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.asked import hub, person
from unspool.hub.people import projects as archive
from unspool.hub.people import quota, teams, tokens
from unspool.hub.people.api.given import Sent, answer, done, given, target, told
from unspool.hub.people.roster import one
from unspool.hub.store.blobs import DAY, now
from unspool.hub.trouble import Refused
from unspool.hub.ways import Needs, Way

_EVERY = ("all", "read", "push")


class NewToken(Sent, frozen=True):
    """A token that is wanted."""

    label: str = ""
    scope: str = "all"
    days: Annotated[int, Meta(ge=1, le=3650)] | None = None
    """Until it expires; none: never."""


def me(request: Request) -> Response:
    """Who asks."""
    who, db = person(request), hub(request).store.db
    return answer(
        {
            "id": who.id,
            "name": who.name,
            "admin": who.admin,
            "scope": who.scope,
            "teams": [{"id": team.id, "name": team.name} for team in teams.listed(db, who.id)],
            "projects": [told(project) for project in archive.listed(db, who)],
            "kept": quota.kept(db, who.id),
            "quota": quota.allowed(db, who.id, hub(request).terms.quota),
        }
    )


def own_tokens(request: Request) -> Response:
    """One's own tokens, without their secrets."""
    return answer({"tokens": [told(token) for token in tokens.listed(hub(request).store.db, person(request).id)]})


def new_token(request: Request) -> Response:
    """A token of one's own: the answer is the only one that holds it."""
    return answer(issued(request, person(request).id), 201)


def issued(request: Request, owner: str) -> dict[str, str]:
    """A token of somebody, who may be the one who asks."""
    wanted = given(request, NewToken)
    expires = None if wanted.days is None else now() + wanted.days * DAY
    if person(request).scope != "all":
        raise Refused("A token of another scope makes no tokens.")
    if wanted.scope == "metrics" and not person(request).admin:
        raise Refused("Only admins make tokens for the hub's figures.")
    wish = tokens.Wish(owner, wanted.label, scope=wanted.scope, expires=expires)
    secret = tokens.made(hub(request).store.db, wish)
    target(request, owner)
    return {"token": secret, "person": owner, "scope": wanted.scope}


def end_token(request: Request) -> Response:
    """Revoke a token: one's own, or anybody's for admins."""
    who = person(request)
    tokens.revoked(hub(request).store.db, request.path_params["token"], "" if who.admin else who.id)
    return done()


def tokens_of(request: Request) -> Response:
    """Somebody's tokens, for admins."""
    db = hub(request).store.db
    return answer({"tokens": [told(token) for token in tokens.listed(db, one(db, request.path_params["person"]).id)]})


def new_token_of(request: Request) -> Response:
    """A token of somebody else, such as a service, for admins."""
    return answer(issued(request, one(hub(request).store.db, request.path_params["person"]).id), 201)


WAYS = (
    Way("/api/me", me, Needs.PERSON, scopes=_EVERY),
    Way("/api/tokens", own_tokens, Needs.PERSON),
    Way("/api/tokens", new_token, Needs.PERSON, "token.make", "POST", ("all",)),
    Way("/api/tokens/{token}", end_token, Needs.PERSON, "token.revoke", "DELETE", ("all",)),
    Way("/api/people/{person}/tokens", tokens_of, Needs.ADMIN),
    Way("/api/people/{person}/tokens", new_token_of, Needs.ADMIN, "token.make", "POST", ("all",)),
)
