"""The tables of the dashboard. What a page shows and what a CSV file holds are the same rows."""

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import NamedTuple
from urllib.parse import urlencode

from unspool import human
from unspool.app import stats_data
from unspool.app.search_results import session_href
from unspool.app.stats_data import DashboardData
from unspool.render.html.elements import visible
from unspool.store.index import billing
from unspool.store.index.billing import UsageSum, exact_dollars
from unspool.store.index.stats import StatNotes
from unspool.store.index.times import local_time, written_time

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FAILING = 3
"""Calls that a tool has at least to be among the most failing."""


class TableCell(NamedTuple):
    """A figure or a name: as it is read, and exactly."""

    text: str
    exact: str | int | float = ""
    href: str = ""
    number: bool = True


class StatsTable(NamedTuple):
    """Rows with their heads; `bars` are parts of a hundred for each row, `failed` those of them that failed."""

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    bars: tuple[float, ...] = ()
    failed: tuple[float, ...] = ()


def text_cell(text: str, href: str = "") -> TableCell:
    """A name, as it is."""
    return TableCell(visible(text), text, href, number=False)


def count_cell(number: int) -> TableCell:
    return TableCell(f"{number:,}", number)


def sum_cells(total: UsageSum) -> tuple[TableCell, ...]:
    """Requests, tokens, share of the cache, cost."""
    return (
        count_cell(total.requests),
        TableCell(stats_data.format_tokens(total), total.total),
        TableCell(stats_data.format_share(total.cached), "" if total.cached is None else round(total.cached, 4)),
        TableCell(billing.format_spent(total), "" if total.requests == total.unpriced else exact_dollars(total.cost)),
    )


_SUMMED = ("requests", "tokens", "from cache", "cost")


def days_table(board: DashboardData) -> StatsTable:
    """What was used each day."""
    begun = {day.isoformat(): number for day, number in board.begun.items()}
    rows = tuple(
        (text_cell(row.key or "no date"), count_cell(begun.get(row.key, 0)), *sum_cells(row.sum))
        for row in board.stats.daily
    )
    return StatsTable("days", "By day", ("day", "sessions begun", *_SUMMED), rows)


def models_table(board: DashboardData) -> StatsTable:
    found = board.stats.models
    rows = tuple((text_cell(one.model or "unknown model"), *sum_cells(one.sum)) for one in found)
    return StatsTable("models", "By model", ("model", *_SUMMED), rows, cost_bars([one.sum for one in found]))


def projects_table(board: DashboardData) -> StatsTable:
    found = board.stats.projects
    rows = tuple((text_cell(row.key or "no project", _project(row.key)), *sum_cells(row.sum)) for row in found)
    return StatsTable("projects", "By project", ("project", *_SUMMED), rows, cost_bars([row.sum for row in found]))


def _project(path: str) -> str:
    return f"/stats?{urlencode({'project': path}, errors='replace')}" if path else ""


def tools_table(board: DashboardData) -> StatsTable:
    """Calls and failures of every tool; history that sessions share counts in each."""
    found = board.stats.tools
    rows = tuple(
        (
            text_cell(one.name),
            count_cell(one.calls),
            count_cell(one.errors),
            TableCell(stats_data.format_share(one.failing), round(one.failing, 4)),
            count_cell(one.sessions),
        )
        for one in found
    )
    lengths = bar_lengths([one.calls for one in found])
    failed = tuple(length * one.failing for length, one in zip(lengths, found, strict=True))
    return StatsTable("tools", "By tool", ("tool", "calls", "failed", "failing", "sessions"), rows, lengths, failed)


def failing_table(board: DashboardData) -> StatsTable:
    """The tools that failed most often, of those that were called more than now and then."""
    found = [one for one in board.stats.tools if one.errors and one.calls >= _FAILING]
    found = sorted(found, key=lambda one: (-one.failing, -one.errors, one.name))[:10]
    rows = tuple(
        (
            text_cell(one.name),
            TableCell(stats_data.format_share(one.failing), round(one.failing, 4)),
            count_cell(one.errors),
            count_cell(one.calls),
        )
        for one in found
    )
    bars = tuple(one.failing * 100 for one in found)
    return StatsTable("failing", "Most failing tools", ("tool", "failing", "failed", "calls"), rows, bars, bars)


def hours_table(board: DashboardData) -> StatsTable:
    """Requests by day of the week and hour."""
    rows = tuple(
        (text_cell(day), *(count_cell(number) for number in row))
        for day, row in zip(DAYS, board.stats.hours, strict=True)
    )
    return StatsTable("hours", "Hours of the week", ("day", *(f"{hour:02}" for hour in range(24))), rows)


def cache_table(board: DashboardData) -> StatsTable:
    """What was sent to each model, and how much of it the cache held."""
    rows = tuple(
        (
            text_cell(one.model or "unknown model"),
            TableCell(
                stats_data.format_share(one.sum.cached), "" if one.sum.cached is None else round(one.sum.cached, 4)
            ),
            *(TableCell(human.tokens(part), part) for part in (one.sum.cache_read, one.sum.cache_write, one.sum.input)),
        )
        for one in board.stats.models
    )
    return StatsTable("cache", "Cache", ("model", "from cache", "read", "written", "not cached"), rows)


def rewritten_table(board: DashboardData) -> StatsTable:
    """What was written to the cache although it had been there, and why."""
    found = board.stats.wasted
    rows = tuple(
        (
            text_cell(one.cause),
            TableCell(human.tokens(one.tokens), one.tokens),
            count_cell(one.requests),
            TableCell(
                billing.format_priced(one.cost, unpriced=one.unpriced),
                "" if one.unpriced and not one.cost else exact_dollars(one.cost),
            ),
        )
        for one in found
    )
    heads = ("why", "tokens", "requests", "lost")
    return StatsTable("wasted", "Written to the cache again", heads, rows, bar_lengths([one.tokens for one in found]))


def context_table(board: DashboardData) -> StatsTable:
    """What was put into the windows of sessions and subagents, estimated."""
    found = board.stats.filled
    whole = sum(one.tokens for one in found)
    rows = tuple(
        (
            text_cell(one.name),
            TableCell(human.tokens(one.tokens), one.tokens),
            TableCell(stats_data.format_share(one.tokens / whole), round(one.tokens / whole, 4)),
            count_cell(one.sessions),
        )
        for one in found
        if whole
    )
    return StatsTable("context", "What filled the window", ("kind", "tokens", "share", "sessions"), rows)


def context_tools_table(board: DashboardData) -> StatsTable:
    """The same by tool: what it was told and what it answered."""
    found = board.stats.filling
    rows = tuple(
        (text_cell(one.name), TableCell(human.tokens(one.tokens), one.tokens), count_cell(one.sessions))
        for one in found
    )
    lengths = bar_lengths([one.tokens for one in found])
    return StatsTable("filling", "Tools that filled the window", ("tool", "tokens", "sessions"), rows, lengths)


def longest_table(board: DashboardData) -> StatsTable:
    return StatsTable("longest", "Longest sessions", _TOLD, _listed(board, board.stats.longest))


def dearest_table(board: DashboardData) -> StatsTable:
    return StatsTable("dearest", "Dearest sessions", _TOLD, _listed(board, board.stats.dearest))


_TOLD = ("session", "began", "length", "turns", "cost")


def _listed(board: DashboardData, several: Sequence[StatNotes]) -> tuple[tuple[TableCell, ...], ...]:
    return tuple(_told(one, board.zone) for one in several)


def _told(one: StatNotes, zone: tzinfo | None) -> tuple[TableCell, ...]:
    began = "" if one.started is None else f"{local_time(one.started, zone):%Y-%m-%d}"
    title = " ".join(visible(one.title).split()) or one.key
    unknown = one.unpriced and not one.cost
    return (
        TableCell(title, one.title or one.key, session_href(one.key), number=False),
        TableCell(began, "" if one.started is None else written_time(one.started)),
        TableCell(human.duration(one.seconds), round(one.seconds)),
        count_cell(one.turns),
        TableCell(
            billing.format_priced(one.cost, unpriced=one.unpriced, open=one.open),
            "" if unknown else exact_dollars(one.cost),
        ),
    )


def files_table(board: DashboardData) -> StatsTable:
    found = board.stats.files
    rows = tuple(
        (text_cell(one.path, file_href(one.path)), *map(count_cell, (one.reads, one.writes, one.edits, one.sessions)))
        for one in found
    )
    most = bar_lengths([one.reads + one.writes + one.edits for one in found])
    return StatsTable("files", "Files touched most", ("file", "reads", "writes", "edits", "sessions"), rows, most)


def file_href(path: str) -> str:
    """The address of a file's time-line."""
    return f"/files?{urlencode({'path': path}, errors='replace')}"


def bar_lengths(values: Sequence[float]) -> tuple[float, ...]:
    """Parts of a hundred of the largest; what is above nothing can be seen."""
    most = max(values, default=0)
    return tuple(round(max(100 * value / most, 0.5), 2) if value > 0 else 0.0 for value in values)


def cost_bars(sums: Sequence[UsageSum]) -> tuple[float, ...]:
    """Bars of what was spent; of tokens where no price is known."""
    priced = any(one.cost for one in sums)
    return bar_lengths([one.cost if priced else one.total for one in sums])


TABLES: dict[str, Callable[[DashboardData], StatsTable]] = {
    "days": days_table,
    "models": models_table,
    "projects": projects_table,
    "tools": tools_table,
    "failing": failing_table,
    "hours": hours_table,
    "cache": cache_table,
    "wasted": rewritten_table,
    "context": context_table,
    "filling": context_tools_table,
    "longest": longest_table,
    "dearest": dearest_table,
    "files": files_table,
}


def table_to_csv(table: StatsTable) -> str:
    """The rows as CSV with their heads. No cell is a formula."""
    return billing.as_csv(table.heads, ([cell.exact for cell in row] for row in table.rows))
