"""The proof that something is gone: every table, the object store and the database's file are searched for it.

What stays is told: the tombstone, the lines of the audit log, and holds that were lifted, which name ids and nothing
else.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from unspool.hub.people.erase_contents import objects
from unspool.hub.people.erase_rows import lots, marks
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database
from unspool.hub.store.opening import Store
from unspool.hub.trouble import Trouble

SEARCHED = {
    "blob": ("digest",), "invitation": ("made_by",), "member": ("person",), "permit": ("project", "subject"),
    "passage": ("session",), "person": ("id",), "piece": ("session", "digest"), "project": ("id",),
    "request": ("session",), "sent": ("person", "digest"), "session": ("id", "project", "person", "state"),
    "session_page": ("session", "digest"), "share": ("address", "owner"), "share_file": ("address", "digest"),
    "token": ("person",),
}  # fmt: skip
"""Columns that may hold an id or the digest of a content."""
_CHUNK = 4 * 1024 * 1024
_HEX = re.compile(rb"[0-9a-f]{64,}")
_DIGEST = 64


class Gone(NamedTuple):
    """What should be found nowhere."""

    ids: list[str]
    digests: list[str]
    counts: dict[str, int]
    shared: int
    """Contents that stay because something else refers to them."""
    contents: list[str]
    """What a tombstone keeps of the contents that went."""


def proof(store: Store, gone: Gone, *, deep: bool = False) -> dict[str, Any]:
    """What was looked for, where, and what of it was found, which should be nothing."""
    cleared = _cleared(store.db, gone.counts) if deep else False
    found = [*_in_tables(store.db, [*gone.ids, *gone.digests]), *_in_counts(store.db, gone.ids)]
    found += _in_objects(store, gone.digests)
    told: dict[str, Any] = {
        "at": now(),
        "rows": gone.counts,
        "contents": gone.contents,
        "kept_for_others": gone.shared,
        "searched": {"ids": len(gone.ids), "columns": sum(map(len, SEARCHED.values())), "objects": len(gone.digests)},
    }
    if deep:
        told["cleared"] = cleared
    if deep and (path := _file(store.db)) is not None:
        told["searched"]["bytes"], more = _in_file(path, set(gone.digests))
        found += more
    return {**told, "found": found, "proved": not found}


def _in_tables(db: Database, needles: list[str]) -> list[str]:
    found = []
    for table, columns in SEARCHED.items():
        for column in columns:
            for lot in lots(needles):
                row = db.row(f"SELECT count(*) FROM {table} WHERE {column} IN ({marks(lot)})", *lot)  # noqa: S608
                if row and row[0]:
                    found.append(f"{table}.{column}: {row[0]}")
    return found


def _in_counts(db: Database, ids: list[str]) -> list[str]:
    """What is counted of people and shares names them within a text; such texts are few."""
    texts = [row[0] for row in db.rows("SELECT DISTINCT who FROM pace")]
    return sorted(f"pace.who: {one}" for one in ids for text in texts if one in text)


def _in_objects(store: Store, digests: list[str]) -> list[str]:
    return [f"object {key}" for digest in digests for key in objects(store, digest)]


def _cleared(db: Database, tables: dict[str, int]) -> bool:
    """Have nothing left of removed rows in what the database has not tidied yet; False where it is too busy to."""
    if db.dialect == "sqlite":
        row = db.row("PRAGMA wal_checkpoint(TRUNCATE)")
        return row is not None and row[0] == 0
    try:
        for table in sorted({*tables, "blob", "tombstone"}):
            db.run(f"VACUUM {table}")
    except Trouble:
        return False
    return True


def _file(db: Database) -> Path | None:
    """The file of a database that is one."""
    row = db.row("PRAGMA database_list") if db.dialect == "sqlite" else None
    return Path(row[2]) if row else None


def _in_file(path: Path, digests: set[str]) -> tuple[int, list[str]]:
    """How many bytes a database's files have, and which of the digests stand in them, in whatever page."""
    wanted = {digest.encode() for digest in digests}
    files = [one for one in (path, path.with_name(f"{path.name}-wal")) if one.exists()]
    found = {one for file in files for run in _runs(file) for one in _windows(run) if one in wanted}
    return sum(file.stat().st_size for file in files), [f"file {one.decode()}" for one in sorted(found)]


def _runs(file: Path) -> Iterator[bytes]:
    rest = b""
    with file.open("rb") as opened:
        while piece := opened.read(_CHUNK):
            text = rest + piece
            yield from (match[0] for match in _HEX.finditer(text))
            rest = text[-_DIGEST:]


def _windows(run: bytes) -> Iterator[bytes]:
    return (run[start : start + _DIGEST] for start in range(len(run) - _DIGEST + 1))
