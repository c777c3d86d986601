"""What is Aider's own: sessions of one file, and meaning that only the form of lines tells."""

import json
from pathlib import Path

import pytest

from tests.agents.stories.aider import HISTORY, write
from unspool.agents.aider import Aider
from unspool.model import Notice, Session, Text, Thinking, ToolCall
from unspool.store.library import Library

NAME = ".aider.chat.history.md"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "quay"
    folder.mkdir()
    return folder


def only(root: Path) -> Session:
    (log,) = Library([root]).logs()
    return Library([root]).open(log)


def test_every_start_is_a_session_and_none_of_the_text_is_lost(home: Path) -> None:
    later = "\n# aider chat started at 2026-04-26 08:00:00\n\n#### Hello\n\nHi.\n"
    (home / NAME).write_text("trimmed\n" + HISTORY + later + later)
    logs = {log.session_id: log for log in Library([home]).logs()}
    assert sorted(name.split("-")[0] for name in logs) == ["20260425214409", *["20260426080000"] * 2, "before"]
    path = next(log.path for name, log in logs.items() if name.startswith("20260425"))
    records = [json.loads(line)["data"] for line in Path(path).read_text().splitlines()]
    assert "".join(one for one in records if isinstance(one, str)) == HISTORY.split("21:44:09")[1] + "\n"


def test_a_history_that_grows_is_added_to(home: Path) -> None:
    path = home / NAME
    path.write_text(HISTORY)
    (log,) = Library([home]).logs()
    before = Path(log.path).read_bytes()
    path.write_text(HISTORY + "\n#### And the pier\n\nBuilt.\n")
    (log,) = Library([home]).logs()
    assert Path(log.path).read_bytes().startswith(before)
    assert [turn.prompt and turn.prompt.text for turn in Library([home]).open(log).turns][-1] == "And the pier"


def test_a_whole_file_that_an_answer_lists_is_written(home: Path) -> None:
    (home / NAME).write_text(
        "# aider chat started at 2026-04-25 21:44:09\n\n#### Create it\n####\n#### now\n\n"
        "hello.txt\n```\nhello\n```\n\n> Applied edit to hello.txt\n"
    )
    session = only(home)
    assert [turn.prompt and turn.prompt.text for turn in session.turns] == ["Create it\n\nnow"]
    (call,) = [block for block in session.turns[0].blocks if isinstance(block, ToolCall)]
    assert (call.role, call.input) == ("write", {"file_path": "hello.txt", "content": "hello\n"})


def test_thoughts_errors_and_commands_are_told_apart(home: Path) -> None:
    (home / NAME).write_text(
        "# aider chat started at 2026-04-25 21:44:09\n\n#### /run make\n#### Why?\n> litellm.BadRequestError: no\n\n"
        "#### /add a.py\n\n<think>\nHm\n</think>\n\nBecause.\n"
    )
    session = only(home)
    assert [turn.prompt and turn.prompt.kind for turn in session.turns] == ["bash", "command"]
    blocks = [block for turn in session.turns for block in turn.blocks]
    assert "api-error" in [block.kind for block in blocks if isinstance(block, Notice)]
    assert [block.text for block in blocks if isinstance(block, Thinking)] == ["Hm"]
    assert [block.text for block in blocks if isinstance(block, Text)] == ["Because."]


def test_it_is_looked_for_where_one_works_and_nowhere_else(home: Path) -> None:
    below = home / "src"
    below.mkdir()
    assert Aider().roots({"PWD": str(below)}, home.parent) == [home.parent / ".aider"]
    path = write(home.parent)
    assert Aider().roots({"PWD": str(below)}, home.parent) == [home, home.parent / ".aider"]
    assert Aider().roots({"AIDER_CHAT_HISTORY_FILE": str(path)}, home.parent) == [home, home.parent / ".aider"]
    assert Aider().watched_paths(home) == [path]
