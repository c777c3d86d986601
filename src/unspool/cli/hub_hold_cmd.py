"""`unspool hub hold`: legal holds."""

from typing import TYPE_CHECKING

import click

from unspool.cli import hub_rows
from unspool.cli.hub_store import store_options

if TYPE_CHECKING:
    from unspool.hub.store.connect import Store


@click.group("hold")
def command() -> None:
    """Keep things as they are, for a legal hold.

    \b
    unspool hub hold add project shop --reason "case 12"
    unspool hub hold add person ada
    unspool hub hold list
    unspool hub hold end 3f2a…

    What is under a hold can be neither changed, deleted nor erased, and does not expire. A hold on a person holds
    all that they shared and pushed, one on a project all its sessions.
    """


@command.command("add", context_settings=hub_rows.ANY_ADDRESS)
@click.argument("kind", type=click.Choice(["person", "project", "session", "share"]))
@click.argument("target")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@store_options
def add(store: "Store", kind: str, target: str, reason: str) -> None:
    """Place a hold, and print its id; people and projects by name or id."""
    from unspool.hub.people import holds, projects, users

    with store.db.transaction():
        which = target
        if kind == "person":
            which = users.find_user(store.db, target).id
        if kind == "project":
            which = projects.find_project(store.db, target)
        hold = holds.place_hold(store.db, hub_rows.operator(), (kind, which), reason)
        hub_rows.noted(store.db, "hold.place", which)
    click.echo(hold)


@command.command("list")
@hub_rows.everything
@hub_rows.as_json
@store_options
def list_(store: "Store", everything: bool, as_json: bool) -> None:
    """List holds."""
    from unspool.hub.people import holds

    found = holds.list_holds(store.db, everything=everything)
    if as_json:
        hub_rows.told("holds", found)
        return
    rows = [
        (one.id, one.kind, one.target, hub_rows.when(one.created), hub_rows.when(one.ended), one.reason)
        for one in found
    ]
    hub_rows.table(("Id", "On", "Which", "Since", "Lifted", "Reason"), rows, "There is no hold.")


@command.command("end")
@click.argument("hold")
@store_options
def end(store: "Store", hold: str) -> None:
    """Lift a hold."""
    from unspool.hub.people import holds

    with store.db.transaction():
        holds.lift_hold(store.db, hold)
        hub_rows.noted(store.db, "hold.lift", hold)
    click.echo("It is lifted.")
