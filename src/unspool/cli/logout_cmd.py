"""`unspool logout`: the token of a hub, forgotten."""

import click

from unspool.cli import keeping
from unspool.errors import NotFound


@click.command("logout")
@click.argument("url", default="")
@click.option("--all", "every", is_flag=True, help="Sign out of every hub.")
def command(url: str, every: bool) -> None:
    """Sign out of a hub: its token is forgotten here.

    \b
    unspool logout                        of the hub that is meant where none is named
    unspool logout https://hub.example    of this one
    unspool logout --all                  of every one

    The token itself still holds; whoever has the right to revokes it on the hub.
    """
    from unspool.app.config.place import folder
    from unspool.remote.credentials import known, logout

    named = "" if every else url or known(folder()).usual
    gone = logout(folder(), named) if named or every else []
    if not gone:
        raise NotFound(f"You are not signed in to {named or 'any hub'}.")
    for address in gone:
        keeping.say(f"Signed out of {address}.")
