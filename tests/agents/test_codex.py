"""Codex rollouts are read: prompts, answers, calls with results, and tokens by the changed totals."""

import json
from pathlib import Path
from typing import Any

import pytest

from unspool.agents.codex import Codex
from unspool.figures import figures
from unspool.model import Session, Text, Thinking, ToolCall, Unknown
from unspool.prices import PriceTable
from unspool.store.library import Library

SESSION = "019ddaf2-047a-7a63-839e-79f4476f3b44"


def record(kind: str, payload: dict[str, Any], second: int = 0) -> dict[str, Any]:
    return {"timestamp": f"2026-04-29T20:33:{second:02}.000Z", "type": kind, "payload": payload}


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return record("response_item", {"type": kind, **payload})


def count(total: int, **last: int) -> dict[str, Any]:
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": last}
    return record("event_msg", {"type": "token_count", "info": info})


ROLLOUT = [
    record(
        "session_meta", {"id": SESSION, "cwd": "/home/ada/quay", "cli_version": "0.126.0", "git": {"branch": "main"}}
    ),
    record("turn_context", {"model": "gpt-5.5"}),
    item("message", role="user", content=[{"type": "input_text", "text": "<environment_context/>"}]),
    record("event_msg", {"type": "user_message", "message": "Mend the quay\n", "images": []}, 1),
    item("reasoning", summary=[{"type": "summary_text", "text": "Stones first"}], encrypted_content="x"),
    item("function_call", name="exec_command", arguments='{"cmd":"ls"}', call_id="c1"),
    item("function_call_output", call_id="c1", output="Process exited with code 2\nOutput:\nno quay"),
    count(110, input_tokens=100, cached_input_tokens=60, output_tokens=10),
    count(110, input_tokens=100, cached_input_tokens=60, output_tokens=10),
    item("message", role="assistant", content=[{"type": "output_text", "text": "It is gone."}]),
    record("event_msg", {"type": "agent_message", "message": "It is gone."}),
    count(240, input_tokens=120, cached_input_tokens=100, output_tokens=10),
    record("event_msg", {"type": "thread_name_updated", "thread_name": "The quay"}),
    item("hologram", shape="ship"),
]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    path = tmp_path / "sessions/2026/04/29" / f"rollout-2026-04-29T22-33-39-{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in ROLLOUT))
    (shown,) = Library([tmp_path]).overviews()
    assert (shown.id, shown.agent, shown.title, shown.turns) == (SESSION, "codex", "The quay", 1)
    return Library([tmp_path]).open(SESSION)


def test_a_rollout_is_a_session(session: Session) -> None:
    assert [turn.prompt and turn.prompt.text for turn in session.turns] == [None, "Mend the quay"]
    blocks = session.turns[1].blocks
    assert [type(block) for block in blocks] == [Thinking, ToolCall, Text, Unknown]
    call = blocks[1]
    assert isinstance(call, ToolCall)
    assert (call.role, call.input, call.state) == ("shell", {"cmd": "ls"}, "error")
    assert (session.cwd, session.branch, session.versions) == ("/home/ada/quay", "main", ("0.126.0",))


def test_a_total_that_did_not_change_is_counted_once(session: Session) -> None:
    used = figures(session, PriceTable.load()).usage
    assert (used.input, used.output, used.cache_read) == (60, 20, 160)


def test_every_line_is_in_the_ledger_of_lines(session: Session) -> None:
    assert session.lines.total == len(ROLLOUT)
    assert session.lines.problems == 0


def test_the_real_rollouts_are_read_without_a_problem(shared: Path) -> None:
    folder = shared / "corpora" / "codex"
    library = Library([folder])
    logs = library.logs()
    assert {log.agent_id for log in logs} == {"codex"}
    assert len(logs) == len(list(folder.glob("*.jsonl")))
    for log in logs:
        read = library.open(log)
        full = figures(read, PriceTable.load())
        assert (read.problems, full.turns > 5, full.tool_calls > 50) == ((), True, True)
        assert (
            sum(call.state == "unanswered" for turn in read.turns for call in turn.blocks if isinstance(call, ToolCall))
            <= 1
        )
        assert full.usage.total > 100_000


def test_a_codex_home_is_told_from_another_agents(tmp_path: Path) -> None:
    """Others have a folder of that name too, for processes that run."""
    (tmp_path / "sessions").mkdir()
    assert Codex().home(tmp_path) is None
    (tmp_path / "sessions" / "2026").mkdir()
    assert Codex().home(tmp_path) == tmp_path


def test_what_cannot_be_read_beside_it_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / f"{SESSION}.jsonl").mkdir()
    (tmp_path / "rollout-x.jsonl").write_text("")
    assert list(Codex().discover(tmp_path)) == []


def test_a_source_is_not_searched_beyond_where_rollouts_lie(tmp_path: Path) -> None:
    """A log may be named that lies in a large folder, such as a home."""
    name = f"rollout-2026-04-29T22-33-39-{SESSION}.jsonl"
    for place in ("deep/down/below", "archived_sessions", "2026/04/29", "sessions/2026/04/29"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / name).write_text("{}\n")
    found = {Path(log.path).parent.relative_to(tmp_path).as_posix() for log in Codex().discover(tmp_path)}
    assert found == {"archived_sessions", "2026/04/29", "sessions/2026/04/29"}


@pytest.mark.parametrize("odd", [None, 7, "x", [], {}, [1], {"x": []}, True, "\x1b[31m<script>"])
@pytest.mark.parametrize("kind", ["session_meta", "turn_context", "response_item", "event_msg", "compacted"])
def test_any_value_in_any_field_is_read_and_counted(kind: str, odd: Any, tmp_path: Path) -> None:
    names = ("id", "cwd", "git", "model", "cli_version", "message", "images", "info", "content", "summary", "name",
             "call_id", "arguments", "input", "output", "role", "thread_name")  # fmt: skip
    types = ("user_message", "token_count", "turn_aborted", "thread_name_updated", "message", "reasoning",
             "function_call", "function_call_output", odd)  # fmt: skip
    lines: list[Any] = [{"timestamp": odd, "type": kind, "payload": odd}, {"type": odd, "payload": {}}]
    lines += [{"type": kind, "payload": {**dict.fromkeys(names, odd), "type": one}} for one in types]
    path = tmp_path / f"rollout-2026-04-29T22-33-39-{SESSION}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [ROLLOUT[0], *lines]))
    read = Library([tmp_path]).open(SESSION)
    assert read.lines.total == len(lines) + 1
    figures(read, PriceTable.load())
