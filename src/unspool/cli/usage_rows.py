"""The tables of `unspool usage`, and the same as JSON and CSV."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from unspool import human
from unspool.cli import output
from unspool.cli.output import Column, print_table, safe_text, table_room, terminal_width
from unspool.store.index import billing
from unspool.store.index.billing import ModelUsage, UsageFilter, UsageSum, exact_dollars, format_money, unpriced_models
from unspool.store.index.five_hour_blocks import FiveHourBlock, FiveHourBlocks
from unspool.store.index.stats import ToolStats
from unspool.store.index.times import local_time, written_time
from unspool.store.index.usage import PeriodReport, UsagePeriod

_DATED = re.compile(r"-20\d{6}$")
_LONGEST_BAR = 24
_SHORTEST_BAR = 8
_TITLE = 32
"""Characters of a title by which people know a session: figures are written short, or left out, for them."""


def spent_text(total: UsageSum) -> str:
    """What requests cost; nothing where there were none."""
    return billing.format_spent(total) if total.requests else ""


def usage_table(report: "PeriodReport", rows: "Sequence[UsagePeriod]", *, breakdown: bool) -> None:
    """Print a report: its rows, those of each model beneath where asked for, and the total."""
    found: list[tuple[UsagePeriod | None, str, UsageSum, tuple[ModelUsage, ...]]] = []
    for row in rows:
        found.append((row, "", row.sum, row.models))
        found += [(None, one.model, one.sum, ()) for one in row.models if breakdown]
    sums = [total for _, _, total, _ in found] + [report.sum]
    columns = [*_labels(report.by, [(row, model) for row, model, *_ in found]), *_figures(sums)]
    if report.by != "model":
        columns.append(_models(report.models, (models for *_, models in found)))
    totals = [row.sum if row is not None else None for row, *_ in found]
    _charted(columns, [*totals, None])


def _labels(by: str, rows: "list[tuple[UsagePeriod | None, str]]") -> list[Column]:
    """What each row is: a row of a report, or a model beneath it."""

    def cells(of: "Callable[[UsagePeriod], str]", last: str = "") -> list[str]:
        return [*(of(row) if row else f"└ {model or 'unknown model'}" if last else "" for row, model in rows), last]

    if by == "session":
        first = Column(by, cells(lambda row: row.key[:8], "total"), right=False, least=8)
        least = min(_TITLE, max(16, terminal_width() * 2 // 5))
        return [first, Column("title", cells(lambda row: row.title), right=False, least=least, rank=3)]
    none = {"subagent": "main conversation", "model": "unknown model", "project": "no project"}.get(by, "no time")
    first = Column(by, cells(lambda row: row.key or none, "total"), right=False, least=17, tail=by == "project")
    if by == "subagent":
        session = Column("session", cells(lambda row: row.session[:8]), right=False, rank=5)
        return [first, session, Column("title", cells(lambda row: row.title), right=False, least=12, rank=7)]
    return [first]


def _figures(sums: list[UsageSum]) -> list[Column]:
    def tokens(name: str, rank: int, of: Callable[[UsageSum], int], *, bound: bool = False) -> Column:
        found = [("≥" if bound and total.open else "", of(total)) for total in sums]
        exact, short = [f"{mark}{one:,}" for mark, one in found], [mark + human.tokens(one) for mark, one in found]
        return Column(name, exact, short, rank=rank)

    return [
        tokens("input", 4, lambda total: total.input),
        tokens("output", 2, lambda total: total.output, bound=True),
        tokens("cache write", 6, lambda total: total.cache_write),
        tokens("cache read", 5, lambda total: total.cache_read),
        tokens("tokens", 1, lambda total: total.total),
        Column("cost", [spent_text(total) for total in sums]),
    ]


def _models(every: tuple[ModelUsage, ...], cells: Iterable[tuple[ModelUsage, ...]]) -> Column:
    """The models of each row by their short names: without date, and without the family that all share."""
    families = {one.model.partition("-")[0] for one in every}
    family = len(families.pop()) + 1 if len(every) > 1 and len(families) == 1 else 0

    def short(models: tuple[ModelUsage, ...]) -> str:
        return ", ".join(dict.fromkeys(_DATED.sub("", one.model[family:]) or "unknown model" for one in models))

    return Column("models", [*map(short, cells), ""], right=False, least=12, rank=8)


def _charted(columns: list[Column], totals: list[UsageSum | None]) -> None:
    """Print the columns with a total at their end, and bars where there is room for them."""
    values = [total.cost if total else 0 for total in totals]
    if not any(values):
        values = [total.total if total else 0 for total in totals]
    left = terminal_width() - table_room(columns) - 2
    if left >= _SHORTEST_BAR and sum(1 for value in values if value) > 1:
        cells = output.bar_texts(values, min(max(left // 2, _SHORTEST_BAR), _LONGEST_BAR))
        place = next(number for number, column in enumerate(columns) if column.name == "cost") + 1
        columns.insert(place, Column("", cells, right=False, rank=9))
    print_table(columns, total=True)


def blocks_table(report: "FiveHourBlocks", rows: "Sequence[FiveHourBlock]", wanted: "UsageFilter") -> None:
    sums = [row.sum for row in rows] + [report.sum]
    starts = [*(f"{local_time(row.start, wanted.zone):%Y-%m-%d %H:%M}" for row in rows), "total"]
    lengths, gaps = list[str](), [*(row.gap for row in rows), False]
    for row in rows:
        length = human.duration(row.end - row.start if row.gap else (row.last or 0) - (row.first or 0))
        lengths.append(f"gap of {length}" if row.gap else "active" if row.active else length)
    lengths.append("")

    def blanked(cells: Sequence[str]) -> list[str]:
        return ["" if gap else cell for cell, gap in zip(cells, gaps, strict=True)]

    figures = [
        column._replace(cells=blanked(column.cells), short=blanked(column.short) if column.short else ())
        for column in _figures(sums)
    ]
    models = _models(report.models, (row.models for row in rows))
    columns = [Column("block", starts, right=False), Column("", lengths, right=False, rank=3), *figures, models]
    _charted(columns, [*(row.sum for row in rows), None])


def running_block(report: "FiveHourBlocks") -> list[str]:
    """Pace and projection of the block that has not ended."""
    floor, pace = next(((block.sum.floor, block.pace) for block in report.rows if block.pace), (False, None))
    if pace is None:
        return []
    hourly, spent = (format_money(cost, floor=floor) for cost in (pace.cost_an_hour, pace.cost))
    speed = f"{human.tokens(round(pace.tokens_a_minute))} tokens a minute, {hourly} an hour"
    leads = f"{human.tokens(pace.tokens)} tokens, {spent}"
    return [f"Active block: {speed}; {human.duration(pace.minutes_left * 60)} left; at this pace {leads} by its end."]


def tools_table(found: "Sequence[ToolStats]", every: "Sequence[ToolStats]") -> None:
    from unspool.store.index.stats import ToolStats

    counts = ("calls", "errors", "refused", "interrupted", "unanswered")
    total = ToolStats("total", sessions=0, **{name: sum(getattr(tool, name) for tool in every) for name in counts})
    columns = [
        Column("tool", [*(tool.name for tool in found), total.name], right=False, least=12),
        Column("calls", [f"{tool.calls:,}" for tool in [*found, total]]),
        Column("failed", [f"{tool.errors:,}" for tool in [*found, total]]),
        Column("failing", [f"{tool.failing:.1%}" for tool in [*found, total]], rank=1),
        *other_ends([*found, total]),
        Column("sessions", [*(f"{tool.sessions:,}" for tool in found), ""], rank=2),
        Column("", [*output.bar_texts([tool.calls for tool in found], _LONGEST_BAR), ""], right=False, rank=3),
    ]
    print_table(columns, total=True)


def other_ends(tools: "Sequence[ToolStats]") -> list[Column]:
    """Columns of the calls that were refused, interrupted and left without a result, where there are any."""
    names = {"refused": "refused", "interrupted": "interrupted", "unanswered": "no result"}
    counts = {heading: [getattr(tool, name) for tool in tools] for name, heading in names.items()}
    return [Column(heading, [f"{one:,}" for one in some], rank=2) for heading, some in counts.items() if any(some)]


def usage_notes_lines(total: UsageSum, models: tuple[ModelUsage, ...], untimed: int) -> list[str]:
    """What the figures leave open, in sentences."""
    return billing.usage_notes(total, models, untimed, safe_text)


def usage_figures(total: UsageSum) -> dict[str, Any]:
    """A sum as data: tokens, and dollars in every digit."""
    data: dict[str, Any] = msgspec.structs.asdict(total)
    cost, missing, floor = exact_dollars(data.pop("cost")), data.pop("unpriced"), data.pop("open")
    return {**data, "tokens": total.total, "cost": cost, "unpriced": missing, "not_final": floor}


def usage_by_model(models: Iterable[ModelUsage]) -> list[dict[str, Any]]:
    return [{"model": one.model, **usage_figures(one.sum)} for one in models]


def usage_document(
    rows: list[dict[str, Any]], report: PeriodReport | FiveHourBlocks, by: str, wanted: UsageFilter, zone: str
) -> dict[str, Any]:
    query = {"by": by, "zone": zone, "since": usage_time(wanted.since), "until": usage_time(wanted.until)}
    models = {"models": usage_by_model(report.models), "unpriced_models": unpriced_models(report.models)}
    return {**query, "rows": rows, "total": {**usage_figures(report.sum), **models}, "untimed": report.untimed}


def usage_time(seconds: float | None) -> str | None:
    return None if seconds is None else written_time(seconds)


def row_data(by: str, row: UsagePeriod) -> dict[str, Any]:
    data: dict[str, Any] = {by: row.key or None}
    names = {"title": row.title, "project": row.project} if by in ("session", "subagent") else {}
    if by == "subagent":
        names["session"] = row.session
    times = {"first": usage_time(row.first), "last": usage_time(row.last)}
    return {**data, **names, **times, **usage_figures(row.sum), "models": usage_by_model(row.models)}


def block_data(block: FiveHourBlock) -> dict[str, Any]:
    data: dict[str, Any] = {"start": usage_time(block.start), "end": usage_time(block.end)}
    data |= {"gap": block.gap, "active": block.active, "first": usage_time(block.first), "last": usage_time(block.last)}
    if block.pace is not None:
        costs = {name: exact_dollars(getattr(block.pace, name)) for name in ("cost_an_hour", "cost")}
        data["pace"] = {**msgspec.structs.asdict(block.pace), **costs}
    return {**data, **usage_figures(block.sum), "models": usage_by_model(block.models)}


def tool_data(tool: ToolStats) -> dict[str, Any]:
    counts = {"tool": tool.name, "calls": tool.calls, "errors": tool.errors, "sessions": tool.sessions}
    return {**counts, "refused": tool.refused, "interrupted": tool.interrupted, "unanswered": tool.unanswered}


def usage_as_csv(rows: Sequence[dict[str, Any]], *, breakdown: bool) -> str:
    """The rows as CSV, with their heads; by model where asked for. No cell is a formula."""
    flat: list[dict[str, Any]] = []
    for row in rows:
        line = {name: value for name, value in row.items() if name not in ("models", "pace")}
        models = row.get("models", ())
        if breakdown and models:
            flat += [{**line, **one} for one in models]
        elif breakdown or "models" not in row:
            flat.append(line)
        else:
            flat.append({**line, "models": "; ".join(one["model"] for one in models)})
    heads = list(dict.fromkeys(name for line in flat for name in line))
    return billing.as_csv(heads, ([line.get(name, "") for name in heads] for line in flat))
