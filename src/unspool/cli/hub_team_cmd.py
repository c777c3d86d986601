"""`unspool hub team`: people who are given rights together."""

from typing import TYPE_CHECKING

import click

from unspool.cli import hub_rows, keeping
from unspool.cli.hub_store import store_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from unspool.hub.store.connect import Store
    from unspool.hub.store.database import Database


@click.group("team")
def command() -> None:
    """Make teams, and put people into them.

    \b
    unspool hub team add crew
    unspool hub team join crew ada bob
    unspool hub team list
    unspool hub project grant shop --team crew write
    """


@command.command("list")
@hub_rows.as_json
@store_options
def list_(store: "Store", as_json: bool) -> None:
    """List teams with who is in them."""
    from unspool.hub.people import teams

    found = teams.list_teams(store.db)
    if as_json:
        keeping.print_json(
            {"teams": [{**one._asdict(), "members": [member._asdict() for member in one.members]} for one in found]}
        )
        return
    rows = [(one.name, ", ".join(member.name for member in one.members), one.id) for one in found]
    hub_rows.table(("Name", "Members", "Id"), rows, "There is no team.")


@command.command("add")
@click.argument("name")
@store_options
def add(store: "Store", name: str) -> None:
    """Make a team."""
    from unspool.hub.people import teams

    with store.db.transaction():
        hub_rows.noted(store.db, "team.make", teams.create_team(store.db, name))
    keeping.say(f"There is a team {name} now.")


@command.command("end")
@click.argument("team")
@store_options
def end(store: "Store", team: str) -> None:
    """Have a team no more, nor any right it was given."""
    from unspool.hub.people import teams

    with store.db.transaction():
        which = teams.find_team(store.db, team)
        teams.delete_team(store.db, which)
        hub_rows.noted(store.db, "team.end", which)
    keeping.say(f"There is no team {team} any more.")


@command.command("join")
@click.argument("team")
@click.argument("people", nargs=-1, required=True)
@store_options
def join(store: "Store", team: str, people: tuple[str, ...]) -> None:
    """Put people into a team."""
    from unspool.hub.people import teams

    _each(store.db, "team.join", team, people, teams.add_member)
    keeping.say(f"In {team} now: {', '.join(people)}.")


@command.command("leave")
@click.argument("team")
@click.argument("people", nargs=-1, required=True)
@store_options
def leave(store: "Store", team: str, people: tuple[str, ...]) -> None:
    """Take people out of a team."""
    from unspool.hub.people import teams

    _each(store.db, "team.leave", team, people, teams.remove_member)
    keeping.say(f"No longer in {team}: {', '.join(people)}.")


def _each(
    db: "Database", what: str, team: str, people: tuple[str, ...], do: "Callable[[Database, str, str], None]"
) -> None:
    """The same for several, or for none of them."""
    from unspool.hub.people import teams, users

    with db.transaction():
        which = teams.find_team(db, team)
        for person in people:
            do(db, which, users.find_user(db, person).id)
        hub_rows.noted(db, what, which)
