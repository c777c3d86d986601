"""Sessions that go on: what a stream tells of them, and the board."""

import http.client
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.app.serving import served
from tests.app.sessions import STORM, demo_source, desk_of, get
from tests.log_builder.builder import LogBuilder
from tests.waiting import PATIENCE, until
from unspool.agents import AGENTS, FoundLog
from unspool.app import live_pages, live_session
from unspool.app import live_session as incremental_reader
from unspool.app.live_session import IncrementalReader
from unspool.app.open_session import get_session
from unspool.app.session_frame import log_position
from unspool.config.settings import settings_path
from unspool.demo import write_demo
from unspool.store.library.read import read_session


class Stream:
    """The events of an address, as a browser takes them."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self._answer = answer
        assert answer.headers["content-type"].startswith("text/event-stream")

    def next(self) -> tuple[str, str, Any]:
        """Kind, id and data of the next event; signs of life are passed over."""
        told: dict[str, str] = {}
        while True:
            line = self._answer.readline().decode().rstrip("\n")
            if not line and "data" in told:
                return told.get("event", ""), told.get("id", ""), json.loads(told["data"])
            if not line:
                told = {}
            elif not line.startswith(":"):
                name, _, value = line.partition(": ")
                told[name] = value


@contextmanager
def listening(address: str, **headers: str) -> Iterator[Stream]:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}", headers=headers)
        yield Stream(connection.getresponse())
    finally:
        connection.close()


@pytest.fixture(params=["short", "long"], autouse=True)
def length(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every log is taken for a short one, and for one that is too long to be read again."""
    monkeypatch.setattr(incremental_reader, "LONG", 0 if request.param == "long" else 1 << 40)
    monkeypatch.setattr(live_session, "LONG", incremental_reader.LONG)


def _log(**about: Any) -> LogBuilder:
    log = LogBuilder(**about)
    return log.prompt("First question").assistant(log.text("First answer"))


def _found(root: Path) -> FoundLog:
    return next(AGENTS[0].discover(root))


def test_new_turns_are_told_as_the_page_tells_them(tmp_path: Path) -> None:
    log = _log()
    log.write(tmp_path)
    with served(desk_of(tmp_path / "projects")) as address:
        base = f"{address}/s/{log.session_id}"
        since = log_position(read_session(_found(tmp_path)))
        with listening(f"{base}/events?from=1&since={since}") as stream:
            log.prompt("Second question").assistant(log.text("Second answer"))
            log.write(tmp_path)
            _, before, first = stream.next()
            log.prompt("Third question").assistant(log.text("Third answer"))
            log.write(tmp_path)
            kind, name, news = stream.next()
        page = get(f"{base}/page-001.html").text
        assert first["last"] == 2
        assert kind == "turns"
        assert news["last"] == 3
        assert name == news["mark"] != before != since
        assert [turn["number"] for turn in news["turns"]] == [3]
        assert news["turns"][0]["html"] in page
        assert news["turns"][0]["words"] == "Third question"


def test_a_turn_that_goes_on_is_told_again(tmp_path: Path) -> None:
    log = _log()
    log.write(tmp_path)
    with served(desk_of(tmp_path / "projects")) as address:
        since = log_position(read_session(_found(tmp_path)))
        with listening(f"{address}/s/{log.session_id}/events?from=1&since={since}") as stream:
            log.assistant(log.text("And another thing"))
            log.write(tmp_path)
            _, _, news = stream.next()
        assert [turn["number"] for turn in news["turns"]] == [1]
        assert "And another thing" in news["turns"][0]["html"]


def test_who_comes_back_is_told_what_was_missed(tmp_path: Path) -> None:
    log = _log()
    log.write(tmp_path)
    with served(desk_of(tmp_path / "projects")) as address:
        events = f"{address}/s/{log.session_id}/events?from=1"
        with listening(events) as stream:
            _, name, news = stream.next()
            assert [turn["number"] for turn in news["turns"]] == [1]
            log.prompt("Second").assistant(log.text("Two"))
            log.write(tmp_path)
            with listening(events, **{"Last-Event-ID": name}) as again:
                _, _, missed = again.next()
        assert [turn["number"] for turn in missed["turns"]] == [2]


def test_a_line_half_written_is_waited_for(tmp_path: Path) -> None:
    log = _log()
    path = log.write(tmp_path)
    before = path.read_bytes()
    log.prompt("Second").assistant(log.text("Two"))
    log.write(tmp_path)
    after = path.read_bytes()
    path.write_bytes(before)
    growth = IncrementalReader()
    found = _found(tmp_path)
    assert len(growth.session(found).turns) == 1
    for size in range(len(before), len(after), 97):
        path.write_bytes(after[:size])
        session = growth.session(found)
        assert not session.problems
    path.write_bytes(after)
    assert growth.session(found).turns == read_session(found).turns


def test_reading_on_gives_what_reading_whole_gives(tmp_path: Path) -> None:
    """For each session of the demo, cut at every tenth line."""
    for found in AGENTS[0].discover(write_demo(tmp_path)):
        path = Path(found.path)
        lines = path.read_bytes().splitlines(keepends=True)
        growth = IncrementalReader()
        for end in (*range(1, len(lines), 10), len(lines)):
            path.write_bytes(b"".join(lines[:end]))
            grown, whole = growth.session(found), read_session(found)
            assert grown.turns == whole.turns
            assert grown.branches == whole.branches
            assert log_position(grown) == log_position(whole)


def test_a_log_written_anew_is_read_anew(tmp_path: Path) -> None:
    log = _log()
    path = log.write(tmp_path)
    growth, found = IncrementalReader(), _found(tmp_path)
    growth.session(found)
    other = LogBuilder(session_id=log.session_id, seed="other")
    for number in range(5):
        other.prompt(f"Quite another {number}").assistant(other.text("Yes"))
    path.write_bytes(other.tree()[next(iter(other.tree()))])
    assert growth.session(found).turns == read_session(found).turns


def test_a_rewound_conversation_drops_its_last_turns(tmp_path: Path) -> None:
    log = _log()
    fork = log.last
    log.prompt("Second").assistant(log.text("Two")).prompt("Third").assistant(log.text("Three"))
    log.write(tmp_path)
    with (
        served(desk_of(tmp_path / "projects")) as address,
        listening(f"{address}/s/{log.session_id}/events?from=1") as stream,
    ):
        assert stream.next()[2]["last"] == 3
        log.rewind(fork).prompt("Another second").assistant(log.text("Else"))
        log.write(tmp_path)
        _, _, news = stream.next()
    assert news["last"] == 2
    assert "Another second" in news["turns"][-1]["html"]


def test_a_log_that_goes_away_ends_the_stream(tmp_path: Path) -> None:
    log = _log()
    path = log.write(tmp_path)
    with (
        served(desk_of(tmp_path / "projects")) as address,
        listening(f"{address}/s/{log.session_id}/events?from=1") as stream,
    ):
        stream.next()
        path.unlink()
        assert stream.next()[0] == "end"


def test_no_more_streams_than_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_pages, "MOST", 1)
    with served(desk_of(demo_source())) as address:
        events = f"{address}/s/{STORM}/events?from=1"
        with listening(events) as stream:
            stream.next()
            assert get(events).status == 503
        until(lambda: _status(events) == 200, lambda: "a stream whose listener has gone still counts")


def _status(address: str) -> int:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    connection.request("GET", f"{parts.path}?{parts.query}")
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize("query", ["from=-1", "from=99999999999999", "from=x", "since=%00", "from=%C2%B2", ""])
def test_any_question_has_an_answer(query: str) -> None:
    with served(desk_of(demo_source())) as address:
        with listening(f"{address}/s/{STORM}/events?{query}") as stream:
            assert stream.next()[0] == "turns"
        assert get(f"{address}/s/nope/events?{query}").status == 404


def test_the_board_shows_what_was_written_to_of_late(tmp_path: Path) -> None:
    old, new = LogBuilder(session_id="aaaaaaaa-0000-4000-8000-000000000000"), _log()
    path = old.prompt("Long ago <b>").assistant(old.text("Yes")).write(tmp_path)
    os.utime(path, (1, 1))
    os.utime(new.write(tmp_path))
    with served(desk_of(tmp_path / "projects")) as address:
        html = get(f"{address}/live").text
        assert f"/s/{new.session_id}/last" in html
        assert "First answer" in html
        assert "Long ago" not in html
        with listening(f"{address}/live/events") as stream:
            assert "Long ago" not in stream.next()[2]["html"]
            os.utime(path)
            told = stream.next()[2]["html"]
        assert "Long ago &lt;b&gt;" in told


def test_an_old_session_is_not_followed_and_one_of_now_is(tmp_path: Path) -> None:
    """Nor is one whose file was only copied: its lines are of older times."""
    log, copied = _log(start=datetime.now(UTC)), _log(session_id="copied")
    path = log.write(tmp_path)
    os.utime(copied.write(tmp_path))
    os.utime(path)
    with served(desk_of(tmp_path / "projects")) as address:
        last = get(f"{address}/s/{log.session_id}/last").text
        assert 'data-live="1"' in last
        assert "Follow live" in get(f"{address}/s/{log.session_id}/").text
        assert "data-live" not in get(f"{address}/s/copied/last").text
        assert "Follow live" not in get(f"{address}/s/copied/").text
        os.utime(path, (1, 1))
        assert "data-live" not in get(f"{address}/s/{log.session_id}/last").text


def test_a_tool_that_runs_is_shown_to_have_no_answer_yet(tmp_path: Path) -> None:
    log = _log()
    use = log.use("Bash", command="sleep 60")
    log.prompt("Wait").assistant(use).write(tmp_path)
    with (
        served(desk_of(tmp_path / "projects")) as address,
        listening(f"{address}/s/{log.session_id}/events?from=2") as stream,
    ):
        assert "no answer yet" in stream.next()[2]["turns"][0]["html"]
        log.result(use, "done waiting").write(tmp_path)
        told = stream.next()[2]["turns"][0]["html"]
    assert "no answer yet" not in told
    assert "done waiting" in told


def test_a_subagent_that_goes_on_is_told_in_its_caller_s_turn(tmp_path: Path) -> None:
    log = _log()
    use = log.agent_use("Explore", "Look around", "Look at everything")
    log.prompt("Send somebody").assistant(use)
    log.subagent(use, "Explore", "Look around", lambda child: child.assistant(child.text("Found the README")))
    log.write(tmp_path)
    agent = next(tmp_path.rglob("agent-*.jsonl"))
    whole = agent.read_bytes()
    agent.write_bytes(whole.splitlines(keepends=True)[0])
    with (
        served(desk_of(tmp_path / "projects")) as address,
        listening(f"{address}/s/{log.session_id}/events?from=1") as stream,
    ):
        assert "Found the README" not in stream.next()[2]["turns"][-1]["html"].split('class="agent"')[-1][:2000]
        agent.write_bytes(whole)
        news = stream.next()[2]
    assert [turn["number"] for turn in news["turns"]] == [2]


def _turns(log: LogBuilder, first: int, last: int) -> LogBuilder:
    for number in range(first, last + 1):
        create = {"subject": f"Task {number}", "description": "x"}
        log.prompt(f"Question {number}").call(
            "TaskCreate", create, f"Task #{number} created", {"task": {"id": str(number)}}
        )
        update = {"taskId": str(max(1, number - 6)), "status": "completed"}
        log.call("TaskUpdate", update, "Updated task", {"success": True, "taskId": update["taskId"]})
        log.ran(f"git commit -m {number}", f"[main 1a2b3c{number % 10}] Commit {number}\n 1 file changed")
        log.assistant(log.text(f"Answer {number}"))
    return log


def test_the_last_turns_read_by_themselves_are_those_of_the_whole(tmp_path: Path) -> None:
    log = LogBuilder()
    log.ran("git push", "To github.com:harbour/tides.git\n   1a2b3c4..2b3c4d5  main -> main")
    _turns(log, 1, 12).write(tmp_path)
    with served(desk_of(tmp_path / "projects")) as address:
        base = f"{address}/s/{log.session_id}"
        last = get(f"{base}/page-003.html").text
        assert all(f'id="turn-{number}"' in last for number in (11, 12))
        with listening(f"{base}/events?from=11&since=unknown") as stream:
            for turn in stream.next()[2]["turns"]:
                assert turn["html"] in last
            _turns(log, 13, 14).write(tmp_path)
            news = stream.next()[2]
        assert [turn["number"] for turn in news["turns"]] == [13, 14]
        page = get(f"{base}/page-003.html").text
        assert all(turn["html"] in page for turn in news["turns"])
        assert "Task 7" in news["turns"][0]["html"]


def test_a_session_rewound_to_before_what_is_followed_is_told_from_there(tmp_path: Path) -> None:
    log = LogBuilder()
    _turns(log, 1, 3)
    fork = log.last
    _turns(log, 4, 12).write(tmp_path)
    with served(desk_of(tmp_path / "projects")) as address:
        base = f"{address}/s/{log.session_id}"
        get(f"{base}/page-003.html")
        with listening(f"{base}/events?from=11&since=unknown") as stream:
            assert stream.next()[2]["last"] == 12
            log.rewind(fork)
            _turns(log, 13, 21).write(tmp_path)
            news = stream.next()[2]
            assert news["last"] == 12
            assert "Question 21" in news["turns"][-1]["html"]
            _turns(log, 22, 22).write(tmp_path)
            assert [turn["number"] for turn in stream.next()[2]["turns"]] == [13]


def test_only_what_came_is_read_of_a_long_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental_reader, "LONG", 0)
    log = _turns(LogBuilder(), 1, 40)
    path = log.write(tmp_path)
    context = desk_of(tmp_path / "projects")
    told = get_session(context, log.session_id)
    begun = incremental_reader.start_at_turn(told, context.options, 36)
    assert begun is not None
    growth, found = IncrementalReader(begun), _found(tmp_path)
    assert [turn.number for turn in growth.session(found).turns] == [36, 37, 38, 39, 40]
    data = bytearray(path.read_bytes())
    data[: begun.cursor.offset - 1] = b" " * (begun.cursor.offset - 1)
    path.write_bytes(data)
    assert [turn.number for turn in growth.session(found).turns] == [36, 37, 38, 39, 40]


def test_the_board_s_clock_is_where_the_settings_say(tmp_path: Path) -> None:
    log = _log()
    path = log.write(tmp_path)
    os.utime(path)
    with served(desk_of(tmp_path / "projects")) as address:
        assert "<time" in get(f"{address}/live").text
        settings_path().parent.mkdir(parents=True, exist_ok=True)
        settings_path().write_text('time_zone = "+05:45"\n', "utf-8")
        there = datetime.fromtimestamp(path.stat().st_mtime, timezone(timedelta(hours=5, minutes=45)))
        html = get(f"{address}/live").text
        assert "<time" not in html
        assert f">{there:%H:%M}</span>" in html
