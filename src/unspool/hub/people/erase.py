"""Erasure: what somebody shared or pushed is removed for good, at once, and it is proved that it is gone.

First the rows go and a tombstone is set, in one transaction, from which on nobody sees any of it. Then the contents
that nothing else refers to go from the object store; where a process is killed in between, `resumed` goes on. A
session that was erased cannot be pushed again by the same person unless that is allowed again.
"""

import json
from contextlib import suppress
from typing import Any, NamedTuple

from unspool.hub.people import erase_rows, holds, roster
from unspool.hub.people.erase_contents import known, removed
from unspool.hub.people.erase_proof import Gone, proof
from unspool.hub.people.person import HUB, Person
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database, Row
from unspool.hub.store.opening import Store
from unspool.hub.trouble import Held, Hidden, Unfit

_COLUMNS = "kind, target, made_by, at, proof"
KINDS = ("share", "session", "project", "person")
_THERE = {
    "share": "SELECT address FROM share WHERE address = ?",
    "session": "SELECT id FROM session WHERE id = ?",
    "project": "SELECT id FROM project WHERE id = ?",
    "person": "SELECT id FROM person WHERE id = ?",
}
_LATE = (
    ("session", "SELECT id FROM session WHERE project IN (SELECT target FROM tombstone WHERE kind = 'project')"),
    ("session", "SELECT id FROM session WHERE person IN (SELECT target FROM tombstone WHERE kind = 'person')"),
    ("share", "SELECT address FROM share WHERE owner IN (SELECT target FROM tombstone WHERE kind = 'person')"),
)
"""What came in while the project or the person it belongs to was being erased."""
_SHARES = {"share": "address = ?", "person": "owner = ?"}
_SESSIONS = {"session": "id = ?", "project": "project = ?", "person": "person = ?"}


class Tombstone(NamedTuple):
    """What is left of something that was erased."""

    kind: str
    target: str
    made_by: str
    at: int
    proof: dict[str, Any]


def erased(store: Store, by: Person, kind: str, target: str, *, deep: bool = False) -> dict[str, Any]:
    """Erase a share, a session, or all of a project or a person; the proof that it is gone.

    `deep` also clears what databases leave behind of removed rows, and searches the database's file.
    """
    told = _finished(store, _rows_gone(store.db, by, kind, target), deep=deep)
    return {"kind": kind, "target": target, **told}


def resumed(store: Store) -> int:
    """Go on with erasures that were broken off, and erase what came in behind one; how many there were."""
    for kind, late in _LATE:
        for (target,) in store.db.rows(late):
            with suppress(Held, Hidden):  # a hold keeps it; another process was quicker
                _rows_gone(store.db, HUB, kind, target)
    pending = store.db.rows(f"SELECT {_COLUMNS} FROM tombstone WHERE substr(proof, 1, 10) = '{{\"pending\"'")  # noqa: S608
    for row in pending:
        _finished(store, _stone(row))
    return len(pending)


def _finished(store: Store, stone: Tombstone, *, deep: bool = False) -> dict[str, Any]:
    """The proof of an erasure whose rows are gone: its contents go now, but for those that others refer to again."""
    gone = Gone(**stone.proof["pending"])
    digests = [digest for digest in gone.digests if removed(store, digest, stone.at)]
    contents, again = [*gone.contents, *map(known, digests)], len(gone.digests) - len(digests)
    settled = gone._replace(digests=[], contents=contents, shared=gone.shared + again)
    _set(store.db, stone._replace(proof={"pending": settled._asdict()}))  # so that no digest is left to be found
    told = proof(store, settled._replace(digests=digests), deep=deep)
    _set(store.db, stone._replace(proof=told))
    return told


def _rows_gone(db: Database, by: Person, kind: str, target: str) -> Tombstone:
    if kind not in KINDS:
        raise Unfit(f"What can be erased is one of: {', '.join(KINDS)}.")
    with db.transaction():
        if db.row(_THERE[kind], target) is None:
            raise Hidden(f"There is no such {kind}.")
        holds.free_whole(db, kind, target)
        shares = _ids(db, "SELECT address FROM share WHERE", _SHARES.get(kind), target)
        sessions = _ids(db, "SELECT id FROM session WHERE", _SESSIONS.get(kind), target)
        erase_rows.buried(db, by, sessions)
        rows = erase_rows.removed(db, shares, sessions)
        if kind == "project":
            rows.counts.update(erase_rows.project(db, target))
        if kind == "person":
            rows.counts.update(erase_rows.person(db, target))
            roster.removed(db, target)
        erase_rows.counted(db, [target, *shares])
        gone = Gone([target, *shares, *sessions], rows.alone, rows.counts, len(rows.shared), [])
        stone = Tombstone(kind, target, by.id, now(), {"pending": gone._asdict()})
        _set(db, stone)
    return stone


def _ids(db: Database, select: str, where: str | None, target: str) -> list[str]:
    return [row[0] for row in db.rows(f"{select} {where}", target)] if where else []


def _set(db: Database, stone: Tombstone) -> None:
    db.run(
        f"INSERT INTO tombstone({_COLUMNS}) VALUES(?, ?, ?, ?, ?)"
        " ON CONFLICT(kind, target) DO UPDATE SET proof = excluded.proof, at = excluded.at",
        *stone[:-1], json.dumps(stone.proof),
    )  # fmt: skip


def _stone(row: Row) -> Tombstone:
    return Tombstone(*row)._replace(proof=json.loads(row[-1]))


def listed(db: Database) -> list[Tombstone]:
    """What was erased, newest first."""
    rows = db.rows(f"SELECT {_COLUMNS} FROM tombstone WHERE kind <> 'key' ORDER BY at DESC, target")  # noqa: S608
    return [_stone(row) for row in rows]


def buried(db: Database, person: str, key: str) -> bool:
    """Whether a session of this key was erased, so that this person may not push it again."""
    target = erase_rows.grave(person, key)
    return db.row("SELECT 1 FROM tombstone WHERE kind = 'key' AND target = ?", target) is not None


def allowed(db: Database, person: str, key: str) -> None:
    """Let a session that was erased be pushed again."""
    if not db.run("DELETE FROM tombstone WHERE kind = 'key' AND target = ?", erase_rows.grave(person, key)):
        raise Hidden("No such session was erased.")
