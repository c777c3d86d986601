"""Everything that a hub keeps, read and proved."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from unspool.hub.store.blobs import REFERENCES
from unspool.hub.store.database import Database
from unspool.hub.store.opening import Store
from unspool.hub.store.proof import Kept, kept, parts, there, wrong
from unspool.hub.trouble import Trouble

_AT_ONCE = 4
_MOST = 100
"""Problems of one kind that are told."""


class Verified(NamedTuple):
    """What was read, and what is wrong."""

    contents: int
    bytes: int
    problems: list[str]


def verify(store: Store, told: Callable[[int], None] = lambda _: None) -> Verified:
    """Read every content, follow every reference; `told` how many contents were read so far."""
    contents = size = 0
    problems = [*_unsound(store.db), *_unresolved(store.db)]
    with ThreadPoolExecutor(_AT_ONCE, "verify") as threads:
        for part in parts(store.db):
            found = kept(store.db, part)
            problems += [said for said in threads.map(lambda one: _wrong(store, one), found) if said]
            contents, size = contents + len(found), size + sum(one.size for one in found)
            told(contents)
    return Verified(contents, size, problems)


def _wrong(store: Store, one: Kept) -> str:
    """What is wrong with a content; nothing, where it was removed meanwhile."""
    said = wrong(store.objects, one)
    return said if said and there(store.db, one) else ""


def _unresolved(db: Database) -> list[str]:
    """References to contents that nobody has."""
    return [
        f"A row of {table} refers to the content {digest}, of which there is none."
        for table in REFERENCES
        for (digest,) in db.rows(
            f"SELECT DISTINCT digest FROM {table} WHERE NOT EXISTS"  # noqa: S608
            f" (SELECT 1 FROM blob WHERE blob.digest = {table}.digest) LIMIT {_MOST}"
        )
    ]


def _unsound(db: Database) -> list[str]:
    """What the database says of itself; a server keeps its own."""
    if db.dialect != "sqlite":
        return []
    try:
        said = [str(line) for (line,) in db.rows(f"PRAGMA integrity_check({_MOST})")]
    except Trouble as trouble:
        return [str(trouble)]
    return [] if said == ["ok"] else [f"The hub's database cannot be used: {line}." for line in said]
