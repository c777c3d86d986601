"""`unspool hub people`, `team`, `token`, `invite`, `project` and `hold`: the hub's operations as commands."""

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import click

from unspool import human
from unspool.cli import hub_options
from unspool.cli.hub_options import ListedRow, listing, operator, row_time, run_audited, store_options
from unspool.cli.options import Decorator, with_options
from unspool.cli.output import say_line
from unspool.errors import UsageProblem
from unspool.hub.people import holds, operations, projects, tokens, users
from unspool.hub.people.operations import Actor, Operation, as_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from unspool.hub.people.operations import Done
    from unspool.hub.store.connect import Store

_MB = 1024 * 1024
_Args = ParamSpec("_Args")


def _run(
    at: Actor, operation: "Callable[Concatenate[Actor, _Args], Done]", *args: _Args.args, **named: _Args.kwargs
) -> None:
    done = run_audited(at, operation, *args, **named)
    if done.secret:
        click.echo(f"{done.message}, told this once:", err=True)
        click.echo(done.secret)  # alone on standard output, so that it can be piped
    else:
        say_line(done.message)


def _add(group: click.Group, name: str, operation: Operation, *parameters: Decorator, **settings: Any) -> None:
    """Add a command that runs an operation, with the operation's docstring as its help."""

    @store_options
    def run(store: "Store", **given: Any) -> None:
        _run(operator(store), operation, **given)

    group.command(name, help=inspect.getdoc(operation), **settings)(with_options(run, parameters))


@click.group("people")
def people_command() -> None:
    """Tell who there is; add people and services, and revoke their access.

    \b
    unspool hub people list
    unspool hub people add ada                prints a token of hers
    unspool hub people add ci --service --scope push
    unspool hub people end ada                revokes her access at once

    Everybody but services can be invited instead: `unspool hub invite add`.
    """


_NAME = click.argument("person", metavar="NAME")
_SCOPES = "all, read, push or metrics."


@people_command.command("list")
@hub_options.everything
@listing("people", ("Name", "Kind", "", "Keeps", "Since", "Ended", "Id"), "There is nobody yet.")
def list_people(store: "Store", everything: bool) -> Iterator[ListedRow]:
    """List people and services, the admins among them marked."""
    for one in users.list_users(store.db, everybody=everything):
        size, admin = human.size(users.bytes_kept(store.db, one.id)), "admin" if one.admin else ""
        yield as_json(one), (one.name, one.kind, admin, size, row_time(one.created), row_time(one.ended), one.id)


@people_command.command("add")
@click.argument("name")
@click.option("--admin", is_flag=True, help="Let them do everything.")
@click.option("--service", is_flag=True, help="A program, not a person.")
@click.option("--quota", type=click.IntRange(0), metavar="MB", help="That they may keep; else as everybody.")
@click.option("--scope", default="all", metavar="WORD", help=f"Of their token: {_SCOPES}")
@store_options
def add_person(store: "Store", name: str, admin: bool, service: bool, quota: int | None, scope: str) -> None:
    """Add somebody, and print a token that lets them in."""
    kind, most = "service" if service else "person", None if quota is None else quota * _MB
    _run(operator(store), operations.add_person, name, kind, admin, most, scope)


_add(people_command, "end", operations.end_person, _NAME)
_add(people_command, "back", operations.bring_back_person, _NAME)


@people_command.command("change")
@_NAME
@click.option("--admin/--no-admin", default=None, help="Whether they may do everything.")
@click.option("--quota", type=click.IntRange(0), metavar="MB", help="That they may keep.")
@click.option("--usual-quota", is_flag=True, help="As much as everybody.")
@store_options
def change_person(store: "Store", person: str, admin: bool | None, quota: int | None, usual_quota: bool) -> None:
    """Make somebody an admin or none; give them a quota of their own."""
    most = -1 if usual_quota else None if quota is None else quota * _MB
    _run(operator(store), operations.change_person, person, admin, most)


@click.group("team")
def team_command() -> None:
    """Make teams, and put people into them.

    \b
    unspool hub team add crew
    unspool hub team join crew ada bob
    unspool hub team list
    unspool hub project grant shop --team crew write
    """


@team_command.command("list")
@listing("teams", ("Name", "Members", "Id"), "There is no team.")
def list_teams(store: "Store") -> Iterator[ListedRow]:
    """List teams with who is in them."""
    for one in projects.list_teams(store.db):
        yield operations.team_as_json(one), (one.name, ", ".join(member.name for member in one.members), one.id)


_add(team_command, "add", operations.add_team, click.argument("name"))
_add(team_command, "end", operations.end_team, click.argument("team"))


def _add_membership(name: str, operation: Operation, help_line: str, done: str) -> None:
    """Add a command that puts all of some people into a team or takes them out, or none."""

    @team_command.command(name, help=help_line)
    @click.argument("team")
    @click.argument("people", nargs=-1, required=True)
    @store_options
    def change_team(store: "Store", team: str, people: tuple[str, ...]) -> None:
        with store.db.transaction():
            for person in people:
                run_audited(operator(store), operation, team, person)
        say_line(f"{done.format(team)}: {', '.join(people)}.")


_add_membership("join", operations.join_team, "Put people into a team.", "In {} now")
_add_membership("leave", operations.leave_team, "Take people out of a team.", "No longer in {}")


@click.group("token")
def token_command() -> None:
    """Make, list and revoke tokens.

    \b
    unspool hub token add owner                      a new one, where the first was lost
    unspool hub token add ci --scope push --days 90 --label "build server"
    unspool hub token list --person ada
    unspool hub token end 3f2a…

    Only digests are kept: no command can print a token a second time.
    """


_add(
    token_command,
    "add",
    operations.add_token,
    click.argument("person"),
    click.option("--scope", default="all", show_default=True, metavar="WORD", help=_SCOPES),
    click.option("--days", type=click.IntRange(1, 3650), metavar="N", help="Until it expires; else never."),
    click.option("--label", default="", metavar="TEXT", help="What it is for."),
)


@token_command.command("list")
@click.option("--person", default="", metavar="NAME", help="Of this one alone.")
@hub_options.everything
@listing("tokens", ("Id", "Of", "Kind", "Scope", "Label", "Made", "Expires", "Used", "Ended"), "There is no token.")
def list_tokens(store: "Store", person: str, everything: bool) -> Iterator[ListedRow]:
    """List tokens and signed-in browsers, without their secrets."""
    whose = users.find_user(store.db, person).id if person else ""
    for one in tokens.list_tokens(store.db, whose, everything=everything):
        times = row_time(one.created), row_time(one.expires, "never"), row_time(one.used, "never"), row_time(one.ended)
        yield as_json(one), (one.id, one.name, one.kind, one.scope, one.label, *times)


_add(token_command, "end", operations.end_token, click.argument("token"))


@click.group("invite")
def invite_command() -> None:
    """Invite people by a link that works once.

    \b
    unspool hub invite add --team crew --days 3
    unspool hub invite add ada --url https://hub.example
    unspool hub invite list
    unspool hub invite end 3f2a…
    """


@invite_command.command("add")
@click.argument("name", default="")
@click.option("--team", default="", metavar="NAME", help="They will be in this team.")
@click.option("--admin", is_flag=True, help="They will be an admin.")
@click.option("--days", type=click.IntRange(1, 90), default=7, show_default=True, help="Until it expires.")
@click.option("--url", default="", envvar="UNSPOOL_HUB_URL", metavar="URL", help="Where people reach the hub.")
@store_options
def add_invitation(store: "Store", url: str, **given: Any) -> None:
    """Make an invitation and print its link. Without NAME, they choose one themselves."""
    if not url:
        click.echo("Put the address of your hub before it, or give --url.", err=True)
    _run(operator(store, url), operations.add_invitation, **given)


@invite_command.command("list")
@hub_options.everything
@listing("invitations", ("Id", "For", "", "Expires", "State"), "Nobody is invited.")
def list_invitations(store: "Store", everything: bool) -> Iterator[ListedRow]:
    """List invitations, without their links."""
    for one in tokens.list_invitations(store.db, everything=everything):
        state = "taken" if one.taken else "revoked" if one.ended else "open"
        admin = "admin" if one.admin else ""
        yield as_json(one), (one.id, one.name or "(they choose)", admin, row_time(one.expires), state)


_add(invite_command, "end", operations.end_invitation, click.argument("id_", metavar="INVITATION"))


@click.group("project")
def project_command() -> None:
    """Make projects, and give rights on them.

    \b
    unspool hub project add shop --owner ada
    unspool hub project grant shop --team crew write
    unspool hub project grant shop --person bob none     not even what his teams may
    unspool hub project rights shop
    unspool hub project let admins                       only admins make new ones

    A right is none, read, write (push) or own (give rights, erase). A person's own right counts before those of
    their teams. Whoever pushes to a new project owns it, unless only admins may make them.
    """


@project_command.command("list")
@listing("projects", ("Name", "Sessions", "Since", "", "Id"), "There is no project.")
def list_projects(store: "Store") -> Iterator[ListedRow]:
    """List projects, and which have no owner."""
    alone = dict(users.projects_without_owner(store.db))
    for one in projects.list_projects(store.db, operator(store).person):
        owner = "no owner" if one.id in alone else ""
        yield as_json(one), (one.name, f"{one.sessions:,}", row_time(one.created), owner, one.id)


_OWNER = click.option("--owner", default="", metavar="NAME", help="A person who owns it.")
_add(project_command, "add", operations.add_project, click.argument("name"), _OWNER)


@project_command.command("rights")
@click.argument("project")
@listing("permits", ("Right", "Kind", "Name", "Id"), "Nobody but admins may see it.")
def list_rights(store: "Store", project: str) -> Iterator[ListedRow]:
    """List who may what in a project."""
    for one in projects.list_grants(store.db, projects.find_project(store.db, project)):
        yield as_json(one), (one.level, one.kind, one.name, one.subject)


@project_command.command("grant")
@click.argument("project")
@click.argument("level", type=click.Choice(["none", "read", "write", "own", "nothing"]))
@click.option("--person", default="", metavar="NAME", help="To a person.")
@click.option("--team", default="", metavar="NAME", help="To a team.")
@store_options
def grant(store: "Store", project: str, level: str, person: str, team: str) -> None:
    """Give a person or a team a right, in place of what they had; `nothing` takes it back."""
    if bool(person) == bool(team):
        raise UsageProblem("Name one person or one team: --person NAME or --team NAME.")
    kind, named = ("person", person) if person else ("team", team)
    if level == "nothing":
        _run(operator(store), operations.take_right, project, kind, named)
    else:
        _run(operator(store), operations.give_right, project, kind, named, level)


_WHO = click.argument("who", type=click.Choice(["everybody", "admins"]))
_add(project_command, "let", operations.let_create_projects, _WHO)


@click.group("hold")
def hold_command() -> None:
    """Keep things as they are, for a legal hold.

    \b
    unspool hub hold add project shop --reason "case 12"
    unspool hub hold add person ada
    unspool hub hold list
    unspool hub hold end 3f2a…

    What is under a hold can be neither changed, deleted nor erased, and does not expire. A hold on a person holds
    all that they shared and pushed, one on a project all its sessions.
    """


_add(
    hold_command,
    "add",
    operations.add_hold,
    click.argument("kind", type=click.Choice(holds.KINDS)),
    click.argument("id_", metavar="TARGET"),
    click.option("--reason", default="", metavar="TEXT", help="Why."),
    context_settings=hub_options.ANY_ADDRESS,
)


@hold_command.command("list")
@hub_options.everything
@listing("holds", ("Id", "On", "Which", "Since", "Lifted", "Reason"), "There is no hold.")
def list_holds(store: "Store", everything: bool) -> Iterator[ListedRow]:
    """List holds, the newest first."""
    for one in holds.list_holds(store.db, everything=everything):
        yield as_json(one), (one.id, one.kind, one.target, row_time(one.created), row_time(one.ended), one.reason)


_add(hold_command, "end", operations.end_hold, click.argument("id_", metavar="HOLD"))
