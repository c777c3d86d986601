"""All rows of an archive's tables, into another file; of a damaged one, as many as can be read."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw

_PROBES = 100_000
"""Most numbers that are tried one by one between rows that could be read."""

Row = tuple[Any, ...]


class Table(NamedTuple):
    """A table: its name, its columns with the key first, and whether the key is a number that rows are found by."""

    name: str
    columns: str
    key: str
    numbered: bool


TABLES = (
    Table("meta", "key, value", "key", False),
    Table("origin", "id, machine, user, root, agent", "id", True),
    Table("file", "id, origin, path", "id", True),
    Table("generation", "id, file, number, size, modified, changed, inode, seen, gone, chain", "id", True),
    Table("piece", "generation, start, size, pack, place, digest", "generation, start", False),
    Table("pack", "id, size, base, data", "id", True),
    Table("trait", "hash, pack", "hash", False),
    Table("tombstone", "name, time", "name", False),
)


def every(db: apsw.Connection, table: Table) -> Iterator[Row]:
    """Every row of a table, by its key."""
    query = f"SELECT {table.columns} FROM {table.name} ORDER BY {table.key}"  # noqa: S608  our own names
    return db.execute(query)


def put(db: apsw.Connection, table: Table, row: Row) -> None:
    """Store a row; one that is there under the same key, or fits no rule of the table, is not stored."""
    marks = ", ".join("?" * len(row))
    db.execute(f"INSERT OR IGNORE INTO {table.name}({table.columns}) VALUES({marks})", row)


def copied(source: apsw.Connection, target: apsw.Connection) -> None:
    """Copy every row into an archive that has none but its own meta."""
    target.execute("DELETE FROM meta")
    for table in TABLES:
        for row in every(source, table):
            put(target, table, row)


def equal(one: apsw.Connection, other: apsw.Connection) -> bool:
    """Whether two archives hold the same rows."""
    return all(_equal(one, other, table) for table in TABLES)


def _equal(one: apsw.Connection, other: apsw.Connection, table: Table) -> bool:
    theirs = every(other, table)
    for row in every(one, table):
        if next(theirs, None) != row:
            return False
    return next(theirs, None) is None


def readable(db: apsw.Connection, table: Table) -> Iterator[Row]:
    """The rows of a damaged table that can be read: from either end up to the damage, then number by number."""
    last = first = None
    for row in _until(db, table, "ASC"):
        last = row[0]
        yield row
    for row in _until(db, table, "DESC"):
        first = row[0]
        yield row  # where nothing is damaged these were all seen before, which does no harm
    if table.numbered and isinstance(first, int):
        begin = last if isinstance(last, int) else 0
        for number in range(begin + 1, min(first, begin + _PROBES)):
            yield from _one(db, table, number)


def _until(db: apsw.Connection, table: Table, order: str) -> Iterator[Row]:
    keys = ", ".join(f"{key} {order}" for key in table.key.split(", "))
    query = f"SELECT {table.columns} FROM {table.name} NOT INDEXED ORDER BY {keys}"  # noqa: S608  our own names
    try:
        for row in db.execute(query):  # noqa: UP028  an error ends it
            yield row
    except (apsw.Error, UnicodeDecodeError):
        return


def _one(db: apsw.Connection, table: Table, number: int) -> Iterator[Row]:
    query = f"SELECT {table.columns} FROM {table.name} WHERE {table.key} = ?"  # noqa: S608  our own names
    try:
        row = db.execute(query, (number,)).fetchone()
    except (apsw.Error, UnicodeDecodeError):
        return
    if row is not None:
        yield row
