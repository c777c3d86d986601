"""Rows of a session are written in place of what was known of it, and nothing is left over."""

from pathlib import Path

import pytest

from tests.store.sync.dumped import dumped
from unspool.model import LogFile, Overview, Titles, Todo
from unspool.store.index.database import Index
from unspool.store.index.requests import LogRows, SessionRows, TouchRow, TurnRow
from unspool.store.index.schema import KINDS
from unspool.store.index.write import DIGEST, IndexWriter, RowSource

PROMPT, ANSWER = KINDS.index("prompt"), KINDS.index("answer")


def log(*turns: str, path: str = "/p/a.jsonl", size: int = 0, agent: str = "") -> LogRows:
    """A log of turns, each with its prompt and an answer to it."""
    rows = [TurnRow(number, 0, number * 1000, number * 10, "opus") for number in range(1, len(turns) + 1)]
    docs = [
        (at, kind, at * 10 + kind, "", False, text)
        for at, prompt in enumerate(turns)
        for kind, text in ((PROMPT, prompt), (ANSWER, f"answer to {prompt}"))
    ]
    touches = [TouchRow(at, f"/f/{prompt}", 1, None, 0) for at, prompt in enumerate(turns)]
    commits: list[tuple[int, str, str, str, float | None]] = [
        (at, "abc", "main", prompt, None) for at, prompt in enumerate(turns)
    ]
    return LogRows(
        path, agent, size or len(turns), rows, docs, touches, commits, [], [(0, "Run", (len(turns), 0, 0, 0, 0))]
    )


def rows(*logs: LogRows, session: str = "a") -> SessionRows:
    overview = Overview(session, "agent", "interactive", LogFile(f"/p/{session}.jsonl", 0), Titles())
    return SessionRows(overview, b"", list(logs), [], (Todo("sweep", "pending"),), [])


def source(*logs: LogRows, session: str = "a", generation: int = 1, rest: bytes = b"") -> RowSource:
    state = bytes([generation, sum(log.size for log in logs)]).ljust(DIGEST, b"\0") + rest
    paths = {log.path: log.path.removeprefix("/") for log in logs}
    return RowSource(1, f"p/{session}.jsonl", state, dict.fromkeys(paths, generation), paths)


def put(index: Index, *logs: LogRows, session: str = "a", generation: int = 1, rest: bytes = b"") -> None:
    with IndexWriter(index.db) as writer:
        writer.put(rows(*logs, session=session), source(*logs, session=session, generation=generation, rest=rest))


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index.open(tmp_path)


def turns(index: Index) -> dict[int, int]:
    """The ids of turns, by number."""
    return dict(index.db.execute("SELECT number, id FROM turn"))


def words(index: Index, word: str) -> int:
    count: int = index.db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (word,)).get
    return count


def test_of_a_log_that_grew_the_last_turn_and_what_follows_are_written_anew(index: Index) -> None:
    put(index, log("one", "two"))
    before = turns(index)
    put(index, log("one", "two more", "three"))
    after = turns(index)
    assert after[1] == before[1]
    assert (words(index, "more"), words(index, "two"), words(index, "three")) == (2, 2, 2)
    dumped(index.db)


def test_of_a_log_that_did_not_grow_no_turn_is_written(index: Index) -> None:
    put(index, log("one", "two"))
    before = turns(index)
    put(index, log("one", "two"))
    assert turns(index) == before
    dumped(index.db)


def test_another_generation_is_written_whole(index: Index) -> None:
    put(index, log("one", "two", "three"))
    put(index, log("four", size=9), generation=2)
    assert (words(index, "one"), words(index, "four"), len(turns(index))) == (0, 2, 1)
    dumped(index.db)


def test_where_files_beside_the_logs_changed_all_is_written(index: Index) -> None:
    put(index, log("one", "two"))
    put(index, log("one spilled", "two"), rest=b"other")
    assert words(index, "spilled") == 2
    dumped(index.db)


def test_a_subagents_log_that_is_gone_is_taken_out(index: Index) -> None:
    agent = log("errand", path="/p/agent.jsonl", agent="x")
    put(index, log("one"), agent)
    assert words(index, "errand") == 2
    put(index, log("one"))
    assert (words(index, "errand"), words(index, "one")) == (0, 2)
    dumped(index.db)


def test_a_text_that_a_subagents_log_no_longer_needs_is_taken_out(index: Index) -> None:
    agent = log("errand", path="/p/agent.jsonl", agent="x")
    put(index, log("one"), agent)
    put(index, log("one", "errand"), agent._replace(docs=agent.docs[1:]))
    assert words(index, "errand") == 3
    dumped(index.db)


def test_a_session_that_is_dropped_leaves_nothing(index: Index) -> None:
    put(index, log("one", "two"), log("errand", path="/p/agent.jsonl", agent="x"))
    put(index, log("other", path="/p/b.jsonl"), session="b")
    with IndexWriter(index.db) as writer:
        writer.drop(index.db.execute("SELECT id FROM session WHERE key = 'a'").get)
    assert [row[2] for row in dumped(index.db)["session"]] == ["b"]
    assert (words(index, "one"), words(index, "other")) == (0, 2)


def test_what_was_put_before_an_error_is_taken_back(index: Index) -> None:
    put(index, log("one"))
    bad = log("one", "two")._replace(touches=[TouchRow(99, "/f", 1, None, 0)])
    with pytest.raises(IndexError):
        put(index, bad)
    assert (words(index, "one"), words(index, "two"), index.db.in_transaction) == (2, 0, False)
    dumped(index.db)


def test_names_that_differ_in_halves_of_characters_alone_are_one(index: Index) -> None:
    for name in ("\ud800", "\ud801", "?"):
        put(index, log("one")._replace(tally=[(0, name, (1, 0, 0, 0, 0))]), session=f"s{ord(name)}")
    told = index.db.execute("SELECT count(*), count(DISTINCT tool) FROM tally").fetchone()
    assert told == (3, 1)
