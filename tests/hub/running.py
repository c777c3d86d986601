"""A hub for tests: in this process behind a real port, or as the process that a user starts."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
import uvicorn

from tests.waiting import PATIENCE, until
from unspool.hub.monitoring import Write
from unspool.hub.routes import Hub, HubSettings
from unspool.hub.server import create_app
from unspool.hub.store.connect import Store


class Answer(NamedTuple):
    """What a hub answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """The body, where it is JSON."""
        found: dict[str, Any] = msgspec.json.decode(self.body)
        return found


class Client(NamedTuple):
    """Somebody who asks a hub."""

    port: int
    token: str = ""

    def ask(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        """One request on a connection of its own."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        given = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            connection.request(method, path, body, {**given, **(headers or {})})
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def send(self, method: str, path: str, value: object) -> Answer:
        """A request with JSON."""
        return self.ask(method, path, msgspec.json.encode(value), {"Content-Type": "application/json"})

    def get(self, path: str) -> Answer:
        """A page or a document."""
        return self.ask("GET", path)

    def as_(self, token: str) -> "Client":
        """The same hub, asked by another person."""
        return self._replace(token=token)

    @property
    def address(self) -> str:
        """Where the hub is."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def running(store: Store, terms: HubSettings = HubSettings(), log: Write | None = None) -> Iterator[Client]:  # noqa: B008
    """A hub on a store, in a thread of this process."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    served = create_app(Hub(store, terms), log)
    server = uvicorn.Server(uvicorn.Config(served, log_level="warning", lifespan="off", proxy_headers=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    until(lambda: server.started)
    try:
        yield Client(listener.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
        served.state.reads.flush()


class Process(NamedTuple):
    """A hub as a user starts it."""

    process: "subprocess.Popen[bytes]"
    client: Client
    token: str
    """The owner's, where this was the first start."""


@contextmanager
def started(data: Path, *options: str, env: dict[str, str] | None = None) -> Iterator[Process]:
    """`unspool hub` in a process of its own; it is asked to end, and killed where it does not."""
    port = _free()
    command = [sys.executable, "-m", "unspool", "hub", "--data", str(data), "--port", str(port), *options]
    with tempfile.NamedTemporaryFile("r") as said:
        process = subprocess.Popen(
            command, stdout=said.fileno(), stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})}
        )
        try:
            _ready(process, port)
            found = re.search(r"uns_[\w-]+", Path(said.name).read_text())
            token = found[0] if found else ""
            yield Process(process, Client(port, token), token)
        finally:
            _ended(process)


def _ended(process: "subprocess.Popen[bytes]") -> None:
    """Ask it to end, and see to it that it does."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _ready(process: "subprocess.Popen[bytes]", port: int) -> None:
    """Wait until it answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            if Client(port).get("/healthz").status == 200:
                return
        except OSError:
            time.sleep(0.05)
    pytest.fail("the hub ended, or did not answer")


def _free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
