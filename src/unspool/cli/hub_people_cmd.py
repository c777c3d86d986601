"""`unspool hub people`: who there is."""

from typing import TYPE_CHECKING

import click

from unspool.cli import hub_rows, keeping
from unspool.cli.hub_store import store_options

if TYPE_CHECKING:
    from unspool.hub.store.connect import Store

_MB = 1024 * 1024


@click.group("people")
def command() -> None:
    """Tell who there is; add people and services, and end them.

    \b
    unspool hub people list
    unspool hub people add ada                prints a token of hers
    unspool hub people add ci --service --scope push
    unspool hub people end ada                lets her in no more, at once

    Everybody but services can be invited instead: `unspool hub invite add`.
    """


@command.command("list")
@hub_rows.everything
@hub_rows.as_json
@store_options
def list_(store: "Store", everything: bool, as_json: bool) -> None:
    """List people and services."""
    from unspool import human
    from unspool.hub.people.users import bytes_kept, list_users

    found = list_users(store.db, everybody=everything)
    if as_json:
        hub_rows.told("people", found)
        return
    rows = [
        (one.name, one.kind, "admin" if one.admin else "", human.size(bytes_kept(store.db, one.id)),
         hub_rows.when(one.created), hub_rows.when(one.ended), one.id)
        for one in found
    ]  # fmt: skip
    hub_rows.table(("Name", "Kind", "", "Keeps", "Since", "Ended", "Id"), rows, "There is nobody yet.")


@command.command("add")
@click.argument("name")
@click.option("--admin", is_flag=True, help="Let them do everything.")
@click.option("--service", is_flag=True, help="A program, not a person.")
@click.option("--quota", type=click.IntRange(0), metavar="MB", help="That they may keep; else as everybody.")
@click.option("--scope", default="all", metavar="WORD", help="Of their token: all, read, push or metrics.")
@store_options
def add(store: "Store", name: str, admin: bool, service: bool, quota: int | None, scope: str) -> None:
    """Add somebody, and print a token that lets them in."""
    from unspool.hub.people import tokens, users

    kind = "service" if service else "person"
    with store.db.transaction():
        wish = users.NewUser(name, kind, admin, None if quota is None else quota * _MB)
        made = users.add_user(store.db, wish)
        token = tokens.create_token(store.db, tokens.NewTokenOptions(made, "the first", scope=scope))
        hub_rows.noted(store.db, "person.add", made)
    hub_rows.secret(f"The token of {name}", token)


@command.command("end")
@click.argument("name")
@store_options
def end(store: "Store", name: str) -> None:
    """Let somebody in no more, from this moment. What they shared and pushed stays."""
    from unspool.hub.people import users

    with store.db.transaction():
        who = users.find_user(store.db, name)
        users.deactivate_user(store.db, who.id)
        hub_rows.noted(store.db, "person.end", who.id)
    keeping.say(f"{who.name} is let in no more; their tokens and open invitations have ended.")
    if left := [project for _, project in users.projects_without_owner(store.db)]:
        keeping.say(f"Only admins look after these projects now: {', '.join(left)}.")


@command.command("back")
@click.argument("name")
@store_options
def back(store: "Store", name: str) -> None:
    """Let somebody who was ended in again; they need a new token."""
    from unspool.hub.people import users

    with store.db.transaction():
        who = users.find_user(store.db, name)
        users.reactivate_user(store.db, who.id)
        hub_rows.noted(store.db, "person.back", who.id)
    keeping.say(f"{who.name} may come in again: `unspool hub token add` makes a token.")


@command.command("change")
@click.argument("name")
@click.option("--admin/--no-admin", default=None, help="Whether they may do everything.")
@click.option("--quota", type=click.IntRange(0), metavar="MB", help="That they may keep.")
@click.option("--usual-quota", is_flag=True, help="As much as everybody.")
@store_options
def change(store: "Store", name: str, admin: bool | None, quota: int | None, usual_quota: bool) -> None:
    """Make somebody an admin or none; give them a quota of their own."""
    from unspool.hub.people import users

    wanted = -1 if usual_quota else None if quota is None else quota * _MB
    with store.db.transaction():
        who = users.find_user(store.db, name)
        users.change_user(store.db, who.id, admin=admin, quota=wanted)
        hub_rows.noted(store.db, "person.change", who.id)
    keeping.say(f"{who.name} is changed.")
