"""An agent's own screen, driven in tmux: keys are sent, and each act waits until the screen shows what it should."""

import os
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

PATIENCE = 90.0
"""Seconds that the screen has to show what an act waits for."""


MOMENT = 1.0
"""Seconds that a key has to show an effect before it is pressed again."""


class Act(msgspec.Struct, frozen=True):
    """One thing done at the screen: "type", "keys", "wait", "gone", "release", "run" or "end"."""

    do: str
    what: str = ""
    until: str = ""


def typed(text: str) -> tuple[Act, ...]:
    """Type a line, see it stand there, and send it."""
    return Act("type", text), Act("keys", "Enter")


def keys(names: str, until: str = "") -> Act:
    """Press keys, by tmux's names for them; again and again until the screen shows this, where it must.

    A dialog that has just appeared takes no keys for a moment, lest it takes those that were meant for something else.
    """
    return Act("keys", names, until)


def wait(pattern: str) -> Act:
    """Wait until the screen shows this."""
    return Act("wait", pattern)


def outside(command: str) -> Act:
    """Run a command that the agent knows nothing of."""
    return Act("run", command)


def gone(pattern: str) -> Act:
    """Wait until the screen shows this no more."""
    return Act("gone", pattern)


RELEASE = Act("release")
"""Let the model answer the step that is held."""

END = Act("end")
"""Wait until the agent has ended."""


class NotShown(Exception):
    """The screen never showed what was waited for."""


class Terminal:
    """A tmux server of its own with one window, in which a program runs."""

    def __init__(self, words: list[str], cwd: Path, env: dict[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="unspool-tmux-")
        self._socket = f"{self._folder.name}/socket"
        self._fifo = f"{self._folder.name}/output"
        self._start = (words, cwd, {**env, "TERM": "xterm-256color"})
        self._output = -1
        self.screen = ""

    def __enter__(self) -> Self:
        words, cwd, env = self._start
        os.mkfifo(self._fifo)
        self._output = os.open(self._fifo, os.O_RDONLY | os.O_NONBLOCK)
        self._tmux(
            "-f", os.devnull, "new-session", "-d", "-x", "150", "-y", "50", "-c", str(cwd), "--", *words, env=env
        )
        self._tmux("pipe-pane", f"exec cat >{self._fifo}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tmux("kill-server")
        os.close(self._output)
        self._folder.cleanup()

    def _tmux(self, *words: str, env: dict[str, str] | None = None) -> tuple[bool, str]:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *words],  # noqa: S607
            env=env,
            capture_output=True,
            text=True,
            check=False,
            errors="replace",
        )
        return done.returncode == 0, done.stdout

    def look(self) -> bool:
        """Take down what the screen shows; false once the program has ended."""
        there, screen = self._tmux("capture-pane", "-p", "-J")
        self.screen = screen if there else self.screen
        return there

    def type(self, text: str) -> None:
        """Type, and wait until it stands there, however the screen breaks lines."""
        tail = re.sub(r"\s", "", text)[-24:]
        self._tmux("send-keys", "-l", "--", text)
        self.until(lambda: tail in re.sub(r"\s", "", self.screen), f"the typed {text!r}")

    def press(self, names: str, until: str) -> None:
        """Press keys until the screen shows what they should bring about; it is given a moment each time."""
        end = time.monotonic() + PATIENCE
        shown = False
        while not shown:
            self._tmux("send-keys", *names.split())
            try:
                self.until(lambda: bool(re.search(until, self.screen)), repr(until), MOMENT)
                shown = True
            except NotShown:
                if time.monotonic() > end:
                    raise

    def until(self, met: Callable[[], bool], told: str, patience: float = 0) -> None:
        """Look again whenever something is written, until it is met."""
        end = time.monotonic() + (patience or PATIENCE)
        while True:
            there = self.look()
            if met():
                return
            if not there or time.monotonic() > end:
                raise NotShown(f"the screen never showed {told}; it shows:\n{self.screen.rstrip()}")
            self._written()

    def ended(self) -> None:
        """Wait until the program has ended."""
        end = time.monotonic() + PATIENCE
        while self.look():
            if time.monotonic() > end:
                raise NotShown(f"the agent never ended; it shows:\n{self.screen.rstrip()}")
            self._written()

    def _written(self) -> None:
        ready, _, _ = select.select([self._output], [], [], 0.5)
        if ready and not os.read(self._output, 1 << 16):
            time.sleep(0)  # the pipe has no writer yet, or none any more: look again

    def act(self, one: Act, release: Callable[[], None]) -> None:
        """Do one thing of a script."""
        match one.do:
            case "type":
                self.type(one.what)
            case "keys":
                self.press(one.what, one.until)
            case "wait":
                self.until(lambda: bool(re.search(one.what, self.screen)), repr(one.what))
            case "gone":
                self.until(lambda: not re.search(one.what, self.screen), f"a screen without {one.what!r}")
            case "run":
                subprocess.run(["bash", "-c", one.what], cwd=self._start[1], check=True)  # noqa: S607
            case "release":
                release()
            case "end":
                self.ended()
            case _:
                raise ValueError(f"no act is called {one.do!r}")
