"""Whether the audit log is whole, and how old rows are let go of without breaking it."""

from collections.abc import Iterator

from unspool.hub.people.audit import HEAD, START, Mark, after, mark_of, seal, set_mark
from unspool.hub.store.database import Database, Row

_LOT = 5_000
_SIGNED = "seq, id, at, person, what, target, outcome, detail, digest"


def proved(db: Database, known: str = "") -> list[str]:
    """What is wrong with the audit log, a sentence each; nothing where it is whole.

    `known` is the digest of a head that somebody kept elsewhere: it must be in the chain. Without such a one, whoever
    can write to the database could have written the whole chain anew.
    """
    seal(db)
    mark, seen = mark_of(db, START), False
    for row in _rows(db, mark):
        if row[0] != mark.seq + 1:
            return [f"Rows {mark.seq + 1} to {row[0] - 1} of the audit log are missing."]
        mark = after(mark, row[:-1])
        if mark.digest != row[-1]:
            return [f"Row {row[0]} of the audit log, or its place in it, was changed."]
        seen = seen or mark.digest == known
    return _ends(db, mark, known_missing=bool(known) and not seen)


def _ends(db: Database, last: Mark, *, known_missing: bool) -> list[str]:
    """What is wrong with the end of a chain that holds as far as it goes."""
    found = []
    head = mark_of(db, HEAD)
    if head.seq > last.seq or (head.seq == last.seq and head != last):
        found.append(f"The audit log ends at row {last.seq}, but row {head.seq} was sealed.")
    if known_missing:
        found.append("The digest that was kept elsewhere is not in the audit log.")
    return found


def _rows(db: Database, mark: Mark) -> Iterator[Row]:
    last = mark.seq
    while True:
        rows = db.rows(f"SELECT {_SIGNED} FROM audit WHERE seq > ? ORDER BY seq LIMIT ?", last, _LOT)  # noqa: S608
        yield from rows
        if len(rows) < _LOT:
            return
        last = rows[-1][0]


def trimmed(db: Database, before: int) -> int:
    """Let go of what is older than a time; how many rows. What comes after still proves itself.

    Rows about what is under a legal hold stay, and all after them.
    """
    seal(db)
    with db.transaction():
        db.alone("audit")
        last = _last(db, before)
        row = db.row("SELECT seq, digest FROM audit WHERE seq = ?", last)
        if row is None:
            return 0
        set_mark(db, START, Mark(*row))
        return db.run("DELETE FROM audit WHERE seq <= ?", last)


def _last(db: Database, before: int) -> int:
    """The last row of those that may go."""
    young = db.row("SELECT min(seq) FROM audit WHERE at >= ?", before)
    held = db.row(
        "SELECT min(seq) FROM audit WHERE target IN (SELECT target FROM hold WHERE ended IS NULL)"
        " OR person IN (SELECT target FROM hold WHERE ended IS NULL AND kind = 'person')"
    )
    end = db.row("SELECT max(seq) FROM audit")
    stops: list[int] = [row[0] for row in (young, held) if row and row[0] is not None]
    most: int = end[0] if end and end[0] is not None else 0
    return min([most, *(stop - 1 for stop in stops)])
