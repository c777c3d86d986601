"""A model on loopback that speaks both dialects, shortens as asked, and can be told to misbehave."""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from unspool.copies.compress.passages import Passage
from unspool.copies.compress.run import Patience

KEY = "sk-made-up-0123456789"
QUICK = Patience(limits=((10_000, 5.0),), rest=0.01)
"""As usual, but in less time."""


class Heard(NamedTuple):
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    time: float


class Model(ThreadingHTTPServer):
    """What it heard, and how it answers: the next of `script`, then properly."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, script: list[Any], always: Any = "good") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.always = always
        self.heard: list[Heard] = []
        self.lock = threading.Lock()
        self.released = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: object) -> None:
        """Clients that have gone are part of the play."""


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Model

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def do_GET(self) -> None:
        """Only somebody who was sent here asks so."""
        self.server.heard.append(Heard(self.path, dict(self.headers), {}, time.monotonic()))
        self._send(404, b"{}")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.server.lock:
            self.server.heard.append(Heard(self.path, headers, body, time.monotonic()))
            way = self.server.script.pop(0) if self.server.script else self.server.always
        if isinstance(way, tuple):
            self._send(way[0], json.dumps({"error": {"message": way[2]}}).encode(), way[1])
        elif isinstance(way, bytes):
            self._send(200, way)
        elif isinstance(way, float):
            time.sleep(way)
            self._send(200, self._said(short(asked_of(body)["text"])))
        elif callable(way):
            self._send(200, self._said(way(asked_of(body)["text"])))
        else:
            getattr(self, f"_{way}")(body)

    def _good(self, body: dict[str, Any]) -> None:
        self._send(200, self._said(short(asked_of(body)["text"])))

    def _hold(self, body: dict[str, Any]) -> None:
        self.server.released.wait(30)
        self._good(body)

    def _hang(self, _: dict[str, Any]) -> None:
        self.server.released.wait(30)

    def _reset(self, _: dict[str, Any]) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def _trickle(self, _: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "10000")
        self.end_headers()
        while not self.server.released.wait(0.05):
            self.wfile.write(b" ")
            self.wfile.flush()

    def _cut(self, body: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "10000")
        self.end_headers()
        self.wfile.write(self._said(short(asked_of(body)["text"])))

    def _said(self, text: str) -> bytes:
        """An answer in the dialect of the path."""
        if self.path.endswith("/v1/messages"):
            blocks = [{"type": "thinking", "thinking": "hm", "text": "hm"}, {"type": "text", "text": text}]
            return json.dumps({"type": "message", "role": "assistant", "content": blocks}).encode()
        return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def asked_of(body: dict[str, Any]) -> dict[str, Any]:
    """The object that a request's last message is."""
    found: dict[str, Any] = json.loads(body["messages"][-1]["content"])
    return found


def short(text: str) -> str:
    """The proper answer to a passage: its first words, as the JSON that was asked for."""
    return json.dumps({"text": " ".join(text.split()[:4])})


def passages(count: int, words: int = 120, role: Any = "assistant") -> list[Passage]:
    """Passages of one turn each, no two alike."""
    return [Passage(f"line-{at}", at, role, f"Passage {at} tells " + "of the harbour " * words) for at in range(count)]


@contextmanager
def model(*script: Any, always: Any = "good") -> Iterator[Model]:
    """A running model."""
    server = Model(list(script), always)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def until(true: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait for something to come true; whether it did."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
