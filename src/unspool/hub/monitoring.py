"""Request log, metrics and health checks."""

import json
import secrets
import sys
import threading
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unspool.hub.errors import Forbidden
from unspool.hub.routes import HubRoute, Needs, hub, person
from unspool.hub.store.connect import Store
from unspool.web.guard import add_security_headers

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_HELD = {
    "shares": "SELECT count(*) FROM share WHERE ended IS NULL",
    "sessions": "SELECT count(*) FROM session",
    "people": "SELECT count(*) FROM person WHERE ended IS NULL",
}
_BYTES = "SELECT coalesce(sum(size), 0), coalesce(sum(stored), 0) FROM blob"


class Metrics:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: Counter[tuple[str, str, int]] = Counter()
        self._times: dict[str, list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._received = self._sent = self._now = 0

    def begun(self) -> None:
        with self._lock:
            self._now += 1

    def ended(self, route: str, method: str, status: int, seconds: float, moved: tuple[int, int]) -> None:
        with self._lock:
            self._now -= 1
            self._answers[route, method, status] += 1
            self._times[route][bisect_left(_BOUNDS, seconds)] += 1
            self._seconds[route] += seconds
            self._received += moved[0]
            self._sent += moved[1]

    def text(self, store: Store) -> str:
        held = {name: (store.db.row(sql) or (0,))[0] for name, sql in _HELD.items()}
        size, stored = store.db.row(_BYTES) or (0, 0)
        with self._lock:
            lines = [*_head("unspool_hub_requests_total", "counter", "Requests answered.")]
            for (route, method, status), count in sorted(self._answers.items()):
                labels = f'way="{route}",method="{method}",status="{status}"'
                lines.append(f"unspool_hub_requests_total{{{labels}}} {count}")
            lines += self._durations()
            lines += _one("unspool_hub_requests_in_flight", "gauge", "Requests being answered now.", self._now)
            lines += _one("unspool_hub_received_bytes_total", "counter", "Bytes of bodies that came.", self._received)
            lines += _one("unspool_hub_sent_bytes_total", "counter", "Bytes of bodies that went.", self._sent)
        for name, count in held.items():
            lines += _one(f"unspool_hub_{name}", "gauge", f"How many {name} there are.", count)
        lines += _one("unspool_hub_content_bytes", "gauge", "Bytes of all contents, each once.", size)
        lines += _one("unspool_hub_stored_bytes", "gauge", "Bytes that they take in the object store.", stored)
        return "\n".join([*lines, ""])

    def _durations(self) -> Iterator[str]:
        name = "unspool_hub_request_seconds"
        yield from _head(name, "histogram", "How long requests took.")
        for route, counts in sorted(self._times.items()):
            total = 0
            for bound, count in zip((*map(str, _BOUNDS), "+Inf"), counts, strict=True):
                total += count
                yield f'{name}_bucket{{way="{route}",le="{bound}"}} {total}'
            yield f'{name}_sum{{way="{route}"}} {self._seconds[route]:.6f}'
            yield f'{name}_count{{way="{route}"}} {total}'


def _head(name: str, kind: str, help_line: str) -> tuple[str, str]:
    return f"# HELP {name} {help_line}", f"# TYPE {name} {kind}"


def _one(name: str, kind: str, help_line: str, value: int) -> tuple[str, str, str]:
    return (*_head(name, kind, help_line), f"{name} {value}")


Write = Callable[[str], None]
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def log_to_stderr(line: str) -> None:
    sys.stderr.write(line + "\n")


class RequestLog:
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
            route = str(scope.get("state", {}).get("way", "none"))
            self._metrics.ended(route, _method(scope), seen.status, took, (seen.came, seen.went))
            if self._log is not None:
                person = scope["state"].get("person")
                line = {
                    "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                    "request": seen.id,
                    "method": _method(scope),
                    "way": route,
                    "status": seen.status,
                    "milliseconds": round(took * 1000, 1),
                    "person": person.id if person is not None else "",
                    "received": seen.came,
                    "sent": seen.went,
                }
                self._log(json.dumps(line))


def _method(scope: Scope) -> str:
    """One of a few: whoever asks may make up any number of others."""
    method = scope["method"]
    return method if method in _METHODS else "other"


class _Seen:
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
            message = {**message, "headers": [*add_security_headers(message.get("headers", ())), own]}
        self.went += len(message.get("body", b""))
        await self._send(message)


_MOMENT = 1.0
"""Seconds: anybody may ask, and the stores are not to be kept busy by that."""


class HealthCheck:
    """Whether the stores answer, as one looks at a time; whoever asks meanwhile is told what was seen last."""

    def __init__(self) -> None:
        self._looking = threading.Lock()
        self._at = 0.0
        self._seen: dict[str, bool] = {}

    def seen(self, store: Store) -> dict[str, bool]:
        if self._looking.acquire(blocking=not self._seen):
            try:
                if time.monotonic() - self._at > _MOMENT or not self._seen:
                    self._seen = {"database": store.db.well(), "objects": store.objects.well()}
                    self._at = time.monotonic()
            finally:
                self._looking.release()
        return self._seen


async def alive(request: Request) -> Response:
    """The process answers, also while all its threads are busy."""
    return PlainTextResponse("ok\n")


def ready(request: Request) -> Response:
    """The database and the object store answer as well; a balancer sends people elsewhere until they do."""
    state = request.app.state
    facts = {**state.health.seen(hub(request).store), "stopping": state.stopping}
    well = facts["database"] and facts["objects"] and not facts["stopping"]
    return JSONResponse({"ready": well, **facts}, 200 if well else 503)


def metrics(request: Request) -> Response:
    """Figures in Prometheus' text format, for admins and for tokens of scope `metrics`."""
    who = person(request)
    if not who.admin and who.scope != "metrics":
        raise Forbidden("This is for admins, and for tokens of scope metrics.")
    text: str = request.app.state.metrics.text(hub(request).store)
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")


ROUTES = (
    HubRoute("/healthz", alive, Needs.NOTHING, free=True),
    HubRoute("/readyz", ready, Needs.NOTHING, free=True),
    HubRoute("/metrics", metrics, Needs.PERSON, scopes=("all", "metrics"), free=True),
)
