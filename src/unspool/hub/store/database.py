"""What a database does for the hub.

Statements are written once, in the SQL that SQLite and PostgreSQL share: `?` for a value and never in a literal, times
as whole milliseconds of the epoch, truth as 0 and 1, digests and JSON as text, `ON CONFLICT` for what may be there.
`LIKE` minds case, and says `ESCAPE` where a value may hold a backslash. What only one of them can say (full text) is
asked for by `dialect`, in the module that needs it and nowhere else.

A transaction sees what others commit meanwhile, unless all who matter say `alone` first: what is read in it and must
still hold when it is written (a sum below a limit, the last one of a kind) is read after `alone`.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from unspool.hub.errors import BadRequest, StoreFull, StoreUnavailable

Value = str | int | float | bytes | None
Row = tuple[Any, ...]

_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_MOST = 2**63 - 1
_LOT = 500


class Database(Protocol):
    """An open database, for all threads of a process. StoreUnavailable where it cannot be reached or does not answer.

    Text is kept as it is but for NUL and lone surrogates, which become U+FFFD; a number that 64 bits do not hold is
    `BadRequest`; a second row where there may be one is `Conflict`, and spoils the innermost transaction that it is in.
    """

    @property
    def dialect(self) -> Literal["sqlite", "postgresql"]:
        """Which SQL it speaks beyond the shared part."""

    def rows(self, sql: str, *values: Value) -> list[Row]:
        """All rows of a query."""

    def row(self, sql: str, *values: Value) -> Row | None:
        """The first row of a query, if any."""

    def each(self, sql: str, *values: Value) -> Iterator[Row]:
        """The rows of a query one after the other, however many; inside `snapshot`, and read to the end or closed."""

    def run(self, sql: str, *values: Value) -> int:
        """Change something; how many rows were changed."""

    def many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        """The same change for each of many rows, or for none."""

    def transaction(self) -> AbstractContextManager[None]:
        """All that this thread does in the `with` happens, or nothing of it, and that with the one it is inside of."""

    def snapshot(self) -> AbstractContextManager[None]:
        """All that this thread reads in the `with` is of one moment, and nobody waits for it; nothing is changed."""

    def alone(self, name: str) -> None:
        """Inside a transaction: until its end, nobody else is past this line with the same name."""

    def script(self, sql: str) -> None:
        """Statements that bring no values, for making tables."""

    def well(self) -> bool:
        """Whether the database answers now."""
        try:
            return self.row("SELECT 1") == (1,)
        except (StoreUnavailable, StoreFull):
            return False

    def close(self) -> None:
        """Let go of every connection."""


def as_kept(values: Sequence[Value]) -> tuple[Value, ...]:
    """Values as every database keeps them."""
    return tuple(map(_kept, values))


def _kept(value: Value) -> Value:
    if isinstance(value, str):
        return value if value.isascii() and "\0" not in value else _NO_TEXT.sub("\ufffd", value)
    if isinstance(value, int):
        if not -_MOST <= value <= _MOST:
            raise BadRequest("A number is larger than anything that is counted here.")
        return int(value)
    return value


def batches(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """Values, as many at a time as a statement takes."""
    return (values[start : start + _LOT] for start in range(0, len(values), _LOT))


def placeholders(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def get_setting(db: Database, key: str) -> str | None:
    row = db.row("SELECT value FROM setting WHERE key = ?", key)
    return None if row is None else str(row[0])


def set_setting(db: Database, key: str, value: str) -> None:
    sql = "INSERT INTO setting(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value"
    db.run(sql, key, value)


def find_id(db: Database, table: str, named: str) -> str | None:
    """The id of a person, team or project by id or name; an id counts before a name."""
    sql = f"SELECT id FROM {table} WHERE id = ? OR name = ? ORDER BY id = ? DESC"  # noqa: S608  our own names
    row = db.row(sql, named, named, named)
    return None if row is None else str(row[0])
