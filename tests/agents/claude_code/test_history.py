"""The list of prompts is read whole, wherever a line of it is torn, odd or hostile."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.log_builder.builder import LogBuilder
from tests.thorough import tries
from unspool.agents import AGENTS
from unspool.agents.records import TypedPrompt

T0 = 1_767_225_600_000
SESSION = "0a0a0a0a-1111-4222-8333-444444444444"


def line(display: Any = "fix tests", **more: Any) -> bytes:
    fields = {"display": display, "pastedContents": {}, "timestamp": T0, "project": "/p", "sessionId": SESSION}
    return json.dumps({**fields, **more}).encode() + b"\n"


def read(root: Path, data: bytes | None = None) -> list[TypedPrompt]:
    if data is not None:
        (root / "history.jsonl").write_bytes(data)
    return list(AGENTS[0].prompt_list.prompts(root))


def test_a_prompt_has_its_words_time_project_session_and_place(tmp_path: Path) -> None:
    data = line() + line("then lint", timestamp=T0 + 1500)
    first, second = read(tmp_path, data)
    log = f"projects/-p/{SESSION}.jsonl"
    assert first == TypedPrompt("fix tests", datetime(2026, 1, 1, tzinfo=UTC), "/p", SESSION, 0, log=log)
    assert second.time == datetime(2026, 1, 1, 0, 0, 1, 500_000, UTC)
    assert data[second.place :] == line("then lint", timestamp=T0 + 1500)


def test_prompts_of_old_versions_name_no_session(tmp_path: Path) -> None:
    old = json.dumps({"display": "x", "pastedContents": {}, "timestamp": T0, "project": "/p"}).encode()
    assert [prompt.session_id for prompt in read(tmp_path, old)] == [""]


def test_what_was_pasted_is_part_of_the_prompt(tmp_path: Path) -> None:
    (tmp_path / "paste-cache").mkdir()
    (tmp_path / "paste-cache" / "00ff00ff00ff00ff.txt").write_text("from the cache")
    pasted = {
        "1": {"id": 1, "type": "text", "content": "inline"},
        "2": {"id": 2, "type": "text", "contentHash": "00ff00ff00ff00ff"},
        "3": {"id": 3, "type": "text", "contentHash": "ffffffffffffffff"},
        "4": "odd",
    }
    (prompt,) = read(tmp_path, line("[Pasted text #1]", pastedContents=pasted))
    assert prompt.text == "[Pasted text #1]\n\ninline\n\nfrom the cache"


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "00ff00ff/../x", "a" * 300, ""])
def test_a_hash_that_is_a_path_is_not_followed(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "paste-cache").mkdir()
    (prompt,) = read(tmp_path, line(pastedContents={"1": {"contentHash": name}}))
    assert prompt.text == "fix tests"


def test_a_paste_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "paste-cache").mkdir()
    (tmp_path / "paste-cache" / "00ff00ff.txt").symlink_to(tmp_path / "secret")
    (prompt,) = read(tmp_path, line(pastedContents={"1": {"contentHash": "00ff00ff"}}))
    assert prompt.text == "fix tests"


def test_torn_and_glued_lines_cost_no_neighbour(tmp_path: Path) -> None:
    glued = line("one").rstrip() + line("two")
    data = line("first") + glued + b'{"display":"torn' + b"\n" + b"\0\0\n\n" + line("last")
    found = read(tmp_path, data)
    texts = [prompt.text for prompt in found]
    assert [text for text in texts if text in ("first", "one", "two", "last")] == ["first", "one", "two", "last"]
    assert all(data[prompt.place :].startswith(b'{"display"') for prompt in found)


@pytest.mark.parametrize(
    "fields",
    [
        {"display": 7},
        {"display": None, "pastedContents": []},
        {"timestamp": "soon"},
        {"timestamp": 1e308},
        {"timestamp": True},
        {"project": ["/p"], "sessionId": {}},
    ],
    ids=str,
)
def test_wrong_types_are_harmless(fields: dict[str, Any], tmp_path: Path) -> None:
    found = read(tmp_path, line(**fields) + line("good"))
    assert found[-1].text == "good"


@pytest.mark.parametrize(
    ("typed", "command"), [("/exit", True), ("quit", True), ("/clear now", True), ("exit the loop", False)]
)
def test_commands_to_the_program_itself_are_known(typed: str, command: bool, tmp_path: Path) -> None:
    assert [prompt.command for prompt in read(tmp_path, line(typed))] == [command]


def test_no_list_is_no_prompt_and_neither_is_a_link_or_a_folder(tmp_path: Path) -> None:
    assert read(tmp_path) == []
    (tmp_path / "elsewhere").write_bytes(line())
    (tmp_path / "history.jsonl").symlink_to(tmp_path / "elsewhere")
    assert read(tmp_path) == []
    (tmp_path / "history.jsonl").unlink()
    (tmp_path / "history.jsonl").mkdir()
    assert read(tmp_path) == []


def test_a_worktree_belongs_to_its_project(tmp_path: Path) -> None:
    (prompt,) = read(tmp_path, line(project="/home/ada/shop/.claude/worktrees/fix"))
    assert prompt.project == "/home/ada/shop"


@settings(max_examples=tries(25, 300), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(min_size=1).filter(str.strip), max_size=8), st.binary(max_size=40))
def test_whatever_follows_whole_lines_are_read(tmp_path: Path, texts: list[str], rubble: bytes) -> None:
    whole = b"".join(line(text) for text in texts)
    found = read(tmp_path, whole + rubble)
    assert [prompt.text for prompt in found][: len(texts)] == [text.strip() for text in texts]


def test_the_log_of_a_prompt_would_lie_where_the_agent_puts_it(tmp_path: Path) -> None:
    made = LogBuilder(cwd="/home/ada/my_shop.v2").prompt("x")
    (prompt,) = read(tmp_path, line(project=made.cwd, sessionId=made.session_id))
    assert tmp_path / prompt.log == made.write(tmp_path)
    assert [one.log for one in read(tmp_path, line(sessionId="") + line(project="/" + "x" * 300))] == ["", ""]
