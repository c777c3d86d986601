"""A share that ends before its time leaves nothing of the session: at once where it can, else by the next one."""

import os
import pty
import select
import signal
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.running import run, source
from tests.share.made import SESSION, session

PATIENCE = 60


@contextmanager
def waiting(arguments: list[str]) -> Iterator[int]:
    """A share at a terminal that asks about its first finding; its process."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-m", "unspool", *arguments])  # noqa: S606  our own program
    seen, ends = b"", time.monotonic() + PATIENCE
    while b"accept [e]verything" not in seen and time.monotonic() < ends:
        if select.select([terminal], [], [], 0.2)[0]:
            seen += os.read(terminal, 65536)
    try:
        yield child
    finally:
        os.close(terminal)


def ended(child: int, how: signal.Signals) -> None:
    os.kill(child, how)
    os.waitpid(child, 0)


def left(home: Path) -> list[Path]:
    """Files of the session that lie about in the user's own folders."""
    return [path for path in home.rglob("*.jsonl") if path.is_file()]


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    return ["share", SESSION, *source(tmp_path / "logs", session()), "--html", "-o", str(tmp_path / "talk.html")]


def test_it_is_private_while_it_lasts_and_gone_with_ctrl_c(arguments: list[str], home: Path) -> None:
    with waiting(arguments) as child:
        (drawn, *_) = left(home)
        private = next(folder for folder in drawn.parents if folder.parent.name == "scratch")
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
        ended(child, signal.SIGINT)
    assert left(home) == []
    assert not [path for path in home.rglob("*") if path.is_file() and path.suffix == ".json"]
    assert not Path(arguments[-1]).exists()


def test_what_a_killed_one_leaves_goes_with_the_next(arguments: list[str], home: Path, tmp_path: Path) -> None:
    with waiting(arguments) as child:
        ended(child, signal.SIGKILL)
    assert left(home)
    with waiting(arguments) as child:
        assert {folder.name.split("-")[0] for folder in (home / "xdg_cache_home/unspool/scratch").iterdir()} == {
            str(child)
        }
        ended(child, signal.SIGINT)
    assert left(home) == []
    assert run(*arguments, "--yes").code == 0
    assert left(home) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs", "talk.html"]
