"""Copies of rollouts: threads of their own that Codex can resume, with nothing in them that was left out."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.codex_rollouts import BEGUN, answer, called, done, output, told, user
from tests.agents.stories.codex import SESSION, count, item, record
from tests.cli.running import run
from unspool.agents.codex.discover import LOG_NAME
from unspool.agents.codex.writing import CodexWriter
from unspool.agents.writing import errors
from unspool.model import ToolCall
from unspool.store.library import Library

SECOND = "019ddaf2-2222-7a63-839e-79f4476f3b44"
SECRET = "the tide is at nine"
LINES: list[dict[str, Any]] = [
    *BEGUN,
    user("<environment_context>x</environment_context>"),
    user("Mend the quay"),
    told("user_message", message="Mend the quay", images=[]),
    item("reasoning", summary=[{"type": "summary_text", "text": "Stones"}], encrypted_content="gAAAA"),
    called("exec_command", '{"cmd":"ls /home/ada/quay"}'),
    told("exec_command_end", call_id="c1", exit_code=0, aggregated_output=SECRET),
    output(f"Exit code: 0\nOutput:\n{SECRET}"),
    told("agent_message", message="Nine stones."),
    answer("Nine stones."),
    count(110, input_tokens=100, output_tokens=10),
    told("task_complete", turn_id=BEGUN[1]["payload"]["turn_id"], last_agent_message="Nine stones."),
    told("task_started", turn_id=SECOND),
    record("turn_context", {"turn_id": SECOND, "model": "gpt-5.5", "cwd": "/home/ada/quay"}),
    user("And the light"),
    told("user_message", message="And the light", images=[]),
    told("agent_message", message="Lit."),
    answer("Lit."),
    count(220, input_tokens=100, output_tokens=10),
    told("task_complete", turn_id=SECOND, last_agent_message="Lit."),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(tmp_path / "kept"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    return tmp_path / "codex"


def keep(home: Path, lines: list[dict[str, Any]] = LINES, more: str = "") -> Path:
    path = home / "sessions/2026/04/29" / f"rollout-2026-04-29T22-33-39-{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + more)
    return path


def made(home: Path, *words: str) -> tuple[Path, list[dict[str, Any]]]:
    before = set(home.rglob("rollout-*"))
    finished = run(*words)
    assert (finished.code, finished.err) == (0, "")
    (path,) = set(home.rglob("rollout-*")) - before
    held = path.read_bytes().splitlines(keepends=True)
    assert errors(CodexWriter().lint(held, strict=True)) == []
    return path, [json.loads(line) for line in held]


def heard(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the model hears of a rollout."""
    return [line["payload"] for line in lines if line["type"] == "response_item"]


def test_a_fork_is_a_thread_of_its_own_that_holds_all_records(home: Path) -> None:
    keep(home)
    path, lines = made(home, "fork", SESSION)
    named = LOG_NAME.search(path.name)
    assert named is not None
    meta, *rest, title = lines
    assert path.relative_to(home).parts[0] == "sessions"
    assert (meta["payload"]["id"], meta["payload"]["forked_from_id"]) == (named[1], SESSION)
    assert named[1][14] == "7"
    assert rest == LINES[1:]
    assert title["payload"]["thread_name"] == "Mend the quay (fork)"
    (entry,) = map(json.loads, (home / "session_index.jsonl").read_text().splitlines())
    assert (entry["id"], entry["thread_name"]) == (named[1], "Mend the quay (fork)")


def test_what_a_fork_copied_is_paid_once_and_undone_without_a_trace(home: Path) -> None:
    keep(home)
    path, _ = made(home, "fork", SESSION)
    listed = Library([home]).overviews()
    assert sum(call.usage.total for one in listed for call in one.calls) == 220
    assert {one.history.session for one in listed if one.history is not None} == {SESSION}
    assert run("clone", "--undo").code == 0
    assert not path.exists()
    assert not (home / "session_index.jsonl").exists()


def test_a_fork_ends_with_its_turn(home: Path) -> None:
    keep(home)
    _, lines = made(home, "fork", SESSION, "--at", "1")
    assert [line["payload"] for line in lines[1:-1]] == [line["payload"] for line in LINES[1:14]]


def test_turns_that_are_left_out_leave_nothing(home: Path) -> None:
    keep(home)
    _, lines = made(home, "fork", SESSION, "--without", "1")
    written = json.dumps(lines)
    assert SECRET not in written
    assert "Nine stones" not in written
    assert [one.get("role") for one in heard(lines) if one["type"] == "message"][-2:] == ["user", "assistant"]


@pytest.mark.parametrize("preset", ["none", "default", "aggressive", "heavy", "extreme"])
def test_every_preset_makes_a_sound_copy(preset: str, home: Path) -> None:
    keep(home)
    path, lines = made(home, "clone", SESSION, "--preset", preset)
    said = [one["content"][0]["text"] for one in heard(lines) if one["type"] == "message"]
    assert said[-4:] == ["Mend the quay", "Nine stones.", "And the light", "Lit."]
    found = Library([home]).open(path.stem[-36:])
    calls = [block for turn in found.turns for block in turn.blocks if isinstance(block, ToolCall)]
    assert len(calls) == (preset != "extreme")
    assert (SECRET in json.dumps(lines)) == (preset != "extreme")


@pytest.mark.parametrize("mode", ["truncate", "stub"])
def test_calls_are_shortened_with_all_that_tells_of_them(mode: str, home: Path) -> None:
    long = "x" * 5000
    printed = [
        line | {"payload": {**line["payload"], "output": long}} if line["payload"].get("output") else line
        for line in LINES
    ]
    keep(home, printed)
    _, lines = made(home, "clone", SESSION, "--strip-tools", "100", "--mode", mode)
    (short,) = [one["output"] for one in heard(lines) if one["type"] == "function_call_output"]
    assert len(short) < 200
    assert "exec_command_end" not in [line["payload"].get("type") for line in lines]


def test_answers_that_are_hidden_from_a_share_are_nowhere_in_it(home: Path, tmp_path: Path) -> None:
    keep(home)
    bundle = tmp_path / "share.tar"
    assert run("share", SESSION, "--bundle", "--yes", "--no-tools", "-o", str(bundle)).code == 0
    assert SECRET not in run("show", str(bundle), "--full").out


def test_a_moved_thread_names_its_new_folder(home: Path, tmp_path: Path) -> None:
    keep(home)
    there = tmp_path / "there"
    there.mkdir()
    path, lines = made(home, "move", SESSION, "--to", str(there))
    assert path.is_relative_to(home)
    assert lines[0]["payload"]["cwd"] == str(there)
    assert "/home/ada/quay" not in json.dumps(lines)


def test_a_damaged_rollout_is_mended(home: Path) -> None:
    path = keep(home, [*LINES, output("stray", "c9"), called("exec_command", call_id="c8")], '{"timestamp": "torn')
    broken = path.read_text().replace('"phase"', "").splitlines(keepends=True)
    path.write_text("".join([*broken[:6], "\0\0 no json\n", *broken[6:]]))
    assert "torn-line" in run("lint", SESSION).out
    _, lines = made(home, "repair", SESSION)
    assert [one["call_id"] for one in heard(lines) if "call_id" in one] == ["c1", "c1"]


def test_records_of_a_paginated_thread_are_counted_anew(home: Path) -> None:
    def typed(words: str) -> list[dict[str, Any]]:
        return [user(words), done("UserMessage", id=words, content=[{"type": "text", "text": words}])]

    again = told("task_started", turn_id=SECOND)
    pages = [*BEGUN, *typed("Mend"), answer("Done."), again, *typed("On"), answer("Yes.")]
    keep(home, [line | {"ordinal": number} for number, line in enumerate(pages)])
    _, lines = made(home, "fork", SESSION, "--without", "1")
    assert [line["ordinal"] for line in lines if "ordinal" in line] == list(range(len(lines) - 1))
    assert heard(lines)[0]["content"][0]["text"] == "On"
    assert lines[-2]["payload"].get("thread_id", "") != SESSION


def test_a_rollout_of_2025_is_made_one_of_today(home: Path) -> None:
    header = {"id": SESSION, "timestamp": "2025-06-01T10:00:00Z", "instructions": None}
    context = user("<environment_context>\n<cwd>/home/ada/quay</cwd>\n</environment_context>")
    keep(
        home, [header, {"record_type": "state"}, *(one["payload"] for one in (context, user("Mend"), answer("Done.")))]
    )
    assert "before records had an envelope" in run("lint", SESSION).out
    path, lines = made(home, "repair", SESSION)
    assert (lines[0]["type"], lines[0]["payload"]["cwd"]) == ("session_meta", "/home/ada/quay")
    assert [one["role"] for one in heard(lines)] == ["user", "user", "assistant"]
    found = Library([home]).open(path.stem[-36:])
    assert [turn.prompt.text for turn in found.turns if turn.prompt is not None] == ["Mend"]


def test_a_log_that_somebody_sent_goes_to_the_folder_of_its_agent(home: Path, tmp_path: Path) -> None:
    log = keep(tmp_path / "sent")
    there = tmp_path / "there"
    there.mkdir()
    home.mkdir()
    path, _ = made(home, "import", str(log), "--to", str(there))
    assert path.is_relative_to(home / "sessions")


def test_a_thread_is_lightened_in_its_own_file_and_given_back(home: Path) -> None:
    """It is found under its id, without what was taken out, and sound; undo gives every byte back."""
    path = keep(home)
    before = path.read_bytes()
    assert run("clone", SESSION, "--in-place", "--preset", "extreme").code == 0
    assert SECRET.encode() not in path.read_bytes()
    assert errors(CodexWriter().lint(path.read_bytes().splitlines(keepends=True), strict=False)) == []
    session = Library([home]).open(SESSION)
    assert [turn.prompt.text for turn in session.turns if turn.prompt] == ["Mend the quay", "And the light"]
    assert run("clone", "--undo", SESSION).code == 0
    assert path.read_bytes() == before
