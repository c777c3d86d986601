"""Open sessions are told from their processes' notes, and a process that is gone is known to be."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from unspool.agents import AGENTS
from unspool.agents.claude_code.agent_files import is_alive
from unspool.agents.records import RunningSession

SESSION = "0a0a0a0a-1111-4222-8333-444444444444"


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that waits until it is let go."""
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        yield process


def note(root: Path, name: str, data: Any) -> None:
    (root / "sessions").mkdir(exist_ok=True)
    (root / "sessions" / name).write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())


def running(root: Path) -> list[RunningSession]:
    return list(AGENTS[0].files.running(root))


def ticks(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def test_a_session_is_open_as_long_as_its_process_lives(child: "subprocess.Popen[bytes]", tmp_path: Path) -> None:
    fields = {"pid": child.pid, "sessionId": SESSION, "cwd": "/p", "status": "busy", "startedAt": 1_767_225_600_000}
    note(tmp_path, f"{child.pid}.json", {**fields, "updatedAt": 1_767_225_660_000})
    began, changed = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
    assert running(tmp_path) == [RunningSession(child.pid, SESSION, "/p", "busy", began, changed, True)]
    child.communicate()
    assert [one.alive for one in running(tmp_path)] == [False]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process began in these figures")
def test_another_process_of_the_same_number_is_not_the_one_meant(child: "subprocess.Popen[bytes]") -> None:
    assert is_alive(child.pid, ticks(child.pid)) is True
    assert is_alive(child.pid, "1") is False
    assert is_alive(child.pid) is True


@pytest.mark.parametrize("pid", [0, -1, 2**31, 2**70])
def test_numbers_that_are_no_process_are_not_alive(pid: int) -> None:
    assert is_alive(pid) is False


def test_another_users_process_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int, __: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert is_alive(1) is True


def test_where_asking_would_interrupt_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("a signal was sent"))
    with monkeypatch.context() as windows:
        windows.setattr(os, "name", "nt")
        told = is_alive(os.getpid())
    assert told is None


def test_notes_of_the_older_shape_are_read(tmp_path: Path) -> None:
    note(tmp_path, f"pid-{os.getpid()}.json", {"session_id": SESSION, "cwd": "/p"})
    assert [(one.pid, one.session_id, one.alive) for one in running(tmp_path)] == [(os.getpid(), SESSION, True)]


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b"[" * 50_000])
def test_what_is_no_note_is_passed_over(data: bytes, tmp_path: Path) -> None:
    note(tmp_path, "12.json", data)
    assert running(tmp_path) == []


def test_only_notes_are_read_and_links_are_not_followed(tmp_path: Path) -> None:
    note(tmp_path, "x.json", {"sessionId": SESSION})
    note(tmp_path, "7.json.tmp", {"sessionId": SESSION})
    (tmp_path / "elsewhere").write_text("{}")
    (tmp_path / "sessions" / "7.json").symlink_to(tmp_path / "elsewhere")
    assert running(tmp_path) == []
    assert running(tmp_path / "nowhere") == []


def test_wrong_types_are_harmless(tmp_path: Path) -> None:
    note(tmp_path, "999999999.json", {"pid": "x", "sessionId": 7, "cwd": [], "status": {}, "startedAt": "x"})
    assert running(tmp_path) == [RunningSession(999_999_999, "", "", "", None, None, False)]
