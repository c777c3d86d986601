"""Billed requests: filters, sums, money as text, and CSV."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from operator import add
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

from unspool import human
from unspool.store.index.conditions import SqlCondition, among
from unspool.store.index.schema import PICO

if TYPE_CHECKING:
    import apsw


class UsageSum(msgspec.Struct, frozen=True):
    """Figures of any number of requests, each counted once."""

    requests: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    """The part of `cache_write` that lives an hour."""
    web_searches: int = 0
    web_fetches: int = 0
    reasoning: int = 0
    """The part of `output` that was thought, where logs tell it apart."""
    cost: int = 0
    """Picodollars of the requests that have a price."""
    unpriced: int = 0
    """Requests whose price is not known."""
    open: int = 0
    """Requests whose log never held the final figure, so that their output is a lower bound."""

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write

    @property
    def floor(self) -> bool:
        """True where the cost is a lower bound."""
        return bool(self.unpriced or self.open)

    @property
    def cached(self) -> float | None:
        """How much of what was sent came from the cache; None where nothing was sent."""
        sent = self.input + self.cache_read + self.cache_write
        return self.cache_read / sent if sent else None


class ModelUsage(msgspec.Struct, frozen=True):
    model: str
    sum: UsageSum


COLUMNS = (
    "COUNT(*), SUM(input), SUM(output), SUM(cache_read), SUM(cache_write), SUM(cache_write_1h), "
    "SUM(web_searches), SUM(web_fetches), SUM(reasoning), COALESCE(SUM(cost), 0), SUM(cost IS NULL), SUM(NOT final)"
)
"""The fields of `UsageSum`, of table `request`, in order."""


class SumAdder:
    """Sums by model, as figures come in, and the first and last time they are of."""

    def __init__(self) -> None:
        self._models: dict[str, list[int]] = {}
        self.first: float | None = None
        self.last: float | None = None

    def add(self, model: str, figures: Sequence[int], first: float | None = None, last: float | None = None) -> None:
        before = self._models.get(model)
        self._models[model] = list(figures) if before is None else list(map(add, before, figures))
        if first is not None and (self.first is None or first < self.first):
            self.first = first
        if last is not None and (self.last is None or last > self.last):
            self.last = last

    def models(self) -> tuple[ModelUsage, ...]:
        """Each model, the dearest first."""
        sums = [ModelUsage(model, UsageSum(*figures)) for model, figures in self._models.items()]
        return tuple(sorted(sums, key=lambda one: (-one.sum.cost, -one.sum.total, one.model)))

    def sum(self) -> UsageSum:
        return UsageSum(*map(sum, zip(*self._models.values(), strict=True)))


def unpriced_models(models: Iterable[ModelUsage]) -> Mapping[str, int]:
    """Models with requests that have no known price, with the number of these."""
    return {one.model: one.sum.unpriced for one in models if one.sum.unpriced}


def exact_dollars(cost: int) -> str:
    """Picodollars as dollars, every digit of them: 4.12, 0.000003."""
    whole, part = divmod(cost, PICO)
    return f"{whole}.{part:012d}".rstrip("0").rstrip(".")


By = Literal["day", "week", "month", "session", "project", "model", "subagent"]
QUARTER = 900
"""Seconds of the smallest step by which local time differs from UTC."""


class HasDatabase(Protocol):
    @property
    def db(self) -> "apsw.Connection": ...


class UsageFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which requests are asked for; texts are found anywhere, in any case."""

    since: float | None = None
    until: float | None = None
    """The first second that is no longer asked for."""
    project: str = ""
    agents: tuple[str, ...] = ()
    """Ids; all of them where none is named."""
    model: str = ""
    zone: tzinfo | None = None
    """Where days begin; None: as the machine's clock has it."""
    week: int = 0
    """The day a week begins with: 0 is Monday, 6 is Sunday."""

    @property
    def timed(self) -> bool:
        """True where only some time is asked for."""
        return self.since is not None or self.until is not None


ALL_USAGE = UsageFilter()


def within_span(wanted: UsageFilter, column: str = "time") -> SqlCondition:
    return _between(wanted, column, column)


def fitting_sessions(db: "apsw.Connection", wanted: UsageFilter) -> SqlCondition:
    """Rows of `session` of the projects asked for that reach into the time; one without times reaches into none."""
    once = SqlCondition("version_of IS NULL")
    return _between(wanted, "ended", "started") & _of_sessions(db, wanted) & once


def fitting_requests(db: "apsw.Connection", wanted: UsageFilter) -> SqlCondition:
    """Rows of `request` of the projects and models asked for."""
    found = SqlCondition()
    if wanted.project or wanted.agents:
        some = _of_sessions(db, wanted)
        found &= SqlCondition(f"session IN (SELECT id FROM session WHERE {some.sql})", some.values)  # noqa: S608  no value
    if wanted.model:
        fits = [number for number, model in models_by_terms(db).items() if wanted.model.casefold() in model.casefold()]
        found &= among("terms", fits)
    return found


def _between(wanted: UsageFilter, late: str, early: str) -> SqlCondition:
    found = SqlCondition()
    if wanted.since is not None:
        found &= SqlCondition(f"{late} >= ?", (wanted.since,))
    if wanted.until is not None:
        found &= SqlCondition(f"{early} < ?", (wanted.until,))
    return found


def _of_sessions(db: "apsw.Connection", wanted: UsageFilter) -> SqlCondition:
    """Rows of `session` of the projects and agents asked for."""
    found = among("agent", wanted.agents) if wanted.agents else SqlCondition()
    if part := wanted.project.casefold():
        known = (project for (project,) in db.execute("SELECT DISTINCT project FROM session"))
        found &= among("project", [project for project in known if part in project.casefold()])
    return found


def models_by_terms(db: "apsw.Connection") -> dict[int, str]:
    return dict(db.execute("SELECT id, model FROM terms"))


def add_sums(
    db: "apsw.Connection", keys: Sequence[str], where: SqlCondition, further: str = ""
) -> list[tuple[Any, ...]]:
    """Requests added up by keys: the keys, then the fields of `UsageSum`, then what else is asked for."""
    columns = ", ".join(str(number + 1) for number in range(len(keys)))
    select = f"SELECT {', '.join(keys)}, {COLUMNS}{further} FROM request"  # noqa: S608  our own names
    query = f"{select} WHERE counts = 1 AND ({where.sql}) GROUP BY {columns}"
    return grouped_rows(db, query, where.values, "rowid")


def grouped_rows(db: "apsw.Connection", query: str, values: Sequence[Any], row_id: str) -> list[tuple[Any, ...]]:
    """The rows of a query that ends with what it groups by.

    Where figures of a damaged log are beyond what the database can add, the rows come one by one, for Python to.
    """
    import apsw

    try:
        return list(db.execute(query, values))
    except apsw.SQLError as problem:
        if "overflow" not in str(problem):
            raise
    return list(db.execute(f"{query}, {row_id}", values))


def format_money(cost: int, *, floor: bool = False) -> str:
    """Picodollars as $4.12, as $0.003 where cents would say nothing; with ≥ where it is a lower bound."""
    return human.money(cost / PICO, floor=floor)


def format_spent(total: UsageSum) -> str:
    """What requests cost; ? where no price is known."""
    if total.requests and total.unpriced == total.requests:
        return "?"
    return format_money(total.cost, floor=total.floor)


def format_priced(cost: int, *, unpriced: int, open: int = 0) -> str:  # noqa: A002  the word of the tables
    """What something cost of which some has no price, or no final figure; ? where nothing has a price."""
    return human.money(cost / PICO, floor=bool(open), unpriced=bool(unpriced))


def usage_notes(
    total: UsageSum, models: tuple[ModelUsage, ...], untimed: int, shown: Callable[[str], str]
) -> list[str]:
    """What the figures leave open, in sentences; `shown` makes the name of a model fit for the screen."""
    said = []
    missing = unpriced_models(models)
    if missing:
        named = (f"{shown(name) or 'unknown model'} ({human.count(n, 'request')})" for name, n in missing.items())
        said.append(f"No known price: {', '.join(named)}.")
    if total.open:
        said.append(f"≥: {human.count(total.open, 'request')} never had final figures in the log.")
    if untimed:
        said.append(f"{human.count(untimed, 'request')} without a time left out.")
    return said


_ACTIVE = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for a formula."""


def as_csv(heads: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    for row in rows:
        writer.writerow(f"'{cell}" if isinstance(cell, str) and cell.startswith(_ACTIVE) else cell for cell in row)
    return text.getvalue()
