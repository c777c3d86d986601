"""An agent's own print mode as a model: a process for each request, which reads its prompt and prints the answer."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from threading import Event
from typing import IO

from unspool.clone.compress.provider import Ask, Failed, Refused
from unspool.errors import NotFound
from unspool.export.inert import one_line
from unspool.formats import Format

WIDTH = 4
"""Processes at once: each is an agent of some hundred megabytes."""
_LOOK = 0.05
_MOST = 4 * 1024 * 1024
_WORDS = 200


class PrintMode:
    """The agent whose sessions are shortened, asked with the account that it has."""

    width = WIDTH

    def __init__(self, agent: Format, model: str) -> None:
        command = agent.ask(model, "")
        if not command:
            raise NotFound(f"{agent.name} has no print mode that could be asked.")
        if shutil.which(command[0]) is None:
            raise NotFound(f"There is no command {command[0]} to ask; name a service with its address instead.")
        self._agent = agent
        self.model = model
        self.name = f"{command[0]} {command[1]}"

    def ask(self, ask: Ask, seconds: float, stop: Event) -> str:
        """What the process prints. It runs in an empty folder, so that nothing of a project speaks to it."""
        command = self._agent.ask(self.model, ask.system)
        with tempfile.TemporaryDirectory(prefix="unspool-") as empty, tempfile.TemporaryFile() as prompt:
            prompt.write(ask.content.encode())
            prompt.seek(0)
            with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as complaint:
                code = self._run(command, empty, (prompt, printed, complaint), (seconds, stop))
                if code:
                    words = one_line(_read(complaint) or _read(printed))[:_WORDS]
                    raise Failed(f"{self.name} ended with {code}" + (f": {words}" if words else ""))
                return _read(printed)

    def _run(
        self, command: list[str], folder: str, files: tuple[IO[bytes], IO[bytes], IO[bytes]], until: tuple[float, Event]
    ) -> int:
        """The exit code; files instead of pipes, which a process left behind could hold open."""
        (stdin, stdout, stderr), (seconds, stop) = files, until
        try:
            process = subprocess.Popen(  # noqa: S603  the agent's own command, and no shell
                [shutil.which(command[0]) or command[0], *command[1:]],
                cwd=folder,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as problem:
            raise Refused(f"{self.name} cannot be started: {problem.strerror}") from None
        deadline = time.monotonic() + seconds
        try:
            while process.poll() is None:
                if stop.wait(_LOOK):
                    raise Failed("stopped", again=False)
                if time.monotonic() > deadline:
                    raise Failed(f"{self.name} took more than {seconds:.0f} s")
                if os.fstat(stdout.fileno()).st_size > _MOST:
                    raise Failed(f"{self.name} printed without end")
            return process.returncode
        finally:
            _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Nothing of it is left running: not the process, nor what it has started."""
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_MOST).decode("utf-8", "replace")
