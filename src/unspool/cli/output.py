"""What commands print: JSON, lines that cannot drive the terminal, questions, and progress."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from unspool.doc import Node

_WIDEST = 110
"""Prose in longer lines is hard to read."""


def printable_data(value: Any) -> Any:
    """Data with what no text can hold (bytes of names that are no text) replaced."""
    import msgspec

    def printable(part: Any) -> Any:
        if isinstance(part, str):
            return part.encode(errors="replace").decode()
        if isinstance(part, dict):
            return {printable(key): printable(inner) for key, inner in part.items()}
        return [printable(inner) for inner in part] if isinstance(part, (list, tuple)) else part

    return printable(msgspec.to_builtins(value))


def print_json(value: Any) -> None:
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(printable_data(value))).decode())


def say_line(text: str, *, err: bool = False) -> None:
    """Print text in which names of files may stand; they cannot drive the terminal."""
    from unspool.render.sanitize import safe_lines

    click.echo("\n".join(safe_lines(printable_data(text))), err=err)


def print_result(data: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """Print what a command found or did, as JSON or line by line."""
    if as_json:
        print_json(data)
        return
    for line in lines:
        say_line(line)


def is_interactive() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm_typed(question: str, answer: str) -> bool:
    return is_interactive() and str(click.prompt(question, default="", show_default=False, err=True)).strip() == answer


def complain(failures: Iterable[str]) -> None:
    """Tell on standard error what could not be read; names of files in it cannot drive the terminal."""
    for failure in failures:
        say_line(f"unspool: {failure}", err=True)


WORTH_A_BAR = 32 * 1024 * 1024
"""Bytes: less is done before a bar is drawn."""


@contextmanager
def progress_bar(what: str, *, quiet: bool = False, least: int = 0) -> Iterator[Callable[[int, int], None]]:
    """A function that hears how many bytes are done, and of how many.

    It draws a bar where standard error is a terminal and there are at least so many bytes to do.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _, __: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    name, bar, figures = TextColumn("{task.description}"), BarColumn(), (DownloadColumn(), TransferSpeedColumn())
    columns = name, bar, *figures, TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task(what, total=None)

        def advance(done: int, total: int) -> None:
            if total >= least:
                progress.update(task, advance=done, total=total)
                progress.refresh()

        yield advance


@contextmanager
def progress(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, shown only on a terminal and for work worth one."""
    with progress_bar(what, quiet=total < WORTH_A_BAR) as advance:
        yield lambda done: advance(done, total)


PLAIN_WIDTH = 120
"""Columns where the output is no terminal."""


def console() -> "Console":
    """Standard output; colours only on a terminal that has them and unless NO_COLOR forbids."""
    from rich.console import Console

    made = Console(highlight=False, emoji=False, markup=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = PLAIN_WIDTH
    return made


def show_renderable(table: "RenderableType", to: "Console") -> None:
    """Print a table; where no colours are wanted, without the spaces that would end its lines."""
    if to.color_system is not None:
        to.print(table)
        return
    with to.capture() as printed:
        to.print(table)
    click.echo("\n".join(line.rstrip() for line in printed.get().rstrip("\n").split("\n")))


def print_nodes(nodes: "Iterable[Node]", *, pager: bool = True, width: int | None = None) -> None:
    """Print a document, through a pager where one is wanted and the output is a terminal."""
    from unspool.render.text import render_text

    to = console()
    colour = to.color_system is not None and not to.no_color
    lines = render_text(nodes, width or min(to.width, _WIDEST), colour=colour)
    if pager and sys.stdout.isatty():
        click.echo_via_pager(lines)
        return
    for line in lines:
        sys.stdout.write(line)
