"""Verifies everything that a hub keeps, and removes what nothing refers to."""

from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import NamedTuple

from unspool.errors import NotFound
from unspool.hub.errors import StoreUnavailable
from unspool.hub.store import blobs
from unspool.hub.store.blobs import DAY, PREFIX, Blob, DamagedContent, Objects, key_time, now, unpack
from unspool.hub.store.connect import Store
from unspool.hub.store.database import Database

_MANY = 10_000
"""Contents that are looked at in one go."""
_ROWS = "SELECT digest, size, stored, encoding, key FROM blob WHERE digest >= ? AND digest < ? ORDER BY digest"


def digest_parts(db: Database) -> tuple[str, ...]:
    """The beginnings of digests: what is done for all contents is done for a part of many at a time."""
    many = db.row("SELECT 1 FROM blob LIMIT 1 OFFSET ?", _MANY)
    return tuple(f"{number:02x}" for number in range(256)) if many else ("",)


def object_keys(objects: Objects, part: str) -> set[str]:
    return set(objects.keys(f"{PREFIX}{part}/" if part else PREFIX))


def kept_contents(db: Database, part: str) -> list[Blob]:
    return [Blob(*row) for row in db.rows(_ROWS, part, f"{part}g")]


def is_there(db: Database, one: Blob) -> bool:
    return db.row("SELECT 1 FROM blob WHERE digest = ? AND key = ?", one.digest, one.key) is not None


def content_fault(objects: Objects, one: Blob) -> str:
    """What is wrong with a content in an object store, in a sentence; empty where it is as it should be."""
    proof, size = sha256(), 0
    try:
        for piece in unpack(objects.get(one.key), one.encoding):
            proof.update(piece)
            size += len(piece)
    except NotFound:
        return f"The content {one.digest} is missing in the object store."
    except DamagedContent:
        return f"The content {one.digest} is damaged in the object store."
    if proof.hexdigest() != one.digest:
        return f"The content {one.digest} is damaged in the object store."
    if size != one.size or objects.size(one.key) != one.stored:
        return f"The content {one.digest} is of another size than its row says."
    return ""


_AT_ONCE = 4
_MOST = 100
"""Problems of one kind that are told."""


class VerifyReport(NamedTuple):
    contents: int
    bytes: int
    problems: list[str]


def verify(store: Store) -> VerifyReport:
    """Read every content, follow every reference."""
    contents = size = 0
    problems = [*_unsound(store.db), *_unresolved(store.db)]
    with ThreadPoolExecutor(_AT_ONCE, "verify") as threads:
        for part in digest_parts(store.db):
            found = kept_contents(store.db, part)
            faults = threads.map(lambda one: content_fault(store.objects, one), found)
            # what was removed meanwhile has no fault
            problems += [fault for one, fault in zip(found, faults, strict=True) if fault and is_there(store.db, one)]
            contents, size = contents + len(found), size + sum(one.size for one in found)
    return VerifyReport(contents, size, problems)


def _unresolved(db: Database) -> list[str]:
    return [
        f"A row of {table} refers to the content {digest}, of which there is none."
        for table in blobs.REFERENCES
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
        lines = [str(line) for (line,) in db.rows(f"PRAGMA integrity_check({_MOST})")]
    except StoreUnavailable as trouble:
        return [str(trouble)]
    return [] if lines == ["ok"] else [f"The hub's database cannot be used: {line}." for line in lines]


_TURN = (
    "INSERT INTO setting(key, value) VALUES('tidied', ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value"
    " WHERE CAST(setting.value AS BIGINT) < ?"
)
_PART = "digest >= ? AND digest < ?"
_USED_AGAIN = f"UPDATE blob SET unused = NULL WHERE {_PART} AND unused IS NOT NULL AND NOT ({blobs.UNREFERRED})"  # noqa: S608
_UNUSED_NOW = f"UPDATE blob SET unused = ? WHERE {_PART} AND unused IS NULL AND created < ? AND {blobs.UNREFERRED}"  # noqa: S608
_UNUSED_LONG = f"SELECT digest, stored FROM blob WHERE {_PART} AND unused < ?"  # noqa: S608


class TidyReport(NamedTuple):
    contents: int
    bytes: int
    objects: int
    """Objects that no row names."""
    parts: int
    """Files that somebody who was killed left half written."""
    missing: list[str]
    """Digests of contents whose objects are gone: nothing can be done about these here."""


def tidy_daily(store: Store) -> TidyReport | None:
    """Tidy, unless somebody has begun to within a day: one of all processes does. It may take long."""
    time = now()
    return tidy(store) if store.db.run(_TURN, str(time), time - DAY) else None


def tidy(store: Store, age: int = DAY) -> TidyReport:
    before = now() - age
    contents = stored = stray = 0
    missing: list[str] = []
    for part in digest_parts(store.db):
        gone = _unused(store, part, before)
        contents, stored = contents + len(gone), stored + sum(gone)
        seen = object_keys(store.objects, part)
        named = {one.key for one in kept_contents(store.db, part)}
        strays = [key for key in seen - named if key_time(key) < before]
        for key in strays:
            store.objects.delete(key)
        stray += len(strays)
        # those that came or went just now are not missing
        absent = [one for one in kept_contents(store.db, part) if one.key not in seen]
        missing += [one.digest for one in absent if store.objects.size(one.key) is None and is_there(store.db, one)]
    return TidyReport(contents, stored, stray, store.objects.sweep(), missing)


def _unused(store: Store, part: str, before: int) -> list[int]:
    """Remove the contents of a part that nothing has referred to for long; how many bytes each took.

    The others are marked: a day from now somebody may still read what was there until now.
    """
    span = part, f"{part}g"
    store.db.run(_USED_AGAIN, *span)
    store.db.run(_UNUSED_NOW, now(), *span, before)
    found = store.db.rows(_UNUSED_LONG, *span, before)
    return [stored for digest, stored in found if store.blobs.drop(digest, before)]
