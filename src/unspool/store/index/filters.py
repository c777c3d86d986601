"""Search filters as SQL conditions, and the documents that they leave."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import tzinfo
from typing import Any, NamedTuple

import apsw

from unspool.agents import agent_named
from unspool.agents.context_files import CONTEXT_KINDS
from unspool.errors import UsageProblem
from unspool.store.index.conditions import SqlCondition, all_of, any_of, one_of
from unspool.store.index.hits import COLUMNS, HitRow
from unspool.store.index.query import Filter, SearchQuery
from unspool.store.index.schema import KINDS, PICO, ROLES
from unspool.store.index.times import parse_moment

_COST = re.compile(r"(?P<sign>>=|<=|>|<|=)?\$?(?P<least>\d+(?:\.\d+)?)(?:\.\.\$?(?P<most>\d+(?:\.\d+)?))?")
_RICHEST = 9e6
_WHEN = "coalesce(turn.time, session.ended * 1000, session.started * 1000)"
BOUNDS = {"since": ">=", "until": "<"}
"""Filters that are bounds of time, by how what they name is compared."""
PROMPT_HISTORY = "prompt-history"
"""The kind of what is left of deleted sessions in the agents' own lists of prompts."""
_STATES = {"error": "doc.error = 1", "ghost": "session.kind = 'ghost'", "subagent": "log.agent <> ''"}


def search_conditions(db: apsw.Connection, query: SearchQuery) -> list[SqlCondition]:
    """What the filters of a question ask for, all of it; UsageProblem where a value means nothing."""

    def condition(filter_: Filter) -> SqlCondition:
        if filter_.name in BOUNDS:
            bound = round(parse_bound(filter_, query.zone) * 1000)
            return SqlCondition(f"{_WHEN} {BOUNDS[filter_.name]} ?", (bound,))
        return _FILTERS[filter_.name](db, filter_.value.strip())

    asked = join_filters(query.filters, condition)
    # What a session copied from another is found there, unless somebody looks into this one alone.
    alone = any(one.name == "session" and not one.excluded for one in query.filters)
    return asked if alone else [*asked, SqlCondition("NOT turn.copied")]


def join_filters(filters: Iterable[Filter], condition: Callable[[Filter], SqlCondition]) -> list[SqlCondition]:
    """Conditions that all hold: of filters of one name one is enough, and excluded ones do not hold."""
    groups: dict[tuple[str, bool], list[SqlCondition]] = {}
    for filter_ in filters:
        # Lower and upper bounds are no alternatives to each other: all of them hold.
        apart = filter_.name in BOUNDS or filter_.name == "cost"
        key = f"{filter_.name}{len(groups)}" if apart else filter_.name
        groups.setdefault((key, filter_.excluded), []).append(condition(filter_))
    joined = [(any_of(found), excluded) for (_, excluded), found in groups.items()]
    return [SqlCondition(f"({one.sql}) IS NOT TRUE", one.values) if excluded else one for one, excluded in joined]


def sessions_holding(text: str) -> str:
    """A pattern for LIKE ... ESCAPE '\\' that any text holding this one fits."""
    return "%" + re.sub(r"([\\%_])", r"\\\1", text) + "%"


def holding(column: str, text: str) -> SqlCondition:
    """That a column holds a text, whatever its case."""
    return SqlCondition(f"{column} LIKE ? ESCAPE '\\'", (sessions_holding(text),))


def _named(column: str, text: str) -> SqlCondition:
    """Rows whose column is the number of a name that holds the text."""
    found = holding("text", text)
    return SqlCondition(f"{column} IN (SELECT id FROM name WHERE {found.sql})", found.values)  # noqa: S608  our own names


def _branch(db: apsw.Connection, value: str) -> SqlCondition:
    exact = "session.branch = ? COLLATE NOCASE"
    if db.execute(f"SELECT 1 FROM session WHERE {exact} LIMIT 1", (value,)).get:  # noqa: S608  the text is ours
        return SqlCondition(exact, (value,))
    return holding("session.branch", value)


def _role(_: apsw.Connection, value: str) -> SqlCondition:
    kinds = ROLES.get(value.lower())
    if kinds is None:
        raise _meaningless("role", value, ROLES)
    return one_of("doc.kind", [KINDS.index(kind) for kind in kinds])


def _kind(db: apsw.Connection, value: str) -> SqlCondition:
    """A kind of document, or of session; sessions are of no kind that context files have."""
    name = value.lower()
    if name in KINDS:
        return SqlCondition("doc.kind = ?", (KINDS.index(name),))
    if name in CONTEXT_KINDS:
        return SqlCondition("FALSE")
    if name == PROMPT_HISTORY:
        return SqlCondition("session.kind = 'ghost'")
    known = {kind for (kind,) in db.execute("SELECT DISTINCT kind FROM session")}
    if name not in known:
        raise _meaningless("kind", value, (*KINDS, *CONTEXT_KINDS, PROMPT_HISTORY, *sorted(known)))
    return SqlCondition("session.kind = ?", (name,))


def _tool(db: apsw.Connection, value: str) -> SqlCondition:
    """The tool of that name in any case; where there is none, all whose name holds it."""
    rows = db.execute("SELECT id FROM name WHERE text = ? COLLATE NOCASE", (value,)).fetchall()
    return one_of("doc.tool", [number for (number,) in rows]) if rows else _named("doc.tool", value)


def _file(_: apsw.Connection, value: str) -> SqlCondition:
    touched = "SELECT touch.turn FROM file JOIN touch ON touch.file = file.id WHERE file.path LIKE ? ESCAPE '\\'"
    return SqlCondition(f"turn.id IN ({touched})", (sessions_holding(value.replace("\\", "/")),))


def _is(_: apsw.Connection, value: str) -> SqlCondition:
    if value.lower() not in _STATES:
        raise _meaningless("is", value, _STATES)
    return SqlCondition(_STATES[value.lower()])


def parse_bound(filter_: Filter, zone: tzinfo | None) -> float:
    """The moment that a bound of time names, in seconds; UsageProblem where it names none."""
    name, value = filter_.name, filter_.value.strip()
    found = parse_moment(value, zone)
    if found is None:
        raise UsageProblem(f"{name}:{value} is neither a date (2026-01-31) nor an age (12h, 3d, 2w, 6m, 1y).")
    return found


def _cost(_: apsw.Connection, value: str) -> SqlCondition:
    """>1, >=1, <0.5, 1..5; a figure alone is the least."""
    found = _COST.fullmatch(value)
    if found is None or (found["sign"] and found["most"]):
        raise UsageProblem(f"cost:{value} is no amount, such as cost:>1, cost:<0.5 or cost:1..5.")
    least = _picodollars(found["least"])
    if found["most"]:
        return SqlCondition("session.cost BETWEEN ? AND ?", (least, _picodollars(found["most"])))
    return SqlCondition(f"session.cost {found['sign'] or '>='} ?", (least,))


def _picodollars(amount: str) -> int:
    """An amount in dollars; more than a database can count is the most it can."""
    return round(min(float(amount), _RICHEST) * PICO)


def _meaningless(name: str, value: str, known: Sequence[str] | dict[str, Any]) -> UsageProblem:
    return UsageProblem(f"{name}:{value} means nothing; it can be {', '.join(known)}.")


def _agent(_: apsw.Connection, value: str) -> SqlCondition:
    return SqlCondition("session.agent = ?", (agent_named(value).id,))


_FILTERS: dict[str, Callable[[apsw.Connection, str], SqlCondition]] = {
    "project": lambda _, value: holding("session.project", value),
    "agent": _agent,
    "role": _role,
    "tool": _tool,
    "model": lambda _, value: _named("turn.model", value),
    "file": _file,
    "branch": _branch,
    "kind": _kind,
    "is": _is,
    "cost": _cost,
    "session": lambda _, value: SqlCondition(
        "? IN (substr(session.session_id, 1, ?), substr(session.key, 1, ?))", (value, len(value), len(value))
    ),
}


# The order of joins is said, for the planner would else now and then begin with a table and probe the full text.
_ABOVE = "CROSS JOIN turn ON turn.id = doc.turn CROSS JOIN log ON log.id = turn.log"
_WORDS = f"FROM words CROSS JOIN doc ON doc.id = words.rowid {_ABOVE}"
_DOCS = """
FROM log CROSS JOIN turn ON turn.log = log.id
CROSS JOIN doc ON doc.id >= turn.doc AND doc.id < turn.doc + turn.docs
"""
_SESSION = " CROSS JOIN session ON session.id = log.session"
_LOWER = ("doc.", "turn.", "log.")


class DocumentSpan(NamedTuple):
    """The documents of a session that were found lie between these two."""

    session: int
    first: int
    last: int


class SearchScope:
    """Asks the index for documents that fulfil all of some conditions."""

    def __init__(self, db: apsw.Connection, asked: Sequence[SqlCondition]) -> None:
        self._db = db
        sessions = [one for one in asked if not any(table in one.sql for table in _LOWER)]
        self._sessions, self._session_values = all_of(sessions)
        self._where, self._values = all_of(asked)
        self._session = _SESSION if any("session." in one.sql for one in asked) else ""
        self._matched = f"{_WORDS}{self._session} WHERE words MATCH ? AND {self._where}"

    def exceeds(self, words: str, number: int) -> bool:
        """Whether more than so many documents match an expression, conditions aside."""
        sql = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        return bool(self._db.execute(sql, (words, number + 1)).get > number)

    def grouped(self, words: str, columns: str) -> list[Any]:
        """The sessions that match an expression, each a `Span` and the columns asked for."""
        sql = f"SELECT log.session, min(doc.id), max(doc.id), {columns} {self._matched} GROUP BY log.session"
        rows: list[Any] = self._db.execute(sql, (words, *self._values)).fetchall()
        return [(DocumentSpan(*row[:3]), *row[3:]) for row in rows]

    def matching(self, words: str, span: DocumentSpan, rest: str) -> list[HitRow]:
        """The documents of a session that match an expression; `rest` says in which order and how many."""
        sql = f"SELECT {COLUMNS} {self._matched} AND words.rowid BETWEEN ? AND ? AND log.session = ? {rest}"
        values = (words, *self._values, span.first, span.last, span.session)
        found: list[Any] = self._db.execute(sql, values).fetchall()
        return [HitRow(*row) for row in found]

    def best(self, words: str, sessions: Sequence[int], score: str, most: int) -> dict[int, list[HitRow]]:
        """Of each of some sessions the documents that match an expression, so many at most, the best first.

        It goes through all that matches, once: what begins with a letter or two takes long to gather each time.
        """
        ranked = f"row_number() OVER (PARTITION BY log.session ORDER BY {score} DESC, doc.id DESC) AS place"
        chosen = "log.session IN (SELECT value FROM json_each(?))"
        inner = f"SELECT doc.id, {ranked} {self._matched} AND {chosen}"
        few = f"(SELECT id, place FROM ({inner}) WHERE place <= ?) AS few CROSS JOIN doc ON doc.id = few.id"  # noqa: S608
        sql = f"SELECT log.session, {COLUMNS} FROM {few} {_ABOVE} ORDER BY few.place"  # noqa: S608
        found: dict[int, list[HitRow]] = {session: [] for session in sessions}
        rows: Any = self._db.execute(sql, (words, *self._values, str(list(sessions)), most))
        for session, *row in rows:
            found[session].append(HitRow(*row))
        return found

    def newest(self) -> Iterator[int]:
        """The sessions that may hold such documents, the last active first."""
        order = "ORDER BY coalesce(session.ended, session.started, 0) DESC, session.id DESC"
        sql = f"SELECT session.id FROM session WHERE {self._sessions} {order}"  # noqa: S608
        rows: list[Any] = self._db.execute(sql, self._session_values).fetchall()
        return (number for (number,) in rows)

    def archived(self, sessions: Sequence[int]) -> list[int]:
        """Sessions in the order in which the archive has their logs."""
        first = dict(self._db.execute("SELECT session, min(generation) FROM log GROUP BY session"))
        return sorted(sessions, key=lambda session: (first.get(session, 0), session))

    def generations(self, session: int) -> list[int]:
        """The archive's numbers of a session's logs."""
        rows = self._db.execute("SELECT generation FROM log WHERE session = ?", (session,))
        return [generation for (generation,) in rows]

    def ended(self, sessions: Sequence[int]) -> dict[int, float | None]:
        sql = "SELECT id, coalesce(ended, started) FROM session WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(sql, (str(list(sessions)),)))

    def count(self, session: int) -> int:
        number: int = self._documents("count(*)", session, "").get
        return number

    def rows(self, session: int, rest: str) -> list[HitRow]:
        """The documents of a session; `rest` says in which order and how many."""
        found: list[Any] = self._documents(COLUMNS, session, rest).fetchall()
        return [HitRow(*row) for row in found]

    def _documents(self, columns: str, session: int, rest: str) -> apsw.Cursor:
        sql = f"SELECT {columns} {_DOCS}{self._session} WHERE log.session = ? AND {self._where} {rest}"
        return self._db.execute(sql, (session, *self._values))
