"""A hub copied from one place to another, whatever each is: contents first, then all rows at once.

It can break off at any moment and be begun again: until the last moment the target holds what it held before, and
contents that were sent are not sent again. What was sent is read back and proved.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from unspool.errors import NotFound, Unsound
from unspool.hub.store.database import Database
from unspool.hub.store.opening import Store
from unspool.hub.store.proof import Kept, kept, keys, parts, wrong
from unspool.hub.store.schema import MARK, unhurried
from unspool.hub.store.tables import Sum, Tally, emptied, put, rows, sums_inside, tables

_AT_ONCE = 4

Told = Callable[[str], None]
"""Told what is being done."""


class Copied(NamedTuple):
    """What was copied."""

    sums: dict[str, Sum]
    """What every table came to at the moment of the copy."""
    sent: int
    """Contents that were sent; those that were there already are none of them."""
    problems: list[str]
    """Contents that the source itself does not have as they should be, a sentence each."""


def copied(source: Store, target: Store, told: Told, *, mark: bool) -> Copied:
    """Make the target hold what the source holds at one moment, in place of what it held.

    Unsound where what came is not what went. `mark`: the target is no hub before `finished`.
    """
    told("Copying contents")
    sent, _ = _contents(source, source.db, target)
    with source.db.snapshot(), target.db.transaction():
        unhurried(target.db)
        told("Copying rows")
        found = _rows(source.db, target.db)
        told("Copying what came meanwhile")
        more, problems = _contents(source, target.db, target)
        told("Comparing")
        if sums_inside(target.db) != found:
            raise Unsound("The copy's rows are not those that were copied; begin again.")
        if mark:
            target.db.run("INSERT INTO setting(key, value) VALUES(?, '')", MARK)
    return Copied(found, sent + more, problems)


def finished(target: Store) -> None:
    """A copy is a hub from now on."""
    target.db.run("DELETE FROM setting WHERE key = ?", MARK)


def begun(target: Database) -> bool:
    """Whether it is a copy that nobody finished."""
    return target.row("SELECT 1 FROM setting WHERE key = ?", MARK) is not None


def _contents(source: Store, wanted: Database, target: Store) -> tuple[int, list[str]]:
    """Send the contents that a database names and that the target does not have; how many, and what is wrong."""
    count, problems = 0, []
    with ThreadPoolExecutor(_AT_ONCE, "copy") as threads:
        for part in parts(wanted):
            named = kept(wanted, part)
            there = keys(target.objects, part) if named else set()
            missing = [one for one in named if one.key not in there]
            found = list(threads.map(lambda one: _sent(source, target, one), missing))
            count += found.count("")
            problems += [problem for problem in found if problem]
    return count, problems


def _sent(source: Store, target: Store, one: Kept) -> str:
    """Send a content and prove it; what is wrong with it, if anything is."""
    try:
        target.objects.put(one.key, source.objects.get(one.key))
    except NotFound:
        return f"The content {one.digest} is missing in the object store."
    problem = wrong(target.objects, one)
    if problem:
        target.objects.delete(one.key)
    return problem


def _rows(source: Database, target: Database) -> dict[str, Sum]:
    """Put all rows in place of what was there; what they come to."""
    found = {}
    emptied(target)
    for table in tables(source):
        tally = Tally(rows(source, table))
        put(target, table, tally)
        found[table.name] = tally.sum
    return found
