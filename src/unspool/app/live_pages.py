"""The board of running sessions, and what follows a session while it grows."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import NamedTuple
from weakref import WeakValueDictionary

import msgspec
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from unspool import human
from unspool.agents import AGENTS, FoundLog
from unspool.agents.records import RunningSession, session_name
from unspool.app.api_endpoint import parse_number
from unspool.app.context import AppContext, is_inside_source
from unspool.app.live_session import Digests, FollowedSession
from unspool.app.open_session import indexed_overview, locate_log
from unspool.app.render import HOME, render_page, render_template
from unspool.app.session_list import time_markup
from unspool.config.settings import current_settings
from unspool.errors import NotFound, UnspoolError
from unspool.model import Event, Text, ToolCall
from unspool.site import summaries
from unspool.store.library.discover import discover_logs, usual_roots, watched_paths
from unspool.store.library.neighbours import chain_head
from unspool.store.library.read import read_tail
from unspool.tools import describe

_EVERY = 30.0
"""Seconds after which all folders are gone through again, whatever they look like."""
_JUST_NOW = 2_000_000_000
"""Nanoseconds."""


def current_logs(context: AppContext) -> list[FoundLog]:
    """The logs of the sources, which lie in them and are no links to elsewhere."""
    return context.part(LogWatcher).logs(context.here)


class LogWatcher:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._logs: list[FoundLog] = []
        self._folders: dict[Path, int] = {}
        self._until = 0.0

    def logs(self, roots: Iterable[Path]) -> list[FoundLog]:
        with self._lock:
            changed = any(_changed(folder) != at for folder, at in self._folders.items())
            if changed or time.monotonic() > self._until:
                self._discover(tuple(roots))
            else:
                self._logs = [grown for log in self._logs if (grown := _grown(log)) is not None]
            return self._logs

    def _discover(self, roots: tuple[Path, ...]) -> None:
        self._logs = [log for log in discover_logs(roots) if is_inside_source(log)]
        folders = {Path(log.path).parent for log in self._logs}
        for root in roots or usual_roots():
            folders |= {root, *watched_paths(root)}
        # what changed just now is looked at again, for more may have come since it was read
        recent = time.time_ns() - _JUST_NOW
        self._folders = {folder: -1 if (at := _changed(folder)) > recent else at for folder in folders}
        self._until = time.monotonic() + _EVERY


def _changed(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def _grown(log: FoundLog) -> FoundLog | None:
    """The log as it is now; None where it is gone."""
    try:
        status = Path(log.path).stat()
    except OSError:
        return None
    if (status.st_mtime, status.st_size) == (log.modified, log.size):
        return log
    return msgspec.structs.replace(log, modified=status.st_mtime, size=status.st_size)


_TAIL = 64 * 1024
"""Bytes at the end of a log that are looked at."""
_WORDS = 140


def doing(log: FoundLog) -> str:
    """The last thing that was said or done; empty where the end of the log tells nothing."""
    tail = read_tail(log, _TAIL)
    return next(filter(None, map(_words, reversed(tail.events))), "") if tail is not None else ""


def _words(event: Event) -> str:
    if event.prompt is not None and not event.sidechain:
        return f"You: {summaries.prompt_line(event.prompt, _WORDS)}"
    for block in reversed(event.blocks):
        if isinstance(block, Text) and block.text.strip():
            return summaries.plain_excerpt(block.text, _WORDS)
        if isinstance(block, ToolCall):
            return summaries.shorten_line(describe(block).summary, _WORDS)
    return ""


RECENT = 10 * 60
"""Seconds after its last line in which a session counts as active."""
_BUSY = 30


class LiveSession(NamedTuple):
    key: str
    title: str
    project: str
    state: str
    """`busy`, `waiting` or `open`."""
    last: Markup
    doing: str
    """What it said or did last, in short."""
    size: str


def live_sessions(context: AppContext) -> tuple[LiveSession, ...]:
    """Every active session, the last written first."""
    logs, now = current_logs(context), time.time()
    processes = {}
    for root in {log.root for log in logs if log.root}:
        for agent in AGENTS:
            home = agent.home(Path(root))
            running = agent.files.running(home) if home is not None else ()
            processes.update({session_name(agent.id, one.session_id): one for one in running if one.alive})
    active = [log for log in logs if now - log.modified < RECENT or log.name in processes]
    active.sort(key=lambda log: (-log.modified, log.path))
    return tuple(_row(context, log, processes.get(log.name), now) for log in active)


def _row(context: AppContext, log: FoundLog, process: RunningSession | None, now: float) -> LiveSession:
    key = context.session_key(log.agent_id, log.session_id)
    known = indexed_overview(context, key)
    begun = None if known is not None and known.titles.best else chain_head(log)
    title = known.title if known is not None and known.titles.best else begun.prompt if begun is not None else ""
    state = "busy" if now - log.modified < _BUSY or (process and process.status == "busy") else "waiting"
    return LiveSession(
        key,
        summaries.shorten_line(title, 140) or log.session_id,
        (known.project if known is not None else "") or log.folder,
        state,
        time_markup(log.modified, current_settings().zone),
        doing(log),
        human.size(log.size),
    )


MOST = 64
"""Streams at once."""
LOOK = 0.5
"""Seconds between two looks."""
_BEAT = 15.0
"""Seconds of silence after which a sign of life is sent, which also finds out that a listener is gone."""
_LONGEST = 3.0
"""A look that takes long is not repeated before as long again, up to this many seconds."""


class ServerSentEvent(NamedTuple):
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
    return StreamingResponse(_events(request, look), media_type="text/event-stream", headers=headers)


async def _events(request: Request, look: NextEvent) -> AsyncIterator[bytes]:
    loop, state = asyncio.get_running_loop(), request.app.state
    state.streams = getattr(state, "streams", 0) + 1
    try:
        yield b"retry: 1000\n\n"
        silent = loop.time()
        while not await request.is_disconnected():
            begun = loop.time()
            event = await run_in_threadpool(look)
            ended = loop.time()
            if event is not None:
                yield event.encoded
                silent = ended
                if event.event == "end":
                    return
            elif ended - silent > _BEAT:
                yield b": still here\n\n"
                silent = ended
            await asyncio.sleep(min(max(LOOK, ended - begun), _LONGEST))
    finally:
        state.streams -= 1


class FollowedSessions:
    """Sessions that are followed now, by id; each as long as a stream has it."""

    def __init__(self) -> None:
        self._sessions: WeakValueDictionary[str, FollowedSession] = WeakValueDictionary()
        self._lock = threading.Lock()

    def get(self, context: AppContext, key: str) -> FollowedSession:
        with self._lock:
            found = self._sessions.get(key)
            if found is None:
                found = self._sessions[key] = FollowedSession(context, key)
            return found


def session_events(request: Request) -> Response:
    """What comes to a session, from a turn on: `from` is the first on the page, `since` what the page shows."""
    context: AppContext = request.app.state.context
    key, first = request.path_params["key"], parse_number(request.query_params.get("from", "")) or 0
    locate_log(context, key)
    known = request.headers.get("last-event-id") or request.query_params.get("since", "")
    return event_stream(request, _Following(context.part(FollowedSessions).get(context, key), first, known))


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
    body = render_template("live.html", rows=live_sessions(request.app.state.context))
    return render_page(request, "Live", body, (HOME,), ("read.css",), ("live.js",))


def live_events(request: Request) -> Response:
    """The rows of the board whenever they change."""
    context, sent = request.app.state.context, ""

    def look() -> ServerSentEvent | None:
        nonlocal sent
        try:
            html = str(render_template("live_rows.html", rows=live_sessions(context)))
        except (UnspoolError, OSError):
            return None
        changed, sent = html != sent, html
        return ServerSentEvent("board", {"html": html}) if changed else None

    return event_stream(request, look)


ROUTES = [
    Route("/live", live_page),
    Route("/live/events", live_events),
    Route("/s/{key}/events", session_events),
]
