"""JSON API for admins: people, teams, invitations, projects and rights."""

from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.errors import NotVisible
from unspool.hub.people import projects, tokens, users
from unspool.hub.people import projects as archive
from unspool.hub.people import projects as teams
from unspool.hub.people.api.account import (
    RequestBody,
    as_json,
    json_response,
    no_content,
    parse_body,
    set_audit_detail,
    set_audit_target,
)
from unspool.hub.people.rate_limit import count_attempt
from unspool.hub.people.users import bytes_kept, get_user
from unspool.hub.routes import HubRoute, Needs, hub, person


class NewPerson(RequestBody, frozen=True):
    """Somebody who is to be added; an invitation lets them choose their own way in."""

    name: str
    kind: str = "person"
    admin: bool = False
    quota: Annotated[int, Meta(ge=0)] | None = None


class UserChange(RequestBody, frozen=True):
    """What is to be different about somebody."""

    admin: bool | None = None
    quota: Annotated[int, Meta(ge=-1)] | None = None
    """Bytes; -1: as many as everybody."""
    ended: bool | None = None


def list_people(request: Request) -> Response:
    """Who there is; `all=1`: also who left."""
    people = users.list_users(hub(request).store.db, everybody=request.query_params.get("all") == "1")
    return json_response({"people": [as_json(one) for one in people]})


def get_person(request: Request) -> Response:
    """Somebody, and how much they keep."""
    db = hub(request).store.db
    who = users.get_user(db, request.path_params["person"])
    return json_response({**as_json(who), "kept": bytes_kept(db, who.id)})


def add_person(request: Request) -> Response:
    wanted = parse_body(request, NewPerson)
    db = hub(request).store.db
    made = users.add_user(db, users.NewUser(wanted.name, wanted.kind, wanted.admin, wanted.quota))
    set_audit_target(request, made)
    return json_response(as_json(users.find_user(db, made)), 201)


def change_person(request: Request) -> Response:
    """Change somebody; what is not named stays."""
    db, wanted = hub(request).store.db, parse_body(request, UserChange)
    who = users.get_user(db, request.path_params["person"]).id
    with db.transaction():
        users.change_user(db, who, admin=wanted.admin, quota=wanted.quota)
        if wanted.ended is not None:
            (users.deactivate_user if wanted.ended else users.reactivate_user)(db, who)
    return json_response(as_json(users.find_user(db, who)))


def deactivate_person(request: Request) -> Response:
    """Let somebody in no more; what they shared and pushed stays."""
    db = hub(request).store.db
    users.deactivate_user(db, users.get_user(db, request.path_params["person"]).id)
    return no_content()


PEOPLE_ROUTES = (
    HubRoute("/api/people", list_people, Needs.ADMIN),
    HubRoute("/api/people", add_person, Needs.ADMIN, "person.add", "POST", ("all",)),
    HubRoute("/api/people/{person}", get_person, Needs.ADMIN),
    HubRoute("/api/people/{person}", change_person, Needs.ADMIN, "person.change", "PATCH", ("all",)),
    HubRoute("/api/people/{person}", deactivate_person, Needs.ADMIN, "person.end", "DELETE", ("all",)),
)


class NewTeam(RequestBody, frozen=True):
    """A team that is wanted."""

    name: str


def list_own_teams(request: Request) -> Response:
    """One's own teams, or all for admins, with who is in them."""
    who = person(request)
    found = teams.list_teams(hub(request).store.db, "" if who.admin else who.id)
    return json_response({"teams": [_told(team) for team in found]})


def make_team(request: Request) -> Response:
    db, name = hub(request).store.db, parse_body(request, NewTeam).name
    made = teams.create_team(db, name)
    set_audit_target(request, made)
    return json_response({"id": made, "name": name, "members": []}, 201)


def end_team(request: Request) -> Response:
    """Have a team no more."""
    teams.delete_team(hub(request).store.db, request.path_params["team"])
    return no_content()


def join_team(request: Request) -> Response:
    """Put somebody into a team."""
    db = hub(request).store.db
    who = get_user(db, request.path_params["person"]).id
    set_audit_target(request, request.path_params["team"])
    set_audit_detail(request, person=who)
    teams.add_member(db, request.path_params["team"], who)
    return no_content()


def leave_team(request: Request) -> Response:
    """Take somebody out of a team."""
    db = hub(request).store.db
    who = get_user(db, request.path_params["person"]).id
    set_audit_target(request, request.path_params["team"])
    set_audit_detail(request, person=who)
    teams.remove_member(db, request.path_params["team"], who)
    return no_content()


def _told(team: teams.Team) -> dict[str, object]:
    return {**team._asdict(), "members": [member._asdict() for member in team.members]}


TEAM_ROUTES = (
    HubRoute("/api/teams", list_own_teams, Needs.PERSON),
    HubRoute("/api/teams", make_team, Needs.ADMIN, "team.make", "POST", ("all",)),
    HubRoute("/api/teams/{team}", end_team, Needs.ADMIN, "team.end", "DELETE", ("all",)),
    HubRoute("/api/teams/{team}/members/{person}", join_team, Needs.ADMIN, "team.join", "PUT", ("all",)),
    HubRoute("/api/teams/{team}/members/{person}", leave_team, Needs.ADMIN, "team.leave", "DELETE", ("all",)),
)


_TRIES, _SPAN = 30, 3600


class NewInvitation(RequestBody, frozen=True):
    """Whom to invite."""

    name: str = ""
    team: str = ""
    admin: bool = False
    days: Annotated[int, Meta(ge=1, le=90)] = 7


class Acceptance(RequestBody, frozen=True):
    """An invitation that is taken."""

    invitation: Annotated[str, Meta(max_length=200)]
    name: str = ""


def list_open_invitations(request: Request) -> Response:
    """Invitations that nobody took yet; `all=1`: the others too."""
    found = tokens.list_invitations(hub(request).store.db, everything=request.query_params.get("all") == "1")
    return json_response({"invitations": [as_json(one) for one in found]})


def invite(request: Request) -> Response:
    """Make an invitation: the answer is the only one that holds its link."""
    wanted = parse_body(request, NewInvitation)
    wish = tokens.NewInvitationOptions(wanted.name, wanted.team, wanted.admin, wanted.days)
    db = hub(request).store.db
    secret = tokens.create_invitation(db, person(request), wish)
    made = tokens.open_invitation(db, secret)
    set_audit_target(request, made.id)
    url = hub(request).terms.url or str(request.base_url)
    return json_response({**as_json(made), "invitation": secret, "link": tokens.invitation_link(url, secret)}, 201)


def revoke(request: Request) -> Response:
    """Let nobody take an invitation."""
    tokens.revoke_invitation(hub(request).store.db, request.path_params["id"])
    return no_content()


def accept(request: Request) -> Response:
    """Become a person: the answer is the only one that holds the token."""
    db, wanted = hub(request).store.db, parse_body(request, Acceptance)
    try:
        tokens.check_nameable(hub(request).terms.header, tokens.open_invitation(db, wanted.invitation))
    except NotVisible:
        count_attempt(db, f"join address {request.client.host if request.client else ''}", _TRIES, _SPAN)
        raise
    taken = tokens.accept_invitation(db, wanted.invitation, wanted.name)
    set_audit_target(request, taken.person)
    return json_response({"person": taken.person, "name": taken.name, "token": taken.secret}, 201)


INVITATION_ROUTES = (
    HubRoute("/api/invitations", list_open_invitations, Needs.ADMIN),
    HubRoute("/api/invitations", invite, Needs.ADMIN, "invitation.make", "POST", ("all",)),
    HubRoute("/api/invitations/{id}", revoke, Needs.ADMIN, "invitation.revoke", "DELETE", ("all",)),
    HubRoute("/api/join", accept, Needs.NOTHING, "invitation.take", "POST"),
)


_PERMIT = "/api/permits/{project}/{kind}/{subject}"
_EVERY = ("all", "read", "push")


class NewProject(RequestBody, frozen=True):
    """A project that is wanted."""

    name: str


class NewGrant(RequestBody, frozen=True):
    """A right: none, read, write or own."""

    level: str


def list_own_projects(request: Request) -> Response:
    """The projects that one may read, with what one may do."""
    return json_response(
        {"projects": [as_json(one) for one in archive.list_projects(hub(request).store.db, person(request))]}
    )


def make_project(request: Request) -> Response:
    """Make a project, which is one's own."""
    db, name = hub(request).store.db, parse_body(request, NewProject).name
    made = archive.create_project(db, person(request), name)
    set_audit_target(request, made)
    return json_response({"id": made, "name": name, "right": "own"}, 201)


def list_rights(request: Request) -> Response:
    db = hub(request).store.db
    return json_response({"permits": [as_json(one) for one in projects.list_grants(db, _project(request))]})


def give_right(request: Request) -> Response:
    """Give a person or a team a right."""
    right = projects.parse_right(parse_body(request, NewGrant).level)
    kind, subject = request.path_params["kind"], request.path_params["subject"]
    who = projects.grant_right(hub(request).store.db, _project(request), kind, subject, right)
    set_audit_detail(request, kind=kind, subject=who, level=right.name.lower())
    return no_content()


def take_right(request: Request) -> Response:
    """Take the right of a person or a team away."""
    kind, subject = request.path_params["kind"], request.path_params["subject"]
    set_audit_detail(
        request, kind=kind, subject=projects.revoke_right(hub(request).store.db, _project(request), kind, subject)
    )
    return no_content()


def _project(request: Request) -> str:
    return archive.find_project(hub(request).store.db, request.path_params["project"])


PROJECT_ROUTES = (
    HubRoute("/api/projects", list_own_projects, Needs.PERSON, scopes=_EVERY),
    HubRoute("/api/projects", make_project, Needs.PERSON, "project.make", "POST", ("all", "push")),
    HubRoute("/api/permits/{project}", list_rights, Needs.OWN),
    HubRoute(_PERMIT, give_right, Needs.OWN, "permit.give", "PUT", ("all",)),
    HubRoute(_PERMIT, take_right, Needs.OWN, "permit.take", "DELETE", ("all",)),
)
