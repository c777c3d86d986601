"""Copies a hub's tables and contents to another store, and proves that nothing changed."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from unspool.errors import Exists, NotFound, Unsound
from unspool.files import write_atomically
from unspool.hub.store.blobs import AUDIT_MARK, Blob
from unspool.hub.store.connect import DATABASE, Store, StorePlace, open_store
from unspool.hub.store.database import Database, Row, get_setting
from unspool.hub.store.schema import MARK, without_timeout
from unspool.hub.store.texts import PART_COLUMNS, PartRow, ensure_year, insert_parts
from unspool.hub.store.verify import content_fault, digest_parts, kept_contents, object_keys
from unspool.hub.store.words import from_array, from_tokens

_COLUMNS = {
    "sqlite": "SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns"
    " WHERE tables.type = 'table' AND tables.name NOT LIKE 'words%' AND tables.name NOT LIKE 'sqlite%'",
    "postgresql": "SELECT table_name, column_name FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND table_name NOT LIKE 'text_part_%'",
}
_PARTS = "text_part"
_NUMBERS: dict[str, Callable[[Any], list[int]]] = {"sqlite": from_tokens, "postgresql": from_array}
_LOT = 500
_ROUND = 2**128


class CopiedTable(NamedTuple):
    name: str
    columns: tuple[str, ...]


class TableSum(NamedTuple):
    """What a table's rows come to, in whatever order they are."""

    rows: int
    digest: str


def tables(db: Database) -> list[CopiedTable]:
    found: dict[str, list[str]] = {}
    for table, column in sorted(db.rows(_COLUMNS[db.dialect])):
        found.setdefault(table, []).append(column)
    found[_PARTS] = list(PART_COLUMNS)
    return [CopiedTable(name, tuple(columns)) for name, columns in found.items()]


def rows(db: Database, table: CopiedTable) -> Iterator[Row]:
    """The rows of a table, in a snapshot or a transaction; the mark of a copy is none of them."""
    mine = f" WHERE key <> '{MARK}'" if table.name == "setting" else ""
    if table.name == _PARTS:
        return _parts(db)
    return db.each(f"SELECT {', '.join(table.columns)} FROM {table.name}{mine}")  # noqa: S608  our own names


def _parts(db: Database) -> Iterator[Row]:
    """Parts whose words are the same on every database; those of a session lie together."""
    read = _NUMBERS[db.dialect]
    for *rest, words in db.each(f"SELECT {', '.join(PART_COLUMNS)} FROM text_part ORDER BY session, number"):  # noqa: S608
        yield (*rest, read(words))


def insert_rows(db: Database, table: CopiedTable, found: Iterable[Row]) -> None:
    sql = f"INSERT INTO {table.name}({', '.join(table.columns)}) VALUES({', '.join('?' * len(table.columns))})"
    rest = iter(found)
    while lot := list(islice(rest, _LOT)):
        if table.name == _PARTS:
            for year in {row[PART_COLUMNS.index("year")] for row in lot}:
                ensure_year(db, year)
            insert_parts(db, (cast("PartRow", row) for row in lot))
        else:
            db.many(sql, lot)


def is_empty(db: Database) -> bool:
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
        return TableSum(self._count, f"{self._total % _ROUND:032x}")


_AT_ONCE = 4

Say = Callable[[str], None]
"""Hears what is being done."""


class CopyReport(NamedTuple):
    sums: dict[str, TableSum]
    """What every table came to at the moment of the copy."""
    sent: int
    """Contents that were sent; those that were there already are none of them."""
    problems: list[str]
    """Contents that the source itself does not have as they should be, a sentence each."""


def copy_hub(source: Store, target: Store, say: Say, *, mark: bool) -> CopyReport:
    """Make the target hold what the source holds at one moment, in place of what it held.

    Unsound where what came is not what went. `mark`: the target is no hub before `finished`.
    """
    say("Copying contents")
    head = _audit_mark(source)  # before the rows, of which it may name none that comes later
    sent, _ = _contents(source, source.db, target)
    with source.db.snapshot(), target.db.transaction():
        without_timeout(target.db)
        say("Copying rows")
        for table in tables(target.db):
            target.db.run(f"DELETE FROM {table.name}")  # noqa: S608
        found = {}
        for table in tables(source.db):
            tally = RowTally(rows(source.db, table))
            insert_rows(target.db, table, tally)
            found[table.name] = tally.sum
        say("Copying what came meanwhile")
        more, problems = _contents(source, target.db, target)
        say("Comparing")
        if table_sums_inside(target.db) != found:
            raise Unsound("The copy's rows are not those that were copied; begin again.")
        if mark:
            target.db.run("INSERT INTO setting(key, value) VALUES(?, '')", MARK)
    if head:
        target.objects.put(AUDIT_MARK, [head])
    else:
        target.objects.delete(AUDIT_MARK)
    return CopyReport(found, sent + more, problems)


def _audit_mark(source: Store) -> bytes:
    try:
        return b"".join(source.objects.get(AUDIT_MARK))
    except NotFound:
        return b""


def is_unfinished_copy(target: Database) -> bool:
    return get_setting(target, MARK) is not None


def _contents(source: Store, wanted: Database, target: Store) -> tuple[int, list[str]]:
    """Send the contents that a database names and that the target does not have; how many, and what is wrong."""
    count, problems = 0, []
    with ThreadPoolExecutor(_AT_ONCE, "copy") as threads:
        for part in digest_parts(wanted):
            named = kept_contents(wanted, part)
            there = object_keys(target.objects, part) if named else set()
            missing = [one for one in named if one.key not in there]
            found = list(threads.map(lambda one: _sent(source, target, one), missing))
            count += found.count("")
            problems += [problem for problem in found if problem]
    return count, problems


def _sent(source: Store, target: Store, one: Blob) -> str:
    """Send a content and prove it; what is wrong with it, if anything is."""
    try:
        target.objects.put(one.key, source.objects.get(one.key))
    except NotFound:
        return f"The content {one.digest} is missing in the object store."
    problem = content_fault(target.objects, one)
    if problem:
        target.objects.delete(one.key)
    return problem


def move(source: Store, target: Store, say: Say) -> CopyReport:
    """Copy all of a hub that nobody writes to into an empty place; the source stays as it is.

    Exists where the target holds a hub already, Unsound where the source was written to meanwhile: then the target is
    no hub yet, and the same move can be begun again, as after every other route of breaking off.
    """
    if not is_empty(target.db) and not is_unfinished_copy(target.db):
        if table_sums(source.db) == table_sums(target.db):  # it was moved before
            return CopyReport(table_sums(target.db), 0, [])
        raise Exists("There is a hub already where this one should go.")
    result = copy_hub(source, target, say, mark=True)
    if table_sums(source.db) != result.sums:
        raise Unsound("The hub was written to while it was moved: stop it, and begin again.")
    target.db.run("DELETE FROM setting WHERE key = ?", MARK)  # it is a hub from now on
    return result


SEAL = "backup"
"""The file that tells a folder of backups from a hub's own; empty until there is one."""


def backup(source: Store, folder: Path, say: Say) -> CopyReport:
    """Save a hub as it is at one moment."""
    place = StorePlace(folder)
    if (folder / DATABASE).exists() and not (folder / SEAL).exists():
        raise Exists("This folder holds a hub, and no backup of one.")
    target = open_store(place)
    (folder / SEAL).touch(0o600)
    try:
        result = copy_hub(source, target, say, mark=False)
        write_atomically(folder / SEAL, [b"finished\n"])
        for part in digest_parts(target.db):  # contents that only an older backup had
            for key in object_keys(target.objects, part) - {one.key for one in kept_contents(target.db, part)}:
                target.objects.delete(key)
    finally:
        target.db.close()
    return result


def restore(folder: Path, target: Store, say: Say) -> CopyReport:
    """Bring a hub back from a folder, into an empty place."""
    source = open_store(StorePlace(folder), new=False)
    try:
        seal = folder / SEAL
        if is_empty(source.db) and not (seal.exists() and seal.stat().st_size):
            raise NotFound("The backup in this folder was never finished.")
        return move(source, target, say)
    finally:
        source.db.close()
