"""An agent's print mode is asked through a real process, of which nothing is left."""

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.copies.compress.model import until
from tests.waiting import PATIENCE, ending
from unspool.agents import ClaudeCode
from unspool.copies.compress.providers import ModelFailed, ModelRefused, ModelRequest, PrintMode
from unspool.errors import NotFound

AGENT = ClaudeCode()
COMMAND = AGENT.asking.ask("", "")[0]
ASK = ModelRequest("Do this.", '{"text": "one two"}', 300)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the agent's command is looked for."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder / COMMAND


def write(program: Path, body: str) -> None:
    program.write_text(f"#!{sys.executable}\nimport json, os, subprocess, sys, time\n{body}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def alive(pid: int) -> bool:
    """Whether it runs; one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_prompt_goes_in_and_the_answer_comes_out(program: Path, tmp_path: Path) -> None:
    """The passage by its input, never as an argument that every process could read; in an empty private folder."""
    seen = tmp_path / "seen.json"
    write(
        program,
        f"told = [sys.argv[1:], sys.stdin.read(), os.listdir(), os.getcwd(), os.stat('.').st_mode & 0o777]\n"
        f"json.dump(told, open({str(seen)!r}, 'w'))\nprint('{{\"text\": \"one\"}}')",
    )
    assert PrintMode(AGENT, "some-model").ask(ASK, 20.0, Event()) == '{"text": "one"}\n'
    arguments, prompt, files, folder, mode = json.loads(seen.read_text())
    assert arguments == AGENT.asking.ask("some-model", ASK.system)[1:]
    assert not any("one two" in argument for argument in arguments)
    assert (prompt, files, mode) == (ASK.content, [], 0o700)
    assert not Path(folder).exists()


def test_a_process_that_fails_is_told_with_its_words(program: Path) -> None:
    write(program, "print('Please\\x1b[2J sign in', file=sys.stderr)\nsys.exit(3)")
    with pytest.raises(ModelFailed, match="ended with 3: Please sign in") as caught:
        PrintMode(AGENT, "").ask(ASK, 20.0, Event())
    assert caught.value.again


def test_words_may_stand_on_the_output_too(program: Path) -> None:
    write(program, "print('Credit is low')\nsys.exit(1)")
    with pytest.raises(ModelFailed, match="ended with 1: Credit is low"):
        PrintMode(AGENT, "").ask(ASK, 20.0, Event())


def _stopped_once(stop: Event, there: Callable[[], bool]) -> None:
    until(there)
    stop.set()


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("by", ["time", "stop"])
def test_what_hangs_is_ended_with_all_it_started(program: Path, tmp_path: Path, by: str) -> None:
    pids = tmp_path / "pids"
    write(
        program,
        "child = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\ntime.sleep(600)",
    )
    stop = Event()
    if by == "stop":
        Thread(target=_stopped_once, args=(stop, lambda: pids.exists() and len(pids.read_text().split()) == 2)).start()
    with pytest.raises(ModelFailed, match="stopped" if by == "stop" else "took more than") as caught:
        PrintMode(AGENT, "").ask(ASK, 4.0 if by == "time" else 10 * PATIENCE, stop)
    assert caught.value.again == (by == "time")
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 2
    assert until(lambda: not any(map(alive, started)))


def test_a_process_left_behind_does_not_hold_the_answer(program: Path) -> None:
    """Nor does it go on."""
    write(program, "subprocess.Popen(['sleep', '600'])\nprint('done')")
    with ending():
        assert PrintMode(AGENT, "").ask(ASK, 10 * PATIENCE, Event()) == "done\n"


def test_endless_printing_is_ended(program: Path) -> None:
    write(program, "while True: sys.stdout.write('x' * 65536)")
    with pytest.raises(ModelFailed, match="without end"):
        PrintMode(AGENT, "").ask(ASK, 30.0, Event())


def test_a_missing_command_is_told_before_anything_begins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotFound, match=COMMAND):
        PrintMode(AGENT, "")


def test_a_command_that_cannot_be_started_is_not_tried_again(program: Path) -> None:
    program.write_text("#!/nowhere/at/all\n")
    program.chmod(0o700)
    with pytest.raises(ModelRefused, match="cannot be started"):
        PrintMode(AGENT, "").ask(ASK, 5.0, Event())
