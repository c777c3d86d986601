"""What is Qwen Code's own: subagents in folders of their own, what it tells itself, and requests beside the talk."""

import json
from pathlib import Path
from typing import Any

from tests.agents.stories.qwen import LINES, SESSION, call, record, used, write
from unspool.agents.qwen import Qwen
from unspool.figures import family
from unspool.model import Notice, Session, ToolCall
from unspool.store.library import Library

HELPER = "general-purpose-c9"


def only(root: Path) -> Session:
    (log,) = Library([root]).logs()
    return Library([root]).open(log)


def with_lines(home: Path, *more: dict[str, Any]) -> Path:
    path = write(home)
    path.write_text("".join(json.dumps(line) + "\n" for line in [*LINES, *more]))
    return path


def telemetry(number: int, agent: str) -> dict[str, Any]:
    counts = {"input_token_count": 50, "output_token_count": 7, "cached_content_token_count": 20}
    told = {"event.name": "qwen-code.api_response", "model": "qwen3-coder-plus", "subagent_id": agent, **counts}
    return record(number, "system", subtype="ui_telemetry", systemPayload={"uiEvent": told})


def spent(session: Session) -> int:
    return sum(message.usage.total for one in family(session) for message in one.messages)


def write_helper(log: Path) -> Path:
    path = log.parent.parent / "subagents" / SESSION / f"agent-{HELPER}.jsonl"
    path.parent.mkdir(parents=True)
    own = {"agentId": HELPER, "isSidechain": True}
    lines = [
        record(1, "user", {"text": "Look at the quay"}, **own),
        record(2, "assistant", {"text": "Looked."}, **own, **used(50, 7, 0, 20)),
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    path.with_suffix(".meta.json").write_text("{}")
    return path


def test_a_subagent_stands_at_its_call_and_is_counted_once(tmp_path: Path) -> None:
    asked = call("c9", "agent", description="Look", prompt="Look at the quay", subagent_type="general-purpose")
    log = with_lines(tmp_path, record(11, "assistant", asked, model="qwen3-coder-plus"), telemetry(12, HELPER))
    before = spent(only(tmp_path))
    helper = write_helper(log)
    session = only(tmp_path)
    (agent,) = session.agents
    calls = [block for turn in session.turns for block in turn.blocks if isinstance(block, ToolCall)]
    assert (agent.id, calls[-1].agents) == (HELPER, (HELPER,))
    assert [turn.prompt.text for turn in agent.session.turns if turn.prompt] == ["Look at the quay"]
    assert spent(session) == before
    below = helper.relative_to(tmp_path).as_posix()
    assert (Qwen().session_of(below), Qwen().is_log(below), Qwen().is_conversation(below)) == (SESSION, False, True)
    kept = {Path(one.path).name: one.session_id for one in Qwen().kept_files(tmp_path)}
    assert kept == {log.name: SESSION, helper.name: SESSION, f"agent-{HELPER}.meta.json": SESSION}


def test_what_is_asked_beside_the_conversation_is_counted(tmp_path: Path) -> None:
    with_lines(tmp_path)
    before = spent(only(tmp_path))
    with_lines(tmp_path, telemetry(11, ""), telemetry(12, "managed-auto-memory-extractor-1"))
    assert spent(only(tmp_path)) == before + 57


def test_what_the_agent_tells_itself_is_no_prompt(tmp_path: Path) -> None:
    told = {"provenance": "system", "subtype": "notification"}
    with_lines(tmp_path, record(11, "user", {"text": "<task-notification>done</task-notification>"}, **told))
    session = only(tmp_path)
    assert len(session.turns) == 2
    notices = [block.kind for turn in session.turns for block in turn.blocks if isinstance(block, Notice)]
    assert notices == ["task-notification"]
