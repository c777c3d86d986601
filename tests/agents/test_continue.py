"""What is Continue's own: calls with their states, and a list of sessions that alone knows times."""

import json
from pathlib import Path
from typing import Any

from tests.agents.stories.continue_ import SESSION, item, made, state, write
from unspool.agents.continue_ import Continue
from unspool.model import Notice, Session, ToolCall
from unspool.store.library import Library


def told(home: Path, *history: dict[str, Any], folder: str = "/home/ada/quay") -> Session:
    path = home / "sessions" / f"{SESSION}.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"sessionId": SESSION, "workspaceDirectory": folder, "history": history}))
    (log,) = Library([home]).logs()
    return Library([home]).open(log)


def test_an_answer_that_stands_twice_is_one(tmp_path: Path) -> None:
    call = item("assistant", "", calls=[made("c1", "Bash", {})], toolCallStates=[state("c1", {}, "quay.py")])
    result = {"message": {"role": "tool", "content": "quay.py", "toolCallId": "c1"}}
    session = told(tmp_path, item("user", "Look"), call, result)
    (found,) = [block for turn in session.turns for block in turn.blocks if isinstance(block, ToolCall)]
    assert (found.end, found.earlier) == ("ok", ())


def test_a_call_that_was_refused_never_ran(tmp_path: Path) -> None:
    call = item("assistant", "", calls=[made("c1", "Bash", {})], toolCallStates=[state("c1", {}, "", "canceled")])
    session = told(tmp_path, item("user", "Look"), call)
    (found,) = [block for turn in session.turns for block in turn.blocks if isinstance(block, ToolCall)]
    assert found.end == "refused"


def test_what_was_attached_is_no_prompt_and_addresses_are_folders(tmp_path: Path) -> None:
    asked = item("user", "Look") | {"contextItems": [{"name": "a.py", "content": "all of it"}]}
    session = told(tmp_path, asked, folder="file:///home/ada/the%20quay")
    assert session.cwd == "/home/ada/the quay"
    assert [turn.prompt and turn.prompt.text for turn in session.turns] == ["Look"]
    assert [one.text for one in session.turns[0].blocks if isinstance(one, Notice)] == ["all of it"]


def test_the_list_of_sessions_is_no_session_and_tells_when_each_began(tmp_path: Path) -> None:
    path = write(tmp_path)
    listed = [{"sessionId": SESSION, "title": "x", "dateCreated": "1759845046680", "workspaceDirectory": "/home/ada"}]
    path.with_name("sessions.json").write_text(json.dumps(listed))
    (one,) = Library([tmp_path]).overviews()
    assert one.started is not None
    assert one.started.isoformat().startswith("2025-10-07T13:50")


def test_a_variable_moves_its_folder(tmp_path: Path) -> None:
    assert Continue().roots({"CONTINUE_GLOBAL_DIR": "/c"}, tmp_path) == [Path("/c")]
