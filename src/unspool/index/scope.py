"""The documents that conditions leave to be searched, asked for in the order that is quickest."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apsw

from unspool.index.filters import Condition
from unspool.index.hits import COLUMNS, Row

# The order of joins is said, for the planner would else now and then begin with a table and probe the full text.
_ABOVE = "CROSS JOIN turn ON turn.id = doc.turn CROSS JOIN log ON log.id = turn.log"
_WORDS = f"FROM words CROSS JOIN doc ON doc.id = words.rowid {_ABOVE}"
_DOCS = """
FROM log CROSS JOIN turn ON turn.log = log.id
CROSS JOIN doc ON doc.id >= turn.doc AND doc.id < turn.doc + turn.docs
"""
_SESSION = " CROSS JOIN session ON session.id = log.session"
_LOWER = ("doc.", "turn.", "log.")


class Span(NamedTuple):
    """The documents of a session that were found lie between these two."""

    session: int
    first: int
    last: int


class Scope:
    """Asks the index for documents that fulfil all of some conditions."""

    def __init__(self, db: apsw.Connection, asked: Sequence[Condition]) -> None:
        self._db = db
        sessions = [one for one in asked if not any(table in one.sql for table in _LOWER)]
        self._sessions, self._session_values = _all(sessions, "session.kind IS NOT NULL")
        self._where, self._values = _all(asked, "doc.id IS NOT NULL")
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
        return [(Span(*row[:3]), *row[3:]) for row in rows]

    def matching(self, words: str, span: Span, rest: str) -> list[Row]:
        """The documents of a session that match an expression; `rest` says in which order and how many."""
        sql = f"SELECT {COLUMNS} {self._matched} AND words.rowid BETWEEN ? AND ? AND log.session = ? {rest}"
        values = (words, *self._values, span.first, span.last, span.session)
        found: list[Any] = self._db.execute(sql, values).fetchall()
        return [Row(*row) for row in found]

    def best(self, words: str, sessions: Sequence[int], score: str, most: int) -> dict[int, list[Row]]:
        """Of each of some sessions the documents that match an expression, so many at most, the best first.

        It goes through all that matches, once: what begins with a letter or two takes long to gather each time.
        """
        ranked = f"row_number() OVER (PARTITION BY log.session ORDER BY {score} DESC, doc.id DESC) AS place"
        chosen = "log.session IN (SELECT value FROM json_each(?))"
        inner = f"SELECT doc.id, {ranked} {self._matched} AND {chosen}"
        few = f"(SELECT id, place FROM ({inner}) WHERE place <= ?) AS few CROSS JOIN doc ON doc.id = few.id"  # noqa: S608
        sql = f"SELECT log.session, {COLUMNS} FROM {few} {_ABOVE} ORDER BY few.place"  # noqa: S608
        found: dict[int, list[Row]] = {session: [] for session in sessions}
        rows: Any = self._db.execute(sql, (words, *self._values, str(list(sessions)), most))
        for session, *row in rows:
            found[session].append(Row(*row))
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
        rows: list[Any] = self._db.execute("SELECT generation FROM log WHERE session = ?", (session,)).fetchall()
        return [generation for (generation,) in rows]

    def ended(self, sessions: Sequence[int]) -> dict[int, float | None]:
        """When each of some sessions was last active."""
        sql = "SELECT id, coalesce(ended, started) FROM session WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(sql, (str(list(sessions)),)))

    def count(self, session: int) -> int:
        """How many documents of a session there are."""
        number: int = self._documents("count(*)", session, "").get
        return number

    def rows(self, session: int, rest: str) -> list[Row]:
        """The documents of a session; `rest` says in which order and how many."""
        found: list[Any] = self._documents(COLUMNS, session, rest).fetchall()
        return [Row(*row) for row in found]

    def _documents(self, columns: str, session: int, rest: str) -> apsw.Cursor:
        sql = f"SELECT {columns} {_DOCS}{self._session} WHERE log.session = ? AND {self._where} {rest}"
        return self._db.execute(sql, (session, *self._values))


def _all(asked: Sequence[Condition], nothing: str) -> tuple[str, tuple[Any, ...]]:
    """All conditions as one; `nothing` where there are none."""
    return " AND ".join(one.sql for one in asked) or nothing, tuple(value for one in asked for value in one.values)
