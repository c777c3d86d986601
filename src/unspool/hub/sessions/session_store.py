"""Pushed sessions in the database and the object store: rows, files, versions, pages."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.hub.sessions.process_push import MadeSession, PassageRow, read_passages, read_requests
from unspool.hub.store.blobs import Blobs, MadeFile, now
from unspool.hub.store.database import Database, Value
from unspool.hub_client.manifest import FilePiece, ManifestFile

Read = Callable[[str], Iterator[bytes]]


class FileRelation(Enum):
    SAME = "same"
    LONGER = "longer"
    """It begins with all of the old one."""
    SHORTER = "shorter"
    """The old one begins with all of it."""
    OTHER = "other"


def relate_files(old: Sequence[FilePiece], new: Sequence[FilePiece], read: Read) -> FileRelation:
    """What new pieces are to old ones; `read` gives a piece by its digest."""
    common = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        common += 1
    before, after = old[common:], new[common:]
    length = sum(piece.size for piece in after) - sum(piece.size for piece in before)
    streams = ((chunk for piece in pieces for chunk in read(piece.digest)) for pieces in (before, after))
    if before and after and not _begins_alike(*streams):
        return FileRelation.OTHER
    return FileRelation.SAME if length == 0 else FileRelation.LONGER if length > 0 else FileRelation.SHORTER


def _begins_alike(one: Iterator[bytes], other: Iterator[bytes]) -> bool:
    """Whether two streams are the same for as long as both go on."""
    mine = theirs = b""
    while True:
        mine, theirs = mine or next(one, b""), theirs or next(other, b"")
        if not mine or not theirs:
            return True
        size = min(len(mine), len(theirs))
        if mine[:size] != theirs[:size]:
            return False
        mine, theirs = mine[size:], theirs[size:]


Files = dict[str, tuple[FilePiece, ...]]


def kept_files(db: Database, session: str) -> Files:
    found: dict[str, list[FilePiece]] = {}
    query = "SELECT name, digest, size FROM piece WHERE session = ? ORDER BY name, position"
    for name, digest, size in db.rows(query, session):
        found.setdefault(name, []).append(FilePiece(digest, size))
    return {name: tuple(pieces) for name, pieces in found.items()}


def join_files(before: Mapping[str, tuple[FilePiece, ...]], new: Iterable[ManifestFile], read: Read) -> Files | None:
    """All files after a push; None where nothing in it is new, for all of it is how what is kept begins."""
    files, fresh = dict(before), False
    for file in new:
        how = relate_files(before.get(file.name, ()), file.pieces, read) if file.name in before else FileRelation.LONGER
        if how is FileRelation.OTHER:
            number = 1
            while f"{file.name}~{number}" in files:
                number += 1
            files[f"{file.name}~{number}"] = before[file.name]
        if how in (FileRelation.OTHER, FileRelation.LONGER):
            files[file.name] = file.pieces
            fresh = True
    return files if fresh or not before else None


def total_size(files: Mapping[str, tuple[FilePiece, ...]]) -> int:
    """Bytes of all of them; a piece that several have counts once."""
    return sum({piece.digest: piece.size for pieces in files.values() for piece in pieces}.values())


_AT_ONCE = 500
_KNOWN = "SELECT id, turn, kind, link, body FROM passage WHERE session = ? ORDER BY id"
_PUT = {
    "sqlite": "INSERT INTO passage(session, turn, kind, link, body) VALUES(?, ?, ?, ?, ?)",
    "postgresql": "INSERT INTO passage(session, turn, kind, link, body, words) VALUES(?, ?, ?, ?, ?, ?::tsvector)",
}

_GONE = {"sqlite": "UPDATE passage SET session = '' WHERE id = ?", "postgresql": "DELETE FROM passage WHERE id = ?"}


def write_passages(db: Database, session: str, passages: Iterable[PassageRow]) -> None:
    """Have a session hold these passages and no others, inside the caller's transaction.

    Full text is slow at taking out what it once took in, and most pushes only add to a session.
    """
    known: dict[bytes, list[int]] = {}
    for number, *passage in db.rows(_KNOWN, session):
        known.setdefault(_digest(*passage), []).append(number)
    execute_batches(db, _PUT[db.dialect], _fresh(db, session, passages, known))
    execute_batches(db, _GONE[db.dialect], [(number,) for numbers in known.values() for number in numbers])


def sweep_passages(db: Database, seconds: float = 0.5) -> int:
    """Take out passages that are of no session any more, for about so long; how many went.

    SQLite leaves nothing of a passage in its full text, which takes it a while: so it is done in small steps, between
    which others write.
    """
    until, count = time.monotonic() + seconds, 0
    while time.monotonic() < until and (found := db.row("SELECT id FROM passage WHERE session = '' LIMIT 1")):
        count += db.run("DELETE FROM passage WHERE id = ?", *found)
    return count


def _fresh(
    db: Database, session: str, passages: Iterable[PassageRow], known: dict[bytes, list[int]]
) -> Iterator[Sequence[Value]]:
    """The passages that are not known; those that are get taken from what is known."""
    for one in passages:
        if numbers := known.get(_digest(one.turn, one.kind, one.link, one.body)):
            numbers.pop(0)
        else:
            yield (session, *one) if db.dialect == "postgresql" else (session, *one[:-1])


def _digest(turn: int, kind: str, link: str, body: str) -> bytes:
    return blake2b(f"{turn} {kind} {link} {body}".encode(errors="replace"), digest_size=16).digest()


def execute_batches(db: Database, sql: str, rows: Iterable[Sequence[Value]]) -> None:
    waiting = iter(rows)
    while some := list(islice(waiting, _AT_ONCE)):
        db.many(sql, some)


def assemble_file(blobs: Blobs, parts: tuple[FilePiece, ...], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for piece in parts:
            file.writelines(blobs.read(piece.digest))


_OF_SESSION = ("piece", "session_page", "request")


class PushedRow(NamedTuple):
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


def write_session(db: Database, row: PushedRow, made: MadeSession, files: Files, folder: Path) -> None:
    """Put a session in place of what was known of it, inside the caller's transaction."""
    _write_row(db, row, made, total_size(files))
    for table in _OF_SESSION:
        db.run(f"DELETE FROM {table} WHERE session = ?", row.id)  # noqa: S608  names of tables
    pieces = ((row.id, name, at, one.digest, one.size) for name, parts in files.items() for at, one in enumerate(parts))
    execute_batches(db, "INSERT INTO piece(session, name, position, digest, size) VALUES(?, ?, ?, ?, ?)", pieces)
    write_pages(db, row.id, made.pages)
    write_passages(db, row.id, read_passages(folder))
    _requests(db, row.id, folder)


def write_pages(db: Database, session: str, made: Sequence[MadeFile]) -> None:
    """Write which pages a session has that has none."""
    rows = ((session, page.name, page.digest, page.kind) for page in made)
    execute_batches(db, "INSERT INTO session_page(session, name, digest, kind) VALUES(?, ?, ?, ?)", rows)


def _write_row(db: Database, row: PushedRow, made: MadeSession, size: int) -> None:
    logged, time = msgspec.structs.asdict(made.facts), now()
    logged["models"] = msgspec.json.encode(made.facts.models).decode()
    columns: dict[str, Value] = {**row._asdict(), **logged, "size": size, "created": time, "updated": time}
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    changed = ", ".join(f"{name} = excluded.{name}" for name in columns if name != "created")
    db.run(f"INSERT INTO session({names}) VALUES({marks}) ON CONFLICT(id) DO UPDATE SET {changed}", *columns.values())


def _requests(db: Database, session: str, folder: Path) -> None:
    put = (
        "INSERT INTO request(session, number, shared, identity, day, model, input, output, cache_read, cache_write,"
        " final, cost) VALUES(?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    rows = enumerate(read_requests(folder))
    execute_batches(db, put, ((session, number, *one[:-2], int(one.final), one.cost) for number, one in rows))
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
