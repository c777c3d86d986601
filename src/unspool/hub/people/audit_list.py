"""The audit log as it is read: filtered, newest first, or whole as JSON lines."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from unspool.hub.people.audit import seal
from unspool.hub.store.database import Database, Row, Value

_COLUMNS = "SELECT seq, at, person, name, what, target, outcome, detail, id, digest FROM audit"
_LOT = 1_000
MOST = 1_000
"""Lines of one list."""


class Line(NamedTuple):
    """Something that somebody did."""

    seq: int
    at: int
    person: str
    name: str
    what: str
    target: str
    outcome: str
    detail: dict[str, Any]
    id: str
    digest: str

    def data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**self._asdict(), "at": datetime.fromtimestamp(self.at / 1000, UTC).isoformat()}


class Filters(NamedTuple):
    """Which lines are wanted; empty: whichever."""

    person: str = ""
    """An id or a name."""
    what: str = ""
    """Such as `share.delete`, or `share` for all that begin so."""
    target: str = ""
    outcome: str = ""
    since: int | None = None
    until: int | None = None
    before: int | None = None
    """Lines before this `seq`: where the list before ended."""


def listed(db: Database, filters: Filters = Filters(), most: int = 100) -> list[Line]:  # noqa: B008  it is immutable
    """The newest lines that fit, newest first."""
    seal(db)
    sql, values = _where(db, filters)
    rows = db.rows(f"{_COLUMNS} WHERE {sql} ORDER BY seq DESC LIMIT ?", *values, min(max(most, 1), MOST))
    return [_line(row) for row in rows]


def lines(db: Database, filters: Filters = Filters()) -> Iterator[str]:  # noqa: B008
    """Every line that fits, oldest first, as JSON with a newline."""
    seal(db)
    sql, values = _where(db, filters)
    last = 0
    while True:
        rows = db.rows(f"{_COLUMNS} WHERE {sql} AND seq > ? ORDER BY seq LIMIT ?", *values, last, _LOT)
        for row in rows:
            yield json.dumps(_line(row).data(), ensure_ascii=False) + "\n"
        if len(rows) < _LOT:
            return
        last = rows[-1][0]


def _where(db: Database, filters: Filters) -> tuple[str, list[Value]]:
    said: list[tuple[str, list[Value]]] = [("seq IS NOT NULL", [])]
    if filters.person:
        said.append(_who(db, filters.person))
    if filters.what:
        said.append(("(what = ? OR substr(what, 1, ?) = ?)", _beginning(filters.what)))
    for column, wanted in (("target", filters.target), ("outcome", filters.outcome)):
        if wanted:
            said.append((f"{column} = ?", [wanted]))
    for test, bound in (("at >= ?", filters.since), ("at < ?", filters.until), ("seq < ?", filters.before)):
        if bound is not None:
            said.append((test, [bound]))
    return " AND ".join(sql for sql, _ in said), [value for _, values in said for value in values]


def _who(db: Database, named: str) -> tuple[str, list[Value]]:
    """Somebody by id or name, which an index finds; by what they were called where the roster has nobody of that."""
    found = [row[0] for row in db.rows("SELECT id FROM person WHERE id = ? OR name = ?", named, named)]
    if found:
        return f"person IN ({', '.join('?' * len(found))})", found
    return "(person = ? OR name = ?)", [named, named]


def _beginning(what: str) -> list[Value]:
    family = what.rstrip(".") + "."
    return [what, len(family), family]


def _line(row: Row) -> Line:
    line = Line(*row)
    return line._replace(detail=json.loads(row[7]))
