"""`/live` and the server-sent events of a session and of the board."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple
from weakref import WeakValueDictionary

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from unspool.app.context import AppContext
from unspool.app.live_board import live_sessions
from unspool.app.live_session import Digests, FollowedSession
from unspool.app.open_session import locate_log
from unspool.app.render import HOME, render_page, render_template
from unspool.errors import NotFound, UnspoolError

MOST = 64
"""Streams at once."""
LOOK = 0.5
"""Seconds between two looks."""
_BEAT = 15.0
"""Seconds of silence after which a sign of life is sent, which also finds out that a listener is gone."""
_LONGEST = 3.0
"""A look that takes long is not repeated before as long again, up to this many seconds."""


class ServerSentEvent(NamedTuple):
    """One event."""

    event: str
    data: object
    id: str = ""

    @property
    def encoded(self) -> bytes:
        head = f"id: {self.id}\n" if self.id else ""
        return head.encode() + b"event: %b\ndata: %b\n\n" % (self.event.encode(), msgspec.json.encode(self.data))


NextEvent = Callable[[], ServerSentEvent | None]
"""Says what is new since the last look; runs in a thread."""


def event_stream(request: Request, look: NextEvent) -> StreamingResponse:
    """What looks tell, for as long as somebody listens."""
    app = request.app
    if getattr(app.state, "streams", 0) >= MOST:
        raise HTTPException(503, "Too many pages are being followed at once.", {"Retry-After": "10"})
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_counted(request, look), media_type="text/event-stream", headers=headers)


async def _counted(request: Request, look: NextEvent) -> AsyncIterator[bytes]:
    state = request.app.state
    state.streams = getattr(state, "streams", 0) + 1
    try:
        async for part in _events(request, look):
            yield part
    finally:
        state.streams -= 1


async def _events(request: Request, look: NextEvent) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    yield b"retry: 1000\n\n"
    silent = loop.time()
    while not await request.is_disconnected():
        begun = loop.time()
        said = await run_in_threadpool(look)
        ended = loop.time()
        if said is not None:
            yield said.encoded
            silent = ended
            if said.event == "end":
                return
        elif ended - silent > _BEAT:
            yield b": still here\n\n"
            silent = ended
        await asyncio.sleep(min(max(LOOK, ended - begun), _LONGEST))


_WATCHED: "WeakValueDictionary[tuple[int, str], FollowedSession]" = WeakValueDictionary()
"""Sessions that are followed now, by desk and id; each as long as a stream has it."""
_LOCK = threading.Lock()


def session_events(request: Request) -> Response:
    """What comes to a session, from a turn on: `from` is the first on the page, `since` what the page shows."""
    desk: AppContext = request.app.state.desk
    key, first = request.path_params["key"], _number(request.query_params.get("from", ""))
    locate_log(desk, key)
    known = request.headers.get("last-event-id") or request.query_params.get("since", "")
    return event_stream(request, _Following(_watched(desk, key), first, known))


def _watched(desk: AppContext, key: str) -> FollowedSession:
    with _LOCK:
        found = _WATCHED.get((id(desk), key))
        if found is None:
            found = _WATCHED[id(desk), key] = FollowedSession(desk, key)
        return found


class _Following:
    """What one page has seen, and what it is to be told next."""

    def __init__(self, watched: FollowedSession, first: int, known: str) -> None:
        self._watched, self._first, self._known = watched, first, known
        self._seen: Digests | None = None
        self._mark = known

    def __call__(self) -> ServerSentEvent | None:
        if self._seen is not None and not self._watched.changed() and self._watched.mark == self._mark:
            return None
        try:
            if self._seen is None:
                self._seen = self._watched.since(self._known, self._first)
            news, self._seen = self._watched.news(self._seen, self._first)
        except (NotFound, FileNotFoundError):
            return ServerSentEvent("end", {"why": "The log is gone."})
        except (UnspoolError, OSError):
            return None  # it may be readable at the next look
        self._mark = news.mark
        return ServerSentEvent("turns", news, news.mark) if news.turns else None


def live_page(request: Request) -> Response:
    """All sessions that are active now."""
    rows = live_sessions(request.app.state.desk)
    body = render_template("live.html", rows=rows)
    return render_page(request, "Live", body, (HOME,), ("read.css",), ("live.js",))


def live_events(request: Request) -> Response:
    """The rows of the board whenever they change."""
    return event_stream(request, _Board(request.app.state.desk))


class _Board:
    def __init__(self, desk: AppContext) -> None:
        self._desk = desk
        self._told = ""

    def __call__(self) -> ServerSentEvent | None:
        try:
            html = str(render_template("live_rows.html", rows=live_sessions(self._desk)))
        except (UnspoolError, OSError):
            return None
        if html == self._told:
            return None
        self._told = html
        return ServerSentEvent("board", {"html": html})


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


ROUTES = [
    Route("/live", live_page),
    Route("/live/events", live_events),
    Route("/s/{key}/events", session_events),
]
