"""The audit log: written, sealed in a chain, listed, verified and trimmed."""

import json
import secrets
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

from unspool.hub.people.users import HUB, Person
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database, Row, Value, get_setting, placeholders, set_setting

_WRITE = "INSERT INTO audit(id, at, person, name, what, target, outcome, detail) VALUES(?, ?, ?, ?, ?, ?, ?, ?)"
_UNSEALED = "SELECT id, at, person, what, target, outcome, detail FROM audit WHERE seq IS NULL ORDER BY at, id LIMIT ?"
_LOT = 2_000
_MOST = 100_000
"""Readings that wait while the database does not answer; more are counted only."""
_LONGEST = 300
HEAD, START = "audit.head", "audit.start"
"""Settings: the last row that was sealed, and the last one that was trimmed; `seq digest` each."""
NOBODY = "0" * 64


class ChainMark(NamedTuple):
    seq: int
    digest: str


def write_audit(
    db: Database, person: Person, what: str, target: str, outcome: str, detail: dict[str, str | int] | None = None
) -> None:
    """Write down something that changes things, in the transaction of the caller where there is one.

    `target` and `detail` are ids, addresses, counts and rules: nothing of what anybody wrote, no names.
    """
    db.run(_WRITE, *_row(person, what, target, outcome, detail))


def _row(person: Person, what: str, target: str, outcome: str, detail: dict[str, str | int] | None) -> list[Value]:
    more = json.dumps(detail or {}, sort_keys=True)
    unique = f"{time.time_ns():016x}{secrets.token_hex(8)}"  # so that rows of one millisecond keep their order
    return [unique, now(), person.id, person.name, *map(_short, (what, target, outcome)), more]


def _short(text: str) -> str:
    kept = text[:_LONGEST]
    return kept if kept.isprintable() else "".join(one if one.isprintable() else "�" for one in kept)


class AuditedReads:
    """Readings of this process, written down together: `flush` is called a few times a second, and at the end."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._guard = threading.Lock()
        self._waiting: list[list[Value]] = []
        self._lost = 0

    def add(self, person: Person, what: str, target: str, outcome: str) -> None:
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


def seal_audit(db: Database) -> ChainMark:
    """Give every row its place in the chain; the last one's. Any number of processes may try at the same time."""
    while True:
        with db.transaction():
            db.alone("audit")
            mark, rows = mark_of(db, HEAD), db.rows(_UNSEALED, _LOT)
            sealed: list[tuple[Value, ...]] = []
            for row in rows:
                mark = next_mark(mark, (mark.seq + 1, *row))
                sealed.append((*mark, row[0]))
            db.many("UPDATE audit SET seq = ?, digest = ? WHERE id = ?", sealed)
            if sealed:
                set_mark(db, HEAD, mark)
        if len(rows) < _LOT:
            return mark


def next_mark(mark: ChainMark, row: Row) -> ChainMark:
    """The place of a row, `seq` first, that comes after a mark."""
    text = json.dumps([mark.digest, *row], ensure_ascii=False, separators=(",", ":"))
    return ChainMark(row[0], sha256(text.encode(errors="surrogatepass")).hexdigest())


def mark_of(db: Database, which: str) -> ChainMark:
    seq, _, digest = (get_setting(db, which) or f"0 {NOBODY}").partition(" ")
    return ChainMark(int(seq), digest)


def set_mark(db: Database, which: str, mark: ChainMark) -> None:
    """Write the head or the start of the chain down, in the transaction that moves it."""
    set_setting(db, which, f"{mark.seq} {mark.digest}")


_COLUMNS = "SELECT seq, at, person, name, what, target, outcome, detail, id, digest FROM audit"
MOST = 1_000
"""Lines of one list."""


class AuditLine(NamedTuple):
    seq: int
    at: int
    person: str
    name: str
    what: str
    target: str
    outcome: str
    detail: dict[str, Any]
    id: str
    digest: str

    def data(self) -> dict[str, Any]:
        return {**self._asdict(), "at": datetime.fromtimestamp(self.at / 1000, UTC).isoformat()}


class AuditFilters(NamedTuple):
    """Which lines are wanted; empty: whichever."""

    person: str = ""
    """An id or a name."""
    what: str = ""
    """Such as `share.delete`, or `share` for all that begin so."""
    target: str = ""
    outcome: str = ""
    since: int | None = None
    until: int | None = None
    before: int | None = None
    """Lines before this `seq`: where the list before ended."""


def list_audit(db: Database, filters: AuditFilters = AuditFilters(), most: int = 100) -> list[AuditLine]:  # noqa: B008  it is immutable
    seal_audit(db)
    sql, values = _where(db, filters)
    rows = db.rows(f"{_COLUMNS} WHERE {sql} ORDER BY seq DESC LIMIT ?", *values, min(max(most, 1), MOST))
    return [_line(row) for row in rows]


def audit_as_json_lines(db: Database, filters: AuditFilters = AuditFilters()) -> Iterator[str]:  # noqa: B008
    """Every line that fits, oldest first, as JSON with a newline."""
    seal_audit(db)
    sql, values = _where(db, filters)
    for row in _rows_in_order(db, f"{_COLUMNS} WHERE {sql}", values):
        yield json.dumps(_line(row).data(), ensure_ascii=False) + "\n"


def _rows_in_order(db: Database, select: str, values: list[Value], last: int = 0) -> Iterator[Row]:
    """Rows by `seq`, their first column, after the last one that is known; a lot at a time."""
    while rows := db.rows(f"{select} AND seq > ? ORDER BY seq LIMIT ?", *values, last, _LOT):
        yield from rows
        last = rows[-1][0]


def _where(db: Database, filters: AuditFilters) -> tuple[str, list[Value]]:
    conditions: list[tuple[str, list[Value]]] = [("seq IS NOT NULL", [])]
    if filters.person:
        found = [row[0] for row in db.rows("SELECT id FROM person WHERE id = ? OR name = ?", *[filters.person] * 2)]
        if found:
            conditions.append((f"person IN ({placeholders(found)})", found))
        else:  # by what they were called, where nobody of that name is left
            conditions.append(("(person = ? OR name = ?)", [filters.person] * 2))
    if filters.what:
        family = filters.what.rstrip(".") + "."
        conditions.append(("(what = ? OR substr(what, 1, ?) = ?)", [filters.what, len(family), family]))
    for test, value in (
        ("target = ?", filters.target or None),
        ("outcome = ?", filters.outcome or None),
        ("at >= ?", filters.since),
        ("at < ?", filters.until),
        ("seq < ?", filters.before),
    ):
        if value is not None:
            conditions.append((test, [value]))
    return " AND ".join(sql for sql, _ in conditions), [value for _, values in conditions for value in values]


def _line(row: Row) -> AuditLine:
    line = AuditLine(*row)
    return line._replace(detail=json.loads(row[7]))


_SIGNED = "SELECT seq, id, at, person, what, target, outcome, detail, digest FROM audit WHERE seq IS NOT NULL"


def verify_audit(db: Database, known: str = "") -> list[str]:
    """What is wrong with the audit log, a sentence each; nothing where it is whole.

    `known` is the digest of a head that somebody kept elsewhere: it must be in the chain. Without such a one, whoever
    can write to the database could have written the whole chain anew.
    """
    seal_audit(db)
    mark, seen = mark_of(db, START), False
    for row in _rows_in_order(db, _SIGNED, [], mark.seq):
        if row[0] != mark.seq + 1:
            return [f"Rows {mark.seq + 1} to {row[0] - 1} of the audit log are missing."]
        mark = next_mark(mark, row[:-1])
        if mark.digest != row[-1]:
            return [f"Row {row[0]} of the audit log, or its place in it, was changed."]
        seen = seen or mark.digest == known
    found, head = [], mark_of(db, HEAD)
    if head.seq > mark.seq or (head.seq == mark.seq and head != mark):
        found.append(f"The audit log ends at row {mark.seq}, but row {head.seq} was sealed.")
    if known and not seen:
        found.append("The digest that was kept elsewhere is not in the audit log.")
    return found


def trim_audit(db: Database, before: int) -> int:
    """Let go of what is older than a time; how many rows. What comes after still proves itself.

    Rows about what is under a legal hold stay, and all after them.
    """
    seal_audit(db)
    with db.transaction():
        db.alone("audit")
        last = _last(db, before)
        row = db.row("SELECT seq, digest FROM audit WHERE seq = ?", last)
        if row is None:
            return 0
        set_mark(db, START, ChainMark(*row))
        return db.run("DELETE FROM audit WHERE seq <= ?", last)


def _last(db: Database, before: int) -> int:
    young = db.row("SELECT min(seq) FROM audit WHERE at >= ?", before)
    held = db.row(
        "SELECT min(seq) FROM audit WHERE target IN (SELECT target FROM hold WHERE ended IS NULL)"
        " OR person IN (SELECT target FROM hold WHERE ended IS NULL AND kind = 'person')"
    )
    end = db.row("SELECT max(seq) FROM audit")
    stops: list[int] = [row[0] for row in (young, held) if row and row[0] is not None]
    most: int = end[0] if end and end[0] is not None else 0
    return min([most, *(stop - 1 for stop in stops)])
