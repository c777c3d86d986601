"""`unspool` alone: the app on a terminal; in a pipe, where nobody could end it, a list that ends by itself."""

import os
import pty
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.running import finished, run, talk

pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals of this kind are POSIX")


@contextmanager
def on_a_terminal(*arguments: str) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """A real process with a terminal as its standard output, and our end of that terminal."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    process = subprocess.Popen(
        [sys.executable, "-m", "unspool", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**environment, "BROWSER": ""},
    )
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.communicate()
        os.close(ours)


def address(terminal: int) -> str:
    """The address that is printed there."""
    said = b""
    while b"\n" not in said:
        said += os.read(terminal, 4096)
    return said.decode().split()[-1] if said.count(b"\n") == 1 else said.decode().splitlines()[0].split()[-1]


def test_on_a_terminal_the_app_opens_until_ctrl_c(home: Path) -> None:
    talk("Waves").write(home / ".claude")
    with on_a_terminal() as (process, terminal):
        where = address(terminal)
        assert where.startswith("http://127.0.0.1:")
        assert "?token=" in where
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(where, timeout=90) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=90) == 130


def test_in_a_pipe_it_lists_and_ends(home: Path) -> None:
    talk("Waves").write(home / ".claude")
    done = finished()
    assert (done.code, "Waves" in done.out, "http://" in done.out) == (0, True, False)


def test_in_a_pipe_it_serves_where_it_is_told_how(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "unspool", "--no-browser", "--read-only"],
        stdout=subprocess.PIPE,
        env={**os.environ, "UNSPOOL_ARCHIVE": str(tmp_path)},
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.terminate()
        assert process.wait(timeout=90) == 0
    assert b"http://127.0.0.1:" in line


@pytest.mark.parametrize("option", [("--port", "8000"), ("--host", "::1"), ("--no-browser",), ("--read-only",)])
def test_how_to_serve_stands_before_no_other_command(option: tuple[str, ...]) -> None:
    done = run(*option, "list", "--demo")
    assert (done.code, done.out) == (2, "")
    assert "`unspool open`" in done.err
