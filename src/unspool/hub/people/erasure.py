"""Erasure: what somebody shared or pushed is removed for good, with proof."""

import glob
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from unspool.hub.errors import BadRequest, NotVisible, StoreUnavailable, UnderLegalHold
from unspool.hub.people import holds, users
from unspool.hub.people.users import HUB, Person
from unspool.hub.store.blobs import PREFIX, REFERENCES, FolderObjects, key_time, now
from unspool.hub.store.connect import Store
from unspool.hub.store.database import WAIT_MS, Database, Row, Value, batches, placeholders


def remove_content(store: Store, digest: str, at: int) -> bool:
    """Remove a content that was erased at a time; False where something refers to it again."""
    if store.blobs.find(digest) is not None:
        return store.blobs.drop(digest)
    for key in object_keys(store, digest):  # whose row went before this process, or another one, was killed
        if key_time(key) <= at:
            store.objects.delete(key)
    return True


def object_keys(store: Store, digest: str) -> list[str]:
    return list(store.objects.keys(f"{PREFIX}{digest[:2]}/{digest}"))


def content_mark(digest: str) -> str:
    """What a tombstone keeps of a content: who has the content can tell that it was erased, nobody else can."""
    return sha256(digest.encode()).hexdigest()


_OF_SHARES = (("share_file", "address"), ("share", "address"))
_OF_SESSIONS = (
    *((table, "session") for table in ("piece", "session_page", "request", "text_part", "session_text", "opening")),
    ("session", "id"),
)
_OF_PERSONS = {
    "token": "person = ?",
    "invitation": "made_by = ?",
    "member": "person = ?",
    "permit": "kind = 'person' AND subject = ?",
    "sent": "person = ?",
}


class RemovedRows(NamedTuple):
    counts: dict[str, int]
    """Rows by table."""
    alone: list[str]
    """Digests of contents that nothing refers to any more."""
    shared: list[str]
    """Digests of contents that something else refers to as well."""


def remove_rows(db: Database, shares: list[str], sessions: list[str]) -> RemovedRows:
    """Remove the rows of shares and sessions; inside the transaction of an erasure."""
    digests = sorted({*_digests(db, "share_file", "address", shares), *_digests(db, "piece", "session", sessions),
                      *_digests(db, "session_page", "session", sessions),
                      *_digests(db, "session_text", "session", sessions)})  # fmt: skip
    counts = {table: _gone(db, table, column, shares) for table, column in _OF_SHARES}
    counts |= {table: _gone(db, table, column, sessions) for table, column in _OF_SESSIONS}
    if sessions:  # what an earlier push of one of them said may still wait to be swept
        db.run("DELETE FROM text_part WHERE session = ''")
    others = {one for table in REFERENCES for one in _digests(db, table, "digest", digests)}
    alone = [digest for digest in digests if digest not in others]
    counts["sent"] = _gone(db, "sent", "digest", alone)
    return RemovedRows({table: count for table, count in counts.items() if count}, alone, sorted(others))


def _digests(db: Database, table: str, column: str, values: list[str]) -> list[str]:
    sql = f"SELECT DISTINCT digest FROM {table} WHERE {column} IN ({{}})"  # noqa: S608
    return [row[0] for lot in batches(values) for row in db.rows(sql.format(placeholders(lot)), *lot)]


def _gone(db: Database, table: str, column: str, values: list[str]) -> int:
    return sum(db.run(f"DELETE FROM {table} WHERE {column} IN ({placeholders(lot)})", *lot) for lot in batches(values))  # noqa: S608


def remove_person(db: Database, person: str) -> dict[str, int]:
    """Remove all that is about a person, but for themselves; in the audit log they are an id from now on."""
    users.end_tokens(db, "person = ?", person)
    db.run("UPDATE audit SET name = '', name_salt = '' WHERE person = ?", person)
    db.run("UPDATE invitation SET name = '' WHERE name = (SELECT name FROM person WHERE id = ?)", person)
    return {table: db.run(f"DELETE FROM {table} WHERE {where}", person) for table, where in _OF_PERSONS.items()}  # noqa: S608


def write_tombstones(db: Database, by: Person, sessions: list[str]) -> None:
    """Set the tombstones by which sessions are known when they are pushed again."""
    sql = "SELECT person, key FROM session WHERE id IN ({})"
    graves: list[tuple[Value, ...]] = [
        ("key", tombstone_key(person, key), by.id, now(), "{}")
        for lot in batches(sessions)
        for person, key in db.rows(sql.format(placeholders(lot)), *lot)
    ]
    insert = f"INSERT INTO tombstone({_COLUMNS}) VALUES(?, ?, ?, ?, ?) ON CONFLICT(kind, target) DO NOTHING"
    db.many(insert, graves)


def tombstone_key(person: str, key: str) -> str:
    return sha256(f"{person}\0{key}".encode(errors="surrogatepass")).hexdigest()


SEARCHED = {
    "blob": ("digest",), "invitation": ("made_by",), "member": ("person",), "permit": ("project", "subject"),
    "opening": ("session",), "person": ("id",), "piece": ("session", "digest"),
    "project": ("id",), "request": ("session",), "sent": ("person", "digest"),
    "session": ("id", "project", "person", "state"), "session_page": ("session", "digest"),
    "session_text": ("session", "digest"), "text_part": ("session",),
    "share": ("address", "owner"), "share_file": ("address", "digest"), "token": ("person",),
}  # fmt: skip
"""Columns that may hold an id or the digest of a content."""
_CHUNK = 4 * 1024 * 1024
_HEX = re.compile(rb"[0-9a-f]{64,}")
_DIGEST = 64
_PATIENCE_MS = 2_000
_IN_FILE = "file "


class ErasedThings(NamedTuple):
    ids: list[str]
    digests: list[str]
    counts: dict[str, int]
    shared: int
    """Contents that stay because something else refers to them."""
    contents: list[str]
    """What a tombstone keeps of the contents that went."""
    sought: int = 0
    """Contents whose objects were looked for before, and are gone."""


def prove_erased(store: Store, gone: ErasedThings) -> dict[str, Any]:
    """What was looked for, where, and what of it was found, which should be nothing.

    Proved is what was searched: in a file of SQLite all of it and its write-ahead log, once that is emptied.
    """
    cleared = _cleared(store.db, gone.counts)
    counted = [row[0] for row in store.db.rows("SELECT DISTINCT who FROM pace")]  # names within a text, which are few
    found = _in_tables(store.db, [*gone.ids, *gone.digests])
    found += sorted(f"pace.who: {one}" for one in gone.ids for text in counted if one in text)
    found += [f"object {key}" for digest in gone.digests for key in object_keys(store, digest)]
    objects = gone.sought + len(gone.digests)
    searched = {"ids": len(gone.ids), "columns": sum(map(len, SEARCHED.values())), "objects": objects}
    in_a_file = store.db.dialect == "sqlite"
    if in_a_file and (row := store.db.row("PRAGMA database_list")):
        searched["bytes"], more = _in_files(Path(row[2]), set(gone.contents))
        found += more
    return {
        "at": now(),
        "rows": gone.counts,
        "contents": gone.contents,
        "kept_for_others": gone.shared,
        "searched": searched,
        "not_searched": _not_searched(store),
        "cleared": cleared,
        "found": found,
        "proved": not found and (cleared or not in_a_file),
    }


def _not_searched(store: Store) -> list[str]:
    """Where something of what was erased may still be, for whoever reads the proof."""
    beyond = ["backups"]
    if store.db.dialect == "postgresql":
        beyond.append(
            "the database server's files, where removed rows are not overwritten, its write-ahead log, replicas"
        )
    if not isinstance(store.objects, FolderObjects):
        beyond.append("earlier versions of objects, where the bucket keeps any")
    return beyond


def _in_tables(db: Database, needles: list[str]) -> list[str]:
    found = []
    for table, columns in SEARCHED.items():
        for column in columns:
            for lot in batches(needles):
                row = db.row(f"SELECT count(*) FROM {table} WHERE {column} IN ({placeholders(lot)})", *lot)  # noqa: S608
                if row and row[0]:
                    found.append(f"{table}.{column}: {row[0]}")
    return found


def _cleared(db: Database, tables: dict[str, int]) -> bool:
    """Have nothing left of removed rows in what the database has not tidied yet; False where it is too busy to."""
    if db.dialect == "sqlite":
        db.row(f"PRAGMA busy_timeout = {_PATIENCE_MS}")  # while it waits for readers, nobody can write
        try:
            row = db.row("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            db.row(f"PRAGMA busy_timeout = {WAIT_MS}")
        return row is not None and row[0] == 0
    try:
        for table in sorted({*tables, "blob", "tombstone"}):
            db.run(f"VACUUM {table}")
    except StoreUnavailable:
        return False
    return True


def _in_files(path: Path, marks: set[str]) -> tuple[int, list[str]]:
    """How many bytes a database's files have, and the digests that stand in them, in whatever page, of these marks."""
    files = [one for one in path.parent.glob(f"{glob.escape(path.name)}*") if one.is_file()]
    found = set[str]()
    for run in chain.from_iterable(map(_hex_runs, files)):
        windows = (run[start : start + _DIGEST].decode() for start in range(len(run) - _DIGEST + 1))
        found.update(one for one in windows if content_mark(one) in marks)
    return sum(file.stat().st_size for file in files), [f"{_IN_FILE}{one}" for one in sorted(found)]


def _is_in_file(found: str) -> bool:
    return found.startswith(_IN_FILE)


def _hex_runs(file: Path) -> Iterator[bytes]:
    rest = b""
    with file.open("rb") as opened:
        while piece := opened.read(_CHUNK):
            text = rest + piece
            yield from (match[0] for match in _HEX.finditer(text))
            rest = text[-_DIGEST:]


_COLUMNS = "kind, target, made_by, at, proof"
KINDS = ("share", "session", "project", "person")
_LATE = (
    ("session", "SELECT id FROM session WHERE project IN (SELECT target FROM tombstone WHERE kind = 'project')"),
    ("session", "SELECT id FROM session WHERE person IN (SELECT target FROM tombstone WHERE kind = 'person')"),
    ("share", "SELECT address FROM share WHERE owner IN (SELECT target FROM tombstone WHERE kind = 'person')"),
)
"""What came in while the project or the person it belongs to was being erased."""
_SHARES = {
    "share": "SELECT address FROM share WHERE address = ?",
    "person": "SELECT address FROM share WHERE owner = ?",
}
_SESSIONS = {
    "session": "SELECT id FROM session WHERE id = ?",
    "project": "SELECT id FROM session WHERE project = ?",
    "person": "SELECT id FROM session WHERE person = ?",
}


class Tombstone(NamedTuple):
    kind: str
    target: str
    made_by: str
    at: int
    proof: dict[str, Any]


def erase_permanently(store: Store, by: Person, kind: str, target: str) -> dict[str, Any]:
    """Erase a share, a session, or all of a project or a person; the proof that it is gone.

    Where somebody still reads of a moment before, that is not proved yet: `resume_erasures` goes on with it.
    """
    proof = _finish(store, _remove(store.db, by, kind, target))
    return {"kind": kind, "target": target, **proof}


def resume_erasures(store: Store) -> int:
    """Go on with erasures that were broken off, and erase what came in behind one; how many there were."""
    for kind, late in _LATE:
        for (target,) in store.db.rows(late):
            with suppress(UnderLegalHold, NotVisible):  # a hold keeps it; another process was quicker
                _remove(store.db, HUB, kind, target)
    pending = store.db.rows(f"SELECT {_COLUMNS} FROM tombstone WHERE substr(proof, 1, 10) = '{{\"pending\"'")  # noqa: S608
    for row in pending:
        _finish(store, _stone(row))
    return len(pending)


def _finish(store: Store, stone: Tombstone) -> dict[str, Any]:
    """The proof of an erasure whose rows are gone: its contents go now, but for those that others refer to again.

    It is written down once there is nothing to wait for.
    """
    gone = ErasedThings(**stone.proof["pending"])
    digests = [digest for digest in gone.digests if remove_content(store, digest, stone.at)]
    contents, again = [*gone.contents, *map(content_mark, digests)], len(gone.digests) - len(digests)
    sought = gone.sought + len(digests)
    settled = gone._replace(digests=[], contents=contents, shared=gone.shared + again, sought=sought)
    _set(store.db, stone._replace(proof={"pending": settled._asdict()}))  # so that no digest is left to be found
    proof = prove_erased(store, settled._replace(digests=digests, sought=gone.sought))
    waits = "bytes" in proof["searched"] and not proof["cleared"] and all(map(_is_in_file, proof["found"]))
    if not waits:
        _set(store.db, stone._replace(proof=proof))
    return proof


def _remove(db: Database, by: Person, kind: str, target: str) -> Tombstone:
    if kind not in KINDS:
        raise BadRequest(f"What can be erased is one of: {', '.join(KINDS)}.")
    with db.transaction():
        holds.check_exists(db, kind, target)
        holds.check_nothing_held(db, kind, target)
        shares = [row[0] for row in db.rows(_SHARES[kind], target)] if kind in _SHARES else []
        sessions = [row[0] for row in db.rows(_SESSIONS[kind], target)] if kind in _SESSIONS else []
        write_tombstones(db, by, sessions)
        rows = remove_rows(db, shares, sessions)
        if kind == "project":
            rows.counts["permit"] = db.run("DELETE FROM permit WHERE project = ?", target)
            rows.counts["project"] = db.run("DELETE FROM project WHERE id = ?", target)
        if kind == "person":
            rows.counts.update(remove_person(db, target))
            users.delete_user(db, target)
        for name in (target, *shares):
            db.run("DELETE FROM pace WHERE who LIKE ?", f"%{name}%")
        gone = ErasedThings([target, *shares, *sessions], rows.alone, rows.counts, len(rows.shared), [])
        stone = Tombstone(kind, target, by.id, now(), {"pending": gone._asdict()})
        _set(db, stone)
    return stone


def _set(db: Database, stone: Tombstone) -> None:
    db.run(
        f"INSERT INTO tombstone({_COLUMNS}) VALUES(?, ?, ?, ?, ?)"
        " ON CONFLICT(kind, target) DO UPDATE SET proof = excluded.proof, at = excluded.at",
        *stone[:-1], json.dumps(stone.proof),
    )  # fmt: skip


def _stone(row: Row) -> Tombstone:
    return Tombstone(*row)._replace(proof=json.loads(row[-1]))


def list_tombstones(db: Database) -> list[Tombstone]:
    rows = db.rows(f"SELECT {_COLUMNS} FROM tombstone WHERE kind <> 'key' ORDER BY at DESC, target")  # noqa: S608
    return [_stone(row) for row in rows]


def was_erased(db: Database, person: str, key: str) -> bool:
    """Whether a session of this key was erased, so that this person may not push it again."""
    target = tombstone_key(person, key)
    return db.row("SELECT 1 FROM tombstone WHERE kind = 'key' AND target = ?", target) is not None


def allow_push_again(db: Database, person: str, key: str) -> None:
    if not db.run("DELETE FROM tombstone WHERE kind = 'key' AND target = ?", tombstone_key(person, key)):
        raise NotVisible("No such session was erased.")
