"""`unspool local`: the order of what is offered, and what becomes of the choice."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import run, source, talk
from unspool.cli.pages_cmd import sessions_to_choose
from unspool.store.library import Library


def logs(tmp_path: Path) -> tuple[str, str]:
    """Three sessions in two projects."""
    return source(
        tmp_path / "logs",
        talk("Mend the net", "00000001-0000-4000-8000-000000000000", cwd=str(tmp_path / "nets")),
        talk("Paint the boat", "00000002-0000-4000-8000-000000000000", cwd=str(tmp_path / "boats")),
        talk("Sell the fish", "00000003-0000-4000-8000-000000000000", cwd=str(tmp_path / "nets")),
    )


def test_sessions_of_the_project_we_are_in_come_first(tmp_path: Path) -> None:
    """Below a project's folder its sessions are offered first; a folder that only begins alike is another."""
    logs(tmp_path)
    found = list(Library([tmp_path / "logs"]).overviews())
    assert "boats" in sessions_to_choose(found, tmp_path / "boats" / "deck")[0].project
    assert "boats" in sessions_to_choose(found, tmp_path / "boats")[0].project
    everywhere = [overview.id for overview in sessions_to_choose(found, tmp_path)]
    assert [overview.id for overview in sessions_to_choose(found, tmp_path / "boats-2")] == everywhere


def test_a_number_makes_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal the numbered list is answered on standard input."""
    given = logs(tmp_path)
    (tmp_path / "boats").mkdir()
    monkeypatch.chdir(tmp_path / "boats")
    done = run("local", *given, "-o", str(tmp_path / "out"), stdin=b"1\n")
    assert done.code == 0, done.err
    assert "1 turn" in done.err
    assert "Paint the boat" in (tmp_path / "out" / "page-001.html").read_text()


def test_nothing_chosen_is_no_error(tmp_path: Path) -> None:
    """An empty answer makes nothing."""
    done = run("local", *logs(tmp_path), "-o", str(tmp_path / "out"), stdin=b"\n")
    assert done.code == 0
    assert "No session selected." in done.err
    assert not (tmp_path / "out").exists()


def test_a_wrong_number_is_refused(tmp_path: Path) -> None:
    """A number that was not offered is an error."""
    assert run("local", *logs(tmp_path), stdin=b"9\n").code == 2


def test_a_limit(tmp_path: Path) -> None:
    """--limit offers only so many."""
    done = run("local", *logs(tmp_path), "--limit", "2", stdin=b"\n")
    assert done.err.count("turn") == 2


def test_no_sessions(tmp_path: Path) -> None:
    """A machine without sessions is told so."""
    (tmp_path / "projects").mkdir()
    assert run("local", "-s", str(tmp_path)).code == 3


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal")
@pytest.mark.parametrize(("pressed", "made"), [(b"fish\r", "Sell the fish"), (b"\x1b", ""), (b"\x03", "")])
def test_on_a_real_terminal(pressed: bytes, made: str, tmp_path: Path) -> None:
    """Typing narrows, Enter takes, Escape and Ctrl-C leave; the terminal is as it was before."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "unspool", "local", *logs(tmp_path), "-o", str(tmp_path / "out")]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs) as started:
        os.close(theirs)
        seen = _until(ours, b"type to filter")
        os.write(ours, pressed)
        code = started.wait(60)
        seen += _rest(ours)
    os.close(ours)
    assert b"Paint the boat" in seen
    assert code == (130 if pressed == b"\x03" else 0)
    assert (tmp_path / "out").exists() == bool(made)
    if made:
        assert made in (tmp_path / "out" / "page-001.html").read_text()


def _until(descriptor: int, words: bytes) -> bytes:
    seen, end = b"", time.monotonic() + 60
    while words not in seen and time.monotonic() < end:
        if select.select([descriptor], [], [], 0.1)[0]:
            seen += os.read(descriptor, 65536)
    return seen


def _rest(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""
