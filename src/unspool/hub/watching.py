"""Around every request: headers of every answer, a line in the log, a count, a line in the audit log.

The log tells which way was taken, by whom and with what outcome, a JSON object a line. It never tells the address
itself, which may be a secret, nor anything that was sent.
"""

import json
import secrets
import sys
import time
from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unspool.app.guard_headers import with_headers
from unspool.hub.metrics import Metrics

Write = Callable[[str], None]
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def stderr(line: str) -> None:
    """A line of the log, on standard error."""
    sys.stderr.write(line + "\n")


class Watching:
    """An app that is watched."""

    def __init__(self, app: ASGIApp, metrics: Metrics, log: Write | None) -> None:
        self._app, self._metrics, self._log = app, metrics, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        seen = _Seen(receive, send)
        scope.setdefault("state", {})["request"] = seen.id
        begun = time.perf_counter()
        self._metrics.begun()
        try:
            await self._app(scope, seen.receive, seen.send)
        finally:
            took = time.perf_counter() - begun
            way = str(scope.get("state", {}).get("way", "none"))
            self._metrics.ended(way, _method(scope), seen.status, took, (seen.came, seen.went))
            if self._log is not None:
                self._log(json.dumps(self._line(scope, seen, way, took)))

    def _line(self, scope: Scope, seen: "_Seen", way: str, took: float) -> dict[str, Any]:
        person = scope["state"].get("person")
        return {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "request": seen.id,
            "method": _method(scope),
            "way": way,
            "status": seen.status,
            "milliseconds": round(took * 1000, 1),
            "person": person.id if person is not None else "",
            "received": seen.came,
            "sent": seen.went,
        }


def _method(scope: Scope) -> str:
    """One of a few: whoever asks may make up any number of others."""
    method = scope["method"]
    return method if method in _METHODS else "other"


class _Seen:
    """What went to and fro in one request."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self.id = secrets.token_hex(8)
        self.status, self.came, self.went = 0, 0, 0

    async def receive(self) -> Message:
        message = await self._receive()
        self.came += len(message.get("body", b""))
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = (b"x-request-id", self.id.encode())
            message = {**message, "headers": [*with_headers(message.get("headers", ())), own]}
        self.went += len(message.get("body", b""))
        await self._send(message)
