"""Erasure: what somebody shared or pushed is removed for good, at once, and it is proved that it is gone.

First the rows go and a tombstone is set, in one transaction, from which on nobody sees any of it. Then the contents
that nothing else refers to go from the object store; where a process is killed in between, `finished` goes on. A
session that was erased cannot be pushed again by the same person unless that is allowed again.
"""

import json
from typing import Any, NamedTuple

from unspool.hub.people import erase_rows, holds, roster
from unspool.hub.people.erase_contents import finished
from unspool.hub.people.erase_proof import Gone, proof
from unspool.hub.people.person import HUB, Person
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database
from unspool.hub.store.opening import Store
from unspool.hub.trouble import Hidden, Unfit

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
    gone = _rows_gone(store.db, by, kind, target)
    finished(store)
    told = proof(store, gone, deep=deep)
    store.db.run("UPDATE tombstone SET proof = ? WHERE kind = ? AND target = ?", json.dumps(told), kind, target)
    return {"kind": kind, "target": target, **told}


def resumed(store: Store) -> int:
    """Go on with erasures that were broken off, and erase what came in behind one; how many contents went."""
    for kind, late in _LATE:
        for (target,) in store.db.rows(late):
            _rows_gone(store.db, HUB, kind, target)
    return finished(store)


def _rows_gone(db: Database, by: Person, kind: str, target: str) -> Gone:
    if kind not in KINDS:
        raise Unfit(f"What can be erased is one of: {', '.join(KINDS)}.")
    with db.transaction():
        if db.row(_THERE[kind], target) is None:
            raise Hidden(f"There is no such {kind}.")
        holds.free_whole(db, kind, target)
        shares = _ids(db, "SELECT address FROM share WHERE", _SHARES.get(kind), target)
        sessions = _ids(db, "SELECT id FROM session WHERE", _SESSIONS.get(kind), target)
        erase_rows.buried(db, by, sessions)
        removed = erase_rows.removed(db, shares, sessions)
        if kind == "project":
            removed.counts.update(erase_rows.project(db, target))
        if kind == "person":
            removed.counts.update(erase_rows.person(db, target))
            roster.removed(db, target)
        erase_rows.counted(db, [target, *shares])
        gone = Gone([target, *shares, *sessions], removed.alone, removed.counts, len(removed.shared))
        _set(db, by, (kind, target), {"pending": removed.alone})
    return gone


def _ids(db: Database, select: str, where: str | None, target: str) -> list[str]:
    return [row[0] for row in db.rows(f"{select} {where}", target)] if where else []


def _set(db: Database, by: Person, thing: tuple[str, str], told: dict[str, Any]) -> None:
    db.run(
        "INSERT INTO tombstone(kind, target, made_by, at, proof) VALUES(?, ?, ?, ?, ?)"
        " ON CONFLICT(kind, target) DO UPDATE SET proof = excluded.proof, at = excluded.at",
        *thing, by.id, now(), json.dumps(told),
    )  # fmt: skip


def listed(db: Database) -> list[Tombstone]:
    """What was erased, newest first."""
    rows = db.rows(
        "SELECT kind, target, made_by, at, proof FROM tombstone WHERE kind <> 'key' ORDER BY at DESC, target"
    )
    return [Tombstone(kind, target, by, at, json.loads(said)) for kind, target, by, at, said in rows]


def buried(db: Database, person: str, key: str) -> bool:
    """Whether a session of this key was erased, so that this person may not push it again."""
    target = erase_rows.grave(person, key)
    return db.row("SELECT 1 FROM tombstone WHERE kind = 'key' AND target = ?", target) is not None


def allowed(db: Database, person: str, key: str) -> None:
    """Let a session that was erased be pushed again."""
    if not db.run("DELETE FROM tombstone WHERE kind = 'key' AND target = ?", erase_rows.grave(person, key)):
        raise Hidden("No such session was erased.")
