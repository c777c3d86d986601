"""Texts in parts: what is put in is read back by place, and only what changed is written."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.hub.store import texts, words
from unspool.hub.store.connect import Store
from unspool.hub.store.schema import table_exists
from unspool.hub.store.texts import PART_CHARACTERS, PartPlace, SessionPassage, TextPart, make_texts, write_texts
from unspool.hub.store.words import as_array, split_tokens, word_number

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
    texts.ensure_year(store.db, texts.year_of(NOVEMBER))
    with store.db.transaction():
        write_texts(store.db, session, made.digest, texts.place_parts(store.blobs, made.digest, parts), NOVEMBER)
    return parts


def read(store: Store, session: str = "s") -> list[SessionPassage]:
    """The passages of a session, from the places that the database knows."""
    row = store.db.row(
        "SELECT blob.key FROM session_text JOIN blob ON blob.digest = session_text.digest WHERE session = ?", session
    )
    assert row is not None
    sql = "SELECT number, place, size FROM text_part WHERE session = ? ORDER BY number"
    places = [PartPlace(*found) for found in store.db.rows(sql, session)]
    found = texts.read_parts(store.objects, row[0], places)
    return [one for place in places for one in found[place.number]]


def test_a_session_that_grows_writes_its_last_parts_only(store: Store, tmp_path: Path) -> None:
    """And all of it is read back; what became shorter has no part left over."""
    passages = [passage(number, f"word{number} " * 1900) for number in range(30)]
    first = kept(store, passages[:20], tmp_path / "a")
    assert len(first) > 3
    assert read(store) == passages[:20]
    second = kept(store, passages, tmp_path / "b")
    assert [part.holds is None for part in second[: len(first) - 1]] == [True] * (len(first) - 1)
    assert all(part.holds for part in second[len(first) :])
    assert read(store) == passages
    assert store.db.row("SELECT count(*) FROM opening WHERE session = 's'") == (29,)
    kept(store, [passage(1, "another beginning"), *passages[:4]], tmp_path / "c")
    assert read(store) == [passage(1, "another beginning"), *passages[:4]]
    texts.sweep_parts(store.db, 10)
    assert store.db.row("SELECT count(*) FROM text_part") == (1,)


def test_texts_that_another_zstd_packed_are_found_where_they_lie(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same texts come with other frames: what is kept stays, and both sessions read it."""
    passages = [passage(number, f"word{number} other{number * 7} " * 900) for number in range(30)]
    first = kept(store, passages, tmp_path / "a")
    monkeypatch.setattr(texts, "_LEVEL", 19)
    second = kept(store, passages, tmp_path / "b", session="t")
    assert [part.size for part in second] != [part.size for part in first]
    assert read(store) == read(store, "t") == passages
    kept(store, [*passages, passage(31, "more")], tmp_path / "c")
    assert read(store) == [*passages, passage(31, "more")]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.text(max_size=40) | st.just("long " * (PART_CHARACTERS // 4))), max_size=9)
)
def test_parts_hold_every_passage_once_and_all_their_words(given_: list[tuple[int, str]]) -> None:
    passages = [passage(number, body.encode("utf-8", "replace").decode()) for number, body in given_]
    cut = list(texts._cut(passages))
    assert [one for part in cut for one in part] == passages
    for part in cut:
        assert len(part) == 1 or sum(len(one.body) for one in part) <= PART_CHARACTERS
        held = {word_number(word) for one in part for word in split_tokens(one.body)}
        assert held <= {*texts._holds(part)[1]}


@given(st.text() | st.text("aB9_-— ✓é│", max_size=30))
def test_words_are_cut_the_quick_way_as_full_text_cuts_them(text: str) -> None:
    text = text.encode("utf-8", "replace").decode().replace("\0", " ")
    assert [word.decode() for word in split_tokens(text)] == words._tokenized(text)


def test_a_year_has_a_partition_which_may_lie_elsewhere(servers_store: Store, tmp_path: Path) -> None:
    """Moved to another tablespace it is read, searched and written as before."""
    kept(servers_store, [passage(1, "the heron stood there")], tmp_path / "a")
    db = servers_store.db
    assert db.rows("SELECT number FROM text_part_2025") == [(0,)]
    db.script("SET allow_in_place_tablespaces = on")
    db.script("CREATE TABLESPACE slower LOCATION ''")
    try:
        db.script("ALTER TABLE text_part_2025 SET TABLESPACE slower")
        assert read(servers_store)[0].body == "the heron stood there"
        kept(servers_store, [passage(1, "the heron stood there"), passage(2, "x " * 32_000)], tmp_path / "b")
        heron = as_array([word_number(b"heron")])
        assert db.row("SELECT count(*) FROM text_part WHERE words @> ?::int[]", heron) == (1,)
        assert len(read(servers_store)) == 2
    finally:
        db.script("DROP TABLE text_part_2025")
        db.script("DROP TABLESPACE slower")


@pytest.mark.parametrize("time", [0, -1, 10**17, 4_102_444_800_000])
def test_a_time_that_cannot_be_makes_no_partition(time: int) -> None:
    assert texts.year_of(time) == 0


def test_a_new_hub_has_no_table_of_an_old_one(store: Store) -> None:
    assert not table_exists(store.db, "passage")
