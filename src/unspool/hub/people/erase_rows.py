"""The rows of what is erased: they go, and it is told which contents nothing else refers to."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from unspool.hub.people.person import Person
from unspool.hub.store.blobs import REFERENCES, now
from unspool.hub.store.database import Database, Value

_LOT = 500
_OF_SHARES = (("share_file", "address"), ("share", "address"))
_OF_SESSIONS = (
    ("piece", "session"),
    ("session_page", "session"),
    ("request", "session"),
    ("passage", "session"),
    ("session", "id"),
)
_OF_PERSONS = {
    "token": "person = ?",
    "invitation": "made_by = ?",
    "member": "person = ?",
    "permit": "kind = 'person' AND subject = ?",
    "sent": "person = ?",
}


class Removed(NamedTuple):
    """What went."""

    counts: dict[str, int]
    """Rows by table."""
    alone: list[str]
    """Digests of contents that nothing refers to any more."""
    shared: list[str]
    """Digests of contents that something else refers to as well."""


def removed(db: Database, shares: list[str], sessions: list[str]) -> Removed:
    """Remove the rows of shares and sessions; inside the transaction of an erasure."""
    digests = sorted({*_digests(db, "share_file", "address", shares), *_digests(db, "piece", "session", sessions),
                      *_digests(db, "session_page", "session", sessions)})  # fmt: skip
    counts = {table: _gone(db, table, column, shares) for table, column in _OF_SHARES}
    counts |= {table: _gone(db, table, column, sessions) for table, column in _OF_SESSIONS}
    if sessions:  # what an earlier push of one of them said may still wait to be swept
        db.run("DELETE FROM passage WHERE session = ''")
    others = {one for table in REFERENCES for one in _digests(db, table, "digest", digests)}
    alone = [digest for digest in digests if digest not in others]
    counts["sent"] = _gone(db, "sent", "digest", alone)
    return Removed({table: count for table, count in counts.items() if count}, alone, sorted(others))


def _digests(db: Database, table: str, column: str, values: list[str]) -> list[str]:
    sql = f"SELECT DISTINCT digest FROM {table} WHERE {column} IN ({{}})"  # noqa: S608
    return [row[0] for lot in lots(values) for row in db.rows(sql.format(marks(lot)), *lot)]


def _gone(db: Database, table: str, column: str, values: list[str]) -> int:
    return sum(db.run(f"DELETE FROM {table} WHERE {column} IN ({marks(lot)})", *lot) for lot in lots(values))  # noqa: S608


def project(db: Database, project: str) -> dict[str, int]:
    """Remove a project that has no sessions any more."""
    return {
        "permit": db.run("DELETE FROM permit WHERE project = ?", project),
        "project": db.run("DELETE FROM project WHERE id = ?", project),
    }


def person(db: Database, person: str) -> dict[str, int]:
    """Remove all that is about a person, but for themselves; in the audit log they are an id from now on."""
    db.run("UPDATE audit SET name = '' WHERE person = ?", person)
    db.run("UPDATE invitation SET name = '' WHERE name = (SELECT name FROM person WHERE id = ?)", person)
    return {table: db.run(f"DELETE FROM {table} WHERE {where}", person) for table, where in _OF_PERSONS.items()}  # noqa: S608


def counted(db: Database, names: list[str]) -> int:
    """Remove what was counted of people and shares; how much that was."""
    return sum(db.run("DELETE FROM pace WHERE who LIKE ?", f"%{name}%") for name in names)


def buried(db: Database, by: Person, sessions: list[str]) -> None:
    """Set the tombstones by which sessions are known when they are pushed again."""
    sql = "SELECT person, key FROM session WHERE id IN ({})"
    graves: list[tuple[Value, ...]] = [
        ("key", grave(person, key), by.id, now(), "{}")
        for lot in lots(sessions)
        for person, key in db.rows(sql.format(marks(lot)), *lot)
    ]
    db.many(
        "INSERT INTO tombstone(kind, target, made_by, at, proof) VALUES(?, ?, ?, ?, ?)"
        " ON CONFLICT(kind, target) DO NOTHING",
        graves,
    )


def grave(person: str, key: str) -> str:
    """What a person's session is known by once it was erased."""
    return sha256(f"{person}\0{key}".encode(errors="surrogatepass")).hexdigest()


def lots(values: Sequence[str], size: int = _LOT) -> Iterator[Sequence[str]]:
    """Values, as many at a time as a statement takes."""
    return (values[start : start + size] for start in range(0, len(values), size))


def marks(values: Sequence[str]) -> str:
    """As many places for values."""
    return ", ".join("?" * len(values))
