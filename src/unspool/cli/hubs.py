"""What the commands that ask a hub share: which hub is meant, and what lets one in."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from unspool.remote.http import Client


def client(url: str = "", rate: int = 0) -> "Client":
    """The hub that is meant, asked by whoever is signed in there; it sends `rate` bytes a second at most."""
    from unspool.app.config.place import folder
    from unspool.remote.credentials import chosen, needed
    from unspool.remote.http import Client

    login = needed(chosen(folder(), url))
    return closing(Client(login.address, login.entry, rate=rate))


def closing(client: "Client") -> "Client":
    """The same, whose connection ends with the command."""
    click.get_current_context().call_on_close(client.close)
    return client
