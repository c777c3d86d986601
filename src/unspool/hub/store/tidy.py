"""What nothing refers to is removed: contents a day after they were sent last, and what a crash left.

Any number of processes may do it, at any time, beside those that keep and refer to contents.
"""

from typing import NamedTuple

from unspool.hub.store.blobs import DAY, UNREFERRED, made_at, now
from unspool.hub.store.opening import Store
from unspool.hub.store.proof import Kept, kept, keys, parts, there

_UNUSED = f"SELECT digest, stored FROM blob WHERE digest >= ? AND digest < ? AND created < ? AND {UNREFERRED}"  # noqa: S608


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
    """Remove the contents of a part that nothing refers to; how many bytes each took."""
    found = store.db.rows(_UNUSED, part, f"{part}g", before)
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
