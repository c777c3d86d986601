"""Whatever is asked, what is found is what looking through every passage finds; and little is read for nothing."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hub.people.folk import One, project, somebody
from tests.thorough import tries
from unspool.hub.people.users import Person
from unspool.hub.sessions import search as searching
from unspool.hub.sessions.listing import ListPage
from unspool.hub.sessions.matching import PassageQuestion
from unspool.hub.sessions.search import search
from unspool.hub.store import texts
from unspool.hub.store.blobs import Objects
from unspool.hub.store.connect import Store
from unspool.hub.store.texts import RANKED, SessionPassage, ensure_year, make_texts, write_texts, year_of
from unspool.hub.store.words import split_words
from unspool.store.index.query import parse_query

COMMON = ("the", "a", "to", "of")
ODD = ("tab", "table", "tables", "taboo", "read_file", "naïve", "水位", "C++")
WORDS = [*COMMON * 8, *(f"word{number}" for number in range(40)), *ODD]
BORN = 1_760_000_000_000
SESSIONS = 60


def told(rng: random.Random) -> list[SessionPassage]:
    """The passages of a session, some of which are a few words and some many."""
    return [
        SessionPassage(
            at, rng.choice(RANKED), f"page{at}", 0, " ".join(rng.choices(WORDS, k=rng.choice((2, 5, 30, 200))))
        )
        for at in range(rng.randrange(1, 40))
    ]


def word(rng: random.Random) -> str:
    return rng.choice([*WORDS, "nowhere"])


def question(rng: random.Random, depth: int = 0) -> str:
    """Anything that may be typed."""
    two = [question(rng, depth + 1) for _ in range(2)] if depth < 2 else [word(rng), word(rng)]
    return rng.choice(
        [
            word(rng),
            word(rng),
            f'"{word(rng)} {word(rng)}"',
            f'"{" ".join(word(rng) for _ in range(3))}"',
            f"{rng.choice(('t', 'ta', 'tab', 'tabl', 'table', 'word1', 'xyz'))}*",
            f'"{word(rng)} {word(rng)[:3]}"*',
            f"({two[0]} OR {two[1]})",
            f"({two[0]} {two[1]})",
            f"({two[0]} -{word(rng)})",
            f"(NOT {two[0]})",
        ]
    )


@pytest.fixture
def asker(store: Store) -> Person:
    return somebody(store.db, "asks").person


@pytest.fixture
def sessions(
    store: Store, asker: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, list[SessionPassage]]:
    """Sessions of several short parts each, the newest first; the passages by id of those that one may read."""
    monkeypatch.setattr(texts, "PART_CHARACTERS", 2_000)
    rng, found = random.Random(4), {}
    shop, hidden = project(store.db, "shop", read=One(asker, "")), project(store.db, "hidden")
    for number in range(SESSIONS, 0, -1):
        session, when, passages = f"{number:032x}", BORN + number * 86_400_000, told(rng)
        made, parts = make_texts(passages, tmp_path / "texts", {})
        assert made is not None
        store.blobs.keep_file(made)
        ensure_year(store.db, year_of(when))
        with store.db.transaction():
            store.db.run(
                "INSERT INTO session(id, project, person, key, agent, title, kind, branch, slug, source, turns,"
                " messages, calls, errors, tokens, cost, unpriced, models, size, state, made, finished, created,"
                " updated) VALUES(?, ?, ?, ?, '', '', '', '', '', '', 1, 1, 1, 0, 1, 1, 0, '[]', 1, ?, '', ?, 1, 1)",
                *(session, shop if number % 6 else hidden, asker.id, session, session, when),
            )
            write_texts(store.db, session, made.digest, parts, when)
        if number % 6:
            found[session] = passages
    return found


def looked_for(text: str, sessions: dict[str, list[SessionPassage]]) -> list[tuple[str, list[str]]]:
    """The sessions that hold what is asked for, each with its three best places, by looking at each passage."""
    kinds = frozenset({text.rpartition("kind:")[2]}) if "kind:" in text else None
    asked = PassageQuestion(kinds, parse_query(text.partition(" kind:")[0], []).tree)
    found = []
    for session, passages in sessions.items():
        held = [one for one in passages if asked.is_met_by(one)]
        held.sort(key=lambda one: (RANKED.index(one.kind), -one.turn))
        if held:
            found.append((session, [one.link for one in held[:3]]))
    return found


def answered(store: Store, asker: Person, text: str) -> Iterator[tuple[str, list[str]]]:
    """What search finds, page by page."""
    span: ListPage | None = ListPage(None, 7)
    while span is not None:
        results = search(store, asker, text, span)
        yield from ((one.session.id, [hit.page for hit in one.hits]) for one in results.found)
        finished, _, last = results.next.partition("-")
        span = ListPage((int(finished), last), 7) if results.next else None


@pytest.mark.parametrize("route", ["gathered", "walked", "both"])
def test_search_finds_what_looking_through_all_finds(
    route: str, store: Store, asker: Person, sessions: dict[str, list[SessionPassage]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions, their order and their best places, by whichever route they are found, on either database."""
    few, many, walked = {"gathered": (10**6, 10**6, 0), "walked": (-1, -1, 0), "both": (-1, 10**6, 9)}[route]
    monkeypatch.setattr(searching, "_FEW", few)
    monkeypatch.setattr(searching, "_MANY", many)
    monkeypatch.setattr(searching, "_WALKED", walked)
    rng, some = random.Random(5), 0
    for _ in range(tries(60, 3000)):
        text = question(rng) + (f" kind:{rng.choice(RANKED)}" if rng.random() < 0.2 else "")
        wanted = looked_for(text, sessions)
        assert list(answered(store, asker, text)) == wanted, text
        some += 0 < len(wanted) < len(sessions)
    assert some > 10


def test_parts_that_hold_the_words_apart_are_hardly_ever_read(
    store: Store, asker: Person, sessions: dict[str, list[SessionPassage]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all reads for two words, phrases and kinds, few find nothing that is meant."""
    read: Counter[str] = Counter()
    best, rng = searching._best, random.Random(6)

    def counted(objects: Objects, until: float, found: Any, wanted: Any) -> object:
        hits = best(objects, until, found, wanted)
        read["of use" if hits else "in vain"] += 1
        return hits

    monkeypatch.setattr(searching, "_best", counted)
    rare = [f"word{number}" for number in range(40)]
    for _ in range(20):
        one, other = rng.sample(rare, 2)
        for text in (f"{one} {other}", f'"{one} {other}"', f"{one} kind:title"):
            list(answered(store, asker, text))
    assert read["of use"] > 200
    assert read["in vain"] < 0.2 * read["of use"]


def test_words_are_cut_the_same_for_parts_and_for_questions() -> None:
    for text in WORDS:
        assert split_words(text) == split_words(text.upper()) == split_words(f"({text})")
