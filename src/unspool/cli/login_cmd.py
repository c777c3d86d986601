"""`unspool login`: what lets one in to a hub, kept for later commands."""

import click

from unspool.cli import hubs, keeping, typed


@click.command("login")
@click.argument("url")
@click.option("--token-file", default="-", metavar="FILE", help="Read the token from its first line, and ask nothing.")
@click.option("--insecure", is_flag=True, help="Send the token without encryption, over a network that you trust.")
def command(url: str, token_file: str, insecure: bool) -> None:
    """Sign in to a hub, which later commands use.

    \b
    unspool login https://hub.example                      asks for your token, which is not shown
    unspool login https://hub.example --token-file token   for scripts

    The hub is asked whether it knows the token before it is kept, in a file that only you can read. The last hub
    signed in to is the one that is meant where none is named. UNSPOOL_HUB and UNSPOOL_HUB_TOKEN come before the file.
    """
    from unspool.app.config.place import folder
    from unspool.remote.address import parsed
    from unspool.remote.credentials import Entry, checked, login
    from unspool.remote.http import Client

    address = parsed(url)
    entry = Entry(checked(typed.secret(token_file, f"Token for {address.url}")), insecure=insecure)
    me = hubs.closing(Client(address, entry)).ask("GET", "/api/me")
    name = str(me.get("name", "")) if isinstance(me, dict) else ""
    login(folder(), address, Entry(entry.token, name, insecure))
    keeping.say(f"Signed in to {address.url} as {name or 'nobody in particular'}.")
