"""What can be done about people, tokens, teams, projects and holds, each declared once.

The API's route, the form of a page and the command all run the same operation: see `api`, `web.admin` and
`cli.hub_people_cmd`. An operation checks nothing about who asks, which its route does; it runs in one transaction.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from unspool.hub.errors import Forbidden
from unspool.hub.people import erasure, holds, projects, tokens, users
from unspool.hub.people.users import Person, User
from unspool.hub.store.blobs import DAY, now
from unspool.hub.store.database import Database

_TIMES = frozenset({"at", "created", "ended", "expires", "taken", "used"})


class Actor(NamedTuple):
    """Who runs an operation, and on what."""

    db: Database
    person: Person
    by_name: bool = False
    """Whether people are meant by name or id, as at the command line and in forms; else by id alone."""
    url: str = ""
    """Where the hub is reached, for links."""

    def user(self, named: str) -> User:
        return (users.find_user if self.by_name else users.get_user)(self.db, named)


class Done(NamedTuple):
    """What came of an operation."""

    target: str = ""
    """The id of what was changed, for the audit log."""
    data: dict[str, Any] | None = None
    """The answer of the API; None: it has nothing to say."""
    message: str = ""
    """The same for people."""
    secret: str = ""
    """What is told this once: a token or a link."""
    detail: dict[str, str] = {}  # noqa: RUF012  never changed
    """More for the audit log: ids and words of the hub's own, never a name."""


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an operation takes: from a path, a body, a form or a command line."""


Operation = Callable[[Actor, Any], Done]


def as_json(row: Any) -> dict[str, Any]:
    """A row as JSON has it, its times as text."""
    return {name: json_time(value) if name in _TIMES else value for name, value in row._asdict().items()}


def json_time(value: int | None) -> str | None:
    return None if value is None else datetime.fromtimestamp(value / 1000, UTC).isoformat(timespec="seconds")


def rows_as_json(name: str, rows: Iterable[Any]) -> dict[str, Any]:
    return {name: [as_json(row) for row in rows]}


class AddPerson(Arguments, frozen=True):
    name: str
    kind: str = "person"
    admin: bool = False
    quota: Annotated[int, Meta(ge=0)] | None = None
    token_scope: str = ""
    """What a first token of theirs is good for; empty: none is made."""


class OnePerson(Arguments, frozen=True):
    person: str


class ChangePerson(Arguments, frozen=True):
    person: str
    admin: bool | None = None
    quota: Annotated[int, Meta(ge=-1)] | None = None
    """Bytes; -1: as many as everybody."""
    ended: bool | None = None


def add_person(at: Actor, args: AddPerson) -> Done:
    made = users.add_user(at.db, users.NewUser(args.name, args.kind, args.admin, args.quota))
    data, secret = as_json(users.get_user(at.db, made)), ""
    if args.token_scope:
        wish = tokens.NewTokenOptions(made, "the first", scope=args.token_scope)
        secret = data["token"] = tokens.create_token(at.db, wish)
    return Done(made, data, f"The token of {args.name}", secret)


def change_person(at: Actor, args: ChangePerson) -> Done:
    """Change somebody; what is not named stays."""
    who = at.user(args.person)
    users.change_user(at.db, who.id, admin=args.admin, quota=args.quota)
    if args.ended is not None:
        (users.deactivate_user if args.ended else users.reactivate_user)(at.db, who.id)
    return Done(who.id, as_json(users.get_user(at.db, who.id)), f"{who.name} is changed.")


def end_person(at: Actor, args: OnePerson) -> Done:
    """Let somebody in no more, from this moment. What they shared and pushed stays."""
    who = at.user(args.person)
    users.deactivate_user(at.db, who.id)
    said = f"{who.name} is let in no more; their tokens and open invitations have ended."
    if left := [name for _, name in users.projects_without_owner(at.db)]:
        said += f"\nOnly admins look after these projects now: {', '.join(left)}."
    return Done(who.id, message=said)


def bring_back_person(at: Actor, args: OnePerson) -> Done:
    """Let somebody who was ended in again; they need a new token."""
    who = at.user(args.person)
    users.reactivate_user(at.db, who.id)
    return Done(who.id, message=f"{who.name} may come in again: `unspool hub token add` makes a token.")


class AddOwnToken(Arguments, frozen=True, kw_only=True):
    label: str = ""
    scope: str = "all"
    days: Annotated[int, Meta(ge=1, le=3650)] | None = None
    """Until it expires; none: never."""


class AddToken(AddOwnToken, frozen=True, kw_only=True):
    person: str


class OneToken(Arguments, frozen=True):
    token: str


def add_own_token(at: Actor, args: AddOwnToken) -> Done:
    """Make a token of whoever asks: the answer is the only one that holds it."""
    return _new_token(at, args, at.person)


def add_token(at: Actor, args: AddToken) -> Done:
    """Make a token of somebody, such as a service: the answer is the only one that holds it."""
    return _new_token(at, args, at.user(args.person))


def _new_token(at: Actor, args: AddOwnToken, owner: User | Person) -> Done:
    if at.person.scope != "all":
        raise Forbidden("A token of another scope makes no tokens.")
    if args.scope == "metrics" and not at.person.admin:
        raise Forbidden("Only admins make tokens for the hub's figures.")
    expires = None if args.days is None else now() + args.days * DAY
    wish = tokens.NewTokenOptions(owner.id, args.label, scope=args.scope, expires=expires)
    secret = tokens.create_token(at.db, wish)
    data = {"token": secret, "person": owner.id, "scope": args.scope}
    return Done(owner.id, data, f"A token of {owner.name}", secret)


def end_token(at: Actor, args: OneToken) -> Done:
    """Revoke a token by its id: one's own, or anybody's for admins."""
    tokens.revoke_token(at.db, args.token, "" if at.person.admin else at.person.id)
    return Done(args.token, message="It lets nobody in any more.")


class AddInvitation(Arguments, frozen=True):
    name: str = ""
    team: str = ""
    admin: bool = False
    days: Annotated[int, Meta(ge=1, le=90)] = 7


class OneInvitation(Arguments, frozen=True):
    id: str


def add_invitation(at: Actor, args: AddInvitation) -> Done:
    """Make an invitation: the answer is the only one that holds its link."""
    wish = tokens.NewInvitationOptions(args.name, args.team, args.admin, args.days)
    secret = tokens.create_invitation(at.db, at.person, wish)
    made = tokens.open_invitation(at.db, secret)
    link = tokens.invitation_link(at.url, secret)
    return Done(made.id, {**as_json(made), "invitation": secret, "link": link}, "The link", link)


def end_invitation(at: Actor, args: OneInvitation) -> Done:
    """Let nobody take an invitation any more."""
    tokens.revoke_invitation(at.db, args.id)
    return Done(args.id, message="Nobody can take it any more.")


class NewName(Arguments, frozen=True):
    name: str


class OneTeam(Arguments, frozen=True):
    team: str


class Membership(Arguments, frozen=True):
    team: str
    person: str


def team_as_json(team: projects.Team) -> dict[str, Any]:
    return {**team._asdict(), "members": [member._asdict() for member in team.members]}


def add_team(at: Actor, args: NewName) -> Done:
    """Make a team of that name."""
    made = projects.create_team(at.db, args.name)
    return Done(made, {"id": made, "name": args.name, "members": []}, f"There is a team {args.name} now.")


def end_team(at: Actor, args: OneTeam) -> Done:
    """Have a team no more, nor any right it was given."""
    which = projects.find_team(at.db, args.team)
    projects.delete_team(at.db, which)
    return Done(which, message=f"There is no team {args.team} any more.")


def join_team(at: Actor, args: Membership) -> Done:
    """Put somebody into a team."""
    who, which = at.user(args.person), projects.find_team(at.db, args.team)
    projects.add_member(at.db, which, who.id)
    return Done(which, message=f"In {args.team} now: {who.name}.", detail={"person": who.id})


def leave_team(at: Actor, args: Membership) -> Done:
    """Take somebody out of a team."""
    who, which = at.user(args.person), projects.find_team(at.db, args.team)
    projects.remove_member(at.db, which, who.id)
    return Done(which, message=f"No longer in {args.team}: {who.name}.", detail={"person": who.id})


class AddProject(Arguments, frozen=True):
    name: str
    owner: str = ""
    """A person who owns it beside whoever makes it."""


class GiveRight(Arguments, frozen=True):
    project: str
    kind: str
    subject: str
    level: str


class TakeRight(Arguments, frozen=True):
    project: str
    kind: str
    subject: str


def add_project(at: Actor, args: AddProject) -> Done:
    """Make a project, which is one's own."""
    made = projects.create_project(at.db, at.person, args.name)
    if args.owner:
        projects.grant_right(at.db, made, "person", args.owner, projects.Right.OWN)
    return Done(made, {"id": made, "name": args.name, "right": "own"}, f"There is a project {args.name} now.")


def give_right(at: Actor, args: GiveRight) -> Done:
    """Give a person or a team a right, in place of what they had."""
    right = projects.parse_right(args.level)
    which = projects.find_project(at.db, args.project)
    who = projects.grant_right(at.db, which, args.kind, args.subject, right)
    detail = {"kind": args.kind, "subject": who, "level": right.name.lower()}
    return Done(which, message=f"{args.subject} in {args.project}: {args.level}.", detail=detail)


def take_right(at: Actor, args: TakeRight) -> Done:
    """Take the right of a person or a team away."""
    which = projects.find_project(at.db, args.project)
    who = projects.revoke_right(at.db, which, args.kind, args.subject)
    detail = {"kind": args.kind, "subject": who}
    return Done(which, message=f"{args.subject} in {args.project}: nothing.", detail=detail)


class LetCreate(Arguments, frozen=True):
    who: str


def let_create_projects(at: Actor, args: LetCreate) -> Done:
    """Say who may make projects, by pushing to a new one."""
    projects.let_anyone_create(at.db, everybody=args.who == "everybody")
    return Done(args.who, message=f"New projects are made by {args.who}.")


class AddHold(Arguments, frozen=True):
    kind: str
    id: str
    reason: Annotated[str, Meta(max_length=1000)] = ""


class OneHold(Arguments, frozen=True):
    id: str


def add_hold(at: Actor, args: AddHold) -> Done:
    """Place a hold on a person, project, session or share."""
    which = thing_id(at, args.kind, args.id)
    made = holds.place_hold(at.db, at.person, (args.kind, which), args.reason)
    return Done(which, {"id": made, "kind": args.kind, "target": which}, made)


def thing_id(at: Actor, kind: str, named: str) -> str:
    """The id of something; at the command line, people and projects have names."""
    if at.by_name and kind == "person":
        return at.user(named).id
    return projects.find_project(at.db, named) if at.by_name and kind == "project" else named


def end_hold(at: Actor, args: OneHold) -> Done:
    """Lift a hold by its id."""
    holds.lift_hold(at.db, args.id)
    return Done(args.id, message="It is lifted.")


class PushAgain(Arguments, frozen=True):
    person: str
    key: str


def allow_push_again(at: Actor, args: PushAgain) -> Done:
    """Let a person push a session again that was erased; KEY is the session's own id."""
    who = at.user(args.person).id if at.by_name else args.person
    erasure.allow_push_again(at.db, who, args.key)
    return Done(who, message="It can be pushed again.")
