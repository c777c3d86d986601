"""`unspool open`: all sessions in the browser."""

import os
import shlex
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unspool.cli import options, settings
from unspool.errors import NotFound, UnspoolError, UsageProblem

if TYPE_CHECKING:
    from unspool.app.instance import RunningApp
    from unspool.app.server import ServeOptions
    from unspool.prices import PriceTable


_WINDOW = "In a window of its own, where Chromium, Chrome, Edge or Brave is here; else in the browser."
_HOW = (
    click.option("--window", is_flag=True, help=_WINDOW),
    click.option("--background", is_flag=True, help="Leave it running without a terminal; --stop ends it."),
    click.option("--stop", is_flag=True, help="End the app that runs."),
    click.option("--install", is_flag=True, help="Put unspool into the system's menu, to open it in a window."),
    click.option("--uninstall", is_flag=True, help="Take it out of the menu."),
    click.option("-y", "--yes", is_flag=True, help="With --install and --uninstall: do not ask."),
)


class OpenFlags(NamedTuple):
    window: bool
    background: bool
    stop: bool
    install: bool
    uninstall: bool
    yes: bool


@click.command("open")
@click.argument("session", required=False)
@options.serving
@options.as_argument("flags", OpenFlags, *_HOW)
@options.named_sources
@options.demo
@options.archive
def command(session: str | None, flags: OpenFlags, source: tuple[Path, ...], demo: bool, **given: Any) -> None:
    """Open the app: all sessions in the browser, kept up to date.

    \b
    unspool open                       your sessions; `unspool` alone does the same on a terminal
    unspool open latest                the newest one
    unspool open tide                  one by a piece of its title, or by its id
    unspool open --window              in a window of its own; --install puts that into the menu
    unspool open --background          without a terminal, until `unspool open --stop`
    unspool open --no-browser          only print the address, as on a machine without a screen
    unspool open --host 0.0.0.0        for other machines too
    unspool open --demo                made-up sessions, with an archive of their own in your cache

    It runs on this machine until Ctrl-C, reads what is new into the archive in the background, and follows it. One
    app is enough: where it runs already, its page is opened. The address that is printed holds a token that is made
    anew at each start: without it nobody gets in. Nothing leaves the machine, and nothing is ever written to a
    source. What --install and --uninstall write is shown before it is done. Ends with 0 when asked to by SIGTERM,
    with 130 after Ctrl-C.
    """
    if flags.install or flags.uninstall:
        _change_menu(flags)
        return
    archive: Path = given.pop("archive")
    if demo:
        folder = options.demo_folder()
        source, archive = (folder,), folder.with_name("demo-archive")
        os.environ["UNSPOOL_ARCHIVE"] = str(archive)  # what is chosen for shares and written of copies goes there too
    if missing := [folder for folder in source if not folder.is_dir()]:
        raise NotFound(f"There is no folder {missing[0]}.")
    _open(session, flags, tuple(folder.absolute() for folder in source), archive, given)


def _open(
    session: str | None, flags: OpenFlags, source: tuple[Path, ...], archive: Path, given: dict[str, Any]
) -> None:
    from unspool.app.server import ServeOptions, serve_app

    prices, browser = settings.price_table(), not given.pop("no_browser")
    sources = source or settings.wanted_sources()
    wanted = ServeOptions(archive, sources, None, prices, browser=browser, window=flags.window, **given)
    if flags.stop:
        _stop(wanted)
        return
    wanted = wanted._replace(key=options.key_of(archive))
    if session:
        wanted = wanted._replace(at=_page(session, wanted, prices))
    if flags.background:
        _open_in_background(wanted)
    elif serve_app(wanted, click.echo, lambda text: click.echo(f"unspool: {text}", err=True)) == signal.SIGINT:
        raise KeyboardInterrupt


def _stop(wanted: "ServeOptions") -> None:
    with wanted.instance as place:
        found = place.running()
    if found is None:
        raise NotFound("No such app is running.")
    os.kill(found[0].pid, signal.SIGTERM)
    click.echo("Stopped.")


_PATIENCE = 60.0
"""Seconds that an app in the background may take to start."""
_BEAT = 0.05


def _open_in_background(wanted: "ServeOptions") -> None:
    """Start an app that no terminal ends, unless one runs, and show its page."""
    from unspool.app.server import show_running
    from unspool.store.archive.keys import find_key

    with wanted.instance as place:
        found = place.running()
    if found is None and wanted.key is not None and find_key(os.environ, None, None) is None:
        raise UsageProblem("The archive is encrypted, and nobody can be asked in the background: give --key-file FILE.")
    show_running(wanted, *(found or _started(wanted)), click.echo)


def _started(wanted: "ServeOptions") -> "tuple[RunningApp, str]":
    """A new app without a terminal, once it answers, and a ticket to it."""
    import subprocess

    from unspool.store.sync.service.plan import unspool_command

    chosen = [word for folder in wanted.sources for word in ("--source", str(folder))]
    chosen += ["--port", str(wanted.port)] if wanted.port else []
    chosen += ["--host", wanted.host] if wanted.host else []
    chosen += ["--read-only"] if wanted.read_only else []
    words = [*unspool_command(), "open", "--no-browser", "--archive", str(wanted.folder.absolute()), *chosen]
    null = subprocess.DEVNULL
    process = subprocess.Popen(words, stdin=null, stdout=null, stderr=null, start_new_session=True)  # noqa: S603  we
    end = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < end:
        time.sleep(_BEAT)
        if (found := wanted.instance.running(0)) is not None:  # its lock is not tried, for it may be about to take it
            return found
    raise UnspoolError(f"It did not start; `{shlex.join(words)}` says why.")


def _change_menu(flags: OpenFlags) -> None:
    """Show what would be written or removed, ask, and do it."""
    import sys

    from unspool.app.desktop import menu_entry
    from unspool.cli.sync_cmd import confirm_plan

    if flags.install and flags.uninstall:
        raise UsageProblem("Either --install or --uninstall.")
    confirm_plan(menu_entry(os.environ, sys.platform, there=flags.install), yes=flags.yes)


def _page(name: str, wanted: "ServeOptions", prices: "PriceTable") -> str:
    """Where the app has the session that a person means."""
    from urllib.parse import quote

    from unspool.store.library import Library
    from unspool.store.library.kept_sessions import KeptSessions

    kept = KeptSessions(wanted.folder, wanted.key)
    library = Library(wanted.sources, prices, kept if kept.there else None)
    return f"/s/{quote(library.key_of(library.find(name)), safe='')}/"
