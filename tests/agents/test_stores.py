"""Agents without a log a session: each session is written out as one, which is only ever added to."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.running import run
from unspool.agents import AGENTS, Detail, FoundLog, by_id
from unspool.agents.records import AgentFile
from unspool.agents.stores import (
    StoreAgent,
    StoredRecord,
    StoredSession,
    as_json,
    columns,
    database_files,
    database_snapshot,
    file_states,
    row_as_json,
)
from unspool.agents.values import mapping, text
from unspool.agents.whole_logs import WholeLogParser, last_states
from unspool.model import Entry, Event, Part, Prompt, Text
from unspool.store.library import Library


class Shelf(StoreAgent):
    """A made-up agent: a database of sayings by talk."""

    id = "shelf"
    name = "Shelf"

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return [home / ".shelf"]

    def fingerprint(self, root: Path) -> str:
        return file_states(database_files(root / "shelf.db"))

    def stored(
        self, root: Path, problems: list[str]
    ) -> Iterator[tuple[StoredSession, Callable[[], Iterator[StoredRecord]]]]:
        try:
            with database_snapshot(root / "shelf.db") as db:
                talks = (
                    "SELECT talk, max(rowid) AS last, count(*) AS many, max(parent) AS parent FROM said GROUP BY talk"
                )
                for row in db.execute(talks).fetchall():
                    said = db.execute("SELECT rowid AS id, * FROM said WHERE talk = ?", (row["talk"],)).fetchall()
                    records = [StoredRecord("said", str(one["id"]), row_as_json(one)) for one in said]
                    state = str([tuple(one) for one in said])
                    yield StoredSession(row["talk"], state, 1e9 + row["last"], row["parent"] or ""), records.__iter__
        except (sqlite3.Error, OSError) as error:
            problems.append(f"Cannot read {root / 'shelf.db'}: {error}.")

    def parser(self, found: FoundLog | None, detail: Detail) -> WholeLogParser:
        return _Parser()


class _Parser(WholeLogParser):
    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        for record in last_states(entries):
            place, data = record.entry.place, mapping(record.data)
            words, event = text(data.get("words")), Event("notice", record.entry.place, record.id, link=True, turn=True)
            if record.kind != "said" or record.removed:
                continue
            if data.get("who") == "you":
                event.prompt = Prompt(place, "text", words, event.id)
            else:
                event.part, event.blocks = Part(event.id, "", "m", None), (Text(place, words, event.id),)
            yield event


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    AGENTS.append(Shelf())
    root = tmp_path / "shelf"
    root.mkdir()
    with closing(sqlite3.connect(root / "shelf.db")) as db, db:
        db.execute("CREATE TABLE said (talk TEXT, parent TEXT, who TEXT, words TEXT)")
    say(root, "t1", "you", "Build a harbour")
    say(root, "t1", "it", "Of granite.")
    yield root
    AGENTS.pop()


def say(root: Path, talk: str, who: str, words: str, parent: str = "") -> None:
    with closing(sqlite3.connect(root / "shelf.db")) as db, db:
        db.execute("INSERT INTO said VALUES (?, ?, ?, ?)", (talk, parent, who, words))


def change(root: Path, statement: str) -> None:
    with closing(sqlite3.connect(root / "shelf.db")) as db, db:
        db.execute(statement)


def test_a_session_of_a_database_is_listed_and_opened(shelf: Path) -> None:
    (one,) = Library([shelf]).overviews()
    assert (one.id, one.agent, one.title, one.turns) == ("t1", "shelf", "Build a harbour", 1)
    session = Library([shelf]).open("t1")
    assert [block.text for block in session.turns[0].blocks if isinstance(block, Text)] == ["Of granite."]
    assert (session.lines.total, session.lines.problems) == (3, 0)


def test_what_changed_is_added_and_what_is_gone_is_said_to_be_gone(shelf: Path) -> None:
    (log,) = Library([shelf]).logs()
    before = Path(log.path).read_bytes()
    change(shelf, "UPDATE said SET words = 'Of basalt.' WHERE who = 'it'")
    say(shelf, "t1", "you", "And a lighthouse")
    assert [turn.prompt and turn.prompt.text for turn in Library([shelf]).open("t1").turns] == [
        "Build a harbour",
        "And a lighthouse",
    ]
    change(shelf, "DELETE FROM said WHERE words = 'And a lighthouse'")
    session = Library([shelf]).open("t1")
    after = Path(log.path).read_bytes()
    assert after.startswith(before)
    assert [json.loads(line).get("removed") for line in after.splitlines()] == [None] * 5 + [True]
    assert [block.text for turn in session.turns for block in turn.blocks if isinstance(block, Text)] == ["Of basalt."]
    assert session.lines.total == 6


def test_nothing_is_written_where_nothing_changed(shelf: Path) -> None:
    (log,) = Library([shelf]).logs()
    before = Path(log.path).stat()
    say(shelf, "t2", "you", "Another")
    assert {one.session_id for one in Library([shelf]).logs()} == {"t1", "t2"}
    assert Path(log.path).stat() == before


def test_a_session_that_the_agent_deleted_is_still_in_the_archive(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(shelf.parent / "kept"))
    assert run("sync", "-s", str(shelf), "-q").code == 0
    change(shelf, "DELETE FROM said WHERE talk = 't1'")
    say(shelf, "t2", "you", "Another")
    assert [log.session_id for log in Library([shelf]).logs()] == ["t2"]
    assert run("sync", "-s", str(shelf), "-q").code == 0
    assert "Of granite." in run("show", "t1").out
    (found,) = json.loads(run("search", "granite", "--json").out)["sessions"]
    assert found["session"] == "t1"
    assert run("restore", "t1", "--to", str(shelf.parent / "out")).code == 0


def test_subagents_are_below_their_session(shelf: Path) -> None:
    say(shelf, "t1-a", "you", "Dig", parent="t1")
    (log,) = Library([shelf]).logs()
    assert [agent.id for agent in log.agents] == ["t1-a"]


@pytest.mark.parametrize("name", ["../../x", "", ".hidden", "a/b", "x" * 300, "a\nb"])
def test_an_id_that_is_no_name_writes_nothing_elsewhere(shelf: Path, tmp_path: Path, name: str) -> None:
    say(shelf, name, "you", "Hostile")
    before = {path for path in tmp_path.rglob("*") if "cache" not in path.parts}
    assert [log.session_id for log in Library([shelf]).logs()] == ["t1"]
    assert {path for path in tmp_path.rglob("*") if "cache" not in path.parts} == before
    assert "no name" in Shelf().problems(shelf)[0]


def test_a_damaged_database_takes_nothing_away(shelf: Path) -> None:
    (log,) = Library([shelf]).logs()
    (shelf / "shelf.db").write_bytes(b"no database at all" * 100)
    assert [one.path for one in Library([shelf]).logs()] == [log.path]
    assert "shelf.db" in Shelf().problems(shelf)[0]


def test_a_log_whose_writer_was_ended_on_the_way_is_mended(shelf: Path) -> None:
    (log,) = Library([shelf]).logs()
    whole = Path(log.path).read_bytes()
    Path(log.path).write_bytes(whole + b'{"kind":"sa')
    say(shelf, "t1", "you", "On")
    Library([shelf]).logs()
    after = Path(log.path).read_bytes()
    assert after.startswith(whole)
    assert all(json.loads(line) for line in after.splitlines())


def test_logs_are_private(shelf: Path) -> None:
    (log,) = Library([shelf]).logs()
    assert Path(log.path).stat().st_mode & 0o077 == 0


def test_a_database_that_is_being_written_is_read_without_a_lock(shelf: Path) -> None:
    with closing(sqlite3.connect(shelf / "shelf.db", timeout=0)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO said VALUES ('t3', '', 'you', 'Not yet')")
        with database_snapshot(shelf / "shelf.db") as copy:
            assert columns(copy, "said") == {"talk", "parent", "who", "words"}
            assert copy.execute("SELECT count(*) FROM said").fetchone()[0] == 2
            db.execute("COMMIT")
        with database_snapshot(shelf / "shelf.db") as copy:
            assert copy.execute("SELECT count(*) FROM said").fetchone()[0] == 3


@pytest.mark.parametrize(
    ("value", "made"),
    [
        ('{"a": [1,\n2]}', b'{"a":[1,2]}'),
        ("no JSON", b'"no JSON"'),
        (b"\xff\x00", b'{"base64":"/wA="}'),
        (7, b"7"),
        (None, b"null"),
        ("[" * 100_000, None),
    ],
)
def test_any_value_of_a_database_is_json_on_one_line(value: object, made: bytes | None) -> None:
    found = as_json(value)
    assert b"\n" not in found
    assert made is None or found == made


def test_kept_files_are_the_logs(shelf: Path) -> None:
    found = list(Shelf().kept_files(shelf))
    assert [type(one) for one in found] == [AgentFile]
    assert Path(found[0].path).is_relative_to(Shelf().log_root(shelf))


def test_subagents_are_kept_with_their_session(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(shelf.parent / "kept"))
    say(shelf, "t1-a", "you", "Dig", parent="t1")
    assert run("sync", "-s", str(shelf), "-q").code == 0
    change(shelf, "DELETE FROM said")
    say(shelf, "t2", "you", "Another")
    assert [agent.id for agent in Library([shelf]).logs()[0].agents] == []
    restored = shelf.parent / "out"
    assert run("restore", "t1", "--to", str(restored)).code == 0
    assert [path.name for path in restored.rglob("*.jsonl") if path.parent.name == "agents"] == ["t1-a.jsonl"]


def test_doctor_says_what_cannot_be_read(shelf: Path) -> None:
    (shelf / "shelf.db").write_bytes(b"no database at all" * 100)
    Library([shelf]).logs()
    assert "Cannot read" in run("doctor", "-s", str(shelf)).out


@pytest.mark.parametrize(
    ("agent", "place"),
    [
        ("opencode", "opencode.db"),
        ("cursor", "globalStorage/state.vscdb"),
        ("cursor", "chats/0f/5b1b0a52/store.db"),
        ("vscode-copilot", "globalStorage/github.copilot-chat/agent-traces.db"),
        ("goose", "sessions.db"),
        ("zed", "threads/threads.db"),
    ],
)
@pytest.mark.parametrize("statement", ["", "CREATE TABLE {}(x)", "junk"])
def test_a_database_of_another_shape_does_no_harm(
    agent: str, place: str, statement: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "store" / place
    path.parent.mkdir(parents=True)
    if statement == "junk":
        path.write_bytes(b"no database at all")
    else:
        with closing(sqlite3.connect(path)) as db, db:
            for table in ("session", "sessions", "threads", "messages", "spans", "meta", "blobs", "cursorDiskKV"):
                db.execute(statement.format(table))
    for log in by_id(agent).discover(tmp_path / "store"):
        Library([tmp_path / "store"]).open(log)


def test_a_database_too_large_to_be_copied_is_read_where_it_is(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unspool.agents.stores._LARGEST_COPY", 10)
    monkeypatch.setattr("unspool.agents.stores.scratch_folder", None)
    assert [log.session_id for log in Library([shelf]).logs()] == ["t1"]
    with database_snapshot(shelf / "shelf.db") as db, pytest.raises(sqlite3.OperationalError):
        db.execute("DELETE FROM said")


def test_a_log_that_was_damaged_in_the_cache_is_written_anew_from_there_on(shelf: Path) -> None:
    (log,) = Library([shelf]).logs()
    whole = Path(log.path).read_bytes().splitlines(keepends=True)
    Path(log.path).write_bytes(whole[0] + b"\xff no JSON\n" + whole[2])
    say(shelf, "t1", "you", "On")
    Library([shelf]).logs()
    assert [json.loads(line)["kind"] for line in Path(log.path).read_bytes().splitlines()] == ["store"] + ["said"] * 3


def test_a_cache_that_may_not_be_written_still_gives_what_is_there(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (log,) = Library([shelf]).logs()
    say(shelf, "t1", "you", "On")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("unspool.agents.stores._bring_up_to_date", full)
    assert [one.path for one in Library([shelf]).logs()] == [log.path]
