"""What was written to the cache again although it had been there: how much, why, and what that cost more."""

from operator import add
from typing import TYPE_CHECKING, Any

import msgspec

from unspool.index.billing import Condition, Indexed, Wanted, fitting, within
from unspool.model.window import CAUSES

if TYPE_CHECKING:
    import apsw


class Wasted(msgspec.Struct, frozen=True):
    """What one cause made requests write again."""

    cause: str
    requests: int
    tokens: int
    cost: int
    """Picodollars more than reading the same would have cost."""
    unpriced: int
    """Requests of these whose price is not known."""


def wasted(index: Indexed, wanted: Wanted | None = None) -> tuple[Wasted, ...]:
    """Every cause that there was, the most tokens first. Each request counts once, as in all sums of tokens."""
    wanted = wanted or Wanted()
    where = Condition("counts = 1") & within(wanted) & fitting(index.db, wanted)
    sums: dict[int, list[int]] = {}
    for cause, *figures in _rows(index.db, where):
        sums[cause] = list(map(add, sums.get(cause, [0] * len(figures)), figures))
    found = [Wasted(CAUSES[cause], *figures) for cause, figures in sums.items()]
    return tuple(sorted(found, key=lambda one: (-one.tokens, one.cause)))


def _rows(db: "apsw.Connection", where: Condition) -> list[tuple[Any, ...]]:
    """Sums by cause; where those of damaged logs are beyond what the database can add, every row by itself."""
    import apsw

    query = _SUMS.format(where.sql)
    try:
        return list(db.execute(query, where.values))
    except apsw.SQLError as problem:
        if "overflow" not in str(problem):
            raise
    return list(db.execute(f"{query}, rewrite.rowid", where.values))


_SUMS = """SELECT cause, COUNT(*), SUM(rewrite.tokens), COALESCE(SUM(rewrite.cost), 0), SUM(rewrite.cost IS NULL)
FROM rewrite CROSS JOIN request INDEXED BY request_message USING (session, message, request)
WHERE {} GROUP BY cause"""
