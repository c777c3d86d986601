"""`unspool local`: choose a session of this machine, and see it as pages."""

from datetime import UTC, datetime
from pathlib import Path

import click

from unspool import human
from unspool.cli import chosen, options, terminal
from unspool.cli.making import Making, make, making_options
from unspool.cli.picker import Choice, pick
from unspool.cli.rows import hidden, kept_mark, project_name
from unspool.errors import NotFound
from unspool.export.inert import one_line
from unspool.library import Library
from unspool.model import Overview

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@click.command("local")
@making_options
@click.option("--limit", type=click.IntRange(min=1), help="Offer at most so many; all on a terminal, else 10.")
@options.sources
def command(making: Making, limit: int | None, library: Library) -> None:
    """Choose a session and make a web page of it.

    Sessions of the project that you are in come first, then the newest. Type to filter by title, project or
    date; without a terminal the sessions are numbered, and the number is read from standard input.
    """
    with terminal.progress(sum(log.size for log in library.logs()), "Reading sessions") as done:
        found = [overview for overview in library.overviews(done) if not hidden(overview)]
    if not found:
        raise NotFound("No sessions were found. `unspool local --demo` shows what they look like.")
    offered = ordered(found, Path.cwd())
    picked = pick([choice(overview) for overview in offered], limit)
    if picked is None:
        click.echo("No session selected.", err=True)
        return
    log = next(log for log in library.logs() if log.path == offered[picked].log.path)
    with library.located(log) as here:
        make(library.open(log), making, library.prices, Path(here.path))


def ordered(found: list[Overview], here: Path) -> list[Overview]:
    """The sessions of the project we are in, then the others; newest first."""

    def rank(overview: Overview) -> tuple[bool, float]:
        when = overview.ended or overview.log.modified or _LONG_AGO
        return not _inside(here, overview.project), -when.timestamp()

    return sorted(found, key=rank)


def _inside(here: Path, project: str) -> bool:
    """Whether a folder is a project's, or lies below it."""
    place = Path(project)
    return place.is_absolute() and (here == place or place in here.parents)


def choice(overview: Overview) -> Choice:
    when = overview.ended or overview.log.modified
    shown = human.minute(when, chosen.zone())
    turns = human.count(overview.turns, "turn")
    project = one_line(project_name(overview.project))[:24]
    return Choice(
        (shown, f"{turns:>9}", f"{human.size(overview.size):>7}", project), f"{kept_mark(overview)}{overview.title}"
    )
