"""How long lists and searches of a hub take with many sessions: made rows, a real PostgreSQL, the code that answers.

`python -m bench.hub_scale --sessions 100000` prints p50 and p99; `--files` asks SQLite instead.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.hub.servers import Postgresql, postgresql_programs
from unspool.hub.people.users import Person
from unspool.hub.sessions.listing import ListPage, list_sessions
from unspool.hub.sessions.search import search
from unspool.hub.store.connect import StorePlace, open_store
from unspool.hub.store.database import Database
from unspool.hub.store.schema import migrate, text_vector
from unspool.store.index.query import Filter

PROJECTS, PEOPLE, VOCABULARY, PASSAGES = 50, 200, 20_000, 4
_DAY = 86_400_000
_NOW = 1_790_000_000_000
_LOT = 2_000
ADMIN = Person("admin", "admin", admin=True)
FEW = Person("p7", "somebody")


def words(rng: random.Random, count: int) -> str:
    """Words as people use them: a few very often, most of them hardly ever."""
    return " ".join(f"w{min(VOCABULARY, int(rng.paretovariate(0.6)))}" for _ in range(count))


def fill(db: Database, sessions: int) -> None:
    """People, projects, sessions and passages; everybody may read five projects."""
    rng = random.Random(8)
    db.many("INSERT INTO person(id, name, kind, admin, created) VALUES(?, ?, 'person', 0, 0)",
            [(f"p{n}", f"person {n}") for n in range(PEOPLE)])  # fmt: skip
    db.many("INSERT INTO project(id, name, policy, created) VALUES(?, ?, '', 0)",
            [(f"j{n}", f"project {n}") for n in range(PROJECTS)])  # fmt: skip
    db.many("INSERT INTO permit(project, kind, subject, level) VALUES(?, 'person', ?, 2)",
            [(f"j{(n + k * 7) % PROJECTS}", f"p{n}") for n in range(PEOPLE) for k in range(5)])  # fmt: skip
    for start in range(0, sessions, _LOT):
        numbers = range(start, min(sessions, start + _LOT))
        db.many(_SESSION, [_session(rng, number) for number in numbers])
        db.many(*_passages(db, rng, numbers))
    db.script("ANALYZE")


_COLUMNS = (
    "id, project, person, key, agent, title, kind, branch, slug, source, started, finished, turns, messages, calls, "
    "errors, tokens, cost, unpriced, models, size, state, made, created, updated"
)
_SESSION = f"INSERT INTO session({_COLUMNS}) VALUES({', '.join('?' * 25)})"


def _session(rng: random.Random, number: int) -> tuple[str | int, ...]:
    when = _NOW - int(rng.random() * 700 * _DAY)
    return (
        f"{number:032x}", f"j{rng.randrange(PROJECTS)}", f"p{rng.randrange(PEOPLE)}", f"key-{number}", "agent",
        words(rng, 6), "interactive", "main", "", "", when - 3_600_000, when, 9, 80, 40, 1, 90_000, 10**12, 0,
        '["a-model"]', 40_000, f"{number:064x}", "made", when, when,
    )  # fmt: skip


def _passages(db: Database, rng: random.Random, numbers: range) -> tuple[str, list[tuple[str | int, ...]]]:
    rows: list[tuple[str | int, ...]] = [
        (f"{number:032x}", turn, "prompt" if turn else "title", "index.html", words(rng, 60 if turn else 6))
        for number in numbers
        for turn in range(PASSAGES)
    ]
    if db.dialect == "sqlite":
        return "INSERT INTO passage(session, turn, kind, link, body) VALUES(?, ?, ?, ?, ?)", rows
    put = "INSERT INTO passage(session, turn, kind, link, body, words) VALUES(?, ?, ?, ?, ?, ?::tsvector)"
    return put, [(*row, text_vector(str(row[-1]))) for row in rows]


def questions(db: Database, rng: random.Random) -> dict[str, Callable[[], object]]:
    """What is asked, by what it is called; each a little different every time."""

    def found(person: Person, text: str) -> object:
        return search(db, person, text, ListPage(None, 20))

    def after() -> tuple[int, str]:
        return _NOW - int(rng.random() * 600 * _DAY), "8"

    return {
        "list, everything": lambda: list_sessions(db, ADMIN, [], ListPage(None, 50)),
        "list, five projects": lambda: list_sessions(db, FEW, [], ListPage(None, 50)),
        "list, further down": lambda: list_sessions(db, FEW, [], ListPage(after(), 50)),
        "list, of a person": lambda: list_sessions(
            db, ADMIN, [Filter("person", f"p{rng.randrange(PEOPLE)}")], ListPage()
        ),
        "list, by title": lambda: list_sessions(db, FEW, [Filter("title", f"w{rng.randrange(50, 500)}")], ListPage()),
        "search, very common": lambda: found(FEW, f"w{rng.randrange(1, 6)}"),
        "search, common": lambda: found(FEW, f"w{rng.randrange(20, 100)}"),
        "search, rare": lambda: found(FEW, f"w{rng.randrange(2000, 19000)}"),
        "search, not there": lambda: found(FEW, f"zz{rng.randrange(1000)}"),
        "search, rare, everything": lambda: found(ADMIN, f"w{rng.randrange(2000, 19000)}"),
        "search, two words": lambda: found(FEW, f"w{rng.randrange(1, 30)} w{rng.randrange(100, 900)}"),
        "search, two rare words": lambda: found(FEW, f"w{rng.randrange(300, 900)} w{rng.randrange(900, 3000)}"),
        "search, phrase": lambda: found(FEW, f'"w{rng.randrange(1, 9)} w{rng.randrange(1, 60)}"'),
        "search, rare phrase": lambda: found(FEW, f'"w{rng.randrange(20, 90)} w{rng.randrange(90, 900)}"'),
        "search, beginning": lambda: found(FEW, f"w{rng.randrange(100, 999)}*"),
        "search, not": lambda: found(FEW, f"w{rng.randrange(50, 900)} -w1"),
        "search, either": lambda: found(FEW, f"w{rng.randrange(50, 900)} OR w{rng.randrange(900, 9000)}"),
        "search, of a month": lambda: found(FEW, f"w{rng.randrange(5, 200)} since:2026-08-01 until:2026-09-01"),
        "search, of a person": lambda: found(ADMIN, f"w{rng.randrange(5, 200)} by:p{rng.randrange(PEOPLE)}"),
    }


def measured(db: Database, times: int) -> Iterator[tuple[str, float, float]]:
    """What was asked, and the median and 99th percentile of how long it took, in milliseconds."""
    for name, ask in questions(db, random.Random(9)).items():
        ask()
        taken = []
        for _ in range(times):
            began = time.perf_counter()
            ask()
            taken.append((time.perf_counter() - began) * 1000)
        taken.sort()
        yield name, taken[len(taken) // 2], taken[min(len(taken) - 1, int(len(taken) * 0.99))]


@contextmanager
def on_postgresql() -> Iterator[Database]:
    """A fresh database of a real server."""
    from unspool.hub.store.postgres import Postgres

    server = Postgresql(postgresql_programs(), shared_buffers="512MB", autovacuum="on")
    try:
        db = Postgres(server.url(server.fresh(tables=False)))
        migrate(db)
        yield db
        db.close()
    finally:
        server.forget()


@contextmanager
def on_sqlite() -> Iterator[Database]:
    """A fresh file."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(StorePlace(Path(folder)))
        yield store.db
        store.db.close()


def main() -> None:
    """Fill and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--files", action="store_true")
    given = parser.parse_args()
    with (on_sqlite if given.files else on_postgresql)() as db:
        began = time.perf_counter()
        fill(db, given.sessions)
        print(f"{given.sessions:,} sessions in {time.perf_counter() - began:.0f} s; p50 and p99 in ms")
        for name, median, late in measured(db, given.times):
            print(f"{name:28} {median:8.1f} {late:8.1f}", flush=True)


if __name__ == "__main__":
    main()
