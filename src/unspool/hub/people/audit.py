"""The audit log: written, sealed in a chain, listed, verified and trimmed."""

import json
import secrets
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from unspool.errors import NotFound
from unspool.hub.people.users import HUB, Person
from unspool.hub.store.blobs import AUDIT_MARK, now
from unspool.hub.store.connect import Store
from unspool.hub.store.database import Database, Row, Value, as_kept, get_setting, placeholders, set_setting

_WRITE = (
    "INSERT INTO audit(id, at, person, name, what, target, outcome, detail, name_salt, name_mark)"
    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SEALED = "id, at, person, what, target, outcome, detail, name_mark"
"""What a digest covers."""
_UNSEALED = f"SELECT {_SEALED} FROM audit WHERE seq IS NULL ORDER BY at, id LIMIT ?"  # noqa: S608
_LOT = 2_000
_MOST = 100_000
"""Readings that wait while the database does not answer; more are counted only."""
_LONGEST = 300
HEAD, START = "audit.head", "audit.start"
"""Settings: the last row that was sealed, and the last one that was trimmed; `seq digest` each."""
_MARKED = "audit.marked"
"""The setting of a hub whose object store has a mark, too."""
NOBODY = "0" * 64


class ChainMark(NamedTuple):
    seq: int
    digest: str


class HeadMark(msgspec.Struct, frozen=True):
    """What the object store knows of the chain: a row that was the last one, and how far rows were trimmed."""

    seq: int
    digest: str
    start: int


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
    salt = secrets.token_hex(16)
    words = map(_short, (what, target, outcome))
    return [unique, now(), person.id, person.name, *words, more, salt, _name_mark(salt, person.name)]


def _name_mark(salt: str, name: str) -> str:
    return sha256(f"{salt}\0{as_kept([name])[0]!s}".encode()).hexdigest()


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
    """The place of a row, `seq` first and the mark of its name last, that comes after a mark."""
    sealed = row if row[-1] is not None else row[:-1]  # names of before are not sealed
    text = json.dumps([mark.digest, *sealed], ensure_ascii=False, separators=(",", ":"))
    return ChainMark(row[0], sha256(text.encode(errors="surrogatepass")).hexdigest())


def mark_of(db: Database, which: str) -> ChainMark:
    seq, _, digest = (get_setting(db, which) or f"0 {NOBODY}").partition(" ")
    return ChainMark(int(seq), digest)


def set_mark(db: Database, which: str, mark: ChainMark) -> None:
    """Write the head or the start of the chain down, in the transaction that moves it."""
    set_setting(db, which, f"{mark.seq} {mark.digest}")


def mark_head(store: Store, *, anew: bool = False) -> ChainMark:
    """Seal, and have the object store know the head, which is given.

    Where what it knows is not in the chain any more, that stays to be seen, unless the log is to be taken as it is.
    """
    db = store.db
    head = seal_audit(db)
    kept = _kept_mark(store)  # not in the transaction, in which others would wait for an object store that is away
    if kept == HeadMark(*head, mark_of(db, START).seq) and not anew:
        return head
    with db.transaction():
        db.alone("audit")
        head = mark_of(db, HEAD)
        if head.seq and (anew or not _mark_problem(store)):
            _put_mark(store, HeadMark(*head, mark_of(db, START).seq))
            set_setting(db, _MARKED, "1")
    return head


def _put_mark(store: Store, mark: HeadMark) -> None:
    store.objects.put(AUDIT_MARK, [msgspec.json.encode(mark)])


def _kept_mark(store: Store) -> HeadMark | str | None:
    """What the object store knows; None where that is nothing, and a sentence where it cannot be read."""
    try:
        return msgspec.json.decode(b"".join(store.objects.get(AUDIT_MARK)), type=HeadMark)
    except NotFound:
        return None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "The object store's mark of the audit log cannot be read."


def _mark_problem(store: Store) -> str:
    """What is wrong where database and object store do not agree; empty where they do."""
    kept = _kept_mark(store)
    if kept is None:
        return "The object store has no mark of the audit log any more." if get_setting(store.db, _MARKED) else ""
    return kept if isinstance(kept, str) else _cut(store.db, kept)


def _cut(db: Database, kept: HeadMark) -> str:
    """What of the chain that a mark tells of is missing; empty where it is whole."""
    start, head = mark_of(db, START), mark_of(db, HEAD)
    if start.seq > kept.start:
        return f"Rows {kept.start + 1} to {start.seq} of the audit log are missing, and nobody trimmed them."
    if head.seq < kept.seq:
        return f"The audit log ends at row {head.seq}, but the object store has a mark of row {kept.seq}."
    row = db.row("SELECT digest FROM audit WHERE seq = ?", kept.seq)
    if kept.seq > start.seq and (row is None or row[0] != kept.digest):
        return f"Row {kept.seq} of the audit log is not the one that the object store has a mark of."
    return ""


_COLUMNS = "SELECT seq, at, person, name, what, target, outcome, detail, id, digest, name_salt, name_mark FROM audit"
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
    name_salt: str | None
    name_mark: str | None

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


_SIGNED = f"SELECT seq, {_SEALED}, digest, name, name_salt FROM audit WHERE seq IS NOT NULL"  # noqa: S608
_PERSON, _NAME = 3, 8
"""Where a row of these has a person's id, and the mark of their name."""


def verify_audit(store: Store, known: str = "") -> list[str]:
    """What is wrong with the audit log, a sentence each; nothing where it is whole.

    `known` is the digest of a head that somebody kept elsewhere: it must be in the chain. Without such a one, whoever
    can write to the database and to the object store could have written the whole chain anew.
    """
    db = store.db
    seal_audit(db)
    mark, seen = mark_of(db, START), False
    erased = {row[0] for row in db.rows("SELECT target FROM tombstone WHERE kind = 'person'")}
    names = ""
    for row in _rows_in_order(db, _SIGNED, [], mark.seq):
        if row[0] != mark.seq + 1:
            return [f"Rows {mark.seq + 1} to {row[0] - 1} of the audit log are missing."]
        *sealed, digest, name, salt = row
        mark = next_mark(mark, tuple(sealed))
        if mark.digest != digest:
            return [f"Row {row[0]} of the audit log, or its place in it, was changed."]
        if not names and not _is_name(sealed[_NAME], name, salt, gone=sealed[_PERSON] in erased):
            names = f"The name in row {row[0]} of the audit log was changed."
        seen = seen or mark.digest == known
    found, head = [names] if names else [], mark_of(db, HEAD)
    if head.seq > mark.seq or (head.seq == mark.seq and head != mark):
        found.append(f"The audit log ends at row {mark.seq}, but row {head.seq} was sealed.")
    elif problem := _mark_problem(store):
        found.append(problem)
    if known and not seen:
        found.append("The digest that was kept elsewhere is not in the audit log.")
    return found


def _is_name(mark: str | None, name: str, salt: str | None, *, gone: bool) -> bool:
    """Whether a name is the one that was sealed, or was erased with its person."""
    return mark is None or (gone and not name and not salt) or _name_mark(salt or "", name) == mark


def trim_audit(store: Store, before: int) -> int:
    """Let go of what is older than a time; how many rows. What comes after still proves itself.

    Rows about what is under a legal hold stay, and all after them.
    """
    db = store.db
    seal_audit(db)
    with db.transaction():
        db.alone("audit")
        last = _last(db, before)
        row = db.row("SELECT seq, digest FROM audit WHERE seq = ?", last)
        if row is None:
            return 0
        kept = _kept_mark(store)
        if isinstance(kept, HeadMark) and not _cut(
            db, kept
        ):  # it knows before they go, or others would seem to have cut
            _put_mark(store, msgspec.structs.replace(kept, start=last))
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
