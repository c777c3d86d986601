"""Filters as conditions of SQL. Values are bound, never part of the text.

The conditions speak of rows called `doc`, `turn`, `log` and `session`, joined.
"""

import re
from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Any, NamedTuple

import apsw

from unspool.errors import UsageProblem
from unspool.index.query import Filter, Query
from unspool.index.schema import KINDS, PICO, ROLES
from unspool.index.when import moment

_COST = re.compile(r"(?P<sign>>=|<=|>|<|=)?\$?(?P<least>\d+(?:\.\d+)?)(?:\.\.\$?(?P<most>\d+(?:\.\d+)?))?")
_RICHEST = 9e6
_WHEN = "coalesce(turn.time, session.ended * 1000, session.started * 1000)"
_BOUNDS = {"since": ">=", "until": "<"}
_STATES = {"error": "doc.error = 1", "ghost": "session.kind = 'ghost'", "subagent": "log.agent <> ''"}


class Condition(NamedTuple):
    """A piece of SQL and what is bound to its marks."""

    sql: str
    values: tuple[Any, ...] = ()


def conditions(db: apsw.Connection, query: Query) -> list[Condition]:
    """What the filters of a question ask for, all of it; UsageProblem where a value means nothing."""
    groups: dict[tuple[str, bool], list[Condition]] = {}
    for filter_ in query.filters:
        timely = filter_.name in _BOUNDS
        made = _time(filter_, query.zone) if timely else _FILTERS[filter_.name](db, filter_.value.strip())
        # Lower and upper bounds are no alternatives to each other: all of them hold.
        key = f"{filter_.name}{len(groups)}" if timely or filter_.name == "cost" else filter_.name
        groups.setdefault((key, filter_.excluded), []).append(made)
    return [_any(found, excluded=excluded) for (_, excluded), found in groups.items()]


def _any(found: list[Condition], *, excluded: bool) -> Condition:
    sql = " OR ".join(f"({one.sql})" for one in found)
    values = tuple(value for one in found for value in one.values)
    return Condition(f"({sql}) IS NOT TRUE" if excluded else f"({sql})", values)


def holding(text: str) -> str:
    """A pattern for LIKE ... ESCAPE '\\' that any text holding this one fits."""
    return "%" + re.sub(r"([\\%_])", r"\\\1", text) + "%"


def _project(_: apsw.Connection, value: str) -> Condition:
    return Condition("session.project LIKE ? ESCAPE '\\'", (holding(value),))


def _branch(db: apsw.Connection, value: str) -> Condition:
    exact = "session.branch = ? COLLATE NOCASE"
    if db.execute(f"SELECT 1 FROM session WHERE {exact} LIMIT 1", (value,)).get:  # noqa: S608  the text is ours
        return Condition(exact, (value,))
    return Condition("session.branch LIKE ? ESCAPE '\\'", (holding(value),))


def _session(_: apsw.Connection, value: str) -> Condition:
    return Condition("substr(session.key, 1, ?) = ?", (len(value), value))


def _role(_: apsw.Connection, value: str) -> Condition:
    kinds = ROLES.get(value.lower())
    if kinds is None:
        raise _meaningless("role", value, ROLES)
    return _kinds(kinds)


def _kind(db: apsw.Connection, value: str) -> Condition:
    """A kind of document, or of session."""
    name = value.lower()
    if name in KINDS:
        return _kinds((name,))
    known = {kind for (kind,) in db.execute("SELECT DISTINCT kind FROM session")}
    if name not in known:
        raise _meaningless("kind", value, (*KINDS, *sorted(known)))
    return Condition("session.kind = ?", (name,))


def _kinds(names: Sequence[str]) -> Condition:
    return Condition(f"doc.kind IN ({', '.join('?' * len(names))})", tuple(KINDS.index(name) for name in names))


def _tool(db: apsw.Connection, value: str) -> Condition:
    """The tool of that name in any case; where there is none, all whose name holds it."""
    rows = db.execute("SELECT id FROM name WHERE text = ? COLLATE NOCASE", (value,)).fetchall()
    if rows:
        return Condition(f"doc.tool IN ({', '.join('?' * len(rows))})", tuple(number for (number,) in rows))
    return Condition("doc.tool IN (SELECT id FROM name WHERE text LIKE ? ESCAPE '\\')", (holding(value),))


def _model(_: apsw.Connection, value: str) -> Condition:
    return Condition("turn.model IN (SELECT id FROM name WHERE text LIKE ? ESCAPE '\\')", (holding(value),))


def _file(_: apsw.Connection, value: str) -> Condition:
    touched = "SELECT touch.turn FROM file JOIN touch ON touch.file = file.id WHERE file.path LIKE ? ESCAPE '\\'"
    return Condition(f"turn.id IN ({touched})", (holding(value.replace("\\", "/")),))


def _is(_: apsw.Connection, value: str) -> Condition:
    if value.lower() not in _STATES:
        raise _meaningless("is", value, _STATES)
    return Condition(_STATES[value.lower()])


def _time(filter_: Filter, zone: tzinfo | None) -> Condition:
    name, value = filter_.name, filter_.value.strip()
    found = moment(value, zone)
    if found is None:
        raise UsageProblem(f"{name}:{value} is neither a date (2026-01-31) nor an age (12h, 3d, 2w, 6m, 1y).")
    return Condition(f"{_WHEN} {_BOUNDS[name]} ?", (round(found * 1000),))


def _cost(_: apsw.Connection, value: str) -> Condition:
    """>1, >=1, <0.5, 1..5; a figure alone is the least."""
    found = _COST.fullmatch(value)
    if found is None or (found["sign"] and found["most"]):
        raise UsageProblem(f"cost:{value} is no amount, such as cost:>1, cost:<0.5 or cost:1..5.")
    least = _picodollars(found["least"])
    if found["most"]:
        return Condition("session.cost BETWEEN ? AND ?", (least, _picodollars(found["most"])))
    return Condition(f"session.cost {found['sign'] or '>='} ?", (least,))


def _picodollars(amount: str) -> int:
    """An amount in dollars; more than a database can count is the most it can."""
    return round(min(float(amount), _RICHEST) * PICO)


def _meaningless(name: str, value: str, known: Sequence[str] | dict[str, Any]) -> UsageProblem:
    return UsageProblem(f"{name}:{value} means nothing; it can be {', '.join(known)}.")


_FILTERS: dict[str, Callable[[apsw.Connection, str], Condition]] = {
    "project": _project,
    "role": _role,
    "tool": _tool,
    "model": _model,
    "file": _file,
    "branch": _branch,
    "kind": _kind,
    "is": _is,
    "cost": _cost,
    "session": _session,
}
