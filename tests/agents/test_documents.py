"""Logs that are one JSON document: the same entries, each with its exact bytes and place."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import FORMAT, entries, prompts, session, stream, texts
from unspool.agents.whole_logs import with_abandoned

LINES: list[dict[str, Any]] = [
    json.loads(line) for line in LogBuilder().prompt("hi").meta("x").ai_title("T").to_bytes().splitlines()
]


def events(items: list[Any]) -> dict[str, Any]:
    wrapped = [
        {
            "event_id": f"e{n}",
            "event_type": "x",
            "is_compaction": False,
            "payload": item,
            "created_at": "2026-04-02T10:00:00Z",
        }
        for n, item in enumerate(items)
    ]
    return {"data": wrapped, "next_cursor": None}


SHAPES: dict[str, Any] = {
    "loglines": {"loglines": LINES},
    "loglines with more keys after": {"loglines": LINES, "sessionContext": {"cwd": "/p"}},
    "loglines after other keys": {"sessionContext": {"cwd": "/p"}, "loglines": LINES},
    "events": events(LINES),
    "bare array": LINES,
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("shape", list(SHAPES))
def test_every_shape_gives_the_entries_in_order(shape: str, indent: int | None) -> None:
    data = json.dumps(SHAPES[shape], indent=indent).encode()
    found = entries(data)
    assert [entry.data for entry in found] == LINES
    for entry in found:
        assert data[entry.place.offset : entry.place.offset + entry.place.size] == entry.raw
        assert entry.place.line == data.count(b"\n", 0, entry.place.offset) + 1


@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"\n\n", b"  \r\n"])
def test_what_stands_before_a_document_does_no_harm(before: bytes) -> None:
    data = before + json.dumps(SHAPES["loglines"]).encode()
    found = entries(data)
    assert [entry.data for entry in found] == LINES
    assert all(data[entry.place.offset :].startswith(entry.raw) for entry in found)


def test_equal_entries_keep_places_of_their_own() -> None:
    first, second = entries(b'[{"type":"tag"},{"type":"tag"}]')
    assert (first.place.offset, second.place.offset) == (1, 16)


def test_an_event_without_payload_is_kept_whole() -> None:
    (entry,) = entries(json.dumps(events([None])).encode())
    assert entry.data is not None
    assert entry.data["event_id"] == "e0"


def test_items_that_are_no_objects_are_problems() -> None:
    found = entries(b'[1,"x",{"type":"tag"}]')
    assert [entry.problem for entry in found] == ["not an object but a number", "not an object but a text", ""]


@pytest.mark.parametrize("data", [b'{"loglines":[{"type":"tag"},', b'[{"type":"tag"},{"ty', b"[", b'{"loglines":'])
def test_a_document_that_is_torn_is_a_problem_with_its_bytes(data: bytes) -> None:
    found = entries(data)
    assert b"".join(entry.raw for entry in found if entry.data is None)
    assert {entry.raw for entry in found} <= {data[a:b] for a in range(len(data)) for b in range(a, len(data) + 1)}


def test_a_log_whose_first_line_looks_like_a_document_is_read_by_line() -> None:
    data = b'{"data":{"type":"hook_progress"},"type":"progress","uuid":"a"}\n{"type":"tag"}\n'
    assert [entry.data and entry.data["type"] for entry in entries(data)] == ["progress", "tag"]


def test_a_message_with_several_blocks_on_one_entry_is_read_whole() -> None:
    log = LogBuilder().prompt("Look")
    use = log.use("Bash", command="ls")
    log.assistant_whole(log.think("hm"), log.text("Looking."), use)
    lines = [json.loads(line) for line in log.to_bytes().splitlines()]
    read = session(json.dumps({"loglines": lines}).encode())
    assert [prompt.text for prompt in prompts(read)] == ["Look"]
    assert texts(read) == ["Looking."]
    assert len(read.turns[0].blocks) == 3


def test_what_was_abandoned_stands_before_what_came_after_it() -> None:
    def time(one: tuple[str, int | None]) -> datetime | None:
        return None if one[1] is None else datetime.fromtimestamp(one[1], UTC)

    live: list[tuple[str, int | None]] = [("a", 1), ("b", 5), ("c", 9), ("d", 10)]
    left: list[tuple[str, int | None]] = [("late", 99), ("x", 7), ("y", 2), ("timeless", None)]
    told = [f"{one[0]}{'-' if gone else ''}" for one, gone in with_abandoned(live, left, time, 2)]
    assert told == ["a", "y-", "b", "x-", "late-", "timeless-", "c", "d"]
    assert list(with_abandoned([], left, time)) == [(one, False) for one in left]


def test_the_size_of_a_document_is_that_of_its_bytes() -> None:
    data = json.dumps(SHAPES["bare array"]).encode()
    events_ = FORMAT.events(stream(data))
    list(events_)
    assert (events_.size, events_.is_document) == (len(data), True)
