"""Who did what to what, with which outcome: written down for good, never with content.

A row is written with what it tells of, or, for reading, soon after. Sealing gives rows their order and a digest that
covers the row before, so that nobody can change, add or remove one unseen; `audit_proof` looks. The digest covers a
person's id and not their name, so that a name can be erased.
"""

import json
import secrets
import threading
import time
from hashlib import sha256
from typing import NamedTuple

from unspool.hub.people.person import HUB, Person
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database, Row, Value

_WRITE = "INSERT INTO audit(id, at, person, name, what, target, outcome, detail) VALUES(?, ?, ?, ?, ?, ?, ?, ?)"
_LOT = 2_000
_MOST = 100_000
"""Readings that wait while the database does not answer; more are counted only."""
_LONGEST = 300
HEAD, START = "audit.head", "audit.start"
"""Settings: the last row that was sealed, and the last one that was let go of; `seq digest` each."""
NOBODY = "0" * 64


class Mark(NamedTuple):
    """A place in the chain."""

    seq: int
    digest: str


def note(
    db: Database, person: Person, what: str, target: str, outcome: str, detail: dict[str, str | int] | None = None
) -> None:
    """Write down something that changes things, in the transaction of the caller where there is one.

    `target` and `detail` are ids, addresses, counts and rules: nothing of what anybody wrote, no names.
    """
    db.run(_WRITE, *_row(person, what, target, outcome, detail))


def _row(person: Person, what: str, target: str, outcome: str, detail: dict[str, str | int] | None) -> list[Value]:
    said = json.dumps(detail or {}, sort_keys=True)
    unique = f"{time.time_ns():016x}{secrets.token_hex(8)}"  # so that rows of one millisecond keep their order
    return [unique, now(), person.id, person.name, *map(_short, (what, target, outcome)), said]


def _short(text: str) -> str:
    kept = text[:_LONGEST]
    return kept if kept.isprintable() else "".join(one if one.isprintable() else "�" for one in kept)


class Reads:
    """Readings of this process, written down together: `flush` is called a few times a second, and at the end."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._guard = threading.Lock()
        self._waiting: list[list[Value]] = []
        self._lost = 0

    def add(self, person: Person, what: str, target: str, outcome: str) -> None:
        """Have a reading written down soon."""
        row = _row(person, what, target, outcome, None)
        with self._guard:
            if len(self._waiting) < _MOST:
                self._waiting.append(row)
            else:
                self._lost += 1

    def flush(self) -> None:
        """Write down what waits; where the database does not answer, it goes on waiting."""
        while self._waiting or self._lost:
            with self._guard:
                lot, lost = self._waiting[:_LOT], self._lost
            rows = [*lot, _row(HUB, "audit.lost", "", "done", {"readings": lost})] if lost else lot
            self._db.many(_WRITE, rows)
            with self._guard:
                del self._waiting[: len(lot)]
                self._lost -= lost


def seal(db: Database) -> Mark:
    """Give every row its place in the chain; the last one's. Any number of processes may try at the same time."""
    while True:
        with db.transaction():
            db.alone("audit")
            mark, rows = mark_of(db, HEAD), _unsealed(db)
            sealed = _chained(mark, rows)
            db.many("UPDATE audit SET seq = ?, digest = ? WHERE id = ?", sealed)
            if sealed:
                mark = Mark(int(str(sealed[-1][0])), str(sealed[-1][1]))
                set_mark(db, HEAD, mark)
        if len(rows) < _LOT:
            return mark


def _unsealed(db: Database) -> list[Row]:
    return db.rows(
        "SELECT id, at, person, what, target, outcome, detail FROM audit WHERE seq IS NULL ORDER BY at, id LIMIT ?",
        _LOT,
    )


def _chained(mark: Mark, rows: list[Row]) -> list[tuple[Value, ...]]:
    sealed: list[tuple[Value, ...]] = []
    for row in rows:
        mark = after(mark, (mark.seq + 1, *row))
        sealed.append((mark.seq, mark.digest, row[0]))
    return sealed


def after(mark: Mark, row: Row) -> Mark:
    """The place of a row, `seq` first, that comes after a mark."""
    said = json.dumps([mark.digest, *row], ensure_ascii=False, separators=(",", ":"))
    return Mark(row[0], sha256(said.encode(errors="surrogatepass")).hexdigest())


def mark_of(db: Database, which: str) -> Mark:
    """The head or the start of the chain."""
    row = db.row("SELECT value FROM setting WHERE key = ?", which)
    if row is None:
        return Mark(0, NOBODY)
    seq, _, digest = row[0].partition(" ")
    return Mark(int(seq), digest)


def set_mark(db: Database, which: str, mark: Mark) -> None:
    """Write the head or the start of the chain down, in the transaction that moves it."""
    db.run(
        "INSERT INTO setting(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        which,
        f"{mark.seq} {mark.digest}",
    )
