"""The tables of `unspool usage`."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from unspool import human
from unspool.cli import chart
from unspool.cli.grid import Column, lines, room, safe, show, width
from unspool.index import said
from unspool.index.periods import local
from unspool.index.said import money
from unspool.index.sums import ModelSum, Sum

if TYPE_CHECKING:
    from unspool.index.billing import Wanted
    from unspool.index.blocks import Block, Blocks
    from unspool.index.tooling import Tool
    from unspool.index.usage import Report, Row

_DATED = re.compile(r"-20\d{6}$")
_LONGEST_BAR = 24
_SHORTEST_BAR = 8


def spent(total: Sum) -> str:
    """What requests cost; nothing where there were none."""
    return said.spent(total) if total.requests else ""


def table(report: "Report", rows: "Sequence[Row]", *, breakdown: bool) -> None:
    """Print a report: its rows, those of each model beneath where asked for, and the total."""
    found: list[tuple[Row | None, str, Sum, tuple[ModelSum, ...]]] = []
    for row in rows:
        found.append((row, "", row.sum, row.models))
        found += [(None, one.model, one.sum, ()) for one in row.models if breakdown]
    sums = [total for _, _, total, _ in found] + [report.sum]
    columns = [*_labels(report.by, [(row, model) for row, model, *_ in found]), *_figures(sums)]
    if report.by != "model":
        columns.append(_models(report.models, (models for *_, models in found)))
    totals = [row.sum if row is not None else None for row, *_ in found]
    _charted(columns, [*totals, None])


def _labels(by: str, rows: "list[tuple[Row | None, str]]") -> list[Column]:
    """What each row is: a row of a report, or a model beneath it."""

    def cells(of: "Callable[[Row], str]", last: str = "") -> list[str]:
        return [*(of(row) if row else f"└ {model or 'unknown model'}" if last else "" for row, model in rows), last]

    if by == "session":
        first = Column(by, cells(lambda row: row.key[:8], "total"), right=False, least=8)
        return [first, Column("title", cells(lambda row: row.title), right=False, least=16, rank=3)]
    first = Column(by, cells(lambda row: _name(by, row), "total"), right=False, least=17, tail=by == "project")
    if by == "subagent":
        session = Column("session", cells(lambda row: row.session[:8]), right=False, rank=5)
        return [first, session, Column("title", cells(lambda row: row.title), right=False, least=12, rank=7)]
    return [first]


def _name(by: str, row: "Row") -> str:
    if row.key:
        return row.key
    return {"subagent": "main conversation", "model": "unknown model", "project": "no project"}.get(by, "no time")


def _figures(sums: list[Sum]) -> list[Column]:
    def tokens(name: str, rank: int, of: Callable[[Sum], int]) -> Column:
        found = [of(total) for total in sums]
        return Column(name, [f"{one:,}" for one in found], [human.tokens(one) for one in found], rank=rank)

    output = tokens("output", 2, lambda total: total.output)
    bound = ["≥" if total.open else "" for total in sums]
    output = output._replace(
        cells=[mark + cell for mark, cell in zip(bound, output.cells, strict=True)],
        short=[mark + cell for mark, cell in zip(bound, output.short, strict=True)],
    )
    return [
        tokens("input", 4, lambda total: total.input),
        output,
        tokens("cache write", 6, lambda total: total.cache_write),
        tokens("cache read", 5, lambda total: total.cache_read),
        tokens("tokens", 1, lambda total: total.total),
        Column("cost", [spent(total) for total in sums]),
    ]


def _models(every: tuple[ModelSum, ...], cells: Iterable[tuple[ModelSum, ...]]) -> Column:
    """The models of each row by their short names: without date, and without the family that all share."""
    families = {one.model.partition("-")[0] for one in every}
    family = len(families.pop()) + 1 if len(every) > 1 and len(families) == 1 else 0

    def short(models: tuple[ModelSum, ...]) -> str:
        return ", ".join(dict.fromkeys(_DATED.sub("", one.model[family:]) or "unknown model" for one in models))

    return Column("models", [*map(short, cells), ""], right=False, least=12, rank=8)


def _charted(columns: list[Column], totals: list[Sum | None]) -> None:
    """Print the columns with a total at their end, and bars where there is room for them."""
    values = [total.cost if total else 0 for total in totals]
    if not any(values):
        values = [total.total if total else 0 for total in totals]
    left = width() - room(columns) - 2
    if left >= _SHORTEST_BAR and sum(1 for value in values if value) > 1:
        cells = chart.bars(values, min(max(left // 2, _SHORTEST_BAR), _LONGEST_BAR))
        place = next(number for number, column in enumerate(columns) if column.name == "cost") + 1
        columns.insert(place, Column("", cells, right=False, rank=9))
    show(lines(columns, width()), total=True)


def blocks_table(report: "Blocks", rows: "Sequence[Block]", wanted: "Wanted") -> None:
    """Print blocks, the gaps between them, and where the running one leads."""
    sums = [row.sum for row in rows] + [report.sum]
    starts = [*(f"{local(row.start, wanted.zone):%Y-%m-%d %H:%M}" for row in rows), "total"]
    lengths = [*(_length(row) for row in rows), ""]
    figures = [_blank(column, [*(row.gap for row in rows), False]) for column in _figures(sums)]
    models = _models(report.models, (row.models for row in rows))
    columns = [Column("block", starts, right=False), Column("", lengths, right=False, rank=3), *figures, models]
    _charted(columns, [*(row.sum for row in rows), None])


def _blank(column: Column, gaps: list[bool]) -> Column:
    def emptied(cells: Sequence[str]) -> list[str]:
        return ["" if gap else cell for cell, gap in zip(cells, gaps, strict=True)]

    return column._replace(cells=emptied(column.cells), short=emptied(column.short) if column.short else ())


def _length(block: "Block") -> str:
    if block.gap:
        return f"gap of {human.duration(block.end - block.start)}"
    return "active" if block.active else human.duration((block.last or 0) - (block.first or 0))


def running(report: "Blocks") -> list[str]:
    """Pace and projection of the block that has not ended."""
    pace = next((block.pace for block in report.rows if block.pace), None)
    if pace is None:
        return []
    speed = f"{human.tokens(round(pace.tokens_a_minute))} tokens a minute, {money(pace.cost_an_hour)} an hour"
    leads = f"{human.tokens(pace.tokens)} tokens, {money(pace.cost)}"
    return [f"Active block: {speed}; {human.duration(pace.minutes_left * 60)} left; at this pace {leads} by its end."]


def tools_table(found: "Sequence[Tool]", every: "Sequence[Tool]") -> None:
    """Print the tools."""
    from unspool.index.tooling import Tool

    calls, errors = sum(tool.calls for tool in every), sum(tool.errors for tool in every)
    total = Tool("total", calls, errors, 0)
    columns = [
        Column("tool", [*(tool.name for tool in found), total.name], right=False, least=12),
        Column("calls", [f"{tool.calls:,}" for tool in [*found, total]]),
        Column("errors", [f"{tool.errors:,}" for tool in [*found, total]]),
        Column("failing", [f"{tool.failing:.1%}" for tool in [*found, total]], rank=1),
        Column("sessions", [*(f"{tool.sessions:,}" for tool in found), ""], rank=2),
        Column("", [*chart.bars([tool.calls for tool in found], _LONGEST_BAR), ""], right=False, rank=3),
    ]
    show(lines(columns, width()), total=True)


def notes(total: Sum, models: tuple[ModelSum, ...], untimed: int) -> list[str]:
    """What the figures leave open, in sentences."""
    return said.notes(total, models, untimed, safe)
