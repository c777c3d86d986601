"""The index of an archive: whole, the same however it came about, and never half written."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.site.search.made import write_archive, write_session
from tests.site.search.reading import index, numbers, record, shard
from unspool.site.address import Addresses
from unspool.site.options import SiteOptions
from unspool.site.search_files import (
    PART_SIZE,
    SearchedSession,
    SearchIndexWriter,
    fold_text,
    inline_records,
    record_code,
    session_code,
    session_files,
    split_words,
)
from unspool.site.search_records import RECORD_KINDS, SearchRecord, session_records
from unspool.store.library import Library


def session(name: str, *texts: str, start: int = 1_700_000_000) -> list[SearchRecord]:
    told = [SearchRecord("prompt", f"page-001.html#msg-{at}", start + at, text) for at, text in enumerate(texts, 1)]
    return [SearchRecord("title", "index.html", start, name), *told]


def snapshot(site: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (site / "search").iterdir()}


@given(st.lists(st.tuples(st.integers(0, 10**6), st.lists(st.integers(0, 10**6), min_size=1)), max_size=5))
def test_numbers_read_back_as_they_were_written(postings: list[tuple[int, list[int]]]) -> None:
    written = "".join(session_code(at) + "".join(map(record_code, held)) for at, held in postings)
    assert numbers(written) == [(at, number) for at, held in postings for number in held]


def test_every_word_leads_to_its_records(tmp_path: Path) -> None:
    write_archive(tmp_path, {"a/1": session("Zebra", "one two"), "b/2": session("Yak", "two three two", "Two")})
    found = index(tmp_path)
    assert found["two"] == [("a/1", 0), ("b/2", 0), ("b/2", 1)]
    assert found["zebra"] == [("a/1", 1)]
    assert record(tmp_path, "b/2", 0) == ("page-001.html#msg-1", 1, "two three two")


def test_records_are_numbered_by_rank() -> None:
    mixed = [SearchRecord(kind, "index.html#a", 5, kind) for kind in reversed(RECORD_KINDS)]
    files = dict(session_files(mixed))
    told = json.loads(inline_records(mixed))
    assert [text for _, _, text in told["records"]] == list(RECORD_KINDS)
    assert told["about"]["counts"] == [1] * len(RECORD_KINDS)
    assert set(files) == {"records.js", "records.words"}


def test_a_long_session_is_cut_in_parts_that_hold_everything(tmp_path: Path) -> None:
    texts = [f"word{at} " * 400 for at in range(100)]
    write_archive(tmp_path, {"a/1": session("Long", *texts)})
    about = shard(tmp_path / "a/1/records.js")["about"]
    assert len(about["starts"]) > 5
    assert max(path.stat().st_size for path in (tmp_path / "a/1").glob("records*.js")) < PART_SIZE
    assert [record(tmp_path, "a/1", at)[2] for at in range(100)] == texts


def test_a_long_word_is_found_by_its_beginning_and_single_letters_are_not_kept(tmp_path: Path) -> None:
    write_archive(tmp_path, {"a/1": session("T", "x" * 50, "x" * 45 + "y z")})
    assert sorted(index(tmp_path)["x" * 40]) == [("a/1", 0), ("a/1", 1)]
    assert "z" not in index(tmp_path)


def test_words_are_sorted_as_a_browser_compares_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unspool.site.search_files.SHARD_SIZE", 1)
    write_archive(tmp_path, {"a/1": session("T", "ab \uffdc 𝼀𝼁 я \U00010400")})
    firsts = [first for first, _ in shard(tmp_path / "search/head.js")["shards"]]
    assert firsts == sorted(firsts, key=lambda word: word.encode("utf-16-be"))
    assert len(firsts) > 3


def test_an_index_made_bit_by_bit_is_the_index_made_at_once(tmp_path: Path) -> None:
    sessions = {f"p{at % 3}/{at}": session(f"Session {at}", f"common only{at}", start=10**9 + at) for at in range(12)}
    write_archive(tmp_path / "once", sessions)
    for count in (1, 5, 12):
        write_archive(tmp_path / "bits", dict(list(sessions.items())[:count]))
    assert snapshot(tmp_path / "once") == snapshot(tmp_path / "bits")


def test_a_changed_session_gives_the_index_of_a_full_build(tmp_path: Path) -> None:
    sessions = {f"p/{at}": session(f"Session {at}", f"common only{at}", start=10**9 + at) for at in range(4)}
    changed = {**sessions, "p/2": session("Renamed", "other words", start=10**9 + 2)}
    write_archive(tmp_path / "one", sessions)
    write_session(tmp_path / "one", "p/2", changed["p/2"])
    writer = SearchIndexWriter(tmp_path / "one")
    for folder in reversed(sessions):
        assert writer.add(SearchedSession(folder, "p"))
    assert writer.write() > 0
    write_archive(tmp_path / "two", changed)
    assert snapshot(tmp_path / "one") == snapshot(tmp_path / "two")
    assert "only2" not in index(tmp_path / "one")


def test_words_of_an_archive_are_packed_as_records_are(tmp_path: Path) -> None:
    texts = [f"word{at} common{at % 7} {'again ' * 20}" for at in range(800)]
    write_archive(tmp_path, {"a/1": session("Long", *texts)})
    (packed,) = (tmp_path / "search").glob("w-*.js")
    assert packed.stat().st_size < sum(map(len, shard(packed))) * 0.7


def test_nothing_is_written_when_nothing_changed(tmp_path: Path) -> None:
    sessions = {"p/1": session("One", "some words"), "p/2": session("Two", "more words")}
    assert write_archive(tmp_path, sessions) == 2
    assert write_archive(tmp_path, sessions) == 0


def test_what_an_interrupted_write_left_is_removed(tmp_path: Path) -> None:
    write_archive(tmp_path, {"p/1": session("One", "some words")})
    before = snapshot(tmp_path)
    (tmp_path / "search/w-0123456789abcdef.js").write_text("old")
    (tmp_path / "search/head.part").write_text("torn")
    write_archive(tmp_path, {"p/1": session("One", "some words")})
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("content", [None, b"", b"{}\n", b"not json\n", b'{"title":1}\n'])
def test_a_session_whose_words_cannot_be_read_is_left_out(tmp_path: Path, content: bytes | None) -> None:
    (tmp_path / "p/1").mkdir(parents=True)
    if content is not None:
        (tmp_path / "p/1/records.words").write_bytes(content)
    assert not SearchIndexWriter(tmp_path).add(SearchedSession("p/1", "p"))


def test_an_archive_without_sessions_has_an_index(tmp_path: Path) -> None:
    write_archive(tmp_path, {})
    assert index(tmp_path) == {}


HOSTILE = "</script><script>x()</script> \u2028\u2029 <!-- ]]> \" ' \\ `${x}` \x00 \ud800 <U+202E>"


def test_no_script_or_inline_data_can_be_left_early(tmp_path: Path) -> None:
    told = session(HOSTILE.replace("\ud800", ""), HOSTILE.replace("\ud800", ""))
    write_archive(tmp_path, {"p/1": told})
    written = [
        inline_records(told).encode(),
        *(path.read_bytes() for path in tmp_path.rglob("*.js") if path.name != "search.js"),
    ]
    assert len(written) == 4
    for content in written:
        assert b"<" not in content
        assert "\u2028".encode() not in content


def test_every_needle_of_a_made_corpus_is_found_with_its_session(
    made_corpus: Callable[[int, int], Path], tmp_path: Path
) -> None:
    """The words that occur once in a corpus lead to the one record that holds them."""
    source = made_corpus(1, 5)
    sessions = {}
    for log in Library([source / "projects"]).logs():
        read = Library([source / "projects"]).open(log)
        sessions[f"p/{read.id}"] = list(session_records(read, Addresses(read, SiteOptions())))
    write_archive(tmp_path, sessions)
    truth = json.loads((source / "truth.json").read_text())["sessions"]
    needles = {needle: f"p/{told['session']}" for told in truth for needle in told["needles"]}
    found = index(tmp_path)
    assert len(needles) > 1
    for needle, folder in needles.items():
        assert [place for place, _ in found[needle]] == [folder] * len(found[needle])
        assert needle in record(tmp_path, folder, found[needle][0][1])[2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix the Café", {"fix", "the", "cafe"}),
        ("test_queue-worker src/a1/main.py", {"test", "queue", "worker", "src", "a1", "main", "py"}),
        ("ﬁle № \uff57\uff49\uff44\uff45", {"file", "no", "wide"}),
        ("Ὀδυσσεύς", {"οδυσσευσ"}),
        ("ΠΡΟΣ Ёлка", {"προσ", "елка"}),
        ("— “quoted” → ✓ done", {"quoted", "done"}),
        ("漢字仮", {"漢字", "字仮", "仮"}),
        ("abc漢字", {"abc", "漢字", "字"}),
        ("𠀀𠀁", {"𠀀𠀁", "𠀁"}),
        ("", set()),
    ],
    ids=["accents", "names", "compatibility", "sigma", "scripts", "signs", "unspaced", "mixed", "astral", "empty"],
)
def test_words_are_folded_runs_of_letters_and_digits(text: str, expected: set[str]) -> None:
    assert split_words(text) == expected


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)


@given(st.text(), st.text())
def test_words_of_two_texts_are_the_words_of_each(one: str, other: str) -> None:
    assert split_words(f"{one} {other}") == split_words(one) | split_words(other)


@given(st.text(st.characters(codec="ascii")))
def test_the_quick_way_for_ascii_finds_what_the_slow_way_finds(text: str) -> None:
    assert split_words(f"{text} я") == split_words(text) | {"я"}
