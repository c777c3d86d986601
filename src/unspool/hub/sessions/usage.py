"""What was used and what it cost, over what a person may see, each request once.

A request that several sessions hold, because histories are copied, counts once among those that the person may see: in
the one of them that began first, with the larger of each figure. So two people who may see different projects may be
told different owners of the same request, and nobody is told of a session that they may not see. What has no known
price is counted apart and never as nothing.
"""

from collections.abc import Callable
from datetime import UTC, date, timedelta
from typing import Any, Literal, cast, get_args

import msgspec

from unspool.hub.errors import BadRequest
from unspool.hub.people.users import Person
from unspool.hub.sessions.listing import filter_conditions, visible_to
from unspool.hub.store.database import Database
from unspool.prices.pico import MOST
from unspool.store.index.billing import exact_dollars
from unspool.store.index.conditions import SqlCondition, all_of
from unspool.store.index.filters import sessions_holding
from unspool.store.index.query import Filter
from unspool.store.index.times import local_time, parse_moment

By = Literal["person", "project", "model", "day", "week", "month"]
_COLUMNS = ("input", "output", "cache_read", "cache_write", "cost", "final")
_KEYS = {"person": "session.person", "project": "session.project", "model": "request.model"}
_PART = 10**9
"""Costs are added up in two parts: whole, a few made-up ones would be more than a database counts."""
_SUMS = (
    f"coalesce(sum(cost / {_PART}), 0), coalesce(sum(cost % {_PART}), 0),"
    " count(*), sum(input), sum(output), sum(cache_read), sum(cache_write), 0,"
    " sum(CASE WHEN cost IS NULL THEN 1 ELSE 0 END), sum(1 - final)"
)
_FIRST = (
    "row_number() OVER (PARTITION BY request.identity ORDER BY coalesce(session.started, 9000000000000000),"
    " session.key, session.id, request.number) AS place"
)


class HubSum(msgspec.Struct, frozen=True):
    """Figures of any number of requests."""

    requests: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    picodollars: int = 0
    """Of the requests that have a price."""
    unpriced: int = 0
    open: int = 0
    """Requests whose log never held the final figure: what they say is a lower bound."""

    def __add__(self, other: "HubSum") -> "HubSum":
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return HubSum(*(min(MOST, one + another) for one, another in pairs))

    @property
    def dollars(self) -> str:
        return exact_dollars(self.picodollars)


class UsageLine(msgspec.Struct, frozen=True):
    """One line of a report."""

    key: str
    """The id of a person or project, a model, the first day of a period; empty where no time is known."""
    name: str
    sum: HubSum
    dollars: str


class HubUsage(msgspec.Struct, frozen=True):
    """Lines, and all of them together."""

    by: By
    lines: tuple[UsageLine, ...]
    """Periods in order; all else with the dearest first."""
    sum: HubSum
    dollars: str


def usage(db: Database, person: Person, by: str, filters: list[Filter]) -> HubUsage:
    """What was used by whom, where, with what or when."""
    if by not in get_args(By):
        raise BadRequest(f"`by` is one of {', '.join(get_args(By))}.")
    sessions, days = _asked(db, filters)
    where = all_of([visible_to(db, person), *sessions, *days])
    place = _PERIODS.get(by, str)
    sums: dict[str, HubSum] = {}
    for key, whole, rest, *figures in (*_plain(db, by, where), *_shared(db, by, where)):
        cost = HubSum(picodollars=int(whole) * _PART + int(rest))
        sums[place(key)] = sums.get(place(key), HubSum()) + HubSum(*map(int, figures)) + cost
    names = _names(db, by, list(sums))
    lines = [UsageLine(key, names.get(key, key), one, one.dollars) for key, one in sums.items()]
    lines.sort(key=_earliest if by in _PERIODS else _dearest)
    total = sum(sums.values(), HubSum())
    return HubUsage(cast("By", by), tuple(lines), total, total.dollars)


def _earliest(line: UsageLine) -> tuple[int, int, str]:
    return int(not line.key), 0, line.key


def _dearest(line: UsageLine) -> tuple[int, int, str]:
    return -line.sum.picodollars, -line.sum.output, line.key


def _asked(db: Database, filters: list[Filter]) -> tuple[list[SqlCondition], list[SqlCondition]]:
    """What is asked of sessions, and of the days of requests."""
    days = [
        SqlCondition(f"request.day {sign} ? AND request.day <> ''", (_day(one.value),))
        for one in filters
        for name, sign in (("since", ">="), ("until", "<"))
        if one.name == name
    ]
    models = [
        SqlCondition("lower(request.model) LIKE ? ESCAPE '\\'", (sessions_holding(one.value.lower()),))
        for one in filters
        if one.name == "model"
    ]
    rest = [one for one in filters if one.name not in ("since", "until", "model")]
    return filter_conditions(db, rest)[0], [*days, *models]


def _day(value: str) -> str:
    found = parse_moment(value.strip())
    if found is None:
        raise BadRequest(f"“{value}” is neither a date (2026-01-31) nor an age (12h, 3d, 2w, 6m, 1y).")
    return local_time(found, UTC).date().isoformat()


def _plain(db: Database, by: str, where: SqlCondition) -> list[Any]:
    """Requests that only one session holds, added up."""
    columns = ", ".join(f"request.{name} AS {name}" for name in _COLUMNS)
    return _added(db, by, columns, SqlCondition(f"request.shared = 0 AND {where.sql}", where.values))


def _shared(db: Database, by: str, where: SqlCondition) -> list[Any]:
    """Requests that several sessions hold, each once among those that are seen, added up."""
    largest = (f"max(request.{name}) OVER (PARTITION BY request.identity) AS {name}" for name in _COLUMNS)
    columns = ", ".join([*largest, _FIRST])
    return _added(db, by, columns, SqlCondition(f"request.shared = 1 AND {where.sql}", where.values), "WHERE place = 1")


def _added(db: Database, by: str, columns: str, where: SqlCondition, only: str = "") -> list[Any]:
    """Requests added up by what they are told by."""
    key = _KEYS.get(by, "request.day")
    inner = f"SELECT {key} AS named, {columns} FROM request JOIN session ON session.id = request.session"  # noqa: S608
    sql = f"SELECT named, {_SUMS} FROM ({inner} WHERE {where.sql}) AS every {only} GROUP BY named"  # noqa: S608
    return db.rows(sql, *where.values)


def _names(db: Database, by: str, keys: list[str]) -> dict[str, str]:
    if by not in ("person", "project"):
        return {}
    return dict(db.rows(f"SELECT id, name FROM {by}"))  # noqa: S608  one of two names


def _week(day: str) -> str:
    if not day:
        return ""
    found = date.fromisoformat(day)
    return (found - timedelta(days=found.weekday())).isoformat()


_PERIODS: dict[str, Callable[[str], str]] = {"day": lambda day: day, "week": _week, "month": lambda day: day[:7]}
