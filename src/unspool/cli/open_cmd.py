"""`unspool open`: all sessions in the browser."""

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unspool.cli import options, settings
from unspool.errors import NotFound

if TYPE_CHECKING:
    from unspool.app.server import ServeOptions
    from unspool.prices import PriceTable


@click.command("open")
@click.argument("session", required=False)
@options.serving
@options.named_sources
@options.demo
@options.archive
def command(
    session: str | None, source: tuple[Path, ...], demo: bool, archive: Path, no_browser: bool, **given: Any
) -> None:
    """Open the app: all sessions in the browser, kept up to date.

    \b
    unspool open                       your sessions; `unspool` alone does the same on a terminal
    unspool open latest                the newest one
    unspool open tide                  one by a piece of its title, or by its id
    unspool open --no-browser          only print the address, as on a machine without a screen
    unspool open --host 0.0.0.0        for other machines too
    unspool open --demo                made-up sessions, with an archive of their own in your cache

    It runs on this machine until Ctrl-C, reads what is new into the archive in the background, and follows it.
    The address that is printed holds a token that is made anew at each start: without it nobody gets in. Nothing
    leaves the machine, and nothing is ever written to a source. Ends with 0 when asked to by SIGTERM, with 130 after
    Ctrl-C.
    """
    from unspool.app.server import ServeOptions, serve_app

    if demo:
        folder = options.demo_folder()
        source, archive = (folder,), folder.with_name("demo-archive")
        os.environ["UNSPOOL_ARCHIVE"] = str(archive)  # what is chosen for shares and written of copies goes there too
    if missing := [folder for folder in source if not folder.is_dir()]:
        raise NotFound(f"There is no folder {missing[0]}.")
    sources = tuple(folder.absolute() for folder in source) or settings.wanted_sources()
    prices, key = settings.price_table(), options.key_of(archive)
    wanted = ServeOptions(archive, sources, key, prices, browser=not no_browser, **given)
    if session:
        wanted = wanted._replace(at=_page(session, wanted, prices))
    if serve_app(wanted, click.echo, lambda text: click.echo(f"unspool: {text}", err=True)) == signal.SIGINT:
        raise KeyboardInterrupt


def _page(name: str, wanted: "ServeOptions", prices: "PriceTable") -> str:
    """Where the app has the session that a person means."""
    from urllib.parse import quote

    from unspool.store.library import Library
    from unspool.store.library.kept_sessions import KeptSessions

    kept = KeptSessions(wanted.folder, wanted.key)
    found = Library(wanted.sources, prices, kept if kept.there else None).find(name)
    return f"/s/{quote(found.session_id, safe='')}/"
