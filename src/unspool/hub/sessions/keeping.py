"""A session's rows, written all at once: before, nothing of it is seen; after, all of it is, for good."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.hub.sessions.making import Made, Page, read_passages, read_requests
from unspool.hub.sessions.texts import many, write_passages
from unspool.hub.sessions.versions import Files, size
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database, Value

_OF_SESSION = ("piece", "session_page", "request")


class Row(NamedTuple):
    """Which session it is, and what is known of it besides what its log tells."""

    id: str
    project: str
    person: str
    key: str
    state: str
    made: str
    """What made its pages."""


def state_of(db: Database, session: str) -> str:
    """What a session consists of now; empty where there is none."""
    found = db.row("SELECT state FROM session WHERE id = ?", session)
    return str(found[0]) if found else ""


def write(db: Database, row: Row, made: Made, files: Files, folder: Path) -> None:
    """Put a session in place of what was known of it, inside the caller's transaction."""
    _session(db, row, made, size(files))
    for table in _OF_SESSION:
        db.run(f"DELETE FROM {table} WHERE session = ?", row.id)  # noqa: S608  names of tables
    pieces = (
        (row.id, name, place, piece.digest, piece.size)
        for name, all_ in files.items()
        for place, piece in enumerate(all_)
    )
    many(db, "INSERT INTO piece(session, name, position, digest, size) VALUES(?, ?, ?, ?, ?)", pieces)
    pages(db, row.id, made.pages)
    write_passages(db, row.id, read_passages(folder))
    _requests(db, row.id, folder)


def pages(db: Database, session: str, made: Sequence[Page]) -> None:
    """Write which pages a session has that has none."""
    rows = ((session, page.name, page.digest, page.kind) for page in made)
    many(db, "INSERT INTO session_page(session, name, digest, kind) VALUES(?, ?, ?, ?)", rows)


def _session(db: Database, row: Row, made: Made, bytes_: int) -> None:
    told, time = made.facts._asdict(), now()
    told["models"] = msgspec.json.encode(told["models"]).decode()
    columns: dict[str, Value] = {**row._asdict(), **told, "size": bytes_, "created": time, "updated": time}
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    changed = ", ".join(f"{name} = excluded.{name}" for name in columns if name != "created")
    db.run(
        f"INSERT INTO session({names}) VALUES({marks}) ON CONFLICT(id) DO UPDATE SET {changed}",
        *columns.values(),
    )


def _requests(db: Database, session: str, folder: Path) -> None:
    put = (
        "INSERT INTO request(session, number, shared, identity, day, model, input, output, cache_read, cache_write,"
        " final, cost) VALUES(?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    rows = enumerate(read_requests(folder))
    many(db, put, ((session, number, *one[:-2], int(one.final), one.cost) for number, one in rows))
    db.alone("requests")  # two sessions that hold the same one must not pass each other unseen
    db.run(
        "UPDATE request SET shared = 1 WHERE session = ? AND EXISTS (SELECT 1 FROM request AS other"
        " WHERE other.identity = request.identity AND other.session <> request.session)",
        session,
    )
    db.run(
        "UPDATE request SET shared = 1 WHERE session <> ? AND shared = 0"
        " AND identity IN (SELECT identity FROM request WHERE session = ? AND shared = 1)",
        session, session,
    )  # fmt: skip
