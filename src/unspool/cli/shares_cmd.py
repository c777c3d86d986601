"""`unspool shares`: what you share through a hub; changed, removed."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from unspool.cli import hub_options
from unspool.cli import options as typed
from unspool.cli.output import print_json, say_line
from unspool.errors import UsageProblem

if TYPE_CHECKING:
    from unspool.hub_client.client import UploadedShare

_HUB = click.option("--hub", "url", default="", metavar="URL", help="The hub.  [default: the one signed in to last]")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("shares", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List what you share through a hub; change or delete it.

    \b
    unspool shares                                      what you share, newest first
    unspool shares list --json
    unspool shares update ADDRESS --expires 7d          end it in a week
    unspool shares update ADDRESS --password-file -     ask for a password from now on
    unspool shares delete ADDRESS                       end it now, for good

    An ADDRESS is the end of a link, or the link. `unspool share SESSION --hub` makes one; with --update ADDRESS it
    shows something else at the same address.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@command.command("list")
@_HUB
@_JSON
def list_(url: str = "", as_json: bool = False) -> None:
    """List what you share, newest first."""
    from unspool.hub_client.client import list_shares

    shares = list(list_shares(hub_options.hub_client(url)))
    if as_json:
        print_json(shares)
        return
    if not shares:
        say_line("You share nothing here.")
        return
    from unspool.cli.tables import Column, show_table, table_lines, terminal_width

    columns = [
        Column("created", [_day(one.created) for one in shares], right=False, rank=2),
        Column("title", [one.title or "–" for one in shares], right=False, least=12),
        Column("state", [_state(one) for one in shares], right=False, rank=1),
        Column("link", [one.url for one in shares], right=False),
    ]
    show_table(table_lines(columns, terminal_width()))


@command.command("delete")
@click.argument("addresses", nargs=-1, required=True, metavar="ADDRESS...")
@_HUB
def delete_(addresses: tuple[str, ...], url: str) -> None:
    """End shares now; what they showed is removed from the hub."""
    from unspool.hub_client.client import delete_share, share_name

    names = [share_name(one) for one in addresses]
    client = hub_options.hub_client(url)
    for name in names:
        delete_share(client, name)
        say_line(f"{name} is no more.")


@command.command("update")
@click.argument("address")
@click.option("--title", metavar="TEXT", help="What it is called; empty for the session's own title.")
@click.option("--password-file", metavar="FILE", help="Ask for the password in its first line; -: typed.")
@click.option("--no-password", is_flag=True, help="Ask for no password any more.")
@click.option("--expires", metavar="WHEN", help="When it ends: 12h, 7d, 2030-01-31, never.")
@click.option("--raw/--no-raw", default=None, help="Whether the session itself can be downloaded.")
@click.option("--listed/--unlisted", default=None, help="Whether everybody of the hub finds it.")
@_HUB
@_JSON
def update_(address: str, url: str, as_json: bool, **wish: Any) -> None:
    """Have a share be otherwise; what it shows stays."""
    from unspool.hub_client.client import UploadOptions, change_share, share_name

    options = UploadOptions(wish["title"], _password(**wish), wish["expires"], wish["raw"], wish["listed"])
    if not options.said():
        raise UsageProblem("Say what is to be otherwise: --title, --password-file, --expires, --raw or --listed.")
    shared = change_share(hub_options.hub_client(url), share_name(address), options)
    if as_json:
        print_json(shared)
        return
    say_line(shared.url)
    say_line(_state(shared), err=True)


def _password(password_file: str | None, no_password: bool, **_: Any) -> str | None:
    if password_file and no_password:
        raise UsageProblem("--password-file and --no-password contradict each other.")
    if password_file:
        return typed.read_secret(password_file, "Password of the share", twice=True)
    return "" if no_password else None


def _state(one: "UploadedShare") -> str:
    from unspool import human

    if one.state != "live":
        return one.state
    ends = f"until {_day(one.expires)}" if one.expires is not None else "live"
    parts = (ends, "password" if one.password else "", "download" if one.raw else "", "listed" if one.listed else "")
    return human.joined(*parts)


def _day(moment: int) -> str:
    from unspool import human

    return human.minute(datetime.fromtimestamp(moment / 1000, UTC))
