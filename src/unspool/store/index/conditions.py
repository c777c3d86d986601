"""Pieces of SQL with what is bound to their marks, joined to one; for any database."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple


class SqlCondition(NamedTuple):
    """A piece of SQL and what is bound to its marks."""

    sql: str
    values: tuple[Any, ...] = ()


def all_of(conditions: Iterable[SqlCondition]) -> SqlCondition:
    return _joined(" AND ", list(conditions), "TRUE")


def any_of(conditions: Iterable[SqlCondition]) -> SqlCondition:
    return _joined(" OR ", list(conditions), "FALSE")


def _joined(word: str, conditions: Sequence[SqlCondition], none: str) -> SqlCondition:
    sql = word.join(f"({one.sql})" for one in conditions) or none
    return SqlCondition(sql, tuple(value for one in conditions for value in one.values))


def one_of(column: str, values: Sequence[Any]) -> SqlCondition:
    if not values:
        return SqlCondition("FALSE")
    return SqlCondition(f"{column} IN ({', '.join('?' * len(values))})", tuple(values))
