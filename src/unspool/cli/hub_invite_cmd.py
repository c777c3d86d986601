"""`unspool hub invite`: links that make a person."""

from typing import TYPE_CHECKING

import click

from unspool.cli import hub_rows
from unspool.cli.hub_store import store_options

if TYPE_CHECKING:
    from unspool.hub.people.invitations import Invitation
    from unspool.hub.store.connect import Store


@click.group("invite")
def command() -> None:
    """Invite people by a link that works once.

    \b
    unspool hub invite add --team crew --days 3
    unspool hub invite add ada --url https://hub.example
    unspool hub invite list
    unspool hub invite end 3f2a…
    """


@command.command("add")
@click.argument("name", default="")
@click.option("--team", default="", metavar="NAME", help="They will be in this team.")
@click.option("--admin", is_flag=True, help="They will be an admin.")
@click.option("--days", type=click.IntRange(1, 90), default=7, show_default=True, help="Until it expires.")
@click.option("--url", default="", envvar="UNSPOOL_HUB_URL", metavar="URL", help="Where people reach the hub.")
@store_options
def add(store: "Store", name: str, team: str, admin: bool, days: int, url: str) -> None:
    """Make an invitation and print its link. Without NAME, they choose one themselves."""
    from unspool.hub.people import invitations

    with store.db.transaction():
        wish = invitations.NewInvitationOptions(name, team, admin, days)
        secret = invitations.create_invitation(store.db, hub_rows.operator(), wish)
        hub_rows.noted(store.db, "invitation.make", invitations.open_invitation(store.db, secret).id)
    if not url:
        click.echo("Put the address of your hub before it, or give --url.", err=True)
    hub_rows.secret("The link", invitations.invitation_link(url, secret))


@command.command("list")
@hub_rows.everything
@hub_rows.as_json
@store_options
def list_(store: "Store", everything: bool, as_json: bool) -> None:
    """List invitations, without their links."""
    from unspool.hub.people import invitations

    found = invitations.list_invitations(store.db, everything=everything)
    if as_json:
        hub_rows.told("invitations", found)
        return
    rows = [
        (one.id, one.name or "(they choose)", "admin" if one.admin else "", hub_rows.when(one.expires), _state(one))
        for one in found
    ]
    hub_rows.table(("Id", "For", "", "Expires", "State"), rows, "Nobody is invited.")


def _state(one: "Invitation") -> str:
    return "taken" if one.taken else "revoked" if one.ended else "open"


@command.command("end")
@click.argument("invitation")
@store_options
def end(store: "Store", invitation: str) -> None:
    """Let nobody take an invitation any more."""
    from unspool.hub.people import invitations

    with store.db.transaction():
        invitations.revoke_invitation(store.db, invitation)
        hub_rows.noted(store.db, "invitation.revoke", invitation)
    click.echo("Nobody can take it any more.")
