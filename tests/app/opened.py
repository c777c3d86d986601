"""The app as a process of its own, as a user starts it, and requests that no browser would send."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.waiting import PATIENCE, until

_STARTS = "import os; os.umask(0o077); from unspool.cli.open_cmd import command; command()"
_ADDRESS = re.compile(r"http://(\S+):(\d+)(/\S*)\?token=(\S+)")


class Answer(NamedTuple):
    """What a server said."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Opened:
    """A running app."""

    def __init__(self, process: "subprocess.Popen[bytes]", line: str) -> None:
        found = _ADDRESS.search(line)
        assert found is not None, line
        self.process = process
        self.host, self.port, self.path, self.token = found[1], int(found[2]), found[3], found[4]

    @property
    def own(self) -> str:
        """Its Host header."""
        return f"127.0.0.1:{self.port}"

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def get(self, target: str, **headers: str) -> Answer:
        """What somebody with the token gets."""
        return self.ask("GET", target, {**self.bearer, **_named(headers)})

    def ask(self, method: str, target: str, headers: dict[str, str] | None = None, body: bytes = b"") -> Answer:
        """The answer to exactly this request."""
        given = {"Host": self.own, **(headers or {})}
        if body or method == "POST":
            given.setdefault("Content-Length", str(len(body)))
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        return self.raw(f"{method} {target} HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode("latin-1") + body)

    def raw(self, data: bytes, seconds: float = 60) -> Answer:
        """The answer to these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as link:
            with suppress(BrokenPipeError, ConnectionResetError):  # it may have heard enough, and said why
                link.sendall(data)
            return parsed(everything(link))

    def synced(self, seconds: float = 300) -> None:
        """Wait until the first sync is done."""
        until(lambda: self._state()["state"] == "done", self._state, seconds)

    def _state(self) -> Any:
        return self.get("/api/state").json

    @property
    def memory(self) -> int:
        """Bytes that the process holds."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text("ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End it."""
        self.process.send_signal(number)
        self.process.wait(PATIENCE)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def everything(link: socket.socket) -> bytes:
    """All that is sent until the other side closes; of a stream that does not end, its beginning."""
    data = bytearray()
    with suppress(ConnectionResetError):
        while b"text/event-stream" not in data and (piece := link.recv(65536)):
            data += piece
    return bytes(data)


def parsed(data: bytes) -> Answer:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    return Answer(int(first.split()[1]) if first.startswith("HTTP/1.1 ") else 0, headers, body)


@contextmanager
def opened(*arguments: str, **environment: str) -> Iterator[Opened]:
    """`unspool open` with these arguments, until the end of the block."""
    process = subprocess.Popen(
        [sys.executable, "-c", _STARTS, "--no-browser", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline().decode()
        yield Opened(process, line or process.stderr.read().decode())
    finally:
        process.kill()
        process.communicate()
