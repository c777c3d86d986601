"""A log that stops while its session goes on is found; one that only waits is not."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.store.sync.scenes import NOW, age, levels, put, seen
from unspool.store.sync.doctor_scene import DoctorFinding
from unspool.store.sync.source_checks import check_stalled

HOUR = 1 / 24


@pytest.fixture
def process() -> Iterator[int]:
    """A process that plays the agent."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        yield child.pid


def ago(hours: float) -> datetime:
    return NOW - timedelta(hours=hours)


def session(root: Path, hours: float) -> LogBuilder:
    """A session whose last line was written so many hours before NOW."""
    log = LogBuilder(start=ago(hours)).prompt("go")
    log.assistant(log.text("ok")).write(root)
    return log


def note(root: Path, pid: int, session_id: str, **fields: Any) -> None:
    data = {"pid": pid, "sessionId": session_id, "cwd": "/p", "startedAt": ago(9).timestamp() * 1000, **fields}
    put(root / "sessions" / f"{pid}.json", data)


def prompt(root: Path, session_id: str, hours: float, text: str = "go on") -> None:
    row = {"display": text, "timestamp": ago(hours).timestamp() * 1000, "project": "/p", "sessionId": session_id}
    with (root / "history.jsonl").open("a") as stream:
        stream.write(json.dumps(row) + "\n")


def look(root: Path) -> list[DoctorFinding]:
    return seen(check_stalled, root / "archive", root)


def test_a_session_that_waits_is_well(process: int, tmp_path: Path) -> None:
    log = session(tmp_path, 5)
    note(tmp_path, process, log.session_id, status="idle", updatedAt=ago(1).timestamp() * 1000)
    prompt(tmp_path, log.session_id, 5)
    assert levels(look(tmp_path)) == ["ok"]


def test_a_prompt_that_its_log_does_not_follow_is_a_bad_sign(process: int, tmp_path: Path) -> None:
    log = session(tmp_path, 5)
    note(tmp_path, process, log.session_id)
    prompt(tmp_path, log.session_id, 1)
    finding, _ = look(tmp_path)
    assert finding.level == "bad"
    assert finding.details == (str(tmp_path / log.path),)
    assert log.session_id[:8] in finding.message
    assert str(process) in finding.message


def test_side_lines_do_not_hide_that_nothing_is_said(process: int, tmp_path: Path) -> None:
    """The file is still touched, but no line has a time after the prompt."""
    log = session(tmp_path, 5)
    note(tmp_path, process, log.session_id)
    prompt(tmp_path, log.session_id, 1)
    age(tmp_path / log.path, 0)
    assert levels(look(tmp_path)) == ["bad", "ok"]


@pytest.mark.parametrize("text", ["/exit", "quit", "/resume"])
def test_commands_to_the_program_need_no_line(text: str, process: int, tmp_path: Path) -> None:
    log = session(tmp_path, 5)
    note(tmp_path, process, log.session_id)
    prompt(tmp_path, log.session_id, 1, text)
    assert levels(look(tmp_path)) == ["ok"]


def test_a_prompt_of_this_moment_may_still_be_on_its_way(process: int, tmp_path: Path) -> None:
    log = session(tmp_path, 5)
    note(tmp_path, process, log.session_id)
    prompt(tmp_path, log.session_id, 10 / 3600)
    assert levels(look(tmp_path)) == ["ok"]


@pytest.mark.parametrize("status", ["busy", "idle"])
def test_a_session_that_became_busy_should_have_said_why(status: str, process: int, tmp_path: Path) -> None:
    log = session(tmp_path, 5)
    note(tmp_path, process, log.session_id, status=status, statusUpdatedAt=ago(1).timestamp() * 1000)
    assert levels(look(tmp_path)) == (["bad", "ok"] if status == "busy" else ["ok"])


@pytest.mark.parametrize("name", ["file-history/{}/a@v1", "tasks/{}/1.json", "todos/{}-agent-x.json"])
def test_files_that_still_come_are_a_bad_sign(name: str, process: int, tmp_path: Path) -> None:
    log = session(tmp_path, 5)
    note(tmp_path, process, log.session_id)
    put(tmp_path / name.format(log.session_id), "content", 0)
    assert levels(look(tmp_path)) == ["bad", "ok"]


def test_a_subagent_may_work_for_long_and_leave_files_meanwhile(process: int, tmp_path: Path) -> None:
    log = session(tmp_path, 1)
    note(tmp_path, process, log.session_id)
    home = tmp_path / log.folder / log.session_id
    agent = put(home / "subagents" / "agent-a.jsonl", "{}\n", 0)
    put(home / "tool-results" / "x.txt", "content", 0)
    assert levels(look(tmp_path)) == ["ok"]
    age(agent, 0.5 * HOUR)
    assert levels(look(tmp_path)) == ["bad", "ok"]


def test_a_subagent_that_works_for_hours_beside_a_silent_log_is_a_bad_sign(process: int, tmp_path: Path) -> None:
    log = session(tmp_path, 5)
    note(tmp_path, process, log.session_id)
    put(tmp_path / log.folder / log.session_id / "subagents" / "agent-a.jsonl", "{}\n", 0)
    assert levels(look(tmp_path)) == ["bad", "ok"]


def test_a_session_that_was_spoken_to_needs_a_log(process: int, tmp_path: Path) -> None:
    (tmp_path / "projects").mkdir()
    note(tmp_path, process, "0a0a0a0a-1111-4222-8333-444444444444")
    assert levels(look(tmp_path)) == ["ok"]
    prompt(tmp_path, "0a0a0a0a-1111-4222-8333-444444444444", 8.9)
    finding, _ = look(tmp_path)
    assert (finding.level, "has no log" in finding.message) == ("bad", True)


def test_a_process_that_is_gone_runs_nothing(tmp_path: Path) -> None:
    log = session(tmp_path, 5)
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    note(tmp_path, child.pid, log.session_id, status="busy", statusUpdatedAt=ago(1).timestamp() * 1000)
    assert look(tmp_path) == []


def test_a_closed_session_whose_log_ends_before_its_last_prompt_is_told(tmp_path: Path) -> None:
    log = session(tmp_path, 50)
    prompt(tmp_path, log.session_id, 49.95)
    assert look(tmp_path) == []
    prompt(tmp_path, log.session_id, 48)
    (finding,) = look(tmp_path)
    assert (finding.level, finding.details) == ("warn", (str(tmp_path / log.path),))


def test_no_process_is_touched(process: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = session(tmp_path, 5)
    note(tmp_path, process, log.session_id)
    sent: list[int] = []
    kill = os.kill

    def told(pid: int, number: int) -> None:
        sent.append(number)
        kill(pid, number)

    monkeypatch.setattr(os, "kill", told)
    look(tmp_path)
    assert sent == [0]
