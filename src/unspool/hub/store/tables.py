"""Every table of a hub, row by row: for those that copy all of it, and compare copies.

What a database makes of other columns by itself (numbers of rows, words of full text) is left out, and made anew where
rows are put.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

import msgspec

from unspool.hub.store.database import Database, Row
from unspool.hub.store.full_text import text_vector
from unspool.hub.store.schema import MARK

_COLUMNS = {
    "sqlite": "SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns"
    " WHERE tables.type = 'table' AND tables.name NOT LIKE 'words%' AND tables.name NOT LIKE 'sqlite%'",
    "postgresql": "SELECT table_name, column_name FROM information_schema.columns"
    " WHERE table_schema = current_schema()",
}
_MADE = {("passage", "id"), ("passage", "words")}
_ORDER = {"passage": " ORDER BY id"}  # those of a session are found in the order they were put
_LOT = 500
_ROUND = 2**128


class Table(NamedTuple):
    """A table, with the columns that are copied."""

    name: str
    columns: tuple[str, ...]


class TableSum(NamedTuple):
    """What a table's rows come to, in whatever order they are."""

    rows: int
    digest: str


def tables(db: Database) -> list[Table]:
    found: dict[str, list[str]] = {}
    for table, column in sorted(db.rows(_COLUMNS[db.dialect])):
        if (table, column) not in _MADE:
            found.setdefault(table, []).append(column)
    return [Table(name, tuple(columns)) for name, columns in found.items()]


def rows(db: Database, table: Table) -> Iterator[Row]:
    """The rows of a table, in a snapshot or a transaction; the mark of a copy is none of them."""
    mine = f" WHERE key <> '{MARK}'" if table.name == "setting" else ""
    order = _ORDER.get(table.name, "")
    return db.each(f"SELECT {', '.join(table.columns)} FROM {table.name}{mine}{order}")  # noqa: S608  our own names


def insert_rows(db: Database, table: Table, found: Iterable[Row]) -> None:
    """Add rows to a table."""
    names, marks = list(table.columns), ["?"] * len(table.columns)
    indexed = table.name == "passage" and db.dialect == "postgresql"
    if indexed:
        names, marks = [*names, "words"], [*marks, "?::tsvector"]
    sql = f"INSERT INTO {table.name}({', '.join(names)}) VALUES({', '.join(marks)})"
    body = table.columns.index("body") if indexed else -1
    rest = iter(found)
    while lot := list(islice(rest, _LOT)):
        db.many(sql, [(*row, text_vector(row[body])) for row in lot] if indexed else lot)


def empty_tables(db: Database) -> None:
    for table in tables(db):
        db.run(f"DELETE FROM {table.name}")  # noqa: S608


def is_empty(db: Database) -> bool:
    """Whether there is nothing in any table but its version."""
    for table in tables(db):
        mine = " WHERE key <> 'version'" if table.name == "setting" else ""
        if db.row(f"SELECT 1 FROM {table.name}{mine} LIMIT 1"):  # noqa: S608
            return False
    return True


def table_sums(db: Database) -> dict[str, TableSum]:
    """What every table comes to at one moment; the same for two databases that hold the same."""
    with db.snapshot():
        return table_sums_inside(db)


def table_sums_inside(db: Database) -> dict[str, TableSum]:
    """The same, in a snapshot or a transaction."""
    found = {}
    for table in tables(db):
        tally = RowTally(rows(db, table))
        deque(tally, 0)
        found[table.name] = tally.sum
    return found


class RowTally(Iterator[Row]):
    """Rows as they go by, and what they come to."""

    def __init__(self, found: Iterator[Row]) -> None:
        self._found = found
        self._count = self._total = 0

    def __next__(self) -> Row:
        row = next(self._found)
        self._count += 1
        self._total += int.from_bytes(blake2b(msgspec.json.encode(row), digest_size=16).digest())
        return row

    @property
    def sum(self) -> TableSum:
        """What went by so far."""
        return TableSum(self._count, f"{self._total % _ROUND:032x}")
