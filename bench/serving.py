"""A server that is started, asked over HTTP and ended: ours and a peer's, in homes of their own."""

import os
import re
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from bench.answers import UNSPOOL
from bench.family import Family, look

HOST = "127.0.0.1"
_TOKEN = re.compile(r"token=([\w-]+)")
_PATIENCE = 1800.0
_EVERY = 0.01
_ANSWER = 120.0
"""Seconds that one answer may take."""

Useful = Callable[[bytes], bool]
"""Whether an answer is what was waited for."""


@dataclass(frozen=True)
class Server:
    """A process that listens, or soon will."""

    process: subprocess.Popen[bytes]
    port: int
    begun: float
    output: Path
    """What it says."""

    @property
    def token(self) -> str:
        """The token that it printed; empty where it needs none, or has printed none yet."""
        found = _TOKEN.search(self.output.read_text(errors="replace"))
        return found[1] if found else ""

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def get(self, path: str) -> bytes | None:
        """The answer to a request; None where there is none, or it is no success."""
        connection = HTTPConnection(HOST, self.port, timeout=_ANSWER)
        try:
            connection.request("GET", path, headers=self.headers)
            answer = connection.getresponse()
            data = answer.read()
        except (OSError, HTTPException):
            return None
        finally:
            connection.close()
        return data if answer.status == 200 else None

    def until(self, path: str, useful: Useful) -> float | None:
        """Seconds from its start until a page is useful; None where it ended, or it took too long."""
        while self.process.poll() is None and (past := time.perf_counter() - self.begun) < _PATIENCE:
            answer = self.get(path)
            if answer is not None and useful(answer):
                return time.perf_counter() - self.begun
            time.sleep(_EVERY if past < 60 else 1.0)
        return None

    @property
    def memory(self) -> Family:
        """The most that it and its processes held so far."""
        found = Family()
        look(self.process.pid, found)
        return found

    @property
    def last_words(self) -> str:
        """The last line that it said."""
        return (self.output.read_text(errors="replace").strip().splitlines() or ["no message"])[-1][:200]


@contextmanager
def started(command: Sequence[str], port: int, env: dict[str, str] | None = None) -> Iterator[Server]:
    """A server, begun now and ended with this."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        output = home / "output.txt"
        said = stack.enter_context(output.open("wb"))
        variables = {**os.environ, "HOME": str(home), "NO_COLOR": "1", "PYTHONUNBUFFERED": "1", **(env or {})}
        begun = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=variables, cwd=home)
        try:
            yield Server(process, port, begun, output)
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def ours(archive: Path, source: Path, port: int) -> list[str]:
    """Our app as a person starts it, but for the browser."""
    place = ["--archive", str(archive), "--source", str(source)]
    return [UNSPOOL, "open", "--no-browser", "--port", str(port), *place]


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.create_server((HOST, 0)) as door:
        port: int = door.getsockname()[1]
    return port
