"""The tables of the dashboard. What a page shows and what a CSV file holds are the same rows."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from unspool import human
from unspool.app.render import session_href
from unspool.app.stats_data import DashboardData, format_share, format_tokens
from unspool.render.html.elements import day_text, visible
from unspool.store.index import billing
from unspool.store.index.billing import UsageSum, exact_dollars
from unspool.store.index.stats import StatNotes
from unspool.store.index.times import local_time, written_time
from unspool.web.charts import bar_lengths

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FAILING = 3
"""Calls that a tool has at least to be among the most failing."""


class TableCell(NamedTuple):
    """A figure or a name: as it is read, and exactly."""

    text: str = ""
    exact: str | int | float = ""
    href: str = ""
    number: bool = True


Cells = tuple[TableCell, ...]


class StatsTable(NamedTuple):
    """Rows with their heads; `bars` are parts of a hundred for each row, `failed` those of them that failed."""

    name: str
    title: str
    heads: tuple[str, ...]
    rows: Sequence[Cells]
    bars: tuple[float, ...] = ()
    failed: tuple[float, ...] = ()


def text_cell(text: str, href: str = "") -> TableCell:
    return TableCell(visible(text), text, href, number=False)


def count_cells(*numbers: int) -> Cells:
    return tuple(TableCell(f"{number:,}", number) for number in numbers)


def token_cells(*numbers: int) -> Cells:
    return tuple(TableCell(human.tokens(number), number) for number in numbers)


def share_cell(part: float | None) -> TableCell:
    return TableCell(format_share(part), "" if part is None else round(part, 4))


def sum_cells(total: UsageSum) -> Cells:
    """Requests, tokens, share of the cache, cost."""
    cost = "" if total.requests == total.unpriced else exact_dollars(total.cost)
    tokens = TableCell(format_tokens(total), total.total)
    return *count_cells(total.requests), tokens, share_cell(total.cached), TableCell(billing.format_spent(total), cost)


def price_cell(cost: int, unpriced: int, open_: int = 0) -> TableCell:
    exact = "" if unpriced and not cost else exact_dollars(cost)
    return TableCell(billing.format_priced(cost, unpriced=unpriced, open=open_), exact)


_SUMMED = ("requests", "tokens", "from cache", "cost")


def days_table(board: DashboardData) -> StatsTable:
    begun = {day.isoformat(): number for day, number in board.begun.items()}
    rows = [
        (text_cell(row.key or "no date"), *count_cells(begun.get(row.key, 0)), *sum_cells(row.sum))
        for row in board.stats.daily
    ]
    return StatsTable("days", "By day", ("day", "sessions begun", *_SUMMED), rows)


def models_table(board: DashboardData) -> StatsTable:
    found = board.stats.models
    rows = [(text_cell(one.model or "unknown model"), *sum_cells(one.sum)) for one in found]
    return StatsTable("models", "By model", ("model", *_SUMMED), rows, cost_bars([one.sum for one in found]))


def projects_table(board: DashboardData) -> StatsTable:
    rows = []
    for row in board.stats.projects:
        href = f"/stats?{urlencode({'project': row.key}, errors='replace')}" if row.key else ""
        rows.append((text_cell(row.key or "no project", href), *sum_cells(row.sum)))
    bars = cost_bars([row.sum for row in board.stats.projects])
    return StatsTable("projects", "By project", ("project", *_SUMMED), rows, bars)


def tools_table(board: DashboardData) -> StatsTable:
    """Calls and failures of every tool; history that sessions share counts once."""
    found = board.stats.tools
    rows = [
        (
            *(text_cell(one.name), *count_cells(one.calls, one.errors), share_cell(one.failing)),
            *count_cells(one.sessions, one.refused, one.interrupted, one.unanswered),
        )
        for one in found
    ]
    lengths = bar_lengths([one.calls for one in found])
    failed = tuple(length * one.failing for length, one in zip(lengths, found, strict=True))
    heads = ("tool", "calls", "failed", "failing", "sessions", "refused", "interrupted", "without a result")
    return StatsTable("tools", "By tool", heads, rows, lengths, failed)


def failing_table(board: DashboardData) -> StatsTable:
    """The tools that failed most often, of those that were called more than now and then."""
    found = [one for one in board.stats.tools if one.errors and one.calls >= _FAILING]
    found = sorted(found, key=lambda one: (-one.failing, -one.errors, one.name))[:10]
    rows = [(text_cell(one.name), share_cell(one.failing), *count_cells(one.errors, one.calls)) for one in found]
    bars = tuple(one.failing * 100 for one in found)
    return StatsTable("failing", "Most failing tools", ("tool", "failing", "failed", "calls"), rows, bars, bars)


def hours_table(board: DashboardData) -> StatsTable:
    rows = [(text_cell(day), *count_cells(*row)) for day, row in zip(WEEKDAYS, board.stats.hours, strict=True)]
    return StatsTable("hours", "Hours of the week", ("day", *(f"{hour:02}" for hour in range(24))), rows)


def cache_table(board: DashboardData) -> StatsTable:
    """What was sent to each model, and how much of it the cache held."""
    rows = []
    for model, used in ((one.model, one.sum) for one in board.stats.models):
        parts = token_cells(used.cache_read, used.cache_write, used.input)
        rows.append((text_cell(model or "unknown model"), share_cell(used.cached), *parts))
    return StatsTable("cache", "Cache", ("model", "from cache", "read", "written", "not cached"), rows)


def rewritten_table(board: DashboardData) -> StatsTable:
    """What was written to the cache although it had been there, and why."""
    found = board.stats.wasted
    rows = [
        (text_cell(one.cause), *token_cells(one.tokens), *count_cells(one.requests), price_cell(one.cost, one.unpriced))
        for one in found
    ]
    heads = ("why", "tokens", "requests", "lost")
    return StatsTable("wasted", "Written to the cache again", heads, rows, bar_lengths([one.tokens for one in found]))


def context_table(board: DashboardData) -> StatsTable:
    """What was put into the windows of sessions and subagents, estimated."""
    whole = sum(one.tokens for one in board.stats.filled)
    rows = [
        (text_cell(one.name), *token_cells(one.tokens), share_cell(one.tokens / whole), *count_cells(one.sessions))
        for one in (board.stats.filled if whole else ())
    ]
    return StatsTable("context", "What filled the window", ("kind", "tokens", "share", "sessions"), rows)


def context_tools_table(board: DashboardData) -> StatsTable:
    """The same by tool: what it was told and what it answered."""
    found = board.stats.filling
    rows = [(text_cell(one.name), *token_cells(one.tokens), *count_cells(one.sessions)) for one in found]
    lengths = bar_lengths([one.tokens for one in found])
    return StatsTable("filling", "Tools that filled the window", ("tool", "tokens", "sessions"), rows, lengths)


def sessions_table(name: str, title: str, board: DashboardData, sessions: Iterable[StatNotes]) -> StatsTable:
    rows = []
    for one in sessions:
        words = " ".join(visible(one.title).split()) or one.key
        began = TableCell()
        if one.started is not None:
            began = TableCell(day_text(local_time(one.started, board.zone)), written_time(one.started))
        rows.append(
            (
                TableCell(words, one.title or one.key, session_href(one.key), number=False),
                began,
                TableCell(human.duration(one.seconds), round(one.seconds)),
                *count_cells(one.turns),
                price_cell(one.cost, one.unpriced, one.open),
            )
        )
    return StatsTable(name, title, ("session", "began", "length", "prompts", "cost"), rows)


def files_table(board: DashboardData) -> StatsTable:
    found = board.stats.files
    rows = [
        (text_cell(one.path, file_href(one.path)), *count_cells(one.reads, one.writes, one.edits, one.sessions))
        for one in found
    ]
    most = bar_lengths([one.reads + one.writes + one.edits for one in found])
    return StatsTable("files", "Files touched most", ("file", "reads", "writes", "edits", "sessions"), rows, most)


def file_href(path: str) -> str:
    return f"/files?{urlencode({'path': path}, errors='replace')}"


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
    "longest": lambda board: sessions_table("longest", "Longest sessions", board, board.stats.longest),
    "dearest": lambda board: sessions_table("dearest", "Dearest sessions", board, board.stats.dearest),
    "files": files_table,
}


def table_to_csv(table: StatsTable) -> str:
    """The rows as CSV with their heads. No cell is a formula."""
    return billing.as_csv(table.heads, ([cell.exact for cell in row] for row in table.rows))


def csv_response(table: StatsTable | None) -> Response:
    """A table as a file to save; 404 where there is none."""
    if table is None:
        return Response("There is no such table.", 404, media_type="text/plain")
    headers = {"Content-Disposition": f'attachment; filename="unspool-{table.name}.csv"'}
    return Response(table_to_csv(table).encode(errors="replace"), media_type="text/csv; charset=utf-8", headers=headers)
