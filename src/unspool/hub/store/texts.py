"""The texts of sessions for search: packed in the object store, part by part; the database knows what each part holds.

A part is some passages that follow each other. It is found by the numbers of its words, its signature tells which of
its passages may hold what is looked for, and these are read, part by part, from their place in the object.
"""

import threading
import time
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b, sha256
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

import msgspec
import zstandard

from unspool.hub.store.blobs import Blobs, DamagedContent, MadeFile, Objects
from unspool.hub.store.database import Database, Row, Value
from unspool.hub.store.schema import UNMADE, table_exists
from unspool.hub.store.signature import MOST_PASSAGES, PartWords
from unspool.hub.store.words import BEGINNING, as_array, as_tokens, project_number, split_tokens

MOST_CHARACTERS = 32_000
"""Of one passage."""
PART_CHARACTERS = 64_000
"""Of a part, unless one passage alone is longer."""
RANKED = ("title", "prompt", "answer", "call", "thinking", "result", "notice")
"""Kinds of passages, the one that tells most first."""
_LEVEL = 6
_DAMAGED = "The texts of a session are damaged in the object store."
_EARLIEST = 2020
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
    lines: tuple[int, ...]
    holds: tuple[bytes, list[int]] | None
    """Its signature and the numbers it is found by, in order; None where the database has them already."""


KnownParts = Mapping[int, str]
"""The marks of a session's parts in the database, by number."""


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
            holds = None if known.get(number) == mark else _holds(some)
            lines = tuple(sorted({one.line for one in some} - {0}))
            parts.append(TextPart(number, place, len(frame), mark, lines, holds))
            file.write(frame)
            proof.update(data)
            place, whole = place + len(frame), whole + len(data)
    made = MadeFile("texts", path, proof.hexdigest(), whole, "zstd", "application/json")
    return (made if parts else None), parts


def _cut(passages: Iterable[SessionPassage]) -> Iterator[list[SessionPassage]]:
    some: list[SessionPassage] = []
    length = 0
    for one in passages:
        if some and (length + len(one.body) > PART_CHARACTERS or len(some) == MOST_PASSAGES):
            yield some
            some, length = [], 0
        some.append(one)
        length += len(one.body)
    if some:
        yield some


def _holds(passages: Iterable[SessionPassage]) -> tuple[bytes, list[int]]:
    words = PartWords([(kind_rank(one.kind), split_tokens(one.body)) for one in passages])
    return words.signature(), words.numbers(BEGINNING)


def kind_rank(kind: str) -> int:
    return RANKED.index(kind) if kind in RANKED else len(RANKED) - 1


def known_texts(db: Database, session: str) -> tuple[str, dict[int, str]]:
    """The digest of a session's texts, empty where it has none, and the marks of its parts by number."""
    row = db.row("SELECT digest, year FROM session_text WHERE session = ?", session)
    digest, year = row or ("", UNMADE)
    return str(digest), {number: mark for number, _, _, mark in _there(db, session, year)}


def known_parts(db: Database, session: str) -> dict[int, str]:
    return known_texts(db, session)[1]


def texts_of(db: Database, session: str) -> str:
    """The digest of a session's texts; empty where it has none."""
    row = db.row("SELECT digest FROM session_text WHERE session = ?", session)
    return str(row[0]) if row else ""


def _there(db: Database, session: str, year: int) -> list[Row]:
    if year == UNMADE:
        return []
    sql = "SELECT number, place, size, mark FROM text_part WHERE session = ? AND year = ?"
    return db.rows(sql, session, year)


PART_COLUMNS = ("session", "number", "year", "place", "size", "mark", "signature", "words")
"""In the order that `insert_parts` wants them."""
_PUT = f"INSERT INTO text_part({', '.join(PART_COLUMNS)}) VALUES(?, ?, ?, ?, ?, ?, ?, {{}})"
_PLACE = "SELECT (SELECT project FROM session WHERE id = ?), (SELECT year FROM session_text WHERE session = ?)"
_KEEP = (
    "INSERT INTO session_text(session, digest, year) VALUES(?, ?, ?)"
    " ON CONFLICT(session) DO UPDATE SET digest = excluded.digest, year = excluded.year"
)
_WORDS: dict[str, tuple[str, Callable[[Iterable[int]], Value]]] = {
    "sqlite": ("?", as_tokens),
    "postgresql": ("?::int[]", as_array),
}
_GONE = {
    "sqlite": "UPDATE text_part SET session = '' WHERE session = ? AND year = ? AND number = ?",
    "postgresql": "DELETE FROM text_part WHERE session = ? AND year = ? AND number = ?",
}
"""Full text in a file is slow at taking out what it once took in: `sweep_parts` does."""


def place_parts(blobs: Blobs, digest: str, parts: Sequence[TextPart]) -> list[TextPart]:
    """Parts as they lie in the content that is kept of them: what another version of zstd packed has other lengths."""
    if not parts:
        return []
    blob = blobs.find(digest)
    if blob is not None and blob.stored == parts[-1].place + parts[-1].size:
        return list(parts)
    _, pieces = blobs.packed(digest)
    placed, place = [], 0
    for one, (frame, _) in zip(parts, text_frames(b"".join(pieces)), strict=True):
        placed.append(one._replace(place=place, size=frame))
        place += frame
    return placed


def text_frames(packed: bytes) -> Iterator[tuple[int, bytes]]:
    """The size of every frame of a session's texts, and what is in it."""
    try:
        while packed:
            reader = zstandard.ZstdDecompressor().decompressobj()
            data = reader.decompress(packed)
            yield len(packed) - len(reader.unused_data), data
            packed = reader.unused_data
    except zstandard.ZstdError as error:
        raise DamagedContent(_DAMAGED) from error


def write_texts(db: Database, session: str, digest: str, parts: Sequence[TextPart], finished: int) -> None:
    """Have a session hold these parts and no others, inside the caller's transaction; most pushes only add some.

    `digest` is of the content that they lie in, where `place_parts` says. A session stays in the year it came in with,
    which `ensure_year` has made room for.
    """
    project, kept = db.row(_PLACE, session, session) or ("", None)
    before = _there(db, session, UNMADE if kept is None else kept)
    year = year_of(finished) if kept in (None, UNMADE) else kept
    there = {number: (place, size, mark) for number, place, size, mark in before}
    fresh = [one for one in parts if one.number not in there or there[one.number][2] != one.mark]
    new = {one.number for one in fresh}
    gone = there.keys() - {one.number for one in parts} | there.keys() & new
    moved = [one for one in parts if one.number not in new and there[one.number] != (one.place, one.size, one.mark)]
    db.many(_GONE[db.dialect], [(session, year, number) for number in sorted(gone)])
    where = "UPDATE text_part SET place = ?, size = ? WHERE session = ? AND year = ? AND number = ?"
    db.many(where, [(one.place, one.size, session, year, one.number) for one in moved])
    insert_parts(db, (part_row(session, project or "", year, one) for one in fresh))
    if parts:
        db.run(_KEEP, session, digest, year)
    elif kept is not None:
        db.run("DELETE FROM session_text WHERE session = ?", session)
    db.run("DELETE FROM opening WHERE session = ?", session)
    lines = sorted({line for one in parts for line in one.lines})
    db.many("INSERT INTO opening(session, line) VALUES(?, ?)", [(session, line) for line in lines])


PartRow = tuple[str, int, int, int, int, str, bytes, list[int]]


def part_row(session: str, project: str, year: int, part: TextPart) -> PartRow:
    """The row of a part, which is found by its project too."""
    signature, numbers = part.holds or (b"", [])
    own = project_number(project)
    at = bisect_left(numbers, own)
    found_by = numbers if numbers[at : at + 1] == [own] else [*numbers[:at], own, *numbers[at:]]
    return session, part.number, year, part.place, part.size, part.mark, signature, found_by


def insert_parts(db: Database, rows: Iterable[PartRow]) -> None:
    mark, written = _WORDS[db.dialect]
    waiting = iter(rows)
    while some := list(islice(waiting, _AT_ONCE)):
        kept: list[tuple[Value, ...]] = [(*row[:-1], written(row[-1])) for row in some]
        db.many(_PUT.format(mark), kept)


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


def year_of(finished: int) -> int:
    """The year of a session; 0 where its log tells no time, or one that cannot be."""
    try:
        year = datetime.fromtimestamp(finished / 1000, UTC).year
    except (OverflowError, OSError, ValueError):
        return 0
    return year if _EARLIEST <= year <= datetime.now(UTC).year else 0


def ensure_year(db: Database, year: int) -> None:
    """Have a partition for a year on a server; 0 has one of its own. Not inside a transaction that reads parts."""
    name, seen = f"text_part_{year:d}", _years.setdefault(db, set())
    if db.dialect == "sqlite" or year == 0 or year in seen:
        return
    if table_exists(db, name):
        seen.add(year)
        return
    with db.transaction():
        db.alone("partition")
        if not table_exists(db, name):
            db.script(
                f"CREATE TABLE {name} (LIKE text_part INCLUDING ALL);"
                f"ALTER TABLE text_part ATTACH PARTITION {name} FOR VALUES FROM ({year:d}) TO ({year + 1:d})"
            )


_years: WeakKeyDictionary[Database, set[int]] = WeakKeyDictionary()
"""Years that a database was seen to have a partition for, which never goes; one that was just made may be taken back
with the transaction around it."""


class PartPlace(NamedTuple):
    """Where a part lies in the object of a session's texts."""

    number: int
    place: int
    size: int


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
        raise DamagedContent(_DAMAGED) from error
    _remembered.put(key, part.place, len(data), passages)
    return passages
