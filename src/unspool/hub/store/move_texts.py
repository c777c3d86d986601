"""Brings the texts that older versions kept to how they are kept now, when a hub is opened.

Once they were rows of `passage` in the database; then they lay in the object store, in shorter parts without
signatures. Each session moves in a transaction of its own. Where it is broken off, the next one who opens the hub goes
on.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from unspool.errors import NotFound
from unspool.files import scratch_folder
from unspool.hub.errors import StoreUnavailable
from unspool.hub.store.blobs import Blobs, DamagedContent, Objects
from unspool.hub.store.database import Database
from unspool.hub.store.schema import UNMADE, drop_moved_passages, table_exists, without_timeout
from unspool.hub.store.texts import (
    SessionPassage,
    ensure_year,
    make_texts,
    place_parts,
    text_frames,
    texts_of,
    write_texts,
    year_of,
)

Say = Callable[[str], None]

_SAID_EVERY = 5.0
_PASSAGES = "SELECT turn, kind, link, line, body FROM passage WHERE session = ? ORDER BY id"
_UNMADE = f"SELECT session FROM session_text WHERE year = {UNMADE}"  # noqa: S608  our own number
_DECODER = msgspec.json.Decoder(list[SessionPassage])


def move_old_texts(db: Database, blobs: Blobs, objects: Objects, say: Say) -> int:
    """Move what is left to move, and say so; how many sessions had any."""
    if not table_exists(db, "text_part"):
        return 0
    count = _move(db, _sessions_with_passages(db), lambda session: _move_passages(db, blobs, session), say)
    if table_exists(db, "passage"):
        with _moving(db):
            drop_moved_passages(db)
    unmade = [session for (session,) in db.rows(_UNMADE)]
    return count + _move(db, unmade, lambda session: _make_parts(db, blobs, objects, session), say)


def _sessions_with_passages(db: Database) -> list[str]:
    if not table_exists(db, "passage"):
        return []
    return [session for (session,) in db.rows("SELECT DISTINCT session FROM passage WHERE session <> ''")]


def _move(db: Database, sessions: Sequence[str], one: Callable[[str], None], say: Say) -> int:
    said = time.monotonic()
    if sessions:
        say(f"Moving the texts of {len(sessions):,} sessions to how they are kept now, once; this may take a while")
    for number, session in enumerate(sessions, 1):
        row = db.row("SELECT finished FROM session WHERE id = ?", session)
        ensure_year(db, year_of(int(row[0]) if row else 0))
        one(session)
        if time.monotonic() - said > _SAID_EVERY:
            say(f"{number:,} of {len(sessions):,} sessions have moved")
            said = time.monotonic()
    return len(sessions)


@contextmanager
def _moving(db: Database) -> Iterator[None]:
    """A transaction in which nobody else moves texts."""
    with db.transaction():
        without_timeout(db)
        db.alone("move texts")
        yield


def _move_passages(db: Database, blobs: Blobs, session: str) -> None:
    with _moving(db):
        if not table_exists(db, "passage"):  # another process was quicker
            return
        passages = [SessionPassage(*found) for found in db.rows(_PASSAGES, session)]
        if not passages:
            return
        db.run("DELETE FROM passage WHERE session = ?", session)
        _write(db, blobs, session, passages)


def _make_parts(db: Database, blobs: Blobs, objects: Objects, session: str) -> None:
    with _moving(db):
        if db.row(f"{_UNMADE} AND session = ?", session) is None:
            return
        former = texts_of(db, session)
        try:
            passages = _read_all(db, objects, former)
        except (NotFound, DamagedContent):  # `verify` tells of it; a push makes them anew
            db.run("UPDATE session_text SET year = 0 WHERE session = ?", session)
            return
        _write(db, blobs, session, passages)
    blobs.drop(former)


def _read_all(db: Database, objects: Objects, digest: str) -> list[SessionPassage]:
    """All passages of a session, from a content that is a frame of them after the other."""
    row = db.row("SELECT key FROM blob WHERE digest = ?", digest)
    if row is None:
        raise NotFound("The texts of a session are missing.")
    try:
        frames = text_frames(b"".join(objects.get(row[0])))
        return [passage for _, data in frames for passage in _DECODER.decode(data)]
    except msgspec.DecodeError as error:
        raise DamagedContent("The texts of a session are damaged in the object store.") from error


def _write(db: Database, blobs: Blobs, session: str, passages: Sequence[SessionPassage]) -> None:
    row = db.row("SELECT finished FROM session WHERE id = ?", session)
    with scratch_folder() as folder:
        made, parts = make_texts(passages, folder / "texts", {})
        if row is None or made is None:  # of no session any more
            db.run("DELETE FROM session_text WHERE session = ?", session)
            return
        blobs.keep_file(made)
        if not blobs.held([made.digest]):
            raise StoreUnavailable("A content went while a session's texts were moved; begin again.")
        write_texts(db, session, made.digest, place_parts(blobs, made.digest, parts), int(row[0]))
