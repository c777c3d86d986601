"""The passages of a session in the database: what did not change since it was last pushed stays where it is."""

import time
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice

from unspool.hub.sessions.drawing import Passage
from unspool.hub.store.database import Database, Value

_AT_ONCE = 500
_KNOWN = "SELECT id, turn, kind, link, body FROM passage WHERE session = ? ORDER BY id"
_PUT = {
    "sqlite": "INSERT INTO passage(session, turn, kind, link, body) VALUES(?, ?, ?, ?, ?)",
    "postgresql": "INSERT INTO passage(session, turn, kind, link, body, words) VALUES(?, ?, ?, ?, ?, ?::tsvector)",
}

_GONE = {"sqlite": "UPDATE passage SET session = '' WHERE id = ?", "postgresql": "DELETE FROM passage WHERE id = ?"}


def write_passages(db: Database, session: str, passages: Iterable[Passage]) -> None:
    """Have a session hold these passages and no others, inside the caller's transaction.

    Full text is slow at taking out what it once took in, and most pushes only add to a session.
    """
    known: dict[bytes, list[int]] = {}
    for number, *told in db.rows(_KNOWN, session):
        known.setdefault(_digest(*told), []).append(number)
    many(db, _PUT[db.dialect], _fresh(db, session, passages, known))
    many(db, _GONE[db.dialect], [(number,) for numbers in known.values() for number in numbers])


def swept(db: Database, seconds: float = 0.5) -> int:
    """Take out passages that are of no session any more, for about so long; how many went.

    SQLite leaves nothing of a passage in its full text, which takes it a while: so it is done in small steps, between
    which others write.
    """
    until, count = time.monotonic() + seconds, 0
    while time.monotonic() < until and (found := db.row("SELECT id FROM passage WHERE session = '' LIMIT 1")):
        count += db.run("DELETE FROM passage WHERE id = ?", *found)
    return count


def _fresh(
    db: Database, session: str, passages: Iterable[Passage], known: dict[bytes, list[int]]
) -> Iterator[Sequence[Value]]:
    """The passages that are not known; those that are get taken from what is known."""
    for one in passages:
        if numbers := known.get(_digest(one.turn, one.kind, one.link, one.body)):
            numbers.pop(0)
        else:
            yield (session, *one) if db.dialect == "postgresql" else (session, *one[:-1])


def _digest(turn: int, kind: str, link: str, body: str) -> bytes:
    return blake2b(f"{turn} {kind} {link} {body}".encode(errors="replace"), digest_size=16).digest()


def many(db: Database, sql: str, rows: Iterable[Sequence[Value]]) -> None:
    """The same change for each of many rows, a lot at a time."""
    waiting = iter(rows)
    while some := list(islice(waiting, _AT_ONCE)):
        db.many(sql, some)
