"""Tokens and money by day, week, month, session, project, model or subagent."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from unspool.store.index import billing
from unspool.store.index.billing import QUARTER, By, HasDatabase, ModelUsage, SumAdder, UsageFilter, UsageSum
from unspool.store.index.conditions import SqlCondition
from unspool.store.index.times import day_start, first_day, local_time, period_name

PERIODS = ("day", "week", "month")


class UsagePeriod(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a report."""

    key: str
    """What it is: a date, a month, a session's or subagent's id, a project's path, a model."""
    sum: UsageSum
    models: tuple[ModelUsage, ...] = ()
    """The same by model, the dearest first."""
    title: str = ""
    project: str = ""
    session: str = ""
    """The session of a subagent."""
    first: float | None = None
    """When a period begins; else the first request."""
    last: float | None = None
    """The last request."""


class PeriodReport(msgspec.Struct, frozen=True):
    """Rows, and all of them together."""

    by: By
    rows: tuple[UsagePeriod, ...]
    """Periods in order of time, what has no time last; all else with the dearest first."""
    sum: UsageSum
    models: tuple[ModelUsage, ...]
    untimed: int = 0
    """Requests without a time that a question about some time could not take in."""


_SHOWN = "(SELECT coalesce(version_of, id) FROM session WHERE id = request.session)"
_KEYS = {"session": _SHOWN, "project": "session", "model": "terms", "subagent": "agent"}
"""The column that requests are added up by; of periods, quarters of an hour."""
_NAMES = {
    "session": (("key", "title", "project"), "SELECT id, key, title, project FROM session"),
    "subagent": (
        ("key", "session", "title", "project"),
        "SELECT log.id, log.agent, session.key, session.title, session.project"
        " FROM log JOIN session ON session.id = log.session WHERE log.agent <> ''",
    ),
}
"""The fields of a row that are known by what requests are added up by, and the query that knows them."""


def usage_report(index: HasDatabase, by: By = "day", wanted: UsageFilter = billing.ALL_USAGE) -> PeriodReport:
    """What was used, exact across copies: each request counts once, in the session that began first."""
    groups: dict[Any, SumAdder] = {}
    everything, untimed = SumAdder(), 0
    models = billing.models_by_terms(index.db)
    group_of = _groups(index, by, wanted, models)
    for key, terms, timeless, *figures, first, last in _rows(index, by, wanted):
        if timeless and wanted.timed:
            untimed += figures[0]
            continue
        model = models.get(terms, "")
        groups.setdefault(group_of(key), SumAdder()).add(model, figures, first, last)
        everything.add(model, figures)
    rows = tuple(_finished(index, by, groups, wanted))
    return PeriodReport(by, rows, everything.sum(), everything.models(), untimed)


def _rows(index: HasDatabase, by: By, wanted: UsageFilter) -> list[tuple[Any, ...]]:
    """Key, terms, whether without time, the figures, the first and the last time."""
    where = billing.fitting_requests(index.db, wanted)
    if wanted.timed:
        some = billing.within_span(wanted)
        where &= SqlCondition(f"({some.sql}) OR time IS NULL", some.values)
    key = _KEYS.get(by, f"CAST(FLOOR(time / {QUARTER}.0) AS INTEGER)")
    return billing.add_sums(index.db, (key, "terms", "time IS NULL"), where, ", MIN(time), MAX(time)")


def _groups(index: HasDatabase, by: By, wanted: UsageFilter, models: dict[int, str]) -> Callable[[Any], Any]:
    """What the database's key means: the row that it belongs to."""

    def period(quarter: int | None) -> Any:
        return (
            None if quarter is None else first_day(by, local_time(quarter * QUARTER, wanted.zone).date(), wanted.week)
        )

    if by in PERIODS:
        return period
    if by == "project":
        projects = dict(index.db.execute("SELECT id, project FROM session"))
        return lambda session: projects.get(session, "")
    return (lambda terms: models.get(terms, "")) if by == "model" else lambda key: key


def _finished(index: HasDatabase, by: By, groups: dict[Any, SumAdder], wanted: UsageFilter) -> Iterator[UsagePeriod]:
    if by in PERIODS:
        for day in sorted(day for day in groups if day is not None):
            yield _row(groups[day], period_name(by, day), first=day_start(day, wanted.zone))
        if None in groups:
            yield _row(groups[None], "")
        return
    fields, query = _NAMES.get(by, ((), ""))
    known = {number: names for number, *names in index.db.execute(query)} if query else {}
    rows = (
        _row(group, **dict(zip(fields, known.get(key, [""] * len(fields)), strict=True)) or {"key": str(key)})
        for key, group in groups.items()
    )
    yield from sorted(rows, key=lambda row: (-row.sum.cost, -row.sum.total, row.key))


def _row(group: SumAdder, key: str, **more: Any) -> UsagePeriod:
    return UsagePeriod(key, group.sum(), group.models(), **{"first": group.first, "last": group.last, **more})
