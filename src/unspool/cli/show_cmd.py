"""`unspool show`: a session in the terminal."""

import click

from unspool.cli import options, terminal
from unspool.cli.locating import anchor, opened_at
from unspool.cli.viewing import check, view_options
from unspool.export.text import render
from unspool.library import Library
from unspool.transcript import View, nodes

_WIDEST = 110
"""Prose in longer lines is hard to read."""


@click.command("show")
@click.argument("session", default="latest")
@view_options(whole=False)
@click.option("--at", callback=anchor, metavar="ANCHOR", help="Only the turn that holds msg-1774856863840.")
@click.option("--pager/--no-pager", default=True, help="Page on a terminal, or print straight.", show_default=True)
@click.option("--width", type=click.IntRange(min=20), help="Columns to wrap at.")
@options.sources
def command(session: str, view: View, at: int | None, pager: bool, width: int | None, library: Library) -> None:
    """Read a session in the terminal.

    \b
    unspool show                       the latest session
    unspool show 3f2a --turn 3..7      some turns of the session whose id begins with 3f2a
    unspool show tide --no-tools       only what was said, in the session with "tide" in its title
    curl -s URL | unspool show -       a log from standard input

    SESSION is an id or its first characters, a path, "-" for standard input, an http(s) URL (fetched with a
    limit of 512 MB and 60 seconds; redirects and private addresses are followed as you ask), a piece of a
    title, or `latest`.
    """
    found = library.open(session)
    view = opened_at(found, view, at)
    check(found, view)
    console = terminal.console()
    colour = console.color_system is not None and not console.no_color
    lines = render(nodes(found, view), width or min(console.width, _WIDEST), colour=colour)
    terminal.paged(lines, pager=pager)
