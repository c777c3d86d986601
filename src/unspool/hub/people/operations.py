"""What can be done about people, tokens, teams, projects and holds, each declared once.

The API's route, the form of a page and the command all run the same operation: see `api`, `web.pages` and
`cli.hub_people_cmd`. Its parameters are the fields of the body, the form and the command; its docstring is the
command's help. An operation checks nothing about who asks, which its route does; it runs in one transaction.
"""

import inspect
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

import msgspec
from msgspec import Meta

from unspool.hub.errors import Forbidden
from unspool.hub.people import erasure, holds, projects, tokens, users
from unspool.hub.people.users import Person, User
from unspool.hub.store.blobs import DAY, now
from unspool.hub.store.database import Database, set_setting

_TIMES = frozenset({"at", "created", "ended", "expires", "taken", "used"})


class Actor(NamedTuple):
    db: Database
    person: Person
    by_name: bool = False
    """Whether people are meant by name or id, as at the command line and in forms; else by id alone."""
    url: str = ""
    """Where the hub is reached, for links."""

    def user(self, named: str) -> User:
        return (users.find_user if self.by_name else users.get_user)(self.db, named)


class Done(NamedTuple):
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


Operation = Callable[..., Done]
_Declared = TypeVar("_Declared", bound=Operation)
ACTS: dict[Operation, str] = {}
"""Every operation, and what the audit log calls it."""


def operation(act: str) -> Callable[[_Declared], _Declared]:
    def declare(run: _Declared) -> _Declared:
        ACTS[run] = act
        return run

    return declare


@cache
def arguments_of(run: Operation) -> type[msgspec.Struct]:
    """What an operation takes, for checking what a path, a body or a form says; `id_` is called `id` there."""
    hints = get_type_hints(run, include_extras=True)
    parameters = list(inspect.signature(run).parameters.values())[1:]
    fields = [
        (one.name, hints[one.name]) if one.default is one.empty else (one.name, hints[one.name], one.default)
        for one in parameters
    ]
    plain = {one.name: one.name.rstrip("_") for one in parameters}
    return msgspec.defstruct(run.__name__, fields, kw_only=True, rename=plain, forbid_unknown_fields=True)


def as_json(row: Any) -> dict[str, Any]:
    """A row as JSON has it, its times as text."""
    return {name: json_time(value) if name in _TIMES else value for name, value in row._asdict().items()}


def json_time(value: int | None) -> str | None:
    return None if value is None else datetime.fromtimestamp(value / 1000, UTC).isoformat(timespec="seconds")


def rows_as_json(name: str, rows: Iterable[Any]) -> dict[str, Any]:
    return {name: [as_json(row) for row in rows]}


def team_as_json(team: projects.Team) -> dict[str, Any]:
    return {**team._asdict(), "members": [member._asdict() for member in team.members]}


@operation("person.add")
def add_person(
    at: Actor,
    name: str,
    kind: str = "person",
    admin: bool = False,
    quota: Annotated[int, Meta(ge=0)] | None = None,
    token_scope: str = "",
) -> Done:
    """Add somebody; with a scope, also a first token, which is told this once."""
    made = users.add_user(at.db, name, kind, admin, quota)
    data, secret = as_json(users.get_user(at.db, made)), ""
    if token_scope:
        secret = data["token"] = tokens.create_token(at.db, made, "the first", token_scope, parent=at.person.token)
    return Done(made, data, f"The token of {name}", secret)


@operation("person.change")
def change_person(
    at: Actor,
    person: str,
    admin: bool | None = None,
    quota: Annotated[int, Meta(ge=-1)] | None = None,
    ended: bool | None = None,
) -> Done:
    """Change somebody; what is not named stays. A quota of -1 is the hub's usual one."""
    who = at.user(person)
    users.change_user(at.db, who.id, admin=admin, quota=quota)
    if ended is not None:
        (users.deactivate_user if ended else users.reactivate_user)(at.db, who.id)
    return Done(who.id, as_json(users.get_user(at.db, who.id)), f"{who.name} is changed.")


@operation("person.end")
def end_person(at: Actor, person: str) -> Done:
    """Revoke somebody's access at once. What they shared and pushed stays."""
    who = at.user(person)
    users.deactivate_user(at.db, who.id)
    message = f"The access of {who.name} is revoked, with their tokens, open invitations and all made with them."
    if left := [name for _, name in users.projects_without_owner(at.db)]:
        message += f"\nOnly admins look after these projects now: {', '.join(left)}."
    return Done(who.id, message=message)


@operation("person.back")
def bring_back_person(at: Actor, person: str) -> Done:
    """Give somebody access again whose access was revoked; they need a new token."""
    who = at.user(person)
    users.reactivate_user(at.db, who.id)
    return Done(who.id, message=f"{who.name} has access again: `unspool hub token add` makes a token.")


_Days = Annotated[int, Meta(ge=1, le=3650)] | None
"""Until a token expires; None: never."""


@operation("token.make")
def add_own_token(at: Actor, label: str = "", scope: str = "all", days: _Days = None) -> Done:
    """Make a token of whoever asks: the answer is the only one that holds it."""
    return _new_token(at, at.person, label, scope, days)


@operation("token.make")
def add_token(at: Actor, person: str, label: str = "", scope: str = "all", days: _Days = None) -> Done:
    """Make a token of somebody, such as a service, and print it."""
    return _new_token(at, at.user(person), label, scope, days)


def _new_token(at: Actor, owner: User | Person, label: str, scope: str, days: int | None) -> Done:
    if at.person.scope != "all":
        raise Forbidden("A token of another scope makes no tokens.")
    if scope == "metrics" and not at.person.admin:
        raise Forbidden("Only admins make tokens for the hub's figures.")
    expires = None if days is None else now() + days * DAY
    secret = tokens.create_token(at.db, owner.id, label, scope, expires, at.person.token)
    return Done(owner.id, {"token": secret, "person": owner.id, "scope": scope}, f"A token of {owner.name}", secret)


@operation("token.revoke")
def end_token(at: Actor, token: str) -> Done:
    """Revoke a token at once, by its id, with every browser, token and open invitation that was made with it."""
    tokens.revoke_token(at.db, token, "" if at.person.admin else at.person.id)
    return Done(token, message="The token is revoked, with all that was made with it.")


@operation("invitation.make")
def add_invitation(
    at: Actor, name: str = "", team: str = "", admin: bool = False, days: Annotated[int, Meta(ge=1, le=90)] = 7
) -> Done:
    """Make an invitation: the answer is the only one that holds its link."""
    secret = tokens.create_invitation(at.db, at.person, name, team, admin, days)
    made = tokens.open_invitation(at.db, secret)
    link = f"{at.url.rstrip('/')}/join/{secret}"
    return Done(made.id, {**as_json(made), "invitation": secret, "link": link}, "The link", link)


@operation("invitation.revoke")
def end_invitation(at: Actor, id_: str) -> Done:
    """Revoke an invitation by its id."""
    tokens.revoke_invitation(at.db, id_)
    return Done(id_, message="The invitation is revoked.")


@operation("team.make")
def add_team(at: Actor, name: str) -> Done:
    """Make a team of that name."""
    made = projects.create_team(at.db, name)
    return Done(made, {"id": made, "name": name, "members": []}, f"The team {name} is made.")


@operation("team.end")
def end_team(at: Actor, team: str) -> Done:
    """Delete a team and its rights; its members stay."""
    which = projects.find_team(at.db, team)
    projects.delete_team(at.db, which)
    return Done(which, message=f"The team {team} is deleted.")


@operation("team.join")
def join_team(at: Actor, team: str, person: str) -> Done:
    who, which = at.user(person), projects.find_team(at.db, team)
    projects.add_member(at.db, which, who.id)
    return Done(which, detail={"person": who.id})


@operation("team.leave")
def leave_team(at: Actor, team: str, person: str) -> Done:
    who, which = at.user(person), projects.find_team(at.db, team)
    projects.remove_member(at.db, which, who.id)
    return Done(which, detail={"person": who.id})


@operation("project.make")
def add_project(at: Actor, name: str, owner: str = "") -> Done:
    """Make a project of that name."""
    if owner and at.person.scope != "all":
        raise Forbidden("A token of another scope gives nobody a right.")
    made = projects.create_project(at.db, at.person, name)
    if owner:
        projects.grant_right(at.db, made, "person", owner, projects.Right.OWN)
    return Done(made, {"id": made, "name": name, "right": "own"}, f"The project {name} is made.")


@operation("permit.give")
def give_right(at: Actor, project: str, kind: str, subject: str, level: str) -> Done:
    """Give a person or a team a right, in place of what they had."""
    right = projects.parse_right(level)
    which = projects.find_project(at.db, project)
    who = projects.grant_right(at.db, which, kind, subject, right)
    detail = {"kind": kind, "subject": who, "level": right.name.lower()}
    return Done(which, message=f"{subject} in {project}: {level}.", detail=detail)


@operation("permit.take")
def take_right(at: Actor, project: str, kind: str, subject: str) -> Done:
    """Take the right of a person or a team away."""
    which = projects.find_project(at.db, project)
    who = projects.revoke_right(at.db, which, kind, subject)
    return Done(which, message=f"{subject} in {project}: nothing.", detail={"kind": kind, "subject": who})


@operation("project.let")
def let_create_projects(at: Actor, who: str) -> Done:
    """Choose who may make projects, by pushing to a new one."""
    set_setting(at.db, projects.NEW, "everybody" if who == "everybody" else "admins")
    return Done(who, message=f"New projects are made by {who}.")


@operation("hold.place")
def add_hold(at: Actor, kind: str, id_: str, reason: Annotated[str, Meta(max_length=1000)] = "") -> Done:
    """Place a hold, and print its id; people and projects by name or id."""
    which = thing_id(at, kind, id_)
    made = holds.place_hold(at.db, at.person, (kind, which), reason)
    return Done(which, {"id": made, "kind": kind, "target": which}, made)


def thing_id(at: Actor, kind: str, named: str) -> str:
    """The id of something; at the command line, people and projects have names."""
    if at.by_name and kind == "person":
        return at.user(named).id
    return projects.find_project(at.db, named) if at.by_name and kind == "project" else named


@operation("hold.lift")
def end_hold(at: Actor, id_: str) -> Done:
    """Lift a hold by its id."""
    holds.lift_hold(at.db, id_)
    return Done(id_, message="The hold is lifted.")


@operation("erase.again")
def allow_push_again(at: Actor, person: str, key: str) -> Done:
    """Let a person push a session again that was erased; KEY is the session's own id."""
    who = thing_id(at, "person", person)
    erasure.allow_push_again(at.db, who, key)
    return Done(who, message="It can be pushed again.")
