"""The roster, for admins. Paths name people by their ids, so that the audit log, which has paths, has no names."""

from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.asked import hub
from unspool.hub.people import roster
from unspool.hub.people.api.given import Sent, answer, done, given, target, told
from unspool.hub.people.quota import kept
from unspool.hub.ways import Needs, Way


class NewPerson(Sent, frozen=True):
    """Somebody who is to be added; an invitation lets them choose their own way in."""

    name: str
    kind: str = "person"
    admin: bool = False
    quota: Annotated[int, Meta(ge=0)] | None = None


class Change(Sent, frozen=True):
    """What is to be different about somebody."""

    admin: bool | None = None
    quota: Annotated[int, Meta(ge=-1)] | None = None
    """Bytes; -1: as many as everybody."""
    ended: bool | None = None


def everybody(request: Request) -> Response:
    """Who there is; `all=1`: also who left."""
    people = roster.listed(hub(request).store.db, everybody=request.query_params.get("all") == "1")
    return answer({"people": [told(one) for one in people]})


def somebody(request: Request) -> Response:
    """Somebody, and how much they keep."""
    db = hub(request).store.db
    who = roster.one(db, request.path_params["person"])
    return answer({**told(who), "kept": kept(db, who.id)})


def add(request: Request) -> Response:
    """Add somebody."""
    wanted = given(request, NewPerson)
    db = hub(request).store.db
    made = roster.added(db, roster.Wish(wanted.name, wanted.kind, wanted.admin, wanted.quota))
    target(request, made)
    return answer(told(roster.found(db, made)), 201)


def change(request: Request) -> Response:
    """Change somebody; what is not named stays."""
    db, wanted = hub(request).store.db, given(request, Change)
    who = roster.one(db, request.path_params["person"]).id
    with db.transaction():
        roster.changed(db, who, admin=wanted.admin, quota=wanted.quota)
        if wanted.ended is not None:
            (roster.ended if wanted.ended else roster.back)(db, who)
    return answer(told(roster.found(db, who)))


def end(request: Request) -> Response:
    """Let somebody in no more; what they shared and pushed stays."""
    db = hub(request).store.db
    roster.ended(db, roster.one(db, request.path_params["person"]).id)
    return done()


WAYS = (
    Way("/api/people", everybody, Needs.ADMIN),
    Way("/api/people", add, Needs.ADMIN, "person.add", "POST", ("all",)),
    Way("/api/people/{person}", somebody, Needs.ADMIN),
    Way("/api/people/{person}", change, Needs.ADMIN, "person.change", "PATCH", ("all",)),
    Way("/api/people/{person}", end, Needs.ADMIN, "person.end", "DELETE", ("all",)),
)
