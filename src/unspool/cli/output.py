"""What commands print: JSON, lines that cannot drive the terminal, questions, progress, tables and bars."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress

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
    with ExitStack() as drawn:
        bar: Progress | None = None

        def advance(done: int, total: int) -> None:
            nonlocal bar
            if total >= least:
                bar = bar or drawn.enter_context(_bar(what))
                bar.update(bar.task_ids[0], advance=done, total=total)
                bar.refresh()

        yield advance


def _bar(what: str) -> "Progress":
    """Loaded when there is something to draw, for most commands have little to do."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    name, bar, figures = TextColumn("{task.description}"), BarColumn(), (DownloadColumn(), TransferSpeedColumn())
    columns = name, bar, *figures, TimeRemainingColumn()
    made = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
    made.add_task(what, total=None)
    return made


@contextmanager
def progress(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, shown only on a terminal and for work worth one."""
    with progress_bar(what, quiet=total < WORTH_A_BAR) as advance:
        yield lambda done: advance(done, total)


PLAIN_WIDTH = 120
"""Columns where the output is no terminal."""


def console() -> "Console":
    """Standard output; colours and bold or dim words only on a terminal that has them and unless NO_COLOR forbids."""
    from rich.console import Console

    plain = bool(os.environ.get("NO_COLOR"))
    made = Console(color_system=None if plain else "auto", highlight=False, emoji=False, markup=False)
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
    lines = render_text(nodes, width or min(to.width, _WIDEST), colour=to.color_system is not None)
    if pager and sys.stdout.isatty():
        click.echo_via_pager(lines)
        return
    for line in lines:
        sys.stdout.write(line)


_GAP = 2
_NARROWEST = 20


class Column(NamedTuple):
    """One column. What is short of room is written short, then cut, then left out, the highest rank first."""

    name: str
    cells: Sequence[str]
    short: Sequence[str] = ()
    right: bool = True
    least: int = 0
    """The width that its texts may be cut to; 0: they may not."""
    rank: int = 0
    """0: it is never left out."""
    tail: bool = False
    """What is cut keeps its end, as paths should."""


def safe_text(text: str) -> str:
    """The text on one line, with nothing in it that drives a terminal."""
    if text.isprintable():
        return text
    from unspool.render.sanitize import one_line

    return one_line(text)


def terminal_width() -> int:
    wide = os.environ.get("COLUMNS", "")
    if wide.isdecimal() and int(wide):
        return max(int(wide), _NARROWEST)
    try:
        return max(os.get_terminal_size(sys.stdout.fileno()).columns, _NARROWEST)
    except (OSError, ValueError):
        return PLAIN_WIDTH


def has_colours() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def table_room(columns: Sequence[Column]) -> int:
    """The width that a table needs, its texts cut as far as they may be."""
    return sum(map(_least, columns)) + _GAP * (len(columns) - 1)


def table_lines(columns: Sequence[Column], most: int) -> list[str]:
    """The table, its heads first, in at most so many characters a line."""
    shown = [column._replace(cells=[safe_text(cell) for cell in column.cells]) for column in columns]
    if table_room(shown) > most:
        shown = [column._replace(cells=column.short) if column.short else column for column in shown]
    while table_room(shown) > most and any(column.rank for column in shown):
        shown.remove(max(shown, key=lambda column: column.rank))
    widths = _widths(shown, most)
    heads = _line((column.name for column in shown), shown, widths)
    return [heads, *(_line(cells, shown, widths) for cells in zip(*(column.cells for column in shown), strict=True))]


def print_heading(text: str) -> None:
    click.echo(click.style(text, bold=True), color=has_colours())


def print_table(columns: Sequence[Column], *, total: bool = False) -> None:
    """Print a table: its heads dimmed, and its last line, where that is a total, bold."""
    heads, *rows = table_lines(columns, terminal_width())
    click.echo(click.style(heads, dim=True), color=has_colours())
    for number, line in enumerate(rows, 1):
        last = total and number == len(rows)
        click.echo(click.style(line, bold=True) if last else line, color=has_colours())


def _needed(column: Column) -> int:
    return max(_cells(column.name), max(map(_cells, column.cells), default=0))


def _least(column: Column) -> int:
    return min(_needed(column), max(column.least, _cells(column.name))) if column.least else _needed(column)


def _widths(columns: list[Column], most: int) -> list[int]:
    """What each column gets: of those that can be cut, the widest gives way first."""
    widths = [_needed(column) for column in columns]
    over = sum(widths) + _GAP * (len(columns) - 1) - most
    for _ in range(over):
        giving = [number for number, column in enumerate(columns) if widths[number] > _least(column)]
        if giving:
            widths[max(giving, key=widths.__getitem__)] -= 1
    return widths


def _line(cells: Iterable[str], columns: list[Column], widths: list[int]) -> str:
    parts = []
    for cell, column, wide in zip(cells, columns, widths, strict=True):
        text = cut_text(cell[::-1], wide)[::-1] if column.tail else cut_text(cell, wide)
        space = " " * (wide - _cells(text))
        parts.append(space + text if column.right else text + space)
    return (" " * _GAP).join(parts).rstrip()


def cut_text(text: str, wide: int) -> str:
    """The text in at most so many characters of the terminal, with … where it goes on."""
    if _cells(text) <= wide:
        return text
    kept, used = [], 1
    for character in text:
        used += _cells(character)
        if used > wide:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)


_EIGHTHS = " ▏▎▍▌▋▊▉"
_SHADES = " ░▒▓█"


def bar_text(share: float, width: int) -> str:
    """A bar of that share (0 to 1) of a width, to an eighth of a character; anything above nothing can be seen."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    whole, part = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[part] if part else "")


def bar_texts(values: list[int], width: int) -> list[str]:
    """A bar for each value, the largest as long as the width."""
    most = max(values, default=0)
    return [bar_text(value / most, width) if most > 0 else "" for value in values]


def shade_text(value: int, most: int) -> str:
    """One character, the darker the larger the value; a space for nothing."""
    if value <= 0 or most <= 0:
        return _SHADES[0]
    return _SHADES[min(4, 1 + value * 4 // (most + 1))]
