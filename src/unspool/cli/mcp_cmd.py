"""`unspool mcp`: the server that agents ask about past sessions."""

import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from unspool.cli import fresh, options, settings
from unspool.errors import UnspoolError, UsageProblem

if TYPE_CHECKING:
    from unspool.mcp.answers import Quoter


_LISTING = (
    click.option(
        "--install",
        metavar="CLIENT",
        default="",
        help="List it in the settings of claude, codex, cursor, vscode (in this folder) or gemini.",
    ),
    click.option("--uninstall", metavar="CLIENT", default="", help="Take it out again."),
    click.option("-y", "--yes", is_flag=True, help="With --install and --uninstall: do not ask."),
)


class ListingFlags(NamedTuple):
    install: str
    uninstall: str
    yes: bool


@click.command("mcp")
@click.option("--http", is_flag=True, help="Over HTTP on this machine, behind a token, instead of standard input.")
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="With --http: this port; else 8643.")
@options.as_argument("listing", ListingFlags, *_LISTING)
@fresh.no_sync
@options.archive
def command(archive: Path, http: bool, port: int | None, listing: ListingFlags, no_sync: bool) -> None:
    """Answer agents that ask about past sessions, over MCP.

    \b
    unspool mcp --install claude     Claude Code starts it by itself from then on
    unspool mcp                      on standard input and output, as a client starts it
    unspool mcp --http --port 8643   for clients that ask by HTTP

    Tools: search, sessions, outline, read, file_history, blame, usage, solved. Each answer keeps to a budget of
    tokens, quotes logs as data, and holds no secret that unspool finds (the setting `mcp_redact`). What is new is
    kept first, within a second. The token for HTTP is UNSPOOL_MCP_TOKEN, else one that is made and printed. What
    --install and --uninstall write is shown before it is done. Needs `pip install 'unspool[mcp]'`.
    """
    install, uninstall, yes = listing
    if install and uninstall:
        raise UsageProblem("Either --install or --uninstall.")
    if port is not None and not http:
        raise UsageProblem("--port is for --http.")
    if find_spec("mcp") is None and not uninstall:
        raise UsageProblem("This needs the MCP SDK: pip install 'unspool[mcp]'")
    if install or uninstall:
        _change_client(install or uninstall, there=bool(install), yes=yes)
        return
    from unspool.mcp.records import Records, RecordSources
    from unspool.mcp.server import make_server, serve_http, serve_stdio

    synced = fresh.is_synced(archive, no_sync=no_sync)
    sources, key = settings.chosen_sources(()), options.key_of(archive)
    place = RecordSources(archive, sources, key, settings.price_table(), settings.chosen_zone(), synced)
    server = make_server(Records(place), made_quoter(archive, key))
    if http:
        serve_http(server, port, lambda words: click.echo(f"unspool: {words}", err=True))
    else:
        if sys.stdin.isatty():
            click.echo(
                "unspool: waiting for a client on standard input; --install lists this in one's settings.", err=True
            )
        serve_stdio(server)


def _change_client(name: str, *, there: bool, yes: bool) -> None:
    from unspool.cli.sync_cmd import confirm_plan
    from unspool.mcp.install import NAMES, client_entry

    if name not in NAMES:
        raise UsageProblem(f"There is no client {name}; it can be {', '.join(NAMES)}.")
    confirm_plan(client_entry(name, there=there), yes=yes)


def made_quoter(archive: Path, key: str | None = None) -> "Quoter":
    """Redacts by the user's own rules and names and those of the folders of sessions, unless settings say not to."""
    from unspool.mcp.answers import Quoter
    from unspool.redact.finder import Finder
    from unspool.redact.rules import PersonalNames

    if not settings.redacts_answers():
        return Quoter(None)
    try:
        rules = options.redaction_rules()
    except UnspoolError as problem:
        raise UsageProblem(f"Nothing leaves unless your rules can be read: {problem}") from None
    return Quoter(Finder(rules, PersonalNames.of(os.environ, _folders(archive, key))))


def _folders(archive: Path, key: str | None) -> list[str]:
    """The folders that sessions worked in, as far as there is an index yet."""
    from unspool.store.index.database import Index

    with suppress(UnspoolError), Index.open(archive, key=key, readonly=True) as index:
        return [str(project) for (project,) in index.db.execute("SELECT DISTINCT project FROM session")]
    return []
