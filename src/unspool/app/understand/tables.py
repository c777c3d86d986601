"""The tables of the dashboard. What a page shows and what a CSV file holds are the same rows."""

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import NamedTuple
from urllib.parse import urlencode

from unspool import human
from unspool.app.find.shown import session_href
from unspool.app.understand import figures
from unspool.app.understand.gather import Board
from unspool.export.html.escape import visible
from unspool.index import said, sheet
from unspool.index.periods import local, written
from unspool.index.stats import Told
from unspool.index.sums import Sum, dollars

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FAILING = 3
"""Calls that a tool has at least to be among the most failing."""


class Cell(NamedTuple):
    """A figure or a name: as it is read, and exactly."""

    text: str
    exact: str | int | float = ""
    href: str = ""
    number: bool = True


class Table(NamedTuple):
    """Rows with their heads; `bars` are parts of a hundred for each row, `failed` those of them that failed."""

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    bars: tuple[float, ...] = ()
    failed: tuple[float, ...] = ()


def named(text: str, href: str = "") -> Cell:
    """A name, as it is."""
    return Cell(visible(text), text, href, number=False)


def counted(number: int) -> Cell:
    return Cell(f"{number:,}", number)


def summed(total: Sum) -> tuple[Cell, ...]:
    """Requests, tokens, share of the cache, cost."""
    return (
        counted(total.requests),
        Cell(figures.tokens(total), total.total),
        Cell(figures.share(total.cached), "" if total.cached is None else round(total.cached, 4)),
        Cell(said.spent(total), "" if total.requests == total.unpriced else dollars(total.cost)),
    )


_SUMMED = ("requests", "tokens", "from cache", "cost")


def days(board: Board) -> Table:
    """What was used each day."""
    begun = {day.isoformat(): number for day, number in board.begun.items()}
    rows = tuple(
        (named(row.key or "no date"), counted(begun.get(row.key, 0)), *summed(row.sum)) for row in board.stats.daily
    )
    return Table("days", "By day", ("day", "sessions begun", *_SUMMED), rows)


def models(board: Board) -> Table:
    found = board.stats.models
    rows = tuple((named(one.model or "unknown model"), *summed(one.sum)) for one in found)
    return Table("models", "By model", ("model", *_SUMMED), rows, worth([one.sum for one in found]))


def projects(board: Board) -> Table:
    found = board.stats.projects
    rows = tuple((named(row.key or "no project", _project(row.key)), *summed(row.sum)) for row in found)
    return Table("projects", "By project", ("project", *_SUMMED), rows, worth([row.sum for row in found]))


def _project(path: str) -> str:
    return f"/stats?{urlencode({'project': path}, errors='replace')}" if path else ""


def tools(board: Board) -> Table:
    """Calls and failures of every tool; history that sessions share counts in each."""
    found = board.stats.tools
    rows = tuple(
        (
            named(one.name),
            counted(one.calls),
            counted(one.errors),
            Cell(figures.share(one.failing), round(one.failing, 4)),
            counted(one.sessions),
        )
        for one in found
    )
    lengths = shares([one.calls for one in found])
    failed = tuple(length * one.failing for length, one in zip(lengths, found, strict=True))
    return Table("tools", "By tool", ("tool", "calls", "failed", "failing", "sessions"), rows, lengths, failed)


def failing(board: Board) -> Table:
    """The tools that failed most often, of those that were called more than now and then."""
    found = [one for one in board.stats.tools if one.errors and one.calls >= _FAILING]
    found = sorted(found, key=lambda one: (-one.failing, -one.errors, one.name))[:10]
    rows = tuple(
        (
            named(one.name),
            Cell(figures.share(one.failing), round(one.failing, 4)),
            counted(one.errors),
            counted(one.calls),
        )
        for one in found
    )
    bars = tuple(one.failing * 100 for one in found)
    return Table("failing", "Most failing tools", ("tool", "failing", "failed", "calls"), rows, bars, bars)


def hours(board: Board) -> Table:
    """Requests by day of the week and hour."""
    rows = tuple(
        (named(day), *(counted(number) for number in row)) for day, row in zip(DAYS, board.stats.hours, strict=True)
    )
    return Table("hours", "Hours of the week", ("day", *(f"{hour:02}" for hour in range(24))), rows)


def cache(board: Board) -> Table:
    """What was sent to each model, and how much of it the cache held."""
    rows = tuple(
        (
            named(one.model or "unknown model"),
            Cell(figures.share(one.sum.cached), "" if one.sum.cached is None else round(one.sum.cached, 4)),
            *(Cell(human.tokens(part), part) for part in (one.sum.cache_read, one.sum.cache_write, one.sum.input)),
        )
        for one in board.stats.models
    )
    return Table("cache", "Cache", ("model", "from cache", "read", "written", "not cached"), rows)


def wasted(board: Board) -> Table:
    """What was written to the cache although it had been there, and why."""
    found = board.stats.wasted
    rows = tuple(
        (
            named(one.cause),
            Cell(human.tokens(one.tokens), one.tokens),
            counted(one.requests),
            Cell(
                said.priced(one.cost, unpriced=one.unpriced),
                "" if one.unpriced and not one.cost else dollars(one.cost),
            ),
        )
        for one in found
    )
    heads = ("why", "tokens", "requests", "lost")
    return Table("wasted", "Written to the cache again", heads, rows, shares([one.tokens for one in found]))


def context(board: Board) -> Table:
    """What was put into the windows of sessions and subagents, estimated."""
    found = board.stats.filled
    whole = sum(one.tokens for one in found)
    rows = tuple(
        (
            named(one.name),
            Cell(human.tokens(one.tokens), one.tokens),
            Cell(figures.share(one.tokens / whole), round(one.tokens / whole, 4)),
            counted(one.sessions),
        )
        for one in found
        if whole
    )
    return Table("context", "What filled the window", ("kind", "tokens", "share", "sessions"), rows)


def filling(board: Board) -> Table:
    """The same by tool: what it was told and what it answered."""
    found = board.stats.filling
    rows = tuple((named(one.name), Cell(human.tokens(one.tokens), one.tokens), counted(one.sessions)) for one in found)
    lengths = shares([one.tokens for one in found])
    return Table("filling", "Tools that filled the window", ("tool", "tokens", "sessions"), rows, lengths)


def longest(board: Board) -> Table:
    return Table("longest", "Longest sessions", _TOLD, _listed(board, board.stats.longest))


def dearest(board: Board) -> Table:
    return Table("dearest", "Dearest sessions", _TOLD, _listed(board, board.stats.dearest))


_TOLD = ("session", "began", "length", "turns", "cost")


def _listed(board: Board, several: Sequence[Told]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(_told(one, board.zone) for one in several)


def _told(one: Told, zone: tzinfo | None) -> tuple[Cell, ...]:
    began = "" if one.started is None else f"{local(one.started, zone):%Y-%m-%d}"
    title = " ".join(visible(one.title).split()) or one.key
    unknown = one.unpriced and not one.cost
    return (
        Cell(title, one.title or one.key, session_href(one.key), number=False),
        Cell(began, "" if one.started is None else written(one.started)),
        Cell(human.duration(one.seconds), round(one.seconds)),
        counted(one.turns),
        Cell(said.priced(one.cost, unpriced=one.unpriced, open=one.open), "" if unknown else dollars(one.cost)),
    )


def files(board: Board) -> Table:
    found = board.stats.files
    rows = tuple(
        (named(one.path, file_href(one.path)), *map(counted, (one.reads, one.writes, one.edits, one.sessions)))
        for one in found
    )
    most = shares([one.reads + one.writes + one.edits for one in found])
    return Table("files", "Files touched most", ("file", "reads", "writes", "edits", "sessions"), rows, most)


def file_href(path: str) -> str:
    """The address of a file's time-line."""
    return f"/files?{urlencode({'path': path}, errors='replace')}"


def shares(values: Sequence[float]) -> tuple[float, ...]:
    """Parts of a hundred of the largest; what is above nothing can be seen."""
    most = max(values, default=0)
    return tuple(round(max(100 * value / most, 0.5), 2) if value > 0 else 0.0 for value in values)


def worth(sums: Sequence[Sum]) -> tuple[float, ...]:
    """Bars of what was spent; of tokens where no price is known."""
    priced = any(one.cost for one in sums)
    return shares([one.cost if priced else one.total for one in sums])


TABLES: dict[str, Callable[[Board], Table]] = {
    "days": days,
    "models": models,
    "projects": projects,
    "tools": tools,
    "failing": failing,
    "hours": hours,
    "cache": cache,
    "wasted": wasted,
    "context": context,
    "filling": filling,
    "longest": longest,
    "dearest": dearest,
    "files": files,
}


def as_csv(table: Table) -> str:
    """The rows as CSV with their heads. No cell is a formula."""
    return sheet.as_csv(table.heads, ([cell.exact for cell in row] for row in table.rows))
