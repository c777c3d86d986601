"""What is asked of the archive: which sessions, of those that a person may see, from where on and how many."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from unspool.hub.errors import BadRequest
from unspool.hub.people.projects import readable_projects
from unspool.hub.people.users import Person
from unspool.hub.store.database import Database, Value
from unspool.store.index.filters import sessions_holding
from unspool.store.index.query import Filter
from unspool.store.index.schema import KINDS, PICO, ROLES
from unspool.store.index.times import parse_moment

_CURSOR = re.compile(r"(\d{1,16})-([0-9a-f]{1,64})")
_COST = re.compile(r"(>=|<=|>|<)?\$?(\d{1,9}(?:\.\d{1,6})?)")
_HOLDS = "LIKE ? ESCAPE '\\'"
OWN = ("by", "person", "title")
"""Filters that only a hub has."""
_ANY = ("person", "by")
_PROJECTS = 500
"""Values that are listed in a statement."""


class SqlCondition(NamedTuple):
    """A piece of SQL and what is bound to its marks."""

    sql: str
    values: tuple[Value, ...] = ()


Made = Callable[[Database, str], tuple[str, SqlCondition]]
"""Whether a filter is of sessions or of passages, and what it asks for."""


class ListPage(NamedTuple):
    """Which part of a list: what comes after a place, and how much of it."""

    after: tuple[int, str] | None = None
    most: int = 50


def parse_page(after: str, most: str, usual: int = 50) -> ListPage:
    """As an address says it."""
    found = _CURSOR.fullmatch(after) if after else None
    if (after and found is None) or (most and not most.isdecimal()):
        raise BadRequest("`after` is what a list gave as `next`, `limit` a number.")
    number = min(200, max(1, int(most[:6]))) if most else usual
    return ListPage((int(found[1]), found[2]) if found else None, number)


def page_cursor(place: tuple[int, str]) -> str:
    """A place in a list as an address says it."""
    return f"{place[0]}-{place[1]}"


def visible_to(db: Database, person: Person) -> SqlCondition:
    """Sessions of projects that a person may read."""
    if person.admin:
        return SqlCondition("TRUE")
    sql, values = readable_projects(person)
    projects = sorted(project for (project,) in db.rows(sql, *values))
    if len(projects) > _PROJECTS:
        return SqlCondition(f"session.project IN ({sql})", values)
    return one_of("session.project", projects)


def filter_conditions(
    db: Database, filters: Sequence[Filter]
) -> tuple[list[SqlCondition], list[SqlCondition], list[str]]:
    """What filters ask of sessions, what of passages, and notes on those that a hub does not know."""
    sessions: dict[tuple[str, bool], list[SqlCondition]] = {}
    passages: dict[tuple[str, bool], list[SqlCondition]] = {}
    notes: list[str] = []
    for number, one in enumerate(filters):
        name = "person" if one.name in _ANY else one.name
        if name not in _FILTERS:
            notes.append(f"{name}: is not asked of a hub and was left out.")
            continue
        table, made = _FILTERS[name](db, one.value.strip())
        key = f"{name}{number}" if name in ("since", "until", "cost") else name
        (passages if table == "passage" else sessions).setdefault((key, one.excluded), []).append(made)
    return _all(sessions), _all(passages), notes


def _all(groups: dict[tuple[str, bool], list[SqlCondition]]) -> list[SqlCondition]:
    return [_any(found, excluded=excluded) for (_, excluded), found in groups.items()]


def _any(found: list[SqlCondition], *, excluded: bool) -> SqlCondition:
    sql = " OR ".join(f"({one.sql})" for one in found)
    return SqlCondition(f"NOT ({sql})" if excluded else f"({sql})", tuple(v for one in found for v in one.values))


def all_of(found: Iterable[SqlCondition]) -> SqlCondition:
    """All of some conditions as one."""
    every = list(found)
    return SqlCondition(" AND ".join(one.sql for one in every) or "TRUE", tuple(v for one in every for v in one.values))


def after_cursor(after: tuple[int, str] | None) -> list[SqlCondition]:
    """What comes after a place in a list."""
    return [SqlCondition("(session.finished, session.id) < (?, ?)", after)] if after else []


def _like(column: str) -> Made:
    return lambda _, value: ("session", SqlCondition(f"lower({column}) {_HOLDS}", (sessions_holding(value.lower()),)))


def _named(table: str) -> Made:
    """By id, by the whole name, or else by a part of it; looked up first, for a database plans better by values."""
    known = f"SELECT id FROM {table} WHERE"  # noqa: S608

    def asked(db: Database, value: str) -> tuple[str, SqlCondition]:
        found = db.rows(f"{known} id = ? OR lower(name) = ?", value, value.lower())
        found = found or db.rows(f"{known} lower(name) {_HOLDS} LIMIT {_PROJECTS}", sessions_holding(value.lower()))
        return "session", one_of(f"session.{table}", [id_ for (id_,) in found])

    return asked


def one_of(column: str, values: Sequence[str]) -> SqlCondition:
    """What is one of some values."""
    return (
        SqlCondition(f"{column} IN ({', '.join('?' * len(values))})", tuple(values))
        if values
        else SqlCondition("FALSE")
    )


def _time(column: str, sign: str) -> Made:
    def asked(_: Database, value: str) -> tuple[str, SqlCondition]:
        found = parse_moment(value)
        if found is None:
            raise BadRequest(f"“{value}” is neither a date (2026-01-31) nor an age (12h, 3d, 2w, 6m, 1y).")
        return "session", SqlCondition(f"{column} {sign} ?", (round(found * 1000),))

    return asked


def _kind(_: Database, value: str) -> tuple[str, SqlCondition]:
    if value.lower() in KINDS:
        return "passage", SqlCondition("passage.kind = ?", (value.lower(),))
    return "session", SqlCondition("session.kind = ?", (value.lower(),))


def _role(_: Database, value: str) -> tuple[str, SqlCondition]:
    kinds = ROLES.get(value.lower())
    if kinds is None:
        raise BadRequest(f"role:{value} means nothing; it can be {', '.join(ROLES)}.")
    return "passage", SqlCondition(f"passage.kind IN ({', '.join('?' * len(kinds))})", kinds)


def _cost(_: Database, value: str) -> tuple[str, SqlCondition]:
    found = _COST.fullmatch(value)
    if found is None:
        raise BadRequest(f"cost:{value} is no amount, such as cost:>1 or cost:<0.5.")
    return "session", SqlCondition(f"session.cost {found[1] or '>='} ?", (round(float(found[2]) * PICO),))


_FILTERS: dict[str, Made] = {
    "project": _named("project"),
    "person": _named("person"),
    "model": _like("session.models"),
    "branch": _like("session.branch"),
    "title": _like("session.title"),
    "session": lambda _, value: ("session", SqlCondition(f"session.key {_HOLDS}", (sessions_holding(value)[1:],))),
    "since": _time("session.finished", ">="),
    "until": _time("session.finished", "<"),
    "kind": _kind,
    "role": _role,
    "cost": _cost,
}
