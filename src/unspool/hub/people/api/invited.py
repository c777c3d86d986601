"""Invitations, for admins to make and for anybody who has one to take."""

from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.asked import hub, person
from unspool.hub.people import invitations
from unspool.hub.people.api.given import Sent, answer, done, given, target, told
from unspool.hub.people.pace import attempt
from unspool.hub.trouble import Hidden
from unspool.hub.ways import Needs, Way

_TRIES, _SPAN = 30, 3600


class NewInvitation(Sent, frozen=True):
    """Whom to invite."""

    name: str = ""
    team: str = ""
    admin: bool = False
    days: Annotated[int, Meta(ge=1, le=90)] = 7


class Taking(Sent, frozen=True):
    """An invitation that is taken."""

    invitation: Annotated[str, Meta(max_length=200)]
    name: str = ""


def open_ones(request: Request) -> Response:
    """Invitations that nobody took yet; `all=1`: the others too."""
    found = invitations.listed(hub(request).store.db, everything=request.query_params.get("all") == "1")
    return answer({"invitations": [told(one) for one in found]})


def invite(request: Request) -> Response:
    """Make an invitation: the answer is the only one that holds its link."""
    wanted = given(request, NewInvitation)
    wish = invitations.Wish(wanted.name, wanted.team, wanted.admin, wanted.days)
    db = hub(request).store.db
    secret = invitations.made(db, person(request), wish)
    made = invitations.opened(db, secret)
    target(request, made.id)
    url = hub(request).terms.url or str(request.base_url)
    return answer({**told(made), "invitation": secret, "link": invitations.link(url, secret)}, 201)


def revoke(request: Request) -> Response:
    """Let nobody take an invitation."""
    invitations.revoked(hub(request).store.db, request.path_params["id"])
    return done()


def take(request: Request) -> Response:
    """Become a person: the answer is the only one that holds the token."""
    db, wanted = hub(request).store.db, given(request, Taking)
    try:
        invitations.nameable(hub(request).terms.header, invitations.opened(db, wanted.invitation))
    except Hidden:
        attempt(db, f"join address {request.client.host if request.client else ''}", _TRIES, _SPAN)
        raise
    taken = invitations.taken(db, wanted.invitation, wanted.name)
    target(request, taken.person)
    return answer({"person": taken.person, "name": taken.name, "token": taken.secret}, 201)


WAYS = (
    Way("/api/invitations", open_ones, Needs.ADMIN),
    Way("/api/invitations", invite, Needs.ADMIN, "invitation.make", "POST", ("all",)),
    Way("/api/invitations/{id}", revoke, Needs.ADMIN, "invitation.revoke", "DELETE", ("all",)),
    Way("/api/join", take, Needs.NOTHING, "invitation.take", "POST"),
)
