"""Lines are numbered and placed exactly, and a read goes on where the last one ended."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import FORMAT, entries, jsonl, session, stream
from unspool.agents.lines import Cursor
from unspool.model import Entry, Session, Transcript
from unspool.reading.assemble import assemble_session
from unspool.store.library.read import LogReader, read_appended

PIECES = (
    b'{"type":"user"}',
    b'{"a":"\xc3\xa9"}',
    b"",
    b"  ",
    b'{"torn',
    b"\x00\x00",
    b'{"a":1}{"b":2}',
    b"[1]",
    b"\xff",
)


def built() -> bytes:
    """A log with a branch, a torn line, a glued line and a side line."""
    log = LogBuilder().prompt("one")
    at = log.last
    use = log.use("Bash", command="ls")
    log.assistant(log.think("hm"), use).result(use, "a\nb").rewind(at).prompt("two").ai_title("Two")
    log.raw(b'{"type":"user","mess\n').assistant(log.text("done")).raw(b'{"type":"tag"}{"type":"mode"}\n')
    return log.to_bytes()


LOG = built()


def test_every_entry_has_the_number_and_the_offset_of_its_line() -> None:
    places = [(entry.place.line, entry.place.offset, entry.place.size) for entry in entries(b'{}\n\n{"a":1}\n{}')]
    assert places == [(1, 0, 3), (3, 4, 8), (4, 12, 2)]


def test_numbers_and_offsets_go_on_from_a_cursor() -> None:
    found = list(LogReader().entries(stream(b"{}\n{}\n"), Cursor(100, 8)))
    assert [(entry.place.line, entry.place.offset) for entry in found] == [(8, 100), (9, 103)]


def test_an_unfinished_line_is_given_and_read_again() -> None:
    reader = LogReader()
    assert len(list(reader.entries(stream(b'{}\n{"half'), Cursor(70, 4)))) == 2
    assert reader.cursor == Cursor(73, 5)


@pytest.mark.parametrize("data", [b"{}\n", b"{}", b"{}\n\n\n", b"{}{}\n", b"\n"])
def test_the_size_of_a_log_is_all_its_bytes(data: bytes) -> None:
    reader = LogReader()
    list(reader.entries(stream(data)))
    assert reader.size == len(data)


def test_blank_lines_are_counted() -> None:
    reader = LogReader()
    assert list(reader.entries(stream(b"\n  \n\r\n"))) == []
    assert reader.blank == 3


def test_reading_nothing_leaves_the_cursor_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(LOG)
    _, end = read_appended(path, Cursor())
    assert read_appended(path, end) == ([], end)
    assert end == Cursor(len(LOG), LOG.count(b"\n") + 1)


def test_a_line_that_is_completed_later_is_given_whole(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"type":"tag"}\n{"type":"mo')
    first, cursor = read_appended(path, Cursor())
    with path.open("ab") as out:
        out.write(b'de"}\n')
    second, _ = read_appended(path, cursor)
    assert first[0].data == {"type": "tag"}
    assert [(entry.data, entry.place.line, entry.place.offset) for entry in second] == [({"type": "mode"}, 2, 15)]


@pytest.fixture(scope="module")
def growing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("growing") / "log.jsonl"


@given(at=st.integers(0, len(LOG)))
def test_a_log_read_in_two_goes_gives_the_same_entries_and_session(growing: Path, at: int) -> None:
    growing.write_bytes(LOG[:at])
    first, cursor = read_appended(growing, Cursor())
    growing.write_bytes(LOG)
    second, end = read_appended(growing, cursor)
    kept = [entry for entry in first if entry.place.offset < cursor.offset]
    assert kept + second == entries(LOG)
    assert end.offset == len(LOG)
    assert assembled(kept + second) == session(LOG)


def assembled(found: list[Entry]) -> Session:
    """The session of entries that were read in goes."""
    parser = FORMAT.parser(None)
    events = [parser.event(entry) for entry in found]
    main = Transcript(events, parser.facts, session(LOG).log)
    return assemble_session(main, [], FORMAT.dialect(None, parser.facts), "session")


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=12), at=st.integers(0, 200))
def test_damaged_logs_too_may_be_read_in_two_goes(growing: Path, pieces: list[bytes], at: int) -> None:
    data = b"\n".join(pieces)
    if data[:1] in (b"[", b" "):
        data = jsonl({"type": "tag"}) + data
    growing.write_bytes(data[:at])
    first, cursor = read_appended(growing, Cursor())
    growing.write_bytes(data)
    second, _ = read_appended(growing, cursor)
    assert [entry for entry in first if entry.place.offset < cursor.offset] + second == entries(data)
