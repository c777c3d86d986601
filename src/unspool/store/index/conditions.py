"""Conditions of SQL with the values bound to their marks, joined to one; for any database."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from unspool.model.session import UNLISTED_KINDS, WARM_UP

IS_LISTED = f"(kind NOT IN {UNLISTED_KINDS!r} AND lower(trim(title)) <> '{WARM_UP}' AND version_of IS NULL)"
"""Sessions that a list shows where nothing else is asked for, as `model.is_unlisted` has it; each once."""


class SqlCondition(NamedTuple):
    sql: str = "TRUE"
    values: tuple[Any, ...] = ()

    def __and__(self, other: "SqlCondition") -> "SqlCondition":
        return all_of((self, other))


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


def among(column: str, values: Sequence[Any]) -> SqlCondition:
    """As `one_of`, for any number of values, in SQLite."""
    return SqlCondition(f"{column} IN (SELECT value FROM json_each(?))", (json.dumps(values),))  # noqa: S608  a name
