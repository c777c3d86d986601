"""The log of a session by its id, without looking through every source: the index knows where it lies."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from unspool.app.desk import Desk, inside
from unspool.errors import NotFound, UnspoolError
from unspool.formats import Found, by_id
from unspool.library.chains import source_id
from unspool.library.neighbours import Neighbours
from unspool.library.opening import read_session
from unspool.model import Overview, Session


def locate(desk: Desk, key: str) -> Found:
    """The log of a session; NotFound where no source and no archive has one of that id."""
    return _known(desk, key) or desk.found(key)


def opened(desk: Desk, found: Found) -> Session:
    """A session whole, with the sessions that it continues and that continue it."""
    if found.origin:
        return desk.library().open(found)
    session = read_session(found)
    return Neighbours(lambda: _near(desk, found, session)).linked(session, found)


def _known(desk: Desk, key: str) -> Found | None:
    """The log where the index says that it lies, as long as it is there."""
    for agent, path in _places(desk, key):
        if path.is_file():
            beside = by_id(agent).discover(path.parent)
            return next((log for log in beside if log.session_id == key and inside(log)), None)
    return None


def overview(desk: Desk, key: str) -> Overview | None:
    """What the index has of a session; None where it has nothing yet."""
    try:
        with desk.index() as index:
            query = "SELECT overview FROM session WHERE key = ? AND overview <> x''"
            row: Any = index.db.execute(query, (key,)).fetchone()
    except (UnspoolError, OSError):
        return None
    return msgspec.msgpack.decode(row[0], type=Overview) if row is not None else None


def _places(desk: Desk, key: str) -> list[tuple[str, Path]]:
    try:
        with desk.index() as index, desk.archive() as archive:
            rows: Any = index.db.execute("SELECT origin, path FROM session WHERE key = ?", (key,)).fetchall()
            origins = archive.origins() if rows else {}
    except (UnspoolError, OSError):  # nothing is kept yet: the sources tell
        return []
    return [(origins[origin].agent, Path(origins[origin].root) / path) for origin, path in rows if origin in origins]


def _near(desk: Desk, found: Found, session: Session) -> list[Found]:
    """The logs of the same folder, and the one that the session says it continues, wherever that is."""
    beside = list(by_id(found.format).discover(Path(os.path.dirname(found.path))))  # noqa: PTH120
    wanted = source_id(session.source) if session.source else ""
    if wanted and all(log.session_id != wanted for log in beside):
        with suppress(NotFound):
            beside.append(locate(desk, wanted))
    return beside
