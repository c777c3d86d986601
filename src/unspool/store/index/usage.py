"""Tokens and money by day, week, month, session, project, model or subagent."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from unspool.store.index.billing import (
    QUARTER,
    By,
    HasDatabase,
    ModelUsage,
    SumAdder,
    UsageCondition,
    UsageFilter,
    UsageSum,
    add_sums,
    fitting_requests,
    sums_by_model,
    within_span,
)
from unspool.store.index.times import day_start, first_day, local_time, period_name

if TYPE_CHECKING:
    import apsw


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


class _Group:
    """A row in the making."""

    def __init__(self) -> None:
        self.adding = SumAdder()
        self.first: float | None = None
        self.last: float | None = None

    def take(self, model: str, figures: tuple[int, ...], first: float | None, last: float | None) -> None:
        self.adding.add(model, figures)
        if first is not None and (self.first is None or first < self.first):
            self.first = first
        if last is not None and (self.last is None or last > self.last):
            self.last = last

    def row(self, key: str, **more: Any) -> UsagePeriod:
        return UsagePeriod(
            key, self.adding.sum(), self.adding.models(), **{"first": self.first, "last": self.last, **more}
        )


_KEYS: dict[str, str] = {
    "session": "session",
    "project": "session",
    "model": "terms",
    "subagent": "agent",
}


def usage_report(index: HasDatabase, by: By = "day", wanted: UsageFilter | None = None) -> PeriodReport:
    """What was used, exact across copies: each request counts once, in the session that began first."""
    wanted = wanted or UsageFilter()
    groups: dict[Any, _Group] = {}
    everything, untimed = SumAdder(), 0
    place = _place(index.db, by, wanted)
    named = sums_by_model(index.db)
    for key, terms, timeless, *rest in _rows(index.db, by, wanted):
        if timeless and wanted.timed:
            untimed += rest[0]
            continue
        *figures, first, last = rest
        model = named.get(terms, "")
        groups.setdefault(place(key), _Group()).take(model, tuple(figures), first, last)
        everything.add(model, figures)
    rows = tuple(_finished(index.db, by, groups, wanted))
    return PeriodReport(by, rows, everything.sum(), everything.models(), untimed)


def _rows(db: "apsw.Connection", by: By, wanted: UsageFilter) -> list[tuple[Any, ...]]:
    """Key, terms, whether without time, the figures, the first and the last time."""
    where = fitting_requests(db, wanted)
    if wanted.timed:
        some = within_span(wanted)
        where &= UsageCondition("((" + some.sql + ") OR time IS NULL)", some.values)
    key = _KEYS.get(by, f"CAST(FLOOR(time / {QUARTER}.0) AS INTEGER)")
    return add_sums(db, (f"{key} AS key", "terms AS said", "time IS NULL"), where, ", MIN(time), MAX(time)")


def _place(db: "apsw.Connection", by: By, wanted: UsageFilter) -> Callable[[Any], Any]:
    """What the database's key means: the row that it belongs to."""
    if by in PERIODS:
        return lambda quarter: None if quarter is None else _period(quarter * QUARTER, by, wanted)
    if by == "project":
        projects = dict(db.execute("SELECT id, project FROM session"))
        return lambda session: projects.get(session, "")
    if by == "model":
        named = sums_by_model(db)
        return lambda terms: named.get(terms, "")
    return lambda key: key


def _period(seconds: float, by: By, wanted: UsageFilter) -> Any:
    return first_day(by, local_time(seconds, wanted.zone).date(), wanted.week)


def _finished(db: "apsw.Connection", by: By, groups: dict[Any, _Group], wanted: UsageFilter) -> Iterator[UsagePeriod]:
    if by in PERIODS:
        for day in sorted(day for day in groups if day is not None):
            yield groups[day].row(period_name(by, day), first=day_start(day, wanted.zone))
        if None in groups:
            yield groups[None].row("")
        return
    described = _described(db, by)
    rows = (group.row(**described(key)) for key, group in groups.items())
    yield from sorted(rows, key=lambda row: (-row.sum.cost, -row.sum.total, row.key))


def _described(db: "apsw.Connection", by: By) -> Callable[[Any], dict[str, str]]:
    """The names of a row, from its key."""
    if by == "session":
        known = {one: (key, title, project) for one, key, title, project in db.execute(_SESSIONS)}
        return lambda one: dict(zip(("key", "title", "project"), known.get(one, ("", "", "")), strict=True))
    if by == "subagent":
        agents = {one: (agent, key, title, project) for one, agent, key, title, project in db.execute(_AGENTS)}
        unknown = ("", "", "", "")
        return lambda one: dict(zip(("key", "session", "title", "project"), agents.get(one, unknown), strict=True))
    return lambda key: {"key": str(key)}


_SESSIONS = "SELECT id, key, title, project FROM session"
_AGENTS = """SELECT log.id, log.agent, session.key, session.title, session.project
FROM log JOIN session ON session.id = log.session WHERE log.agent <> ''"""
