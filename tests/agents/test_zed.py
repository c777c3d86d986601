"""What is Zed's own: packed documents, tokens by prompt and all together, threads of threads."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.agents.stories.zed import MESSAGES, THREAD, thread, write_thread
from unspool.agents.zed import Zed
from unspool.model import Notice, Session
from unspool.store.library import Library


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def only(root: Path) -> Session:
    (log,) = Library([root]).logs()
    return Library([root]).open(log)


def test_a_document_that_is_not_packed_is_read_as_well(home: Path) -> None:
    write_thread(home, THREAD, thread(), "json")
    session = only(home)
    assert (session.title, session.cwd, len(session.turns)) == ("Quay", "/home/ada/quay", 2)


def test_what_no_prompt_is_named_for_is_counted_too(home: Path) -> None:
    write_thread(home, THREAD, thread(request_token_usage={}))
    (listed,) = Library([home]).overviews()
    assert [(one.usage.input, one.usage.output, one.usage.cache_read) for one in listed.calls] == [(60, 20, 160)]


def test_a_thread_that_another_began_is_its_subagent(home: Path) -> None:
    write_thread(home, THREAD, thread())
    write_thread(home, "child", thread(), parent=THREAD)
    session = only(home)
    assert (session.id, [agent.id for agent in session.agents]) == (THREAD, ["child"])


def test_what_is_mentioned_is_no_prompt_and_compactions_are_told(home: Path) -> None:
    mention: dict[str, Any] = {"Mention": {"uri": {"File": {"abs_path": "/a"}}, "content": "all of it"}}
    first = {"User": {"id": "u1", "content": [mention, {"Text": "Mend "}, {"Text": "the quay"}]}}
    write_thread(home, THREAD, thread([first, *MESSAGES[1:], "Resume", {"Compaction": {"Summary": "So far"}}]))
    session = only(home)
    assert session.turns[0].prompt is not None
    assert session.turns[0].prompt.text == "Mend the quay"
    notices = [block for turn in session.turns for block in turn.blocks if isinstance(block, Notice)]
    assert {("attachment", "all of it"), ("compaction", "So far")} <= {(one.kind, one.text) for one in notices}
    assert "resumed" in [one.kind for one in notices]


def test_a_document_that_cannot_be_unpacked_is_told_and_keeps_none_of_the_others(home: Path) -> None:
    write_thread(home, THREAD, thread())
    write_thread(home, "broken", thread(), "json")
    with closing(sqlite3.connect(home / "threads" / "threads.db")) as db, db:
        db.execute("UPDATE threads SET data_type = 'zstd' WHERE id = 'broken'")
    assert {log.session_id for log in Library([home]).logs()} == {THREAD, "broken"}
    assert "broken" in Zed().problems(home)[0]


@pytest.mark.parametrize(
    ("system", "place"),
    [("linux", ".local/share/zed"), ("darwin", "Library/Application Support/Zed"), ("win32", "AppData/Local/Zed")],
)
def test_it_is_found_on_every_system(system: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", system)
    assert Zed().roots({}, tmp_path) == [tmp_path / place]
