"""`unspool hub people`, `team`, `token`, `invite`, `project` and `hold`: the hub's operations as commands."""

from typing import TYPE_CHECKING

import click

from unspool.cli import archive_helpers, hub_options
from unspool.cli.hub_options import print_listing, row_time, store_options
from unspool.errors import UsageProblem
from unspool.hub.people import holds, operations, projects, tokens, users
from unspool.hub.people.operations import Actor, Arguments, Operation, rows_as_json

if TYPE_CHECKING:
    from unspool.hub.store.connect import Store

_MB = 1024 * 1024


def _run(store: "Store", act: str, operation: Operation, *arguments: Arguments, url: str = "", say: str = "") -> None:
    """Run an operation for each of the arguments, or for none of them; write it down and say what came of it."""
    with store.db.transaction():
        at = Actor(store.db, hub_options.operator_person(), by_name=True, url=url)
        for one in arguments:
            done = operation(at, one)
            hub_options.audit_from_cli(store.db, act, done.target, detail=done.detail)
    if done.secret:
        hub_options.print_secret(done.message, done.secret)
    else:
        archive_helpers.say_line(say or done.message)


@click.group("people")
def people_command() -> None:
    """Tell who there is; add people and services, and end them.

    \b
    unspool hub people list
    unspool hub people add ada                prints a token of hers
    unspool hub people add ci --service --scope push
    unspool hub people end ada                lets her in no more, at once

    Everybody but services can be invited instead: `unspool hub invite add`.
    """


@people_command.command("list")
@hub_options.everything
@hub_options.as_json
@store_options
def list_people(store: "Store", everything: bool, as_json: bool) -> None:
    """List people and services, the admins among them marked."""
    from unspool import human

    found = users.list_users(store.db, everybody=everything)
    rows = [
        (one.name, one.kind, "admin" if one.admin else "", human.size(users.bytes_kept(store.db, one.id)),
         row_time(one.created), row_time(one.ended), one.id)
        for one in found
    ]  # fmt: skip
    heads = ("Name", "Kind", "", "Keeps", "Since", "Ended", "Id")
    print_listing(rows_as_json("people", found), heads, rows, "There is nobody yet.", as_json=as_json)


@people_command.command("add")
@click.argument("name")
@click.option("--admin", is_flag=True, help="Let them do everything.")
@click.option("--service", is_flag=True, help="A program, not a person.")
@click.option("--quota", type=click.IntRange(0), metavar="MB", help="That they may keep; else as everybody.")
@click.option("--scope", default="all", metavar="WORD", help="Of their token: all, read, push or metrics.")
@store_options
def add_person(store: "Store", name: str, admin: bool, service: bool, quota: int | None, scope: str) -> None:
    """Add somebody, and print a token that lets them in."""
    kind, most = "service" if service else "person", None if quota is None else quota * _MB
    _run(store, "person.add", operations.add_person, operations.AddPerson(name, kind, admin, most, scope))


@people_command.command("end")
@click.argument("name")
@store_options
def end_person(store: "Store", name: str) -> None:
    """Let somebody in no more, from this moment. What they shared and pushed stays."""
    _run(store, "person.end", operations.end_person, operations.OnePerson(name))


@people_command.command("back")
@click.argument("name")
@store_options
def bring_back(store: "Store", name: str) -> None:
    """Let somebody who was ended in again; they need a new token."""
    _run(store, "person.back", operations.bring_back_person, operations.OnePerson(name))


@people_command.command("change")
@click.argument("name")
@click.option("--admin/--no-admin", default=None, help="Whether they may do everything.")
@click.option("--quota", type=click.IntRange(0), metavar="MB", help="That they may keep.")
@click.option("--usual-quota", is_flag=True, help="As much as everybody.")
@store_options
def change_person(store: "Store", name: str, admin: bool | None, quota: int | None, usual_quota: bool) -> None:
    """Make somebody an admin or none; give them a quota of their own."""
    most = -1 if usual_quota else None if quota is None else quota * _MB
    _run(store, "person.change", operations.change_person, operations.ChangePerson(name, admin, most))


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
@hub_options.as_json
@store_options
def list_teams(store: "Store", as_json: bool) -> None:
    """List teams with who is in them."""
    found = projects.list_teams(store.db)
    data = {"teams": [operations.team_as_json(one) for one in found]}
    rows = [(one.name, ", ".join(member.name for member in one.members), one.id) for one in found]
    print_listing(data, ("Name", "Members", "Id"), rows, "There is no team.", as_json=as_json)


@team_command.command("add")
@click.argument("name")
@store_options
def add_team(store: "Store", name: str) -> None:
    """Make a team of that name."""
    _run(store, "team.make", operations.add_team, operations.NewName(name))


@team_command.command("end")
@click.argument("team")
@store_options
def end_team(store: "Store", team: str) -> None:
    """Have a team no more, nor any right it was given."""
    _run(store, "team.end", operations.end_team, operations.OneTeam(team))


@team_command.command("join")
@click.argument("team")
@click.argument("people", nargs=-1, required=True)
@store_options
def join_team(store: "Store", team: str, people: tuple[str, ...]) -> None:
    """Put people into a team."""
    members = [operations.Membership(team, person) for person in people]
    _run(store, "team.join", operations.join_team, *members, say=f"In {team} now: {', '.join(people)}.")


@team_command.command("leave")
@click.argument("team")
@click.argument("people", nargs=-1, required=True)
@store_options
def leave_team(store: "Store", team: str, people: tuple[str, ...]) -> None:
    """Take people out of a team."""
    members = [operations.Membership(team, person) for person in people]
    _run(store, "team.leave", operations.leave_team, *members, say=f"No longer in {team}: {', '.join(people)}.")


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


@token_command.command("add")
@click.argument("person")
@click.option("--scope", default="all", show_default=True, metavar="WORD", help="all, read, push or metrics.")
@click.option("--days", type=click.IntRange(1, 3650), metavar="N", help="Until it expires; else never.")
@click.option("--label", default="", metavar="TEXT", help="What it is for.")
@store_options
def add_token(store: "Store", person: str, scope: str, days: int | None, label: str) -> None:
    """Make a token of somebody, and print it."""
    wanted = operations.AddToken(person=person, label=label, scope=scope, days=days)
    _run(store, "token.make", operations.add_token, wanted)


@token_command.command("list")
@click.option("--person", default="", metavar="NAME", help="Of this one alone.")
@hub_options.everything
@hub_options.as_json
@store_options
def list_tokens(store: "Store", person: str, everything: bool, as_json: bool) -> None:
    """List tokens and signed-in browsers, without their secrets."""
    whose = users.find_user(store.db, person).id if person else ""
    found = tokens.list_tokens(store.db, whose, everything=everything)
    rows = [
        (one.id, one.name, one.kind, one.scope, one.label, row_time(one.created), row_time(one.expires, "never"),
         row_time(one.used, "never"), row_time(one.ended))
        for one in found
    ]  # fmt: skip
    heads = ("Id", "Of", "Kind", "Scope", "Label", "Made", "Expires", "Used", "Ended")
    print_listing(rows_as_json("tokens", found), heads, rows, "There is no token.", as_json=as_json)


@token_command.command("end")
@click.argument("token")
@store_options
def end_token(store: "Store", token: str) -> None:
    """Revoke a token by its id, from this moment."""
    _run(store, "token.revoke", operations.end_token, operations.OneToken(token))


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
def add_invitation(store: "Store", name: str, team: str, admin: bool, days: int, url: str) -> None:
    """Make an invitation and print its link. Without NAME, they choose one themselves."""
    if not url:
        click.echo("Put the address of your hub before it, or give --url.", err=True)
    wanted = operations.AddInvitation(name, team, admin, days)
    _run(store, "invitation.make", operations.add_invitation, wanted, url=url)


@invite_command.command("list")
@hub_options.everything
@hub_options.as_json
@store_options
def list_invitations(store: "Store", everything: bool, as_json: bool) -> None:
    """List invitations, without their links."""
    found = tokens.list_invitations(store.db, everything=everything)
    rows = [
        (one.id, one.name or "(they choose)", "admin" if one.admin else "", row_time(one.expires),
         "taken" if one.taken else "revoked" if one.ended else "open")
        for one in found
    ]  # fmt: skip
    heads = ("Id", "For", "", "Expires", "State")
    print_listing(rows_as_json("invitations", found), heads, rows, "Nobody is invited.", as_json=as_json)


@invite_command.command("end")
@click.argument("invitation")
@store_options
def end_invitation(store: "Store", invitation: str) -> None:
    """Let nobody take an invitation any more."""
    _run(store, "invitation.revoke", operations.end_invitation, operations.OneInvitation(invitation))


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
@hub_options.as_json
@store_options
def list_projects(store: "Store", as_json: bool) -> None:
    """List projects, and which have no owner."""
    found = projects.list_projects(store.db, hub_options.operator_person())
    alone = dict(users.projects_without_owner(store.db))
    rows = [
        (one.name, f"{one.sessions:,}", row_time(one.created), "no owner" if one.id in alone else "", one.id)
        for one in found
    ]
    heads = ("Name", "Sessions", "Since", "", "Id")
    print_listing(rows_as_json("projects", found), heads, rows, "There is no project.", as_json=as_json)


@project_command.command("add")
@click.argument("name")
@click.option("--owner", default="", metavar="NAME", help="A person who owns it.")
@store_options
def add_project(store: "Store", name: str, owner: str) -> None:
    """Make a project of that name."""
    _run(store, "project.make", operations.add_project, operations.AddProject(name, owner))


@project_command.command("rights")
@click.argument("project")
@hub_options.as_json
@store_options
def list_rights(store: "Store", project: str, as_json: bool) -> None:
    """List who may what in a project."""
    found = projects.list_grants(store.db, projects.find_project(store.db, project))
    rows = [(one.level, one.kind, one.name, one.subject) for one in found]
    heads, none = ("Right", "Kind", "Name", "Id"), "Nobody but admins may see it."
    print_listing(rows_as_json("permits", found), heads, rows, none, as_json=as_json)


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
        _run(store, "permit.take", operations.take_right, operations.TakeRight(project, kind, named))
    else:
        _run(store, "permit.give", operations.give_right, operations.GiveRight(project, kind, named, level))


@project_command.command("let")
@click.argument("who", type=click.Choice(["everybody", "admins"]))
@store_options
def let_create(store: "Store", who: str) -> None:
    """Say who may make projects, by pushing to a new one."""
    _run(store, "project.let", operations.let_create_projects, operations.LetCreate(who))


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


@hold_command.command("add", context_settings=hub_options.ANY_ADDRESS)
@click.argument("kind", type=click.Choice(["person", "project", "session", "share"]))
@click.argument("target")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@store_options
def add_hold(store: "Store", kind: str, target: str, reason: str) -> None:
    """Place a hold, and print its id; people and projects by name or id."""
    _run(store, "hold.place", operations.add_hold, operations.AddHold(kind, target, reason))


@hold_command.command("list")
@hub_options.everything
@hub_options.as_json
@store_options
def list_holds(store: "Store", everything: bool, as_json: bool) -> None:
    """List holds, the newest first."""
    found = holds.list_holds(store.db, everything=everything)
    rows = [(one.id, one.kind, one.target, row_time(one.created), row_time(one.ended), one.reason) for one in found]
    heads = ("Id", "On", "Which", "Since", "Lifted", "Reason")
    print_listing(rows_as_json("holds", found), heads, rows, "There is no hold.", as_json=as_json)


@hold_command.command("end")
@click.argument("hold")
@store_options
def end_hold(store: "Store", hold: str) -> None:
    """Lift a hold by its id."""
    _run(store, "hold.lift", operations.end_hold, operations.OneHold(hold))
