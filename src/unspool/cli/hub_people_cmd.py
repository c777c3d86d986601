"""`unspool hub people`, `team`, `token` and `invite`."""

from typing import TYPE_CHECKING

import click

from unspool.cli import archive_helpers, hub_options
from unspool.cli.hub_options import store_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from unspool.hub.people.tokens import Invitation
    from unspool.hub.store.connect import Store
    from unspool.hub.store.database import Database


_MB = 1024 * 1024


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
    """List people and services."""
    from unspool import human
    from unspool.hub.people.users import bytes_kept, list_users

    found = list_users(store.db, everybody=everything)
    if as_json:
        hub_options.print_rows_json("people", found)
        return
    rows = [
        (one.name, one.kind, "admin" if one.admin else "", human.size(bytes_kept(store.db, one.id)),
         hub_options.row_time(one.created), hub_options.row_time(one.ended), one.id)
        for one in found
    ]  # fmt: skip
    hub_options.print_table(("Name", "Kind", "", "Keeps", "Since", "Ended", "Id"), rows, "There is nobody yet.")


@people_command.command("add")
@click.argument("name")
@click.option("--admin", is_flag=True, help="Let them do everything.")
@click.option("--service", is_flag=True, help="A program, not a person.")
@click.option("--quota", type=click.IntRange(0), metavar="MB", help="That they may keep; else as everybody.")
@click.option("--scope", default="all", metavar="WORD", help="Of their token: all, read, push or metrics.")
@store_options
def add_person(store: "Store", name: str, admin: bool, service: bool, quota: int | None, scope: str) -> None:
    """Add somebody, and print a token that lets them in."""
    from unspool.hub.people import tokens, users

    kind = "service" if service else "person"
    with store.db.transaction():
        wish = users.NewUser(name, kind, admin, None if quota is None else quota * _MB)
        made = users.add_user(store.db, wish)
        token = tokens.create_token(store.db, tokens.NewTokenOptions(made, "the first", scope=scope))
        hub_options.audit_from_cli(store.db, "person.add", made)
    hub_options.print_secret(f"The token of {name}", token)


@people_command.command("end")
@click.argument("name")
@store_options
def end_person(store: "Store", name: str) -> None:
    """Let somebody in no more, from this moment. What they shared and pushed stays."""
    from unspool.hub.people import users

    with store.db.transaction():
        who = users.find_user(store.db, name)
        users.deactivate_user(store.db, who.id)
        hub_options.audit_from_cli(store.db, "person.end", who.id)
    archive_helpers.say_line(f"{who.name} is let in no more; their tokens and open invitations have ended.")
    if left := [project for _, project in users.projects_without_owner(store.db)]:
        archive_helpers.say_line(f"Only admins look after these projects now: {', '.join(left)}.")


@people_command.command("back")
@click.argument("name")
@store_options
def bring_back(store: "Store", name: str) -> None:
    """Let somebody who was ended in again; they need a new token."""
    from unspool.hub.people import users

    with store.db.transaction():
        who = users.find_user(store.db, name)
        users.reactivate_user(store.db, who.id)
        hub_options.audit_from_cli(store.db, "person.back", who.id)
    archive_helpers.say_line(f"{who.name} may come in again: `unspool hub token add` makes a token.")


@people_command.command("change")
@click.argument("name")
@click.option("--admin/--no-admin", default=None, help="Whether they may do everything.")
@click.option("--quota", type=click.IntRange(0), metavar="MB", help="That they may keep.")
@click.option("--usual-quota", is_flag=True, help="As much as everybody.")
@store_options
def change_person(store: "Store", name: str, admin: bool | None, quota: int | None, usual_quota: bool) -> None:
    """Make somebody an admin or none; give them a quota of their own."""
    from unspool.hub.people import users

    wanted = -1 if usual_quota else None if quota is None else quota * _MB
    with store.db.transaction():
        who = users.find_user(store.db, name)
        users.change_user(store.db, who.id, admin=admin, quota=wanted)
        hub_options.audit_from_cli(store.db, "person.change", who.id)
    archive_helpers.say_line(f"{who.name} is changed.")


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
    from unspool.hub.people import projects

    found = projects.list_teams(store.db)
    if as_json:
        archive_helpers.print_json(
            {"teams": [{**one._asdict(), "members": [member._asdict() for member in one.members]} for one in found]}
        )
        return
    rows = [(one.name, ", ".join(member.name for member in one.members), one.id) for one in found]
    hub_options.print_table(("Name", "Members", "Id"), rows, "There is no team.")


@team_command.command("add")
@click.argument("name")
@store_options
def add_team(store: "Store", name: str) -> None:
    """Make a team."""
    from unspool.hub.people import projects

    with store.db.transaction():
        hub_options.audit_from_cli(store.db, "team.make", projects.create_team(store.db, name))
    archive_helpers.say_line(f"There is a team {name} now.")


@team_command.command("end")
@click.argument("team")
@store_options
def end_team(store: "Store", team: str) -> None:
    """Have a team no more, nor any right it was given."""
    from unspool.hub.people import projects

    with store.db.transaction():
        which = projects.find_team(store.db, team)
        projects.delete_team(store.db, which)
        hub_options.audit_from_cli(store.db, "team.end", which)
    archive_helpers.say_line(f"There is no team {team} any more.")


@team_command.command("join")
@click.argument("team")
@click.argument("people", nargs=-1, required=True)
@store_options
def join_team(store: "Store", team: str, people: tuple[str, ...]) -> None:
    """Put people into a team."""
    from unspool.hub.people import projects

    _each(store.db, "team.join", team, people, projects.add_member)
    archive_helpers.say_line(f"In {team} now: {', '.join(people)}.")


@team_command.command("leave")
@click.argument("team")
@click.argument("people", nargs=-1, required=True)
@store_options
def leave_team(store: "Store", team: str, people: tuple[str, ...]) -> None:
    """Take people out of a team."""
    from unspool.hub.people import projects

    _each(store.db, "team.leave", team, people, projects.remove_member)
    archive_helpers.say_line(f"No longer in {team}: {', '.join(people)}.")


def _each(
    db: "Database", what: str, team: str, people: tuple[str, ...], do: "Callable[[Database, str, str], None]"
) -> None:
    """The same for several, or for none of them."""
    from unspool.hub.people import projects, users

    with db.transaction():
        which = projects.find_team(db, team)
        for person in people:
            do(db, which, users.find_user(db, person).id)
        hub_options.audit_from_cli(db, what, which)


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
    from unspool.hub.people import tokens, users
    from unspool.hub.store.blobs import DAY, now

    expires = None if days is None else now() + days * DAY
    with store.db.transaction():
        who = users.find_user(store.db, person)
        token = tokens.create_token(store.db, tokens.NewTokenOptions(who.id, label, scope=scope, expires=expires))
        hub_options.audit_from_cli(store.db, "token.make", who.id)
    hub_options.print_secret(f"A token of {who.name}", token)


@token_command.command("list")
@click.option("--person", default="", metavar="NAME", help="Of this one alone.")
@hub_options.everything
@hub_options.as_json
@store_options
def list_tokens(store: "Store", person: str, everything: bool, as_json: bool) -> None:
    """List tokens and signed-in browsers, without their secrets."""
    from unspool.hub.people import tokens, users

    whose = users.find_user(store.db, person).id if person else ""
    found = tokens.list_tokens(store.db, whose, everything=everything)
    if as_json:
        hub_options.print_rows_json("tokens", found)
        return
    rows = [
        (
            one.id,
            one.name,
            one.kind,
            one.scope,
            one.label,
            hub_options.row_time(one.created),
            hub_options.row_time(one.expires, "never"),
            hub_options.row_time(one.used, "never"),
            hub_options.row_time(one.ended),
        )
        for one in found
    ]
    heads = ("Id", "Of", "Kind", "Scope", "Label", "Made", "Expires", "Used", "Ended")
    hub_options.print_table(heads, rows, "There is no token.")


@token_command.command("end")
@click.argument("token")
@store_options
def end_token(store: "Store", token: str) -> None:
    """Revoke a token by its id, from this moment."""
    from unspool.hub.people import tokens

    with store.db.transaction():
        tokens.revoke_token(store.db, token)
        hub_options.audit_from_cli(store.db, "token.revoke", token)
    click.echo("It lets nobody in any more.")


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
    from unspool.hub.people import tokens as invitations

    with store.db.transaction():
        wish = invitations.NewInvitationOptions(name, team, admin, days)
        secret = invitations.create_invitation(store.db, hub_options.operator_person(), wish)
        hub_options.audit_from_cli(store.db, "invitation.make", invitations.open_invitation(store.db, secret).id)
    if not url:
        click.echo("Put the address of your hub before it, or give --url.", err=True)
    hub_options.print_secret("The link", invitations.invitation_link(url, secret))


@invite_command.command("list")
@hub_options.everything
@hub_options.as_json
@store_options
def list_invitations(store: "Store", everything: bool, as_json: bool) -> None:
    """List invitations, without their links."""
    from unspool.hub.people import tokens as invitations

    found = invitations.list_invitations(store.db, everything=everything)
    if as_json:
        hub_options.print_rows_json("invitations", found)
        return
    rows = [
        (
            one.id,
            one.name or "(they choose)",
            "admin" if one.admin else "",
            hub_options.row_time(one.expires),
            _state(one),
        )
        for one in found
    ]
    hub_options.print_table(("Id", "For", "", "Expires", "State"), rows, "Nobody is invited.")


def _state(one: "Invitation") -> str:
    return "taken" if one.taken else "revoked" if one.ended else "open"


@invite_command.command("end")
@click.argument("invitation")
@store_options
def end_invitation(store: "Store", invitation: str) -> None:
    """Let nobody take an invitation any more."""
    from unspool.hub.people import tokens as invitations

    with store.db.transaction():
        invitations.revoke_invitation(store.db, invitation)
        hub_options.audit_from_cli(store.db, "invitation.revoke", invitation)
    click.echo("Nobody can take it any more.")
