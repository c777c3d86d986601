"""Billed requests, filtered and added up inside the database.

Only rows with `counts = 1` are looked at: a request that several sessions hold copies of counts in the one that
began first, and nowhere else.
"""

from collections.abc import Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

from unspool.index.sums import COLUMNS

if TYPE_CHECKING:
    import apsw

By = Literal["day", "week", "month", "session", "project", "model", "subagent"]
QUARTER = 900
"""Seconds of the smallest step by which local time differs from UTC."""


class Indexed(Protocol):
    """What holds the tables."""

    @property
    def db(self) -> "apsw.Connection": ...


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which requests are asked for; texts are found anywhere, in any case."""

    since: float | None = None
    until: float | None = None
    """The first second that is no longer asked for."""
    project: str = ""
    model: str = ""
    zone: tzinfo | None = None
    """Where days begin; None: as the machine's clock has it."""
    week: int = 0
    """The day a week begins with: 0 is Monday, 6 is Sunday."""

    @property
    def timed(self) -> bool:
        """True where only some time is asked for."""
        return self.since is not None or self.until is not None


class Condition(msgspec.Struct, frozen=True):
    """A condition of SQL, with its values."""

    sql: str = "TRUE"
    values: tuple[Any, ...] = ()

    def __and__(self, other: "Condition") -> "Condition":
        return Condition(f"{self.sql} AND {other.sql}", self.values + other.values)


def within(wanted: Wanted, column: str = "time") -> Condition:
    """What lies in the time asked for."""
    found = Condition()
    if wanted.since is not None:
        found &= Condition(f"{column} >= ?", (wanted.since,))
    if wanted.until is not None:
        found &= Condition(f"{column} < ?", (wanted.until,))
    return found


def active(wanted: Wanted) -> Condition:
    """Rows of `session` that reach into the time asked for; one without times reaches into none."""
    found = Condition()
    if wanted.since is not None:
        found &= Condition("ended >= ?", (wanted.since,))
    if wanted.until is not None:
        found &= Condition("started < ?", (wanted.until,))
    return found


def fitting(db: "apsw.Connection", wanted: Wanted) -> Condition:
    """Rows of `request` of the projects and models asked for."""
    found = Condition()
    if wanted.project:
        some = of_project(db, wanted.project)
        found &= Condition(f"session IN (SELECT id FROM session WHERE {some.sql})", some.values)  # noqa: S608  no value
    if wanted.model:
        fits = [number for number, model in models(db).items() if wanted.model.casefold() in model.casefold()]
        found &= _among("terms", fits)
    return found


def of_project(db: "apsw.Connection", part: str) -> Condition:
    """Rows of `session` whose project's path holds the text."""
    if not part:
        return Condition()
    known = (project for (project,) in db.execute("SELECT DISTINCT project FROM session"))
    return _among("project", [project for project in known if part.casefold() in project.casefold()])


def _among(column: str, values: list[Any]) -> Condition:
    sql = f"{column} IN (SELECT value FROM json_each(?))"  # noqa: S608  the name is this module's own
    return Condition(sql, (msgspec.json.encode(values).decode(),))


def models(db: "apsw.Connection") -> dict[int, str]:
    """The model of each row of `terms`."""
    return dict(db.execute("SELECT id, model FROM terms"))


def added(db: "apsw.Connection", keys: Sequence[str], where: Condition, further: str = "") -> list[tuple[Any, ...]]:
    """Requests added up by keys: the keys, then the fields of a Sum, then what else is asked for.

    Where figures of a damaged log are beyond what the database can add, the rows come one by one, for Python to.
    """
    import apsw

    said = f"{', '.join(keys)}, {COLUMNS}{further}"
    select = f"SELECT {said} FROM request WHERE counts = 1 AND {where.sql} GROUP BY "  # noqa: S608  values are bound
    columns = ", ".join(str(number + 1) for number in range(len(keys)))
    try:
        return list(db.execute(select + columns, where.values))
    except apsw.SQLError as problem:
        if "overflow" not in str(problem):
            raise
    return list(db.execute(f"{select}{columns}, rowid", where.values))
