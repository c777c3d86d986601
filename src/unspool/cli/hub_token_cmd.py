"""`unspool hub token`: what lets people and services in."""

from typing import TYPE_CHECKING

import click

from unspool.cli import hub_rows
from unspool.cli.hub_store import store_options

if TYPE_CHECKING:
    from unspool.hub.store.connect import Store


@click.group("token")
def command() -> None:
    """Make, list and revoke tokens.

    \b
    unspool hub token add owner                      a new one, where the first was lost
    unspool hub token add ci --scope push --days 90 --label "build server"
    unspool hub token list --person ada
    unspool hub token end 3f2a…

    Only digests are kept: no command can print a token a second time.
    """


@command.command("add")
@click.argument("person")
@click.option("--scope", default="all", show_default=True, metavar="WORD", help="all, read, push or metrics.")
@click.option("--days", type=click.IntRange(1, 3650), metavar="N", help="Until it expires; else never.")
@click.option("--label", default="", metavar="TEXT", help="What it is for.")
@store_options
def add(store: "Store", person: str, scope: str, days: int | None, label: str) -> None:
    """Make a token of somebody, and print it."""
    from unspool.hub.people import tokens, users
    from unspool.hub.store.blobs import DAY, now

    expires = None if days is None else now() + days * DAY
    with store.db.transaction():
        who = users.find_user(store.db, person)
        token = tokens.create_token(store.db, tokens.NewTokenOptions(who.id, label, scope=scope, expires=expires))
        hub_rows.noted(store.db, "token.make", who.id)
    hub_rows.secret(f"A token of {who.name}", token)


@command.command("list")
@click.option("--person", default="", metavar="NAME", help="Of this one alone.")
@hub_rows.everything
@hub_rows.as_json
@store_options
def list_(store: "Store", person: str, everything: bool, as_json: bool) -> None:
    """List tokens and signed-in browsers, without their secrets."""
    from unspool.hub.people import tokens, users

    whose = users.find_user(store.db, person).id if person else ""
    found = tokens.list_tokens(store.db, whose, everything=everything)
    if as_json:
        hub_rows.told("tokens", found)
        return
    rows = [
        (one.id, one.name, one.kind, one.scope, one.label, hub_rows.when(one.created),
         hub_rows.when(one.expires, "never"), hub_rows.when(one.used, "never"), hub_rows.when(one.ended))
        for one in found
    ]  # fmt: skip
    heads = ("Id", "Of", "Kind", "Scope", "Label", "Made", "Expires", "Used", "Ended")
    hub_rows.table(heads, rows, "There is no token.")


@command.command("end")
@click.argument("token")
@store_options
def end(store: "Store", token: str) -> None:
    """Revoke a token by its id, from this moment."""
    from unspool.hub.people import tokens

    with store.db.transaction():
        tokens.revoke_token(store.db, token)
        hub_rows.noted(store.db, "token.revoke", token)
    click.echo("It lets nobody in any more.")
