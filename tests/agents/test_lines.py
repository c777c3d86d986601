"""Lines are numbered and placed exactly, and a read goes on where the last one ended."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import FORMAT, entries, jsonl, session, stream, transcript
from unspool.agents.lines import Cursor, LogEvents
from unspool.model import Event, Place, Transcript
from unspool.reading.assemble import assemble_session

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
    found = list(FORMAT.events(stream(b"{}\n{}\n"), start=Cursor(100, 8)))
    assert [(event.place.line, event.place.offset) for event in found] == [(8, 100), (9, 103)]


def test_an_unfinished_line_is_given_and_read_again() -> None:
    events = FORMAT.events(stream(b'{}\n{"half'), start=Cursor(70, 4))
    assert len(list(events)) == 2
    assert events.cursor == Cursor(73, 5)


@pytest.mark.parametrize("data", [b"{}\n", b"{}", b"{}\n\n\n", b"{}{}\n", b"\n"])
def test_the_size_of_a_log_is_all_its_bytes(data: bytes) -> None:
    events = FORMAT.events(stream(data))
    list(events)
    assert events.size == len(data)


def test_blank_lines_are_counted() -> None:
    events = FORMAT.events(stream(b"\n  \n\r\n"))
    assert list(events) == []
    assert events.blank == 3


def more(events: LogEvents, data: bytes) -> list[Event]:
    """What came of a log since it was last looked at."""
    return events.more(stream(data[events.cursor.offset :]))


def test_reading_nothing_leaves_the_cursor_where_it_was() -> None:
    events = FORMAT.events(stream(b""))
    assert more(events, LOG)
    assert more(events, LOG) == []
    assert events.cursor == Cursor(len(LOG), LOG.count(b"\n") + 1)


def test_a_line_that_is_completed_later_is_given_whole_and_once() -> None:
    events = FORMAT.events(stream(b""))
    (first,) = more(events, b'{"type":"tag"}\n{"type":"mo')
    (second,) = more(events, b'{"type":"tag"}\n{"type":"mode"}\n')
    assert first.side is not None
    assert second.side is not None
    assert (first.side.type, second.side.type, second.place) == ("tag", "mode", Place(2, 15, 16))


@given(at=st.integers(0, len(LOG)))
def test_a_log_read_in_two_goes_gives_the_same_events_and_session(at: int) -> None:
    events = FORMAT.events(stream(b""))
    found = more(events, LOG[:at]) + more(events, LOG)
    assert found == transcript(LOG).events
    main = Transcript(found, events.facts, session(LOG).log)
    assert assemble_session(main, [], FORMAT.dialect(None, events.facts), "session") == session(LOG)


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=12), at=st.integers(0, 200))
def test_damaged_logs_too_may_be_read_in_two_goes(pieces: list[bytes], at: int) -> None:
    data = b"".join(piece + b"\n" for piece in pieces)
    if data[:1] in (b"[", b" "):
        data = jsonl({"type": "tag"}) + data
    events = FORMAT.events(stream(b""))
    assert more(events, data[:at]) + more(events, data) == transcript(data).events
