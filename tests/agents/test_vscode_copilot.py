"""Chats of VS Code: what their logs of changes come to, what they show of calls, and what their requests used."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.stories.copilot import EVENTS
from tests.agents.stories.cursor import write_rows
from tests.agents.stories.vscode_copilot import CHANGES, FIRST, SECOND, SESSION, request, shown, write, write_chat
from unspool.agents.vscode_copilot import VSCodeCopilot
from unspool.agents.vscode_copilot.replay import Replay
from unspool.model import Notice, Session, Text, ToolCall
from unspool.store.library import Library

NOWHERE: list[list[Any]] = [[], ["a", "b", 10**12], ["a", "b", "x", 1]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "User"


def only(root: Path) -> Session:
    (log,) = Library([root]).logs()
    return Library([root]).open(log)


def prompts(session: Session) -> list[str]:
    return [turn.prompt.text for turn in session.turns if turn.prompt is not None]


def blocks(session: Session, kind: type) -> list[Any]:
    return [block for turn in session.turns for block in turn.blocks if isinstance(block, kind)]


def replayed(*changes: dict[str, Any]) -> Replay:
    replay = Replay()
    for change in changes:
        replay.apply(change)
    return replay


def test_a_push_with_a_length_cuts_the_list_first() -> None:
    start = {"kind": 0, "v": {"requests": [{"requestId": "a"}, {"requestId": "b"}]}}
    replay = replayed(start, {"kind": 2, "k": ["requests"], "v": [{"requestId": "c"}], "i": 1})
    assert replay.live == [{"requestId": "a"}, {"requestId": "c"}]
    assert replay.gone == [{"requestId": "b"}]


def test_a_request_that_is_set_anew_or_deleted_is_gone() -> None:
    start = {"kind": 0, "v": {"requests": [{"requestId": "a"}, {"requestId": "b"}]}}
    other = {"kind": 1, "k": ["requests", 0], "v": {"requestId": "c"}}
    replay = replayed(start, other, {"kind": 3, "k": ["requests", 1]}, {"kind": 1, "k": ["requests", 0, "x"], "v": 1})
    assert [one for one in replay.live if one] == [{"requestId": "c", "x": 1}]
    assert replay.gone == [{"requestId": "a"}, {"requestId": "b"}]


def test_values_are_set_and_deleted_where_their_path_leads() -> None:
    start = {"kind": 0, "v": {"a": {"b": [1, 2]}, "requests": []}}
    replay = replayed(
        start,
        {"kind": 1, "k": ["a", "b", 0], "v": 7},
        {"kind": 2, "k": ["a", "b"], "v": [3]},
        {"kind": 3, "k": ["a", "gone"]},
        {"kind": 1, "k": ["new", "x"], "v": 1},
        {"kind": 3, "k": ["new", "x"]},
        *(
            {"kind": kind, "k": path, "v": 9}
            for kind in (1, 2, 3, 4)
            for path in ([], ["a", "b", 10**12], ["a", "b", "x", 1])
        ),
    )
    assert replay.head == {"a": {"b": [7, 2, 3]}, "new": {}}


def test_a_request_that_was_cut_away_is_an_abandoned_branch(home: Path) -> None:
    other = request(3, "And the pier", [{"value": "Built."}])
    write_chat(home, [*CHANGES, {"kind": 2, "k": ["requests"], "v": [other], "i": 1}])
    session = only(home)
    assert prompts(session) == ["Mend the quay", "And the pier"]
    assert [turn.prompt and turn.prompt.text for one in session.branches for turn in one.turns] == [
        "And the lighthouse"
    ]


def test_a_restored_checkpoint_is_told(home: Path) -> None:
    write_chat(home, [*CHANGES, {"kind": 1, "k": ["requests", 1, "shouldBeRemovedOnSend"], "v": {"requestId": "r"}}])
    assert "“And the lighthouse”" in next(one.text for one in blocks(only(home), Notice) if one.kind == "rewind")


def test_a_document_and_its_log_are_one_chat(home: Path) -> None:
    write_chat(home)
    old = {"version": 3, "sessionId": SESSION, "responderUsername": "x", "requests": [FIRST]}
    write_chat(home, [old], f"{SESSION}.json")
    assert prompts(only(home)) == ["Mend the quay", "And the lighthouse"]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_chat_named_by_itself_is_read(home: Path, indent: int | None) -> None:
    home.mkdir()
    chat = {"version": 3, "sessionId": SESSION, "responderUsername": "x", "requests": [FIRST, SECOND]}
    path = home / "chat.json"
    path.write_text(json.dumps(chat, indent=indent))
    assert prompts(Library().open(str(path))) == ["Mend the quay", "And the lighthouse"]


def test_a_cancelled_turn_shows_calls_by_what_the_chat_shows(home: Path) -> None:
    terminal = {"kind": "terminal", "commandLine": {"original": "make"}, "terminalCommandState": {"exitCode": 2}}
    details = {"input": '{"query": "quay"}', "output": [{"value": "one"}], "isError": False}
    stopped = request(
        1,
        "Mend the quay",
        [
            shown("a", "run_in_terminal", toolSpecificData=terminal, pastTenseMessage={"value": "Ran make"}),
            shown("b", "mcp_find", resultDetails=details),
            shown("c", "run_in_terminal", isConfirmed={"type": 0}),
        ],
    )
    stopped |= {"isCanceled": True, "result": {"errorDetails": {"message": "Canceled"}}}
    write_chat(home, [{"kind": 0, "v": {"sessionId": SESSION, "requests": [stopped], "responderUsername": "x"}}])
    session = only(home)
    first, second, third = blocks(session, ToolCall)
    assert (first.input, first.end, first.result.text) == ({"command": "make"}, "failed", "Ran make")
    assert (second.input, second.result.text) == ({"query": "quay"}, "one")
    assert third.end == "refused"
    assert "interruption" in [one.kind for one in blocks(session, Notice)]


def test_references_are_part_of_the_words(home: Path) -> None:
    link = {"kind": "inlineReference", "inlineReference": {"fsPath": "/home/ada/quay/light.py"}}
    answer = request(1, "Which?", [{"value": "The file "}, link, {"value": " is."}, {"value": "\n````\n"}])
    write_chat(home, [{"kind": 0, "v": {"sessionId": SESSION, "requests": [answer], "responderUsername": "x"}}])
    assert [one.text for one in blocks(only(home), Text)] == ["The file `light.py` is."]


def test_without_traces_a_turn_has_what_its_last_request_says(home: Path) -> None:
    told = request(1, "Mend the quay", [{"value": "Done."}])
    told["result"]["usage"] = {"promptTokens": 970, "completionTokens": 33}
    write_chat(home, [{"kind": 0, "v": {"sessionId": SESSION, "requests": [told], "responderUsername": "x"}}])
    (listed,) = Library([home]).overviews()
    assert [(one.model, one.usage.input, one.usage.output) for one in listed.calls] == [("gpt-5", 970, 33)]


def test_the_editors_list_gives_titles(home: Path) -> None:
    path = write(home)
    index = {"chat.ChatSessionStore.index": {"version": 1, "entries": {SESSION: {"title": "Quay and light"}}}}
    write_rows(path.parent.parent / "state.vscdb", index, "ItemTable")
    assert only(home).title == "Quay and light"


def test_a_transcript_is_read_where_no_chat_is_left(home: Path) -> None:
    path = home / "workspaceStorage" / "0123abcd" / "GitHub.copilot-chat" / "transcripts" / "5fcddc54.jsonl"
    path.parent.mkdir(parents=True)
    lines = [{"type": kind, "data": data, "id": f"e{number}"} for number, (kind, data) in enumerate(EVENTS)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (path.parents[2] / "workspace.json").write_text('{"folder": "file:///home/ada/quay"}')
    session = only(home)
    assert (session.id, session.cwd) == ("5fcddc54", "/home/ada/quay")
    assert prompts(session) == ["Mend the quay", "And the lighthouse"]


def test_it_is_looked_for_in_every_editor_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("Code - Insiders", "VSCodium", "Cursor"):
        (tmp_path / ".config" / name / "User").mkdir(parents=True)
    roots = [root.parent.name for root in VSCodeCopilot().roots({}, tmp_path)]
    assert roots == ["Code", "Code - Insiders", "VSCodium"]
