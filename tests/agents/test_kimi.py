"""What is Kimi's own: two programs, subagents, and steps whose usage is told twice."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.stories.kimi import FOLDER, SESSION, call, lines, result, write
from unspool.agents.kimi import Kimi
from unspool.model import Session, Text, ToolCall
from unspool.store.library import Library


def only(root: Path) -> Session:
    (log,) = Library([root]).logs()
    return Library([root]).open(log)


def prompts(session: Session) -> list[str]:
    return [turn.prompt.text for turn in session.turns if turn.prompt is not None]


def blocks(session: Session, kind: type) -> list[Any]:
    return [block for turn in session.turns for block in turn.blocks if isinstance(block, kind)]


def write_code(home: Path, name: str = "main") -> Path:
    """A session of Kimi Code."""
    used = {"inputOther": 40, "output": 10, "inputCacheRead": 60, "inputCacheCreation": 5}
    events: list[dict[str, Any]] = [
        {"type": "metadata", "protocol_version": "1.4", "created_at": 1772241173000},
        {"type": "config.update", "cwd": "/home/ada/quay"},
        {"type": "turn.prompt", "input": [{"type": "text", "text": "Mend the quay"}], "origin": {"kind": "user"}},
        {"type": "llm.request", "model": "kimi-k2", "turnStep": "0.1"},
    ]
    steps: list[dict[str, Any]] = [
        {"type": "step.begin", "turnId": "0", "step": 1},
        {"type": "content.part", "part": {"type": "think", "think": "Stones first"}},
        {"type": "tool.call", "toolCallId": f"{name}1", "name": "Bash", "args": {"command": "ls"}},
        {"type": "step.end", "turnId": "0", "step": 1, "finishReason": "tool_use", "usage": used},
    ]
    events += [{"type": "context.append_loop_event", "event": step} for step in steps]
    events += [
        {"type": "usage.record", "model": "kimi-k2", "usage": used},
        {
            "type": "context.append_loop_event",
            "event": {"type": "tool.result", "toolCallId": f"{name}1", "result": {"output": "no", "isError": True}},
        },
        {"type": "turn.prompt", "input": [{"type": "text", "text": "Go on."}], "origin": {"kind": "hook"}},
    ]
    path = home / "sessions" / "wd_quay_1f" / "session_1f2e" / "agents" / name / "wire.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path


def test_a_session_of_kimi_code_is_read_and_its_usage_counted_once(tmp_path: Path) -> None:
    write_code(tmp_path)
    session = only(tmp_path)
    (listed,) = Library([tmp_path]).overviews()
    assert (session.id, session.cwd, prompts(session)) == ("session_1f2e", "/home/ada/quay", ["Mend the quay"])
    assert [(one.role, one.end) for one in blocks(session, ToolCall)] == [("shell", "failed")]
    calls = {one.key: (one.model, one.usage.input, one.usage.cache_read) for one in listed.calls}
    assert list(calls.values()) == [("kimi-k2", 40, 60)]


def test_other_agents_of_a_session_are_its_subagents(tmp_path: Path) -> None:
    write_code(tmp_path)
    write_code(tmp_path, "agent-2")
    assert [agent.id for agent in only(tmp_path).agents] == ["agent-2"]


@pytest.mark.parametrize("logged", [False, True])
def test_lines_of_a_subagent_are_its_own_whether_it_has_a_log_or_not(tmp_path: Path, logged: bool) -> None:
    path = tmp_path / "sessions" / FOLDER / SESSION / "wire.jsonl"
    path.parent.mkdir(parents=True)
    inner: list[tuple[str, dict[str, Any]]] = [
        ("TurnBegin", {"user_input": "Look at the stones"}),
        ("StepBegin", {"n": 1}),
        call("i1", "Shell", command="ls"),
        result("i1", "stones"),
        ("ContentPart", {"type": "text", "text": "Granite."}),
    ]
    repeated: list[tuple[str, dict[str, Any]]] = [
        (
            "SubagentEvent",
            {"parent_tool_call_id": "t1", "agent_id": "a77", "event": {"type": kind, "payload": payload}},
        )
        for kind, payload in inner
    ]
    start: list[tuple[str, dict[str, Any]]] = [("TurnBegin", {"user_input": "Mend"}), ("StepBegin", {"n": 1})]
    asked = call("t1", "Task", description="stones", prompt="Look at the stones")
    path.write_text(lines([*start, asked, *repeated, result("t1", "Granite.")]))
    if logged:
        own = path.parent / "subagents" / "a77" / "wire.jsonl"
        own.parent.mkdir(parents=True)
        own.write_text(lines(inner))
    session = only(tmp_path)
    assert prompts(session) == ["Mend"]
    (agent,) = session.agents
    made = [block for turn in agent.session.turns for block in turn.blocks if isinstance(block, ToolCall)]
    assert (agent.id, [one.call_id for one in made]) == ("a77", ["i1"])


def test_the_first_versions_kept_what_the_model_saw(tmp_path: Path) -> None:
    path = tmp_path / "sessions" / FOLDER / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    made = {"id": "c1", "type": "function", "function": {"name": "Shell", "arguments": '{"command": "ls"}'}}
    told = [
        {"role": "_system_prompt", "content": "You are Kimi."},
        {"role": "_checkpoint", "id": 0},
        {"role": "user", "content": "Mend the quay"},
        {"role": "assistant", "content": [{"type": "think", "think": "Hm"}], "tool_calls": [made]},
        {"role": "tool", "content": "quay.py", "tool_call_id": "c1"},
        {"role": "assistant", "content": "Done."},
        {"role": "_usage", "token_count": 12},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in told))
    session = only(tmp_path)
    assert (session.id, prompts(session)) == (SESSION, ["Mend the quay"])
    assert [one.text for one in blocks(session, Text)] == ["Done."]
    assert [one.result.text for one in blocks(session, ToolCall)] == ["quay.py"]


def test_titles_and_folders_stand_beside_the_log(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.with_name("state.json").write_text('{"custom_title": "Harbour"}')
    path.with_name("context.jsonl").write_text('{"role": "user", "content": "x"}\n')
    session = only(tmp_path)
    assert (session.title, session.cwd) == ("Harbour", "/home/ada/quay")


def test_variables_move_both_folders(tmp_path: Path) -> None:
    named = {"KIMI_SHARE_DIR": "/k", "KIMI_CODE_HOME": "/c"}
    assert Kimi().roots(named, tmp_path) == [Path("/k"), Path("/c")]
