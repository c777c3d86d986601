"""What only a real process shows: Ctrl-C, a reader that goes away, a full disk, a terminal."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.running import STORM, finished, process, source, talk
from tests.waiting import until

posix = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of this kind are POSIX")


def long_log(megabytes: int) -> bytes:
    """A log of so many megabytes, longer than any pipe holds."""
    log = talk("Count the waves.")
    log.assistant(log.text("wave " * 2000))
    line = log.to_bytes().splitlines(keepends=True)[-1]
    return log.to_bytes() + line * (megabytes * 1_000_000 // len(line))


@posix
@pytest.mark.parametrize("name", ["x.json", "x.md", "x.txt"])
def test_ctrl_c_leaves_what_was_there(name: str, tmp_path: Path) -> None:
    """Stopped while it reads, a command ends with 130 and a word; the file is as before and nothing lies beside it."""
    target = tmp_path / name
    target.write_text("as before")
    with process("export", "-", "-o", str(target)) as started:
        assert started.stdin is not None
        assert started.stderr is not None
        # More than a pipe holds, so that when this returns the command is reading.
        started.stdin.write(long_log(1))
        started.stdin.flush()
        started.send_signal(signal.SIGINT)
        assert started.wait(90) == 130
        said = started.stderr.read().decode()
    assert "Stopped." in said
    assert "Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert target.read_text() == "as before"


_WAITING = """
import sys
from pathlib import Path
from unspool.cli import main
from unspool.store.library import read
real, pipe = read.count_log, sys.argv.pop(1)

def count_log(found):
    if found.session_id.startswith("22222222"):
        Path(pipe).read_bytes()
    return real(found)

read.count_log = count_log
main()
"""
"""A list that comes to no end as long as nobody closes a pipe."""


@posix
def test_ctrl_c_in_many_processes(tmp_path: Path) -> None:
    """Ctrl-C on a terminal goes to every worker too; only one word is said, and no traceback."""
    given = source(tmp_path, talk("Waves"))
    log = next(tmp_path.rglob("*.jsonl"))
    log.with_name("22222222-0000-4000-8000-000000000002.jsonl").write_bytes(log.read_bytes())
    log.write_bytes(long_log(30))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-c", _WAITING, str(pipe), "list", *given]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as started:
        try:
            writer = _once_read(pipe)
            until(lambda: _sleep(started.pid))  # the other workers are done then, and wait for work
            os.killpg(started.pid, signal.SIGINT)
            _, said = started.communicate(timeout=90)
        finally:
            started.kill()
    os.close(writer)
    assert started.returncode == 130
    assert said.decode().split() == ["Stopped."]


def _sleep(group: int) -> bool:
    """Whether every process of a group waits for something; `ps` tells that everywhere."""
    told = subprocess.run(["ps", "-axo", "pgid=,stat="], capture_output=True, text=True, check=True).stdout  # noqa: S607
    states = [state for number, state in map(str.split, told.splitlines()) if int(number) == group]
    return len(states) > 1 and all(state.startswith(("S", "I")) for state in states)


def _once_read(pipe: Path) -> int:
    """The end to write to, open as soon as somebody waits at the other: then the workers are at work."""
    found: list[int] = []

    def is_read() -> bool:
        with suppress(OSError):
            found.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return bool(found)

    until(is_read, lambda: "nobody reads the log")
    return found[0]


@posix
@pytest.mark.parametrize(
    "arguments", [("show", "-", "--full"), ("export", "-", "-f", "json"), ("export", "-", "-f", "text")], ids=" ".join
)
def test_a_reader_that_has_seen_enough(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """`| head -1` ends quietly and well."""
    log = tmp_path / "log.jsonl"
    log.write_bytes(long_log(1) + b"".join(talk(f"Wave {number}").to_bytes() for number in range(500)))
    with process(*(str(log) if part == "-" else part for part in arguments)) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        assert started.stdout.read(1)
        started.stdout.close()
        assert started.wait(90) == 0
        assert started.stderr.read() == b""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [("list",), ("export", STORM), ("show", STORM)], ids=" ".join)
def test_a_full_disk_is_one_sentence(arguments: tuple[str, ...]) -> None:
    """Where the output takes no more, that is said in one sentence."""
    command = [sys.executable, "-m", "unspool", *arguments, "--demo"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert done.stderr.startswith("unspool: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
@pytest.mark.parametrize("columns", [60, 120])
def test_on_a_terminal(columns: int) -> None:
    """On a terminal the list is coloured and as wide as the terminal."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "unspool", "list", "--demo"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as started:
        os.close(theirs)
        out = b""
        while chunk := _read(ours):
            out += chunk
    os.close(ours)
    assert started.returncode == 0
    assert b"\x1b[36m" in out
    plain = [line for line in _plain(out).splitlines() if line.strip()]
    assert max(len(line) for line in plain) == columns


def _read(descriptor: int) -> bytes:
    """What a terminal says; nothing once its other end is closed."""
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


def _plain(out: bytes) -> str:
    return re.sub(r"\x1b\[[0-9;]*m|\r", "", out.decode())


def test_a_module_runs_too() -> None:
    """`python -m unspool` is `unspool`."""
    assert finished("--version").out.startswith("unspool ")


@posix
@pytest.mark.parametrize("command", [("all",), ("json", STORM), ("export", STORM)])
def test_what_is_written_is_the_users_alone(command: tuple[str, ...], tmp_path: Path) -> None:
    """Folders and files that a command makes can be read by nobody else, whatever the shell allows."""
    target = tmp_path / "new" / ("x.md" if command[0] == "export" else "site")
    with process(*command, "--demo", "-o", str(target)) as started:
        assert started.wait(90) == 0
    made = [path for path in (tmp_path / "new", *(tmp_path / "new").rglob("*")) if not path.is_symlink()]
    assert len(made) > 1
    assert [path for path in made if path.stat().st_mode & 0o077] == []
