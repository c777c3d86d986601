"""What is Cline's and Roo Code's own: marks in words, requests on the screen, tasks of tasks."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.stories.blocks import result, use
from tests.agents.stories.cline import DETAILS, MESSAGES, SHOWN, TASK, asked, typed, write, write_task
from unspool.agents.cline import Cline, RooCode
from unspool.model import Session, Text, ToolCall
from unspool.store.library import Library


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def only(root: Path) -> Session:
    (log,) = Library([root]).logs()
    return Library([root]).open(log)


def prompts(session: Session) -> list[str]:
    return [turn.prompt.text for turn in session.turns if turn.prompt is not None]


def blocks(session: Session, kind: type) -> list[Any]:
    return [block for turn in session.turns for block in turn.blocks if isinstance(block, kind)]


def said(words: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": words}]}


def test_calls_that_stand_in_words_are_calls(home: Path) -> None:
    diff = "<<<<<<< SEARCH\n:start_line:3\n-------\noff\n=======\non\n>>>>>>> REPLACE"
    told = [
        typed("Mend the quay"),
        said("First a look.\n<execute_command>\n<command>ls <dir></command>\n</execute_command>"),
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "[execute_command for 'ls'] Result:"},
                {"type": "text", "text": "quay.py"},
                DETAILS,
            ],
        },
        said(f"<apply_diff>\n<path>light.py</path>\n<diff>\n{diff}\n</diff>\n</apply_diff>"),
        {"role": "user", "content": "[apply_diff for 'light.py'] Result:\n\nThe user denied this operation."},
        said("<attempt_completion>\n<result>\nLit.\n</result>\n</attempt_completion>"),
    ]
    write_task(home / "tasks" / TASK, told, SHOWN)
    session = only(home)
    first, second = blocks(session, ToolCall)
    assert (first.input, first.end, first.result.text) == ({"command": "ls <dir>"}, "ok", "quay.py")
    assert (second.role, second.end) == ("edit", "refused")
    assert [one.text for one in blocks(session, Text)] == ["First a look.", "Lit."]
    assert session.cwd == "/home/ada/quay"


def test_feedback_on_a_result_is_a_prompt(home: Path) -> None:
    told = [
        typed("Mend the quay"),
        {"role": "assistant", "content": [use("c1", "attempt_completion", result="Done.")]},
        {"role": "user", "content": [result("c1", "The user said:\n<feedback>\nAnd the pier\n</feedback>")]},
    ]
    write_task(home / "tasks" / TASK, told, [])
    session = only(home)
    assert prompts(session) == ["Mend the quay", "And the pier"]
    assert [one.text for one in blocks(session, Text)] == ["Done."]


def test_a_request_without_an_answer_is_counted_too(home: Path) -> None:
    write_task(home / "tasks" / TASK, [typed("Mend the quay"), said("Yes.")], [asked(40, 10, 0, 0), asked(7, 3, 0, 0)])
    (listed,) = Library([home]).overviews()
    assert [(one.usage.input, one.usage.output) for one in listed.calls] == [(47, 13)]


def test_a_task_that_another_began_is_its_subagent(home: Path) -> None:
    write_task(home / "tasks" / "1", MESSAGES, SHOWN, id="1", workspace="/home/ada/quay")
    write_task(home / "tasks" / "2", MESSAGES[:2], [], id="2", parentTaskId="1", workspace="/home/ada/quay")
    session = only(home)
    assert (session.id, [agent.id for agent in session.agents]) == ("1", ["2"])


def test_each_finds_its_own_tasks(home: Path) -> None:
    user = home / "User" / "globalStorage"
    write_task(user / Cline.extension / "tasks" / "1", MESSAGES, SHOWN)
    write_task(user / RooCode.extension / "tasks" / "2", MESSAGES, SHOWN)
    assert [log.session_id for log in Cline().discover(user / Cline.extension)] == ["1"]
    assert [log.session_id for log in Cline().discover(user / RooCode.extension)] == []
    assert [log.session_id for log in RooCode().discover(user / RooCode.extension)] == ["2"]
    assert {(log.agent_id, log.session_id) for log in Library([home / "User"]).logs()} == {("cline", "1"), ("roo", "2")}


def test_a_session_of_clines_command_line_is_read(home: Path) -> None:
    folder = home / "sessions" / "abc123"
    folder.mkdir(parents=True)
    metrics = {"inputTokens": 40, "outputTokens": 10, "cacheReadTokens": 60, "cacheWriteTokens": 5, "cost": 0.1}
    answer = {
        "role": "assistant", "content": [{"type": "text", "text": "Done."}],
        "modelInfo": {"id": "claude-sonnet-4-5"}, "metrics": metrics,
    }  # fmt: skip
    told = {"messages": [{"role": "user", "content": "Mend the quay"}, answer]}
    (folder / "abc123.messages.json").write_text(json.dumps(told))
    (folder / "abc123.json").write_text(json.dumps({"cwd": "/home/ada/quay", "title": "Quay"}))
    session = only(home)
    (listed,) = Library([home]).overviews()
    assert (session.cwd, session.title, prompts(session)) == ("/home/ada/quay", "Quay", ["Mend the quay"])
    assert [(one.model, one.usage.input, one.usage.cache_write) for one in listed.calls] == [
        ("claude-sonnet-4-5", 40, 5)
    ]


def test_a_file_that_cannot_be_read_is_told_and_keeps_none_of_the_others(home: Path) -> None:
    path = write(home)
    path.write_text("[")
    write_task(home / "tasks" / "2", MESSAGES, SHOWN)
    assert {log.session_id for log in Library([home]).logs()} == {TASK, "2"}
    assert "api_conversation_history.json" in Cline().problems(home)[0]


def test_places_are_moved_by_variables_and_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert Path("/d") in Cline().roots({"CLINE_DATA_DIR": "/d"}, tmp_path)
    assert Path("/c/data") in Cline().roots({"CLINE_DIR": "/c"}, tmp_path)
    user = tmp_path / ".config" / "Code" / "User"
    user.mkdir(parents=True)
    (user / "settings.json").write_text('{ // mine\n "roo-cline.customStoragePath": "/elsewhere" }')
    assert RooCode().roots({}, tmp_path) == [user / "globalStorage" / RooCode.extension, Path("/elsewhere")]
