"""What is Goose's own: a ledger of requests, messages that only the model sees, and the files of its first versions."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.agents.stories.goose import MESSAGES, SESSION, write
from unspool.agents.goose import Goose
from unspool.store.library import Library


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "sessions"
    folder.mkdir()
    return folder


def prompts(root: Path, name: str) -> list[str]:
    return [turn.prompt.text for turn in Library([root]).open(name).turns if turn.prompt is not None]


def test_the_ledger_tells_what_each_request_used(home: Path) -> None:
    with closing(sqlite3.connect(write(home))) as db, db:
        db.execute(
            "CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY, session_id TEXT, model TEXT, input_tokens INTEGER, "
            "output_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, cost REAL, created_at TEXT)"
        )
        for sent, output, read, written in ((105, 10, 60, 5), (120, 10, 100, 0)):
            row = (SESSION, "claude-sonnet-4-5", sent, output, read, written, 0.1, "2026-04-13 07:45:30")
            db.execute("INSERT INTO usage_ledger VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    (listed,) = Library([home]).overviews()
    (call,) = listed.calls
    assert (call.model, call.usage.input, call.usage.output) == ("claude-sonnet-4-5", 60, 20)
    assert (call.usage.cache_read, call.usage.cache_write) == (160, 5)


def test_what_only_the_model_saw_is_no_prompt(home: Path) -> None:
    write(home, {3: {"userVisible": False, "agentVisible": True}})
    assert prompts(home, SESSION) == ["Mend the quay"]


def test_the_files_of_the_first_versions_are_read_unless_they_were_imported(home: Path) -> None:
    head = {"working_dir": "/home/ada/quay", "description": "Quay", "message_count": 7, "total_tokens": 80,
            "accumulated_input_tokens": 60, "accumulated_output_tokens": 20}  # fmt: skip
    lines = [
        {"role": role, "created": 1776066329 + n, "content": content} for n, (role, content) in enumerate(MESSAGES)
    ]
    text = "".join(json.dumps(line) + "\n" for line in [head, *lines])
    for name in ("20250101_1", SESSION):
        (home / f"{name}.jsonl").write_text(text)
    assert prompts(home, SESSION) == ["Mend the quay", "And the lighthouse"]
    write(home)
    assert [(log.agent_id, log.session_id) for log in Library([home]).logs()] == [
        ("goose", "20250101_1"),
        ("goose", SESSION),
    ]
    assert prompts(home, "20250101_1") == ["Mend the quay", "And the lighthouse"]
    old = next(one for one in Library([home]).overviews() if one.id == "20250101_1")
    assert (old.cwd, old.title, [one.usage.input for one in old.calls]) == ("/home/ada/quay", "Quay", [60])


def test_variables_move_its_folder(tmp_path: Path) -> None:
    assert Goose().roots({"GOOSE_PATH_ROOT": "/g"}, tmp_path) == [Path("/g/data/sessions")]
    assert Goose().roots({"XDG_DATA_HOME": "/x"}, tmp_path) == [Path("/x/goose/sessions")]
    windows = tmp_path / "AppData" / "Roaming" / "Block" / "goose" / "data" / "sessions"
    windows.mkdir(parents=True)
    assert windows in Goose().roots({}, tmp_path)
