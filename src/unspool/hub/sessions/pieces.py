"""Pieces of pushed sessions: which of them a person has sent already, and new ones, proved before they are kept."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

import zstandard

from unspool.hub.hub import Hub
from unspool.hub.people.person import Person
from unspool.hub.people.quota import allowed
from unspool.hub.store.blobs import DAY, Blobs, now
from unspool.hub.store.database import Database
from unspool.hub.trouble import TooLarge, TooMuch, Unfit
from unspool.remote.manifest import PIECE

_AT_ONCE = 500
"""Values in one statement."""
_SPARE = 256 * 1024 * 1024
"""Bytes that everybody may send in a day, beside twice what they may keep."""
_WINDOW = 16 * 1024 * 1024
"""Bytes of memory that unpacking may take."""


def lacking(db: Database, person: str, digests: Iterable[str]) -> list[str]:
    """The pieces that this person has to send; what others sent is not told. Those that are here stay for a day."""
    asked = list(dict.fromkeys(digests))
    there = sizes(db, person, asked)
    for some in _parted([digest for digest in asked if digest in there]):
        db.run(f"UPDATE blob SET created = ? WHERE digest IN ({_marks(some)}) AND created < ?",  # noqa: S608
               now(), *some, now() - DAY // 4)  # fmt: skip
    return [digest for digest in asked if digest not in there]


def sizes(db: Database, person: str, digests: Sequence[str]) -> dict[str, int]:
    """The pieces that are here and that this person sent, each with its size."""
    found: dict[str, int] = {}
    for some in _parted(digests):
        sql = "SELECT blob.digest, blob.size FROM sent JOIN blob ON blob.digest = sent.digest WHERE sent.person = ?"
        found.update(db.rows(f"{sql} AND sent.digest IN ({_marks(some)})", person, *some))
    return found


def strange(db: Database, person: str, project: str, states: Sequence[str]) -> list[str]:
    """The states that no session has which this person pushed to a project."""
    known: set[str] = set()
    for some in _parted(states):
        known.update(
            state
            for (state,) in db.rows(
                f"SELECT state FROM session WHERE project = ? AND person = ? AND state IN ({_marks(some)})",  # noqa: S608
                project,
                person,
                *some,
            )
        )
    return [state for state in states if state not in known]


def take(hub: Hub, person: Person, digest: str, packed: bytes) -> None:
    """Keep a piece, if it is what its digest says."""
    data = unpacked(packed)
    if sha256(data).hexdigest() != digest:
        raise Unfit("What was sent is not what its digest says.")
    store = hub.store
    _counted(store.db, person.id, len(data), hub.terms.quota)
    store.blobs.keep(data)
    store.db.run("INSERT INTO sent(person, digest) VALUES(?, ?) ON CONFLICT DO NOTHING", person.id, digest)


def unpacked(packed: bytes) -> bytes:
    """What was packed with zstd; Unfit or TooLarge before it takes more memory than a piece may."""
    try:
        reader = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(packed)
        data = reader.read(PIECE + 1)
    except zstandard.ZstdError:
        raise Unfit("What was sent is not packed with zstd, or wants too much memory.") from None
    if len(data) > PIECE:
        raise TooLarge(f"A piece has at most {PIECE:,} bytes.")
    if not data:
        raise Unfit("A piece is not empty.")
    return data


def let_go(blobs: Blobs, digests: Iterable[str]) -> None:
    """Remove the pieces that nothing refers to, at once: what was refused is not kept."""
    for digest in dict.fromkeys(digests):
        blobs.drop(digest)


def _counted(db: Database, person: str, size: int, usual: int) -> None:
    """Count what a person sends in a day: pieces of no session yet take room too."""
    who, span, most = f"sent {person}", now() // DAY * DAY, _SPARE + 2 * allowed(db, person, usual)
    found = db.row("SELECT amount FROM pace WHERE who = ? AND span = ?", who, span)
    if found and found[0] + size > most:
        raise TooMuch(f"More than {most:,} bytes were sent today.", 3600)
    db.run(
        "INSERT INTO pace(who, span, amount) VALUES(?, ?, ?)"
        " ON CONFLICT(who, span) DO UPDATE SET amount = pace.amount + excluded.amount",
        who, span, size,
    )  # fmt: skip


def _parted(values: Sequence[str]) -> Iterator[Sequence[str]]:
    return (values[at : at + _AT_ONCE] for at in range(0, len(values), _AT_ONCE))


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))
