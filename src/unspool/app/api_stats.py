"""Tokens and money: /api/usage and /api/stats."""

from typing import Any, TypeVar, cast

import msgspec
from starlette.requests import Request

from unspool.app.api_endpoint import (
    SINCE,
    UNTIL,
    ZONE,
    ApiEndpoint,
    Parameter,
    format_time,
    parse_since,
    parse_until,
    parse_zone,
)
from unspool.store.index.billing import By, ModelUsage, UsageFilter, UsageSum, exact_dollars
from unspool.store.index.stats import DayStreak, FilledKind, StatNotes, StatTotals, ToolStats, TouchedFile, index_stats
from unspool.store.index.usage import UsagePeriod, usage_report

T = TypeVar("T")
USAGE_GROUPS = ("day", "week", "month", "session", "project", "model", "subagent")
PROJECT = Parameter("project", "Only projects whose path holds this text.", default="")


class Used(msgspec.Struct, frozen=True):
    """What requests used, each counted once."""

    requests: int
    tokens: int
    """Of every kind."""
    input: int
    output: int
    cache_read: int
    cache_write: int
    cost: str
    """Dollars at list prices, every digit."""
    unpriced: int
    """Requests whose price is not known; the cost is a lower bound where there are any."""
    not_final: int
    """Requests whose log never held the final figure."""


class ModelUsed(msgspec.Struct, frozen=True):
    model: str
    figures: Used


class UsageRow(msgspec.Struct, frozen=True):
    key: str
    """What it is a row of: a date, an id, a project's path, a model."""
    title: str
    project: str
    session: str
    """The session of a subagent."""
    first: str | None
    last: str | None
    figures: Used
    models: tuple[ModelUsed, ...]


class UsageReport(msgspec.Struct, frozen=True):
    by: str
    rows: tuple[UsageRow, ...]
    total: Used
    models: tuple[ModelUsed, ...]
    untimed: int
    """Requests without a time, which a question about some time cannot take in."""


class Notable(msgspec.Struct, frozen=True):
    """A session among the longest or dearest."""

    key: str
    title: str
    project: str
    started: str | None
    ended: str | None
    seconds: float
    turns: int
    cost: str


class Rewritten(msgspec.Struct, frozen=True):
    """What one cause made requests write to the cache again."""

    cause: str
    requests: int
    tokens: int
    cost: str
    """Dollars more than reading the same would have cost."""
    unpriced: int
    """Requests of these whose price is not known."""


class Statistics(msgspec.Struct, frozen=True):
    """What all sessions add up to."""

    totals: StatTotals
    usage: Used
    models: tuple[ModelUsed, ...]
    tools: tuple[ToolStats, ...]
    projects: tuple[UsageRow, ...]
    busiest_days: tuple[UsageRow, ...]
    hours: tuple[tuple[int, ...], ...]
    """Requests by day of the week, Monday first, and hour of the day."""
    longest: tuple[Notable, ...]
    dearest: tuple[Notable, ...]
    files: tuple[TouchedFile, ...]
    streak: DayStreak
    wasted: tuple[Rewritten, ...]
    """What was written to the cache although it had been there, by cause."""
    filled: tuple[FilledKind, ...]
    """Tokens put into windows, estimated, by kind."""
    filling_tools: tuple[FilledKind, ...]
    """The same by tool."""


def _usage(request: Request, by: str, since: str, until: str, project: str, **more: Any) -> UsageReport:
    wanted = _filter(since, until, project, more["tz"], more["model"])
    with request.app.state.context.index() as index:
        report = usage_report(index, cast("By", by), wanted)
    rows = tuple(_row(row) for row in report.rows)
    return UsageReport(by, rows, _figures(report.sum), _models(report.models), report.untimed)


def _stats(request: Request, since: str, until: str, project: str, tz: str) -> Statistics:
    with request.app.state.context.index() as index:
        found = index_stats(index, _filter(since, until, project, tz))
    return Statistics(
        totals=found.totals,
        usage=_figures(found.sum),
        models=_models(found.models),
        tools=found.tools,
        projects=tuple(map(_row, found.projects)),
        busiest_days=tuple(map(_row, found.days)),
        hours=found.hours,
        longest=tuple(map(_notable, found.longest)),
        dearest=tuple(map(_notable, found.dearest)),
        files=found.files,
        streak=found.streak,
        wasted=tuple(_convert(Rewritten, one, cost=exact_dollars(one.cost)) for one in found.wasted),
        filled=found.filled,
        filling_tools=found.filling,
    )


def _filter(first: str, last: str, project: str, tz: str, model: str = "") -> UsageFilter:
    zone = parse_zone(tz)
    since, until = parse_since(first, zone), parse_until(last, zone)
    return UsageFilter(since=since, until=until, project=project, model=model, zone=zone)


def _convert(kind: type[T], found: msgspec.Struct, **others: Any) -> T:
    """What the index found as the API gives it: the fields of the same name, and others."""
    return msgspec.convert({**msgspec.structs.asdict(found), **others}, kind)


def _figures(total: UsageSum) -> Used:
    cost = exact_dollars(total.cost)
    return _convert(Used, total, tokens=total.total, cost=cost, not_final=total.open)


def _models(models: tuple[ModelUsage, ...]) -> tuple[ModelUsed, ...]:
    return tuple(ModelUsed(one.model, _figures(one.sum)) for one in models)


def _row(row: UsagePeriod) -> UsageRow:
    times = {"first": format_time(row.first), "last": format_time(row.last)}
    return _convert(UsageRow, row, **times, figures=_figures(row.sum), models=_models(row.models))


def _notable(one: StatNotes) -> Notable:
    times = {"started": format_time(one.started), "ended": format_time(one.ended), "seconds": one.seconds}
    return _convert(Notable, one, **times, cost=exact_dollars(one.cost))


ENDPOINTS = (
    ApiEndpoint(
        "/api/usage",
        "Tokens and money, each request counted once.",
        _usage,
        UsageReport,
        (
            Parameter("by", "What a row is of.", default="day", choices=USAGE_GROUPS),
            SINCE,
            UNTIL,
            PROJECT,
            Parameter("model", "Only models whose name holds this text.", default=""),
            ZONE,
        ),
    ),
    ApiEndpoint(
        "/api/stats",
        "What all sessions add up to: models, tools, projects, hours, files.",
        _stats,
        Statistics,
        (SINCE, UNTIL, PROJECT, ZONE),
    ),
)
