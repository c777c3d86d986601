"""Tokens and money: /api/usage and /api/stats."""

from typing import Any, cast

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
from unspool.store.index.stats import DayStreak, FilledKind, IndexStats, StatTotals, ToolStats, TouchedFile, index_stats
from unspool.store.index.usage import UsagePeriod, usage_report

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
    wanted = _wanted(since, until, project, more["tz"], more["model"])
    with request.app.state.context.index() as index:
        report = usage_report(index, cast("By", by), wanted)
    rows = tuple(_row(row) for row in report.rows)
    return UsageReport(by, rows, _figures(report.sum), _models(report.models), report.untimed)


def _stats(request: Request, since: str, until: str, project: str, tz: str) -> Statistics:
    with request.app.state.context.index() as index:
        return _statistics(index_stats(index, _wanted(since, until, project, tz, "")))


def _wanted(first: str, last: str, project: str, tz: str, model: str) -> UsageFilter:
    where = parse_zone(tz)
    return UsageFilter(
        since=parse_since(first, where), until=parse_until(last, where), project=project, model=model, zone=where
    )


def _statistics(found: IndexStats) -> Statistics:
    return Statistics(
        found.totals,
        _figures(found.sum),
        _models(found.models),
        found.tools,
        tuple(_row(row) for row in found.projects),
        tuple(_row(row) for row in found.days),
        found.hours,
        tuple(_notable(one) for one in found.longest),
        tuple(_notable(one) for one in found.dearest),
        found.files,
        found.streak,
        tuple(
            Rewritten(one.cause, one.requests, one.tokens, exact_dollars(one.cost), one.unpriced)
            for one in found.wasted
        ),
        found.filled,
        found.filling,
    )


def _figures(total: UsageSum) -> Used:
    return Used(
        total.requests,
        total.total,
        total.input,
        total.output,
        total.cache_read,
        total.cache_write,
        exact_dollars(total.cost),
        total.unpriced,
        total.open,
    )


def _models(models: tuple[ModelUsage, ...]) -> tuple[ModelUsed, ...]:
    return tuple(ModelUsed(one.model, _figures(one.sum)) for one in models)


def _row(row: UsagePeriod) -> UsageRow:
    return UsageRow(
        row.key, row.title, row.project, row.session, format_time(row.first), format_time(row.last), _figures(row.sum),
        _models(row.models),
    )  # fmt: skip


def _notable(one: Any) -> Notable:
    times = format_time(one.started), format_time(one.ended), one.seconds
    return Notable(one.key, one.title, one.project, *times, one.turns, exact_dollars(one.cost))


STATS_ENDPOINTS = (
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
