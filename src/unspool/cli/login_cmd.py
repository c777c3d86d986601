"""`unspool login` and `logout`."""

import click

from unspool.cli import hub_options, options
from unspool.cli.output import say_line
from unspool.errors import NotFound


@click.command("login")
@click.argument("url")
@click.option("--token-file", default="-", metavar="FILE", help="Read the token from its first line, and ask nothing.")
@click.option("--insecure", is_flag=True, help="Send the token without encryption, over a network that you trust.")
def login_command(url: str, token_file: str, insecure: bool) -> None:
    """Sign in to a hub, which later commands use.

    \b
    unspool login https://hub.example                      asks for your token, which is not shown
    unspool login https://hub.example --token-file token   for scripts

    The hub is asked whether it knows the token before it is kept, in a file that only you can read. The last hub
    signed in to is the one that is meant where none is named. UNSPOOL_HUB and UNSPOOL_HUB_TOKEN come before the file.
    """
    from unspool.config import config_folder
    from unspool.hub_client.client import HubClient
    from unspool.hub_client.login import HubEntry, check_token, parse_address, save_login

    address = parse_address(url)
    entry = HubEntry(check_token(options.read_secret(token_file, f"Token for {address.url}")), insecure=insecure)
    me = hub_options.closing_client(HubClient(address, entry)).ask("GET", "/api/me")
    name = str(me.get("name", "")) if isinstance(me, dict) else ""
    save_login(config_folder(), address, HubEntry(entry.token, name, insecure))
    say_line(f"Signed in to {address.url} as {name or 'nobody in particular'}.")


@click.command("logout")
@click.argument("url", default="")
@click.option("--all", "every", is_flag=True, help="Sign out of every hub.")
def logout_command(url: str, every: bool) -> None:
    """Sign out of a hub: its token is forgotten here.

    \b
    unspool logout                        of the hub that is meant where none is named
    unspool logout https://hub.example    of this one
    unspool logout --all                  of every one

    The token itself still holds; whoever has the right to revokes it on the hub.
    """
    from unspool.config import config_folder
    from unspool.hub_client.login import forget_login, load_hubs

    named = "" if every else url or load_hubs(config_folder()).usual
    gone = forget_login(config_folder(), named) if named or every else []
    if not gone:
        raise NotFound(f"You are not signed in to {named or 'any hub'}.")
    for address in gone:
        say_line(f"Signed out of {address}.")
