"""Teams: seen by who is in them, changed by admins."""

from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.asked import hub, person
from unspool.hub.people import teams
from unspool.hub.people.api.given import Sent, answer, detail, done, given, target
from unspool.hub.people.roster import one
from unspool.hub.ways import Needs, Way


class NewTeam(Sent, frozen=True):
    """A team that is wanted."""

    name: str


def those(request: Request) -> Response:
    """One's own teams, or all for admins, with who is in them."""
    who = person(request)
    found = teams.listed(hub(request).store.db, "" if who.admin else who.id)
    return answer({"teams": [_told(team) for team in found]})


def make(request: Request) -> Response:
    """Make a team."""
    db, name = hub(request).store.db, given(request, NewTeam).name
    made = teams.made(db, name)
    target(request, made)
    return answer({"id": made, "name": name, "members": []}, 201)


def end(request: Request) -> Response:
    """Have a team no more."""
    teams.ended(hub(request).store.db, request.path_params["team"])
    return done()


def join(request: Request) -> Response:
    """Put somebody into a team."""
    db = hub(request).store.db
    who = one(db, request.path_params["person"]).id
    target(request, request.path_params["team"])
    detail(request, person=who)
    teams.joined(db, request.path_params["team"], who)
    return done()


def leave(request: Request) -> Response:
    """Take somebody out of a team."""
    db = hub(request).store.db
    who = one(db, request.path_params["person"]).id
    target(request, request.path_params["team"])
    detail(request, person=who)
    teams.left(db, request.path_params["team"], who)
    return done()


def _told(team: teams.Team) -> dict[str, object]:
    return {**team._asdict(), "members": [member._asdict() for member in team.members]}


WAYS = (
    Way("/api/teams", those, Needs.PERSON),
    Way("/api/teams", make, Needs.ADMIN, "team.make", "POST", ("all",)),
    Way("/api/teams/{team}", end, Needs.ADMIN, "team.end", "DELETE", ("all",)),
    Way("/api/teams/{team}/members/{person}", join, Needs.ADMIN, "team.join", "PUT", ("all",)),
    Way("/api/teams/{team}/members/{person}", leave, Needs.ADMIN, "team.leave", "DELETE", ("all",)),
)
