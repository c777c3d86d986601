"""What nothing refers to is removed: contents a day after the last reference ended, and what a crash left.

Any number of processes may do it, at any time, beside those that keep and refer to contents.
"""

from typing import NamedTuple

from unspool.hub.store.blobs import DAY, UNREFERRED, made_at, now
from unspool.hub.store.opening import Store
from unspool.hub.store.proof import Kept, kept, keys, parts, there

_TURN = (
    "INSERT INTO setting(key, value) VALUES('tidied', ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value"
    " WHERE CAST(setting.value AS BIGINT) < ?"
)
_PART = "digest >= ? AND digest < ?"
_USED_AGAIN = f"UPDATE blob SET unused = NULL WHERE {_PART} AND unused IS NOT NULL AND NOT ({UNREFERRED})"  # noqa: S608
_UNUSED_NOW = f"UPDATE blob SET unused = ? WHERE {_PART} AND unused IS NULL AND created < ? AND {UNREFERRED}"  # noqa: S608
_UNUSED_LONG = f"SELECT digest, stored FROM blob WHERE {_PART} AND unused < ?"  # noqa: S608


class Tidied(NamedTuple):
    """What was removed."""

    contents: int
    bytes: int
    objects: int
    """Objects that no row names."""
    parts: int
    """Files that somebody who was killed left half written."""
    missing: list[str]
    """Digests of contents whose objects are gone: nothing can be done about these here."""


def daily(store: Store) -> Tidied | None:
    """Tidy, unless somebody has begun to within a day: one of all processes does. It may take long."""
    time = now()
    return tidy(store) if store.db.run(_TURN, str(time), time - DAY) else None


def tidy(store: Store, age: int = DAY) -> Tidied:
    """Remove what nothing has referred to for so many milliseconds."""
    before = now() - age
    contents = stored = stray = 0
    missing: list[str] = []
    for part in parts(store.db):
        gone = _unused(store, part, before)
        contents, stored = contents + len(gone), stored + sum(gone)
        seen = keys(store.objects, part)
        stray += _strays(store, part, seen, before)
        missing += _missing(store, part, seen)
    return Tidied(contents, stored, stray, store.objects.sweep(), missing)


def _unused(store: Store, part: str, before: int) -> list[int]:
    """Remove the contents of a part that nothing has referred to for long; how many bytes each took.

    The others are marked: a day from now somebody may still read what was there until now.
    """
    span = part, f"{part}g"
    store.db.run(_USED_AGAIN, *span)
    store.db.run(_UNUSED_NOW, now(), *span, before)
    found = store.db.rows(_UNUSED_LONG, *span, before)
    return [stored for digest, stored in found if store.blobs.drop(digest, before)]


def _strays(store: Store, part: str, seen: set[str], before: int) -> int:
    """Remove objects that no row names, and that nobody is about to name; how many."""
    named = {one.key for one in kept(store.db, part)}
    strays = [key for key in seen - named if made_at(key) < before]
    for key in strays:
        store.objects.delete(key)
    return len(strays)


def _missing(store: Store, part: str, seen: set[str]) -> list[str]:
    """Contents whose objects are gone; those that came or went just now are none of them."""
    absent = [one for one in kept(store.db, part) if one.key not in seen]
    return [one.digest for one in absent if _lost(store, one)]


def _lost(store: Store, one: Kept) -> bool:
    return store.objects.size(one.key) is None and there(store.db, one)
