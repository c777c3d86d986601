"""How long lists and searches of a hub take with many sessions, and what these take: made rows whose texts are of real
logs where there are any, a real PostgreSQL, the code that answers.

`python -m bench.hub_scale --sessions 100000 --source FOLDER` prints p50 and p99; `--files` asks SQLite instead.
"""

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench import hub_bytes
from tests.hub.servers import Postgresql, postgresql_programs
from unspool.hub.errors import BadRequest
from unspool.hub.people.users import Person
from unspool.hub.sessions.listing import ListPage, list_sessions
from unspool.hub.sessions.search import search
from unspool.hub.store.blobs import Blobs, FolderObjects
from unspool.hub.store.connect import Store, StorePlace, open_store
from unspool.hub.store.schema import migrate
from unspool.hub.store.texts import SessionPassage, ensure_year, insert_parts, make_texts, part_row, year_of
from unspool.hub.store.words import split_words
from unspool.store.index.query import Filter
from unspool.store.library import Library
from unspool.store.sync.extract import ExtractJob, extract_rows

PROJECTS, PEOPLE, VOCABULARY, PASSAGES = 50, 200, 20_000, 4
_CHARACTERS = 4_000
"""Of a real session's texts, at least."""
_DAY = 86_400_000
_NOW = 1_790_000_000_000
_LOT = 2_000
ADMIN = Person("admin", "admin", admin=True)
FEW = Person("p7", "somebody")


class Told(NamedTuple):
    """What sessions say: words, the most common first, and texts of real logs; none where they are made up."""

    words: Sequence[str]
    texts: Sequence[str] = ()

    def passages(self, rng: random.Random) -> list[SessionPassage]:
        """Of one session."""
        title = SessionPassage(0, "title", "index.html", 0, self.some(rng, 6))
        if not self.texts:
            return [title, *(SessionPassage(turn, "prompt", "index.html", 0, self.some(rng, 60)) for turn in (1, 2, 3))]
        found, length = [title], 0
        while length < _CHARACTERS:
            text = rng.choice(self.texts)
            kind = ("prompt", "answer", "call", "result")[len(found) % 4]
            found.append(SessionPassage(len(found), kind, "index.html", 0, text))
            length += len(text)
        return found

    def some(self, rng: random.Random, count: int) -> str:
        """Words as people use them: a few very often, most of them hardly ever."""
        return " ".join(self.words[min(len(self.words), int(rng.paretovariate(0.6))) - 1] for _ in range(count))

    def word(self, rng: random.Random, first: int, last: int) -> str:
        """A word of these ranks, of 20,000; fewer words have others in their places."""
        scale = min(1.0, len(self.words) / VOCABULARY)
        return self.words[max(0, int(rng.randrange(first, last) * scale) - 1)]

    def phrase(self, rng: random.Random) -> str:
        """Two words that follow each other somewhere."""
        cut: list[str] = []
        while len(cut) < 2 and self.texts:
            cut = split_words(rng.choice(self.texts))
        at = rng.randrange(len(cut) - 1) if cut else 0
        return " ".join(cut[at : at + 2]) if cut else f"{self.word(rng, 1, 9)} {self.word(rng, 1, 60)}"


MADE = Told([f"w{number}" for number in range(1, VOCABULARY + 1)])


def of_logs(source: Path) -> Told:
    """The texts of real logs, of at most a part's length each, and their words."""
    library = Library((source,))
    made = (extract_rows(ExtractJob(found, {}), library.prices) for found in library.logs())
    texts = [doc[-1][:16_000] for rows in made if not isinstance(rows, str) for log in rows.logs for doc in log.docs]
    counts = Counter(word for text in texts for word in split_words(text) if word.isalpha())
    return Told([word for word, _ in counts.most_common(VOCABULARY)], [text for text in texts if text])


def fill(store: Store, sessions: int, told: Told = MADE) -> int:
    """People, projects, sessions and their texts; everybody may read five projects. How many bytes the texts have."""
    rng, db = random.Random(8), store.db
    db.many("INSERT INTO person(id, name, kind, admin, created) VALUES(?, ?, 'person', 0, 0)",
            [(f"p{n}", f"person {n}") for n in range(PEOPLE)])  # fmt: skip
    db.many("INSERT INTO project(id, name, policy, created) VALUES(?, ?, '', 0)",
            [(f"j{n}", f"project {n}") for n in range(PROJECTS)])  # fmt: skip
    db.many("INSERT INTO permit(project, kind, subject, level) VALUES(?, 'person', ?, 2)",
            [(f"j{(n + k * 7) % PROJECTS}", f"p{n}") for n in range(PEOPLE) for k in range(5)])  # fmt: skip
    size = 0
    for start in range(0, sessions, _LOT):
        rows = [_session(rng, number, told) for number in range(start, min(sessions, start + _LOT))]
        db.many(_SESSION, rows)
        size += _texts(store, rng, told, [(str(row[0]), str(row[1]), int(row[11])) for row in rows])
    if sessions:
        db.script("ANALYZE")
    return size


def _texts(store: Store, rng: random.Random, told: Told, sessions: Sequence[tuple[str, str, int]]) -> int:
    """The texts of sessions, all in one object, which takes a thousandth of the time; their bytes."""
    parts, frames, place, size, years = [], [], 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts"
        for session, project, finished in sessions:
            year = year_of(finished)
            passages = told.passages(rng)
            parts += [
                part_row(session, project, year, one._replace(place=place + one.place))
                for one in make_texts(passages, path, {})[1]
            ]
            frames.append(path.read_bytes())
            place, size = place + len(frames[-1]), size + sum(len(one.body.encode()) for one in passages)
            years.append((session, year))
    for year in {year for _, year in years}:
        ensure_year(store.db, year)
    key = f"blobs/00/{sessions[0][0]}"
    store.objects.put(key, frames)
    store.db.run("INSERT INTO blob VALUES(?, ?, ?, 'zstd', ?, 0, NULL)", key, size, place, key)
    with store.db.transaction():
        store.db.many(
            "INSERT INTO session_text(session, digest, year) VALUES(?, ?, ?)",
            [(session, key, year) for session, year in years],
        )
        insert_parts(store.db, parts)
    return size


_COLUMNS = (
    "id, project, person, key, agent, title, kind, branch, slug, source, started, finished, turns, messages, calls, "
    "errors, tokens, cost, unpriced, models, size, state, made, created, updated"
)
_SESSION = f"INSERT INTO session({_COLUMNS}) VALUES({', '.join('?' * 25)})"


def _session(rng: random.Random, number: int, told: Told) -> tuple[str | int, ...]:
    when = _NOW - int(rng.random() * 700 * _DAY)
    return (
        f"{number:032x}", f"j{rng.randrange(PROJECTS)}", f"p{rng.randrange(PEOPLE)}", f"key-{number}", "agent",
        told.some(rng, 6), "interactive", "main", "", "", when - 3_600_000, when, 9, 80, 40, 1, 90_000, 10**12, 0,
        '["a-model"]', 40_000, f"{number:064x}", "made", when, when,
    )  # fmt: skip


def questions(store: Store, rng: random.Random, told: Told) -> dict[str, Callable[[], object]]:
    """What is asked, by what it is called; each a little different every time."""
    db = store.db

    def found(person: Person, text: str) -> object:
        try:
            return search(store, person, text, ListPage(None, 20))
        except BadRequest:  # it takes too long, which the time shows
            return None

    def word(first: int, last: int) -> str:
        return told.word(rng, first, last)

    def after() -> tuple[int, str]:
        return _NOW - int(rng.random() * 600 * _DAY), "8"

    return {
        "list, everything": lambda: list_sessions(db, ADMIN, [], ListPage(None, 50)),
        "list, five projects": lambda: list_sessions(db, FEW, [], ListPage(None, 50)),
        "list, further down": lambda: list_sessions(db, FEW, [], ListPage(after(), 50)),
        "list, of a person": lambda: list_sessions(
            db, ADMIN, [Filter("person", f"p{rng.randrange(PEOPLE)}")], ListPage()
        ),
        "list, by title": lambda: list_sessions(db, FEW, [Filter("title", word(50, 500))], ListPage()),
        "search, very common": lambda: found(FEW, word(1, 6)),
        "search, common": lambda: found(FEW, word(20, 100)),
        "search, rare": lambda: found(FEW, word(2000, 19000)),
        "search, not there": lambda: found(FEW, f"zz{rng.randrange(1000)}"),
        "search, rare, everything": lambda: found(ADMIN, word(2000, 19000)),
        "search, two words": lambda: found(FEW, f"{word(1, 30)} {word(100, 900)}"),
        "search, two rare words": lambda: found(FEW, f"{word(300, 900)} {word(900, 3000)}"),
        "search, phrase": lambda: found(FEW, f'"{told.phrase(rng)}"'),
        "search, rare phrase": lambda: found(FEW, f'"{word(20, 90)} {word(90, 900)}"'),
        "search, beginning": lambda: found(FEW, f"{word(100, 999)[:5]}*"),
        "search, not": lambda: found(FEW, f"{word(50, 900)} -{word(1, 2)}"),
        "search, either": lambda: found(FEW, f"{word(50, 900)} OR {word(900, 9000)}"),
        "search, of a month": lambda: found(FEW, f"{word(5, 200)} since:2026-08-01 until:2026-09-01"),
        "search, of a person": lambda: found(ADMIN, f"{word(5, 200)} by:p{rng.randrange(PEOPLE)}"),
        "search, of a kind": lambda: found(FEW, f"{word(50, 900)} kind:prompt"),
    }


def measured(store: Store, times: int, told: Told = MADE) -> Iterator[tuple[str, float, float]]:
    """What was asked, and the median and 99th percentile of how long it took, in milliseconds."""
    for name, ask in questions(store, random.Random(9), told).items():
        ask()
        taken = []
        for _ in range(times):
            began = time.perf_counter()
            ask()
            taken.append((time.perf_counter() - began) * 1000)
        taken.sort()
        yield name, taken[len(taken) // 2], taken[min(len(taken) - 1, int(len(taken) * 0.99))]


@contextmanager
def on_postgresql() -> Iterator[Store]:
    """A fresh database of a real server, with objects in a folder."""
    from unspool.hub.store.postgres import Postgres

    server = Postgresql(postgresql_programs(), shared_buffers="512MB", autovacuum="on")
    try:
        db = Postgres(server.url(server.fresh(tables=False)))
        migrate(db)
        with tempfile.TemporaryDirectory() as folder:
            objects = FolderObjects(Path(folder))
            yield Store(db, objects, Blobs(db, objects))
        db.close()
    finally:
        server.forget()


@contextmanager
def on_sqlite() -> Iterator[Store]:
    """A fresh file."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(StorePlace(Path(folder)))
        yield store
        store.db.close()


def main() -> None:
    """Fill and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--source", type=Path, help="logs whose texts the sessions have")
    parser.add_argument("--files", action="store_true")
    given = parser.parse_args()
    with (on_sqlite if given.files else on_postgresql)() as store:
        began = time.perf_counter()
        told = of_logs(given.source) if given.source else MADE
        size = fill(store, given.sessions, told)
        print(f"{given.sessions:,} sessions in {time.perf_counter() - began:.0f} s, {size / 1e6:.0f} MB of texts")
        if not given.files:
            print(hub_bytes.beside_texts(store.db, size))
        for name, median, late in measured(store, given.times, told):
            print(f"{name:28} {median:8.1f} {late:8.1f}", flush=True)


if __name__ == "__main__":
    main()
