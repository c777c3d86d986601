"""Where the turns of a long session lie in its log: numbers, written down when it was read, for whoever comes next.

A late page of a log of many megabytes needs a few of its lines, but which ones only the whole log tells. So that is
kept in the user's cache folder, a few bytes a turn: places alone, no word of the log. It holds for the very same
file and program.
"""

import os
from contextlib import suppress
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

import msgspec

from unspool.app.reading.states import State
from unspool.files import write_atomically
from unspool.model import Session
from unspool.site.build.fingerprint import fingerprint

LONG = 6 * 1024 * 1024
"""Bytes of a log from which on nobody waits for all of it."""
_MOST = 200
"""Outlines that are kept, those written last."""


class Stop(msgspec.Struct, frozen=True, array_like=True):
    """A turn of the live conversation: its number, where its prompt stands, and whether it has one."""

    number: int
    offset: int
    line: int
    asked: bool


class Outline(msgspec.Struct, frozen=True, array_like=True):
    """The turns of a session, in order."""

    program: str
    state: State
    stops: tuple[Stop, ...]


def outline(session: Session, state: State) -> Outline:
    """The outline of a session that was read whole; without turns where they do not follow one another in the log."""
    stops = []
    for turn in session.turns:
        first = turn.prompt or next(iter(turn.blocks), None)
        if first is not None:
            stops.append(Stop(turn.number, first.place.offset, first.place.line, turn.prompt is not None))
    offsets = [stop.offset for stop in stops]
    ordered = all(one < other for one, other in pairwise(offsets))
    return Outline(fingerprint(), state, tuple(stops) if ordered and len(stops) == len(session.turns) else ())


def keep(session: Session, state: State) -> None:
    """Write down the outline of a long session; where that cannot be done, it is read whole the next time too."""
    if state[0][1] < LONG:
        return
    path = _path(state)
    with suppress(OSError):
        write_atomically(path, [msgspec.msgpack.encode(outline(session, state))])
        older = sorted(path.parent.glob("*.outline"), key=lambda one: one.stat().st_mtime, reverse=True)
        for one in older[_MOST:]:
            one.unlink(missing_ok=True)


def kept(state: State) -> Outline | None:
    """The outline of a log that looks like this; None where there is none."""
    try:
        found = msgspec.msgpack.decode(_path(state).read_bytes(), type=Outline)
    except (OSError, msgspec.DecodeError):
        return None
    return found if (found.program, found.state) == (fingerprint(), state) and found.stops else None


def _path(state: State) -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unspool" / "outlines"
    return base / f"{blake2b(state[0][0].encode(errors='surrogateescape'), digest_size=16).hexdigest()}.outline"
