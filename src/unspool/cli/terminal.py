"""The console that commands print with: paging, progress, complaints."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console, RenderableType
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

PLAIN_WIDTH = 120
"""Columns where the output is no terminal."""


def console() -> Console:
    """Standard output; colours only on a terminal that has them and unless NO_COLOR forbids."""
    made = Console(highlight=False, emoji=False, markup=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = PLAIN_WIDTH
    return made


def show_renderable(table: RenderableType, to: Console) -> None:
    """Print a table; where no colours are wanted, without the spaces that would end its lines."""
    if to.color_system is not None:
        to.print(table)
        return
    with to.capture() as printed:
        to.print(table)
    click.echo("\n".join(line.rstrip() for line in printed.get().rstrip("\n").split("\n")))


@contextmanager
def progress(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, shown only on a terminal and for work worth one."""
    if not sys.stderr.isatty() or total < 32 * 1024 * 1024:
        yield lambda _: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


def complain(failures: Iterable[str]) -> None:
    """Tell on standard error what could not be read; names of files in it cannot drive the terminal."""
    from unspool.render.sanitize import safe_lines

    for failure in failures:
        click.echo("\n".join(safe_lines(f"unspool: {failure}")), err=True)


def paged(lines: Iterable[str], *, pager: bool) -> None:
    """Print lines, through a pager where one is wanted and the output is a terminal."""
    if pager and sys.stdout.isatty():
        click.echo_via_pager(lines)
        return
    for line in lines:
        sys.stdout.write(line)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A function that hears how many bytes are done, and of how many."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task(what, total=None)

        def advance(done: int, total: int) -> None:
            progress.update(task, advance=done, total=total)
            progress.refresh()

        yield advance
