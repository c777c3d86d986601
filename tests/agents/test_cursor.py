"""Three stores of Cursor, which overlap only partly: its editor's, its command line's, and transcripts of both."""

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.agents.stories.cursor import BUBBLES, SESSION, composer, write_rows
from unspool.agents.cursor import CursorAgent
from unspool.model import Notice, Session, Text, Thinking, ToolCall, Unknown
from unspool.store.library import Library

OTHER = "5b1b0a52-0000-4000-8000-000000000004"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def only(root: Path) -> Session:
    (log,) = Library([root]).logs()
    return Library([root]).open(log)


def prompts(session: Session) -> list[str]:
    return [turn.prompt.text for turn in session.turns if turn.prompt is not None]


def blocks(session: Session, kind: type) -> list[Any]:
    return [block for turn in session.turns for block in turn.blocks if isinstance(block, kind)]


def write_chat(path: Path, messages: list[dict[str, Any]], left: list[dict[str, Any]], *, nested: bool = False) -> None:
    """A chat of the command line: blobs by their hash, and an index that names those of `messages` in order."""
    path.parent.mkdir(parents=True)
    blobs = {hashlib.sha256(data).digest(): data for one in [*left, *messages] if (data := json.dumps(one).encode())}
    index = b"".join(b"\x0a\x20" + hashlib.sha256(json.dumps(one).encode()).digest() for one in messages)
    if nested:
        blobs[hashlib.sha256(index).digest()] = index
        index = b"\x0a\x20" + hashlib.sha256(index).digest() + b"\x12\x05title"
    blobs[hashlib.sha256(index).digest()] = index
    head = {"agentId": path.parent.name, "latestRootBlobId": hashlib.sha256(index).hexdigest(), "name": "Quay"}
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
        db.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
        db.execute("INSERT INTO meta VALUES ('0', ?)", (json.dumps(head).encode().hex(),))
        for name, data in reversed(blobs.items()):  # their order in the table means nothing
            db.execute("INSERT INTO blobs VALUES (?, ?)", (name.hex(), data))


def typed(words: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": f"<user_query>\n{words}\n</user_query>"}]}


CHAT = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": "<user_info>\nWorkspace Path: /home/ada/quay\n</user_info>"},
    typed("Mend the quay"),
    {
        "role": "assistant",
        "id": "1",
        "content": [
            {"type": "reasoning", "text": "Stones first"},
            {"type": "tool-call", "toolCallId": "c1", "toolName": "Shell", "args": {"command": "ls"}},
        ],
    },
    {
        "role": "tool",
        "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "Shell", "result": "quay.py"}],
    },
    {"role": "assistant", "content": [{"type": "redacted-reasoning"}, {"type": "text", "text": "Done."}]},
]


@pytest.mark.parametrize("nested", [False, True])
def test_a_chat_is_read_in_the_order_of_its_last_index(home: Path, nested: bool) -> None:
    hashed = hashlib.md5(b"/home/ada/quay", usedforsecurity=False).hexdigest()
    write_chat(home / "chats" / hashed / OTHER / "store.db", CHAT, [typed("A first wording")], nested=nested)
    session = only(home)
    assert (session.id, session.cwd, session.title) == (OTHER, "/home/ada/quay", "Quay")
    assert prompts(session) == ["Mend the quay"]
    assert [turn.prompt and turn.prompt.text for one in session.branches for turn in one.turns] == ["A first wording"]
    (call,) = blocks(session, ToolCall)
    assert (call.role, call.end, call.result.text) == ("shell", "ok", "quay.py")
    assert [one.redacted for one in blocks(session, Thinking)] == [False, True]


def test_what_no_header_names_is_an_abandoned_branch(home: Path) -> None:
    rows = composer()
    orphan = {"type": 1, "bubbleId": "old", "text": "And the pier", "createdAt": "2026-04-13T08:00:03.500Z"}
    untimed = {"type": 2, "bubbleId": "lost", "text": "Which pier?"}
    rows |= {f"bubbleId:{SESSION}:old": orphan, f"bubbleId:{SESSION}:lost": untimed}
    write_rows(home / "globalStorage" / "state.vscdb", rows)
    session = only(home)
    assert prompts(session) == ["Mend the quay", "And the lighthouse"]
    assert [turn.prompt and turn.prompt.text for one in session.branches for turn in one.turns] == ["And the pier"]
    assert session.turns[-1].blocks[-1].text == "Lit since dusk."  # type: ignore[union-attr]


def test_values_that_are_missing_do_no_harm(home: Path) -> None:
    rows = composer() | {f"bubbleId:{SESSION}:null": None, "composerData:": None, "composerData:x": None}
    rows[f"composerData:{SESSION}"]["fullConversationHeadersOnly"] += [{"bubbleId": "nowhere"}, {"bubbleId": ""}, 7]
    write_rows(home / "globalStorage" / "state.vscdb", rows)
    assert prompts(only(home)) == ["Mend the quay", "And the lighthouse"]


def test_old_chats_hold_their_bubbles_themselves(home: Path) -> None:
    conversation = [{"bubbleId": f"b{number}", **one} for number, one in enumerate(BUBBLES)]
    head = {"composerId": SESSION, "createdAt": 1776066329000, "conversation": conversation}
    write_rows(home / "globalStorage" / "state.vscdb", {f"composerData:{SESSION}": head})
    session = only(home)
    assert prompts(session) == ["Mend the quay", "And the lighthouse"]
    assert len(blocks(session, ToolCall)) == 3


def test_the_project_is_told_by_the_databases_of_projects(home: Path) -> None:
    rows = composer()
    del rows[f"composerData:{SESSION}"]["workspaceIdentifier"]
    write_rows(home / "globalStorage" / "state.vscdb", rows)
    place = home / "workspaceStorage" / "8f2c"
    listed = {"composer.composerData": {"allComposers": [{"composerId": SESSION}]}}
    write_rows(place / "state.vscdb", listed, "ItemTable")
    (place / "workspace.json").write_text('{"folder": "file:///home/ada/the%20quay"}')
    assert only(home).cwd == "/home/ada/the quay"


def write_tabs(home: Path, value: Any) -> None:
    place = home / "workspaceStorage" / "8f2c"
    place.mkdir(parents=True, exist_ok=True)
    (place / "workspace.json").write_text(json.dumps({"folder": "file:///home/ada/quay"}))
    write_rows(place / "state.vscdb", {"workbench.panel.aichat.view.aichat.chatdata": value}, "ItemTable")


def test_tabs_of_the_first_versions_are_sessions(home: Path) -> None:
    told = [{"type": "user", "text": "Mend the quay"}, {"type": "ai", "text": "Mended.", "modelType": "gpt-4"},
            {"type": "hologram"}]  # fmt: skip
    tab = {"tabId": OTHER, "chatTitle": "The quay", "lastSendTime": 1720000000000, "bubbles": told}
    write_tabs(home, {"tabs": [tab, {"tabId": "empty", "bubbles": []}, {"bubbles": told}, 7]})
    session = only(home)
    assert (session.id, session.title, session.cwd) == (OTHER, "The quay", "/home/ada/quay")
    assert prompts(session) == ["Mend the quay"]
    assert [one.text for one in blocks(session, Text)] == ["Mended."]
    assert [one.what for one in blocks(session, Unknown)] == ["hologram"]
    assert [message.model for message in session.messages] == ["gpt-4"]
    assert session.ended is not None
    assert session.ended.year == 2024


def test_a_tab_that_came_over_is_read_from_the_database_of_all_projects(home: Path) -> None:
    write_rows(home / "globalStorage" / "state.vscdb", composer())
    write_tabs(home, {"tabs": [{"tabId": SESSION, "bubbles": [{"type": "user", "text": "Old"}]}]})
    assert prompts(only(home))[0] != "Old"


@pytest.mark.parametrize("odd", [None, 7, [], {"tabs": 7}, {"tabs": [{"tabId": 7, "bubbles": [1]}]}])
def test_tabs_of_odd_shapes_do_no_harm(home: Path, odd: Any) -> None:
    write_tabs(home, odd)
    assert Library([home]).logs() == ()


def test_tokens_count_where_a_bubble_tells_them(home: Path) -> None:
    bubbles = [BUBBLES[0], {"type": 2, "text": "Yes.", "tokenCount": {"inputTokens": 40, "outputTokens": 7}}]
    write_rows(home / "globalStorage" / "state.vscdb", composer(bubbles=bubbles))
    (listed,) = Library([home]).overviews()
    assert [(one.usage.input, one.usage.output) for one in listed.calls] == [(40, 7)]


def line(role: str, *content: dict[str, Any]) -> str:
    return json.dumps({"role": role, "message": {"content": list(content)}}) + "\n"


def write_transcript(home: Path, session: str = OTHER, *, below: str = "") -> Path:
    path = home / "projects" / "home-ada-quay" / "agent-transcripts" / (below or session)
    path = path / "subagents" / f"{session}.jsonl" if below else path / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    edit = {"type": "tool_use", "name": "StrReplace", "input": {"path": "/home/ada/quay/a.py"}}
    injected = "<timestamp>Monday</timestamp>\n<user_query>\nMend the quay\n</user_query>"
    path.write_text(
        line("user", {"type": "text", "text": injected})
        + line("assistant", {"type": "text", "text": "Looking.\n\n[REDACTED]"}, edit)
        + json.dumps({"type": "turn_ended", "status": "completed"})
        + "\n"
    )
    return path


def test_a_transcript_says_what_it_lacks(home: Path) -> None:
    write_transcript(home)
    write_transcript(home, "0c8d7c7d-0000-4000-8000-000000000009", below=OTHER)
    session = only(home)
    assert (session.id, session.cwd, prompts(session)) == (OTHER, "/home/ada/quay", ["Mend the quay"])
    assert [one.text for one in blocks(session, Text)] == ["Looking."]
    assert [one.redacted for one in blocks(session, Thinking)] == [True]
    assert [(one.role, one.result) for one in blocks(session, ToolCall)] == [("edit", None)]
    assert "lossy-source" in [one.kind for one in blocks(session, Notice)]
    assert [agent.id for agent in session.agents] == ["0c8d7c7d-0000-4000-8000-000000000009"]


def test_the_oldest_transcripts_are_plain_text(home: Path) -> None:
    path = home / "agent-transcripts" / f"{OTHER}.txt"
    path.parent.mkdir()
    path.write_text(
        "user:\n<user_query>\nMend the quay\n</user_query>\n\nassistant:\nLooking.\n[Thinking] Stones first\n"
        "[Tool call] Shell\n  command: ls\n  timeout: 3\n\n[Tool result] Shell\nquay.py\n\nassistant:\nDone.\n"
    )
    session = only(home)
    assert prompts(session) == ["Mend the quay"]
    (call,) = blocks(session, ToolCall)
    assert (call.input, call.result.text) == ({"command": "ls", "timeout": "3"}, "quay.py")
    assert [one.text for one in blocks(session, Text)] == ["Looking.", "Done."]


def test_a_database_wins_over_a_transcript_wherever_it_lies(home: Path) -> None:
    editor, shell = CursorAgent().roots({}, home)
    write_rows(editor / "globalStorage" / "state.vscdb", composer())
    write_transcript(shell, SESSION)
    write_transcript(shell, OTHER)
    assert [log.session_id for log in CursorAgent().discover(shell)] == [OTHER, SESSION]
    assert [log.session_id for log in CursorAgent().discover(editor)] == [SESSION]
    assert [log.session_id for log in CursorAgent().discover(shell)] == [OTHER]


def test_a_transcript_named_by_itself_is_read(home: Path) -> None:
    path = home / "elsewhere.jsonl"
    path.write_bytes(write_transcript(home / "x").read_bytes())
    assert prompts(Library().open(str(path))) == ["Mend the quay"]
