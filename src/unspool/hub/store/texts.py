"""The texts of sessions for search: packed in the object store, part by part; the database holds each part's words.

A part is some passages that follow each other. Its words say that they are somewhere in it, not where: whoever looks
for something reads the parts that may hold it, each by itself, from its place in the object.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import blake2b, sha256
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
import zstandard

from unspool.files import scratch_folder
from unspool.hub.errors import StoreUnavailable
from unspool.hub.store.blobs import Blobs, DamagedContent, MadeFile, Objects
from unspool.hub.store.database import Database, Row, Value
from unspool.hub.store.schema import drop_moved_passages, quote_word, split_words, table_exists, without_timeout

PART_CHARACTERS = 32_000
"""Of a part, unless one passage alone is longer."""
RANKED = ("title", "prompt", "answer", "call", "thinking", "result", "notice")
"""Kinds of passages, the one that tells most first: the bit of each in `text_part.kinds`."""
_LONGEST = 2000
"""Bytes of a word; PostgreSQL keeps no longer ones."""
_LEVEL = 6
_EARLIEST = 202_001
_AT_ONCE = 200
_REMEMBERED = 32 * 1024 * 1024
"""Bytes of texts that a process keeps unpacked."""


class SessionPassage(msgspec.Struct, frozen=True, array_like=True):
    turn: int
    kind: str
    link: str
    """Page and anchor, below the session's own address."""
    line: int
    """The line that its turn begins with, by 64 bits of its id; 0 for titles and subagents."""
    body: str


class TextPart(NamedTuple):
    number: int
    place: int
    """Where its frame begins in the object; `size` is the frame's."""
    size: int
    mark: str
    """A digest of what is in it."""
    kinds: int
    """A bit for each of `RANKED` that it holds."""
    lines: tuple[int, ...]
    words: str | None
    """Its different words in order, with spaces between; None where the database has them already."""


KnownParts = Mapping[int, str]
"""The marks of a session's parts in the database, by number."""
Say = Callable[[str], None]


def make_texts(
    passages: Iterable[SessionPassage], path: Path, known: KnownParts
) -> tuple[MadeFile | None, list[TextPart]]:
    """The parts of a session, and all of them as one file, a frame each; no file where there is no text."""
    packer, proof = zstandard.ZstdCompressor(_LEVEL), sha256()
    parts: list[TextPart] = []
    place = whole = 0
    with path.open("wb") as file:
        for number, some in enumerate(_cut(passages)):
            data = msgspec.json.encode(some)
            frame, mark = packer.compress(data), blake2b(data, digest_size=16).hexdigest()
            words = None if known.get(number) == mark else _words(some)
            lines = tuple(sorted({one.line for one in some} - {0}))
            parts.append(TextPart(number, place, len(frame), mark, _kinds(some), lines, words))
            file.write(frame)
            proof.update(data)
            place, whole = place + len(frame), whole + len(data)
    made = MadeFile("texts", path, proof.hexdigest(), whole, "zstd", "application/json")
    return (made if parts else None), parts


def _cut(passages: Iterable[SessionPassage]) -> Iterator[list[SessionPassage]]:
    some: list[SessionPassage] = []
    length = 0
    for one in passages:
        if some and length + len(one.body) > PART_CHARACTERS:
            yield some
            some, length = [], 0
        some.append(one)
        length += len(one.body)
    if some:
        yield some


def _words(passages: Iterable[SessionPassage]) -> str:
    found = {word for one in passages for word in split_words(one.body)}
    return " ".join(sorted(word for word in found if is_kept_word(word)))


def is_kept_word(word: str) -> bool:
    return len(word) <= _LONGEST // 4 or len(word.encode(errors="replace")) <= _LONGEST


def kinds_mask(kinds: Iterable[str]) -> int:
    return sum({1 << kind_rank(kind) for kind in kinds})


def kind_rank(kind: str) -> int:
    return RANKED.index(kind) if kind in RANKED else len(RANKED) - 1


def _kinds(passages: Iterable[SessionPassage]) -> int:
    return kinds_mask({one.kind for one in passages})


def known_parts(db: Database, session: str) -> dict[int, str]:
    return {number: mark for number, _, _, mark in _there(db, session)}


def texts_of(db: Database, session: str) -> str:
    """The digest of a session's texts; empty where it has none."""
    row = db.row("SELECT digest FROM session_text WHERE session = ?", session)
    return str(row[0]) if row else ""


def _there(db: Database, session: str) -> list[Row]:
    month = _kept_month(db, session)
    if month is None:
        return []
    sql = "SELECT number, place, size, mark FROM text_part WHERE session = ? AND month = ?"
    return db.rows(sql, session, month)


def _kept_month(db: Database, session: str) -> int | None:
    row = db.row("SELECT month FROM session_text WHERE session = ?", session)
    return None if row is None else int(row[0])


_PUT = "INSERT INTO text_part(session, number, month, place, size, mark, kinds, words) VALUES(?, ?, ?, ?, ?, ?, ?, {})"
_WORDS = {"sqlite": "?", "postgresql": "?::tsvector"}
_GONE = {
    "sqlite": "UPDATE text_part SET session = '' WHERE session = ? AND month = ? AND number = ?",
    "postgresql": "DELETE FROM text_part WHERE session = ? AND month = ? AND number = ?",
}
"""Full text in a file is slow at taking out what it once took in: `sweep_parts` does."""


def as_vector(words: str) -> str:
    """Words with spaces between, as PostgreSQL reads a tsvector."""
    return " ".join(map(quote_word, words.split()))


def write_texts(db: Database, session: str, digest: str, parts: Sequence[TextPart], finished: int) -> None:
    """Have a session hold these parts and no others, inside the caller's transaction; most pushes only add some.

    `digest` is of the content that they lie in. A session stays in the month that it came in with, which
    `ensure_month` has made room for.
    """
    before, month = _there(db, session), _kept_month(db, session)
    month = month_of(finished) if month is None else month
    there = {number: (place, size, mark) for number, place, size, mark in before}
    fresh = [one for one in parts if one.number not in there or there[one.number][2] != one.mark]
    gone = there.keys() - {one.number for one in parts} | there.keys() & {one.number for one in fresh}
    moved = [one for one in parts if one not in fresh and there[one.number] != (one.place, one.size, one.mark)]
    db.many(_GONE[db.dialect], [(session, month, number) for number in sorted(gone)])
    where = "UPDATE text_part SET place = ?, size = ? WHERE session = ? AND month = ? AND number = ?"
    db.many(where, [(one.place, one.size, session, month, one.number) for one in moved])
    rows = ((session, one.number, month, one.place, one.size, one.mark, one.kinds, one.words or "") for one in fresh)
    insert_parts(db, rows)
    db.run("DELETE FROM session_text WHERE session = ?", session)
    if parts:
        db.run("INSERT INTO session_text(session, digest, month) VALUES(?, ?, ?)", session, digest, month)
    db.run("DELETE FROM opening WHERE session = ?", session)
    lines = sorted({line for one in parts for line in one.lines})
    db.many("INSERT INTO opening(session, line) VALUES(?, ?)", [(session, line) for line in lines])


def insert_parts(db: Database, rows: Iterable[tuple[Value, ...]]) -> None:
    """Rows of `text_part`, whose words come last."""
    waiting, put = iter(rows), _PUT.format(_WORDS[db.dialect])
    while some := list(islice(waiting, _AT_ONCE)):
        if db.dialect == "postgresql":
            some = [(*rest, as_vector(str(words))) for *rest, words in some]
        db.many(put, some)


def sweep_parts(db: Database, seconds: float = 0.5) -> int:
    """Take out parts that are of no session any more, for about so long; how many went.

    SQLite leaves nothing of a part in its full text, which takes it a while: so it is done in small steps, between
    which others write.
    """
    until, count = time.monotonic() + seconds, 0
    found = "SELECT id FROM text_part WHERE session = '' LIMIT 1"
    while db.dialect == "sqlite" and time.monotonic() < until and (row := db.row(found)):
        count += db.run("DELETE FROM text_part WHERE id = ?", *row)
    return count


def month_of(finished: int) -> int:
    """The month of a session, such as 202611; 0 where its log tells no time, or one that cannot be."""
    try:
        when = datetime.fromtimestamp(finished / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return 0
    today = datetime.now(UTC)
    month = when.year * 100 + when.month
    return month if _EARLIEST <= month <= today.year * 100 + today.month else 0


def ensure_month(db: Database, month: int) -> None:
    """Have a partition for a month on a server; 0 has one of its own. Not inside a transaction that reads parts."""
    name = f"text_part_{month:d}"
    if db.dialect == "sqlite" or month == 0 or table_exists(db, name):
        return
    with db.transaction():
        db.alone("partition")
        if not table_exists(db, name):
            db.script(
                f"CREATE TABLE {name} (LIKE text_part INCLUDING ALL);"
                f"ALTER TABLE text_part ATTACH PARTITION {name} FOR VALUES FROM ({month:d}) TO ({month + 1:d})"
            )


class PartPlace(NamedTuple):
    """Where a part lies in the object of a session's texts."""

    number: int
    place: int
    size: int
    kinds: int


class _Remembered:
    """The parts that were read last, for all threads of a process."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._parts: OrderedDict[tuple[str, int], tuple[int, list[SessionPassage]]] = OrderedDict()
        self._size = 0

    def get(self, key: str, place: int) -> list[SessionPassage] | None:
        with self._guard:
            found = self._parts.get((key, place))
            if found is None:
                return None
            self._parts.move_to_end((key, place))
            return found[1]

    def put(self, key: str, place: int, size: int, passages: list[SessionPassage]) -> None:
        with self._guard:
            before = self._parts.pop((key, place), (0, []))[0]
            self._parts[key, place] = size, passages
            self._size += size - before
            while self._size > _REMEMBERED and self._parts:
                self._size -= self._parts.popitem(last=False)[1][0]


_remembered = _Remembered()
_DECODER = msgspec.json.Decoder(list[SessionPassage])


def read_parts(objects: Objects, key: str, wanted: Sequence[PartPlace]) -> dict[int, list[SessionPassage]]:
    """Parts by number; those that follow each other are read in one go. NotFound where the object is gone."""
    found = {one.number: kept for one in wanted if (kept := _remembered.get(key, one.place)) is not None}
    for run in _runs([one for one in wanted if one.number not in found]):
        begin, end = run[0].place, run[-1].place + run[-1].size
        data = objects.get_part(key, begin, end - begin)
        for one in run:
            found[one.number] = _unpacked(key, one, data[one.place - begin :][: one.size])
    return found


def _runs(wanted: Sequence[PartPlace]) -> Iterator[list[PartPlace]]:
    run: list[PartPlace] = []
    for one in sorted(wanted, key=lambda part: part.place):
        if run and run[-1].place + run[-1].size != one.place:
            yield run
            run = []
        run.append(one)
    if run:
        yield run


def _unpacked(key: str, part: PartPlace, frame: bytes) -> list[SessionPassage]:
    try:
        data = zstandard.ZstdDecompressor().decompress(frame)
        passages = _DECODER.decode(data)
    except (zstandard.ZstdError, msgspec.DecodeError) as error:
        raise DamagedContent("The texts of a session are damaged in the object store.") from error
    _remembered.put(key, part.place, len(data), passages)
    return passages


_SAID_EVERY = 5.0
_OLD = "SELECT turn, kind, link, line, body FROM passage WHERE session = ? ORDER BY id"


def move_old_passages(db: Database, blobs: Blobs, say: Say) -> int:
    """Move the texts that an older version kept in the database to the object store; how many sessions had any.

    Each session moves in a transaction of its own. Where it is broken off, the next one who opens the hub goes on.
    """
    if not table_exists(db, "passage") or not table_exists(db, "text_part"):
        return 0
    sessions = db.rows("SELECT DISTINCT session FROM passage WHERE session <> ''")
    said = time.monotonic()
    if sessions:
        say(f"Moving the texts of {len(sessions):,} sessions to the object store, once; this may take a while")
    for number, (session,) in enumerate(sessions, 1):
        _move_session(db, blobs, session)
        if time.monotonic() - said > _SAID_EVERY:
            say(f"{number:,} of {len(sessions):,} sessions have moved")
            said = time.monotonic()
    with _moving(db) as left:
        if left:
            drop_moved_passages(db)
    return len(sessions)


@contextmanager
def _moving(db: Database) -> Iterator[bool]:
    """A transaction in which nobody else moves texts; whether there may be any left to move."""
    with db.transaction():
        without_timeout(db)
        db.alone("move texts")
        yield table_exists(db, "passage")


def _move_session(db: Database, blobs: Blobs, session: str) -> None:
    row = db.row("SELECT finished FROM session WHERE id = ?", session)
    finished = int(row[0]) if row else 0
    ensure_month(db, month_of(finished))
    with scratch_folder() as folder, _moving(db) as left:
        passages = [SessionPassage(*found) for found in db.rows(_OLD, session)] if left else []
        made, parts = make_texts(passages, folder / "texts", {})
        if made is None:  # another process was quicker
            return
        db.run("DELETE FROM passage WHERE session = ?", session)
        if row is None:  # of no session any more
            return
        blobs.keep_file(made)
        if not blobs.held([made.digest]):
            raise StoreUnavailable("A content went while a session's texts were moved; begin again.")
        write_texts(db, session, made.digest, parts, finished)
