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
from unspool.hub.sessions.listing import HISTORY_ORDER, filter_conditions, parse_time, visible_to
from unspool.hub.store.blobs import DAY
from unspool.hub.store.database import Database
from unspool.prices import MOST
from unspool.store.index.billing import exact_dollars, format_priced
from unspool.store.index.conditions import SqlCondition, all_of
from unspool.store.index.filters import sessions_holding
from unspool.store.index.query import Filter
from unspool.store.index.times import local_time

By = Literal["person", "project", "model", "day", "week", "month"]
_COLUMNS = ("input", "output", "cache_read", "cache_write", "cost", "final")
_KEYS = {"person": "session.person", "project": "session.project", "model": "request.model"}
_BEGAN = "coalesce(session.started, session.finished)"
_SIGNS = {"since": ">=", "until": "<"}
_PART = 10**9
"""Costs are added up in two parts: whole, a few made-up ones would be more than a database counts."""
_SUMS = (
    f"coalesce(sum(cost / {_PART}), 0), coalesce(sum(cost % {_PART}), 0),"
    " count(*), sum(input), sum(output), sum(cache_read), sum(cache_write), 0,"
    " sum(CASE WHEN cost IS NULL THEN 1 ELSE 0 END), sum(1 - final)"
)
_ENDED = "session.finished >= ?"
_LATE = 2 * DAY
"""Milliseconds: subagents may go on for a while after the session's own last line."""
_FIRST = (
    "row_number() OVER (PARTITION BY request.identity ORDER BY"
    f" {', '.join(column.format('session') for column in HISTORY_ORDER)}, request.number) AS place"
)


class HubSum(msgspec.Struct, frozen=True):
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

    @property
    def tokens(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write

    def __add__(self, other: "HubSum") -> "HubSum":
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return HubSum(*(min(MOST, one + another) for one, another in pairs))

    @property
    def dollars(self) -> str:
        return exact_dollars(self.picodollars)

    @property
    def spent(self) -> str:
        return format_priced(self.picodollars, unpriced=self.unpriced, open=self.open)


class UsageLine(msgspec.Struct, frozen=True):
    key: str
    """The id of a person or project, a model, the first day of a period; empty where no time is known."""
    name: str
    sum: HubSum
    dollars: str


class HubUsage(msgspec.Struct, frozen=True):
    by: By
    lines: tuple[UsageLine, ...]
    """Periods in order; all else with the dearest first."""
    sum: HubSum
    dollars: str


def usage(db: Database, person: Person, by: str, filters: list[Filter]) -> HubUsage:
    if by not in get_args(By):
        raise BadRequest(f"`by` is one of {', '.join(get_args(By))}.")
    where = all_of([visible_to(db, person), *_conditions(db, filters)])
    place = PERIODS.get(by, str)
    sums: dict[str, HubSum] = {}
    largest = (f"max(request.{name}) OVER (PARTITION BY request.identity) AS {name}" for name in _COLUMNS)
    plain = _added(db, by, [f"request.{name} AS {name}" for name in _COLUMNS], where, "request.shared = 0")
    shared = _added(db, by, [*largest, _FIRST], where, "request.shared = 1", "WHERE place = 1")
    for key, whole, rest, *figures in (*plain, *shared):
        cost = HubSum(picodollars=int(whole) * _PART + int(rest))
        sums[place(key)] = sums.get(place(key), HubSum()) + HubSum(*map(int, figures)) + cost
    names: dict[str, str] = dict(db.rows(f"SELECT id, name FROM {by}")) if by in ("person", "project") else {}  # noqa: S608
    lines = [UsageLine(key, names.get(key, key), one, one.dollars) for key, one in sums.items()]
    if by in PERIODS:
        lines.sort(key=lambda line: (not line.key, line.key))
    else:
        lines.sort(key=lambda line: (-line.sum.picodollars, -line.sum.output, line.key))
    total = sum(sums.values(), HubSum())
    return HubUsage(cast("By", by), tuple(lines), total, total.dollars)


def sessions_begun(db: Database, person: Person, by: str, filters: list[Filter]) -> dict[str, int]:
    """How many sessions that a person may see began in each day, week or month; not told of those without a time."""
    rest = [one for one in filters if one.name not in _SIGNS]
    conditions = [visible_to(db, person), *filter_conditions(db, rest).sessions]
    for one in filters:
        if one.name in _SIGNS:
            sign, time = _SIGNS[one.name], round(parse_time(one.value) * 1000)
            conditions.append(SqlCondition(f"{_BEGAN} {sign} ?", (time,)))
            if one.name == "since":
                conditions.append(SqlCondition("session.finished >= ?", (time,)))
    where = all_of(conditions)
    sql = f"SELECT {_BEGAN} / {DAY}, count(*) FROM session WHERE {where.sql} AND {_BEGAN} > 0 GROUP BY 1"  # noqa: S608
    found: dict[str, int] = {}
    for number, count in db.rows(sql, *where.values):
        key = PERIODS[by](local_time(int(number) * DAY / 1000, UTC).date().isoformat())
        found[key] = found.get(key, 0) + int(count)
    return found


def _conditions(db: Database, filters: list[Filter]) -> list[SqlCondition]:
    """What filters ask of sessions, and of the days and models of requests."""
    rest = [one for one in filters if one.name not in (*_SIGNS, "model")]
    conditions = filter_conditions(db, rest).sessions
    for one in filters:
        if one.name in _SIGNS:
            day = local_time(parse_time(one.value), UTC).date().isoformat()
            conditions.append(SqlCondition(f"request.day {_SIGNS[one.name]} ? AND request.day <> ''", (day,)))
            if one.name == "since":  # nothing is asked for after a session has ended: its requests need no look
                ended = round(parse_time(one.value) * 1000) - _LATE
                conditions.append(SqlCondition(_ENDED, (ended,)))
        elif one.name == "model":
            held = sessions_holding(one.value.lower())
            conditions.append(SqlCondition("lower(request.model) LIKE ? ESCAPE '\\'", (held,)))
    return conditions


def _added(db: Database, by: str, columns: list[str], where: SqlCondition, which: str, only: str = "") -> list[Any]:
    """Requests added up by what a report is by: those that one session holds, or those that several do, each once."""
    columns = [f"{_KEYS.get(by, 'request.day')} AS named", *columns]
    # SQLite would look at every request, though few sessions are of a few days; it takes a CROSS JOIN's tables in order
    few = db.dialect == "sqlite" and _ENDED in where.sql
    tables = "session CROSS JOIN request" if few else "request JOIN session"
    inner = f"SELECT {', '.join(columns)} FROM {tables} ON session.id = request.session"  # noqa: S608
    inner = f"{inner} WHERE {which} AND {where.sql}"
    return db.rows(f"SELECT named, {_SUMS} FROM ({inner}) AS every {only} GROUP BY named", *where.values)  # noqa: S608


def _week(day: str) -> str:
    if not day:
        return ""
    found = date.fromisoformat(day)
    return (found - timedelta(days=found.weekday())).isoformat()


PERIODS: dict[str, Callable[[str], str]] = {"day": lambda day: day, "week": _week, "month": lambda day: day[:7]}
