"""A service on loopback that speaks both the older and the newer way, and can be told to misbehave."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN, ORGANIZATION = "a-made-token", "0a0a0a0a-0000-4000-8000-00000000000a"
ID = "session_011CUmade"


def entry(number: int, kind: str = "user") -> dict[str, Any]:
    """One line of a session."""
    content: Any = f"Word {number}" if kind == "user" else [{"type": "text", "text": f"Answer {number}"}]
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"msg_{number}", "model": "claude-opus-4-6", "usage": {"input_tokens": 1, "output_tokens": 2}}
    place = {"uuid": f"00000000-0000-4000-8000-{number:012d}", "parentUuid": None, "sessionId": ID}
    if number:
        place["parentUuid"] = f"00000000-0000-4000-8000-{number - 1:012d}"
    return {**place, "type": kind, "timestamp": f"2026-03-01T10:00:{number:02d}.000Z", "message": message}


ENTRIES = [entry(number, "assistant" if number % 2 else "user") for number in range(6)]
LISTED = [
    {
        "id": ID,
        "title": "Mend the net",
        "created_at": "2026-03-01T10:00:00Z",
        "updated_at": "2026-03-01T11:00:00Z",
        "session_status": "idle",
        "session_context": {"outcomes": [{"git_info": {"repo": "harbour/nets"}}]},
    },
    {
        "id": "session_012other",
        "title": "Paint the boat",
        "created_at": "2026-03-02T10:00:00Z",
        "session_context": {"sources": [{"url": "https://github.com/harbour/boats.git"}]},
    },
    {"id": "session_013bare", "title": None, "session_context": None},
]


class Service(ThreadingHTTPServer):
    """What it was asked, and how it answers."""

    daemon_threads = True

    def __init__(self, ways: tuple[str, ...] = ("events", "ingress"), answers: dict[str, Any] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.ways = ways
        self.answers = answers or {}
        """A path, with what it answers instead: a status, a body, or (status, headers)."""
        self.asked: list[str] = []
        self.seen: list[dict[str, str]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Service

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.server.asked.append(self.path)
        self.server.seen.append({name.lower(): value for name, value in self.headers.items()})
        instead = self.server.answers.get(parts.path)
        if isinstance(instead, int):
            self._send(instead, b"{}")
        elif isinstance(instead, bytes):
            self._send(200, instead)
        elif isinstance(instead, tuple):
            self._send(instead[0], b"", instead[1])
        elif self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._send(401, b"{}")
        elif self.headers.get("x-organization-uuid") != ORGANIZATION:
            self._send(403, b"{}")
        else:
            self._route(parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()})

    def _route(self, path: str, query: dict[str, str]) -> None:
        if path == "/v1/sessions":
            at = int(query.get("after_id", "0").removeprefix("at-"))
            page = {"data": LISTED[at : at + 2], "has_more": at + 2 < len(LISTED), "last_id": f"at-{at + 2}"}
            self._send(200, json.dumps(page).encode())
        elif path == f"/v1/code/sessions/{ID}/teleport-events" and "events" in self.server.ways:
            at = int(query.get("cursor", "0").removeprefix("c"))
            events: list[Any] = [{"event_id": f"e{n}", "payload": line} for n, line in enumerate(ENTRIES)]
            events.insert(3, {"event_id": "nothing", "payload": None})
            following = f"c{at + 3}" if at + 3 < len(events) else None
            self._send(200, json.dumps({"data": events[at : at + 3], "next_cursor": following}).encode())
        elif path == f"/v1/session_ingress/session/{ID}" and "ingress" in self.server.ways:
            self._send(200, json.dumps({"loglines": ENTRIES}).encode())
        else:
            self._send(404, b"{}")

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving(**given: Any) -> Iterator[Service]:
    """A running service."""
    service = Service(**given)
    thread = threading.Thread(target=service.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.shutdown()
        service.server_close()
        thread.join()
