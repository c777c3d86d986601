"""Texts in parts: what is put in is read back by place, only what changed is written, and an old hub's texts move."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hub.people.folk import project, somebody
from tests.hub.people.folk import session as folk_session
from unspool.hub.sessions.listing import ListPage
from unspool.hub.sessions.search import search
from unspool.hub.store import schema, texts
from unspool.hub.store.connect import Store, StorePlace, open_store
from unspool.hub.store.schema import STEPS, split_words, table_exists
from unspool.hub.store.texts import PART_CHARACTERS, PartPlace, SessionPassage, TextPart, make_texts, write_texts

if TYPE_CHECKING:
    from tests.hub.servers import Servers

NOVEMBER = 1_763_000_000_000
"""A moment of November 2025."""


def passage(number: int, body: str) -> SessionPassage:
    return SessionPassage(number, "prompt" if number % 2 else "result", "index.html", number, body)


def kept(store: Store, passages: list[SessionPassage], folder: Path, session: str = "s") -> list[TextPart]:
    """Write the texts of a session as a push does; what was made of them."""
    folder.mkdir(exist_ok=True)
    made, parts = make_texts(passages, folder / "texts", texts.known_parts(store.db, session))
    assert made is not None
    store.blobs.keep_file(made)
    texts.ensure_month(store.db, texts.month_of(NOVEMBER))
    with store.db.transaction():
        write_texts(store.db, session, made.digest, parts, NOVEMBER)
    return parts


def read(store: Store, session: str = "s") -> list[SessionPassage]:
    """The passages of a session, from the places that the database knows."""
    row = store.db.row(
        "SELECT blob.key FROM session_text JOIN blob ON blob.digest = session_text.digest WHERE session = ?", session
    )
    assert row is not None
    sql = "SELECT number, place, size, kinds FROM text_part WHERE session = ? ORDER BY number"
    places = [PartPlace(*found) for found in store.db.rows(sql, session)]
    found = texts.read_parts(store.objects, row[0], places)
    return [one for place in places for one in found[place.number]]


def test_a_session_that_grows_writes_its_last_parts_only(store: Store, tmp_path: Path) -> None:
    """And all of it is read back; what became shorter has no part left over."""
    passages = [passage(number, f"word{number} " * 900) for number in range(30)]
    first = kept(store, passages[:20], tmp_path / "a")
    assert len(first) > 3
    assert read(store) == passages[:20]
    second = kept(store, passages, tmp_path / "b")
    assert [part.words is None for part in second[: len(first) - 1]] == [True] * (len(first) - 1)
    assert all(part.words for part in second[len(first) :])
    assert read(store) == passages
    assert store.db.row("SELECT count(*) FROM opening WHERE session = 's'") == (29,)
    kept(store, [passage(1, "another beginning"), *passages[:4]], tmp_path / "c")
    assert read(store) == [passage(1, "another beginning"), *passages[:4]]
    texts.sweep_parts(store.db, 10)
    assert "word20" not in str(store.db.rows("SELECT words FROM text_part"))


@given(
    st.lists(st.tuples(st.integers(0, 9), st.text(max_size=40) | st.just("long " * (PART_CHARACTERS // 4))), max_size=9)
)
def test_parts_hold_every_passage_once_and_all_their_words(given_: list[tuple[int, str]]) -> None:
    passages = [passage(number, body.encode("utf-8", "replace").decode()) for number, body in given_]
    cut = list(texts._cut(passages))
    assert [one for part in cut for one in part] == passages
    for part in cut:
        assert len(part) == 1 or sum(len(one.body) for one in part) <= PART_CHARACTERS
        assert {word for one in part for word in split_words(one.body)} == set(texts._words(part).split())


@given(st.text() | st.text("aB9_-— ✓é│", max_size=30))
def test_words_are_cut_the_quick_way_as_full_text_cuts_them(text: str) -> None:
    text = text.encode("utf-8", "replace").decode().replace("\0", " ")
    assert split_words(text) == schema._tokenized(text)


def test_a_month_has_a_partition_which_may_lie_elsewhere(servers_store: Store, tmp_path: Path) -> None:
    """Moved to another tablespace it is read, searched and written as before."""
    kept(servers_store, [passage(1, "the heron stood there")], tmp_path / "a")
    db = servers_store.db
    assert db.rows("SELECT number FROM text_part_202511") == [(0,)]
    db.script("SET allow_in_place_tablespaces = on")
    db.script("CREATE TABLESPACE slower LOCATION ''")
    try:
        db.script("ALTER TABLE text_part_202511 SET TABLESPACE slower")
        assert read(servers_store)[0].body == "the heron stood there"
        kept(servers_store, [passage(1, "the heron stood there"), passage(2, "x " * 16_000)], tmp_path / "b")
        assert db.row("SELECT count(*) FROM text_part WHERE words @@ 'heron'::tsquery") == (1,)
        assert len(read(servers_store)) == 2
    finally:
        db.script("DROP TABLE text_part_202511")
        db.script("DROP TABLESPACE slower")


@pytest.mark.parametrize("time", [0, -1, 10**17, 4_102_444_800_000])
def test_a_time_that_cannot_be_makes_no_partition(time: int) -> None:
    assert texts.month_of(time) == 0


@pytest.fixture(params=["files", "servers"])
def before(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StorePlace]:
    """The place of a hub whose texts are in the database still, with three sessions that hold a word each."""
    monkeypatch.setattr(texts, "_SAID_EVERY", -1.0)
    if request.param == "files":
        _fill_as_before(StorePlace(tmp_path / "hub"))
        yield StorePlace(tmp_path / "hub")
        return
    request.getfixturevalue("credentials")
    servers: Servers = request.getfixturevalue("servers")
    with servers.place(tmp_path / "hub", tables=False) as place:
        _fill_as_before(place)
        yield place


def _fill_as_before(place: StorePlace) -> None:
    store = open_store(place)
    ada = somebody(store.db, "ada", admin=True)
    shop = project(store.db, "shop", own=ada)
    ids = [folk_session(store, shop, ada, f"the heron number{number}") for number in range(3)]
    with store.db.transaction():
        for one in ids:
            store.db.run("DELETE FROM text_part WHERE session = ?", one)
            store.db.run("DELETE FROM session_text WHERE session = ?", one)
        store.db.script(
            "CREATE TABLE passage(id INTEGER PRIMARY KEY, session TEXT, turn BIGINT, kind TEXT, link TEXT, body TEXT,"
            " line BIGINT)"
        )
        for number, one in enumerate(ids):
            rows = [
                (10 * number + at, one, at, "prompt", "", f"heron number{number} {at}", 7 + number) for at in range(3)
            ]
            store.db.many("INSERT INTO passage VALUES(?, ?, ?, ?, ?, ?, ?)", rows)
        store.db.run("INSERT INTO passage VALUES(99, '', 1, 'prompt', '', 'gone', 0)")
    store.db.close()


def found(store: Store, text: str) -> list[list[str]]:
    admin = somebody(store.db, f"asks {text}", admin=True).person
    return [[hit.snippet.text for hit in one.hits] for one in search(store, admin, text, ListPage(None, 20)).found]


def test_the_texts_of_an_old_hub_move_when_it_is_opened(before: StorePlace) -> None:
    """Once, and it says so; then they are found as they were."""
    said: list[str] = []
    store = open_store(before, say=said.append)
    assert said[0] == "Moving the texts of 3 sessions to the object store, once; this may take a while"
    assert said[-1] == "3 of 3 sessions have moved"
    assert found(store, "number1") == [["heron number1 2", "heron number1 1", "heron number1 0"]]
    assert found(store, "gone") == []
    assert not table_exists(store.db, "passage")
    assert store.db.row("SELECT count(*) FROM opening") == (3,)
    store.db.close()
    store = open_store(before, say=said.append)
    assert len(said) == 4
    store.db.close()


_KILLED = """
import os, signal, sys
from pathlib import Path
from unspool.hub.store import texts
from unspool.hub.store.connect import StorePlace, open_store

write, left = texts.write_texts, [1]

def written(*args):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    write(*args)

texts.write_texts = written
open_store(StorePlace(*map(Path, sys.argv[1:2]), *sys.argv[2:]))
"""


def test_a_move_that_is_killed_goes_on_where_it_was(before: StorePlace) -> None:
    command = [sys.executable, "-c", _KILLED, str(before.folder), before.database, before.bucket]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    said: list[str] = []
    store = open_store(before, say=said.append)
    assert said[0].startswith("Moving the texts of 2 sessions")
    assert len(found(store, "heron")) == 3
    assert not table_exists(store.db, "passage")
    store.db.close()


def test_a_new_hub_has_no_table_of_an_old_one(store: Store) -> None:
    assert STEPS
    assert not table_exists(store.db, "passage")
