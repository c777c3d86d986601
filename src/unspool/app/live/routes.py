"""The addresses of what goes on: the events of a session, the board of all that are active, and its events."""

import threading
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from unspool.app.desk import Desk
from unspool.app.live.board import board
from unspool.app.live.streams import Said, stream
from unspool.app.live.watched import Digests, Watched
from unspool.app.reading.locate import locate
from unspool.app.render import HOME, page, render
from unspool.errors import NotFound, UnspoolError

_WATCHED: "WeakValueDictionary[tuple[int, str], Watched]" = WeakValueDictionary()
"""Sessions that are followed now, by desk and id; each as long as a stream has it."""
_LOCK = threading.Lock()


def session_events(request: Request) -> Response:
    """What comes to a session, from a turn on: `from` is the first on the page, `since` what the page shows."""
    desk: Desk = request.app.state.desk
    key, first = request.path_params["key"], _number(request.query_params.get("from", ""))
    locate(desk, key)
    known = request.headers.get("last-event-id") or request.query_params.get("since", "")
    return stream(request, _Following(_watched(desk, key), first, known))


def _watched(desk: Desk, key: str) -> Watched:
    with _LOCK:
        found = _WATCHED.get((id(desk), key))
        if found is None:
            found = _WATCHED[id(desk), key] = Watched(desk, key)
        return found


class _Following:
    """What one page has seen, and what it is to be told next."""

    def __init__(self, watched: Watched, first: int, known: str) -> None:
        self._watched, self._first, self._known = watched, first, known
        self._seen: Digests | None = None
        self._mark = known

    def __call__(self) -> Said | None:
        if self._seen is not None and not self._watched.changed() and self._watched.mark == self._mark:
            return None
        try:
            if self._seen is None:
                self._seen = self._watched.since(self._known, self._first)
            news, self._seen = self._watched.news(self._seen, self._first)
        except (NotFound, FileNotFoundError):
            return Said("end", {"why": "The log is gone."})
        except (UnspoolError, OSError):
            return None  # it may be readable at the next look
        self._mark = news.mark
        return Said("turns", news, news.mark) if news.turns else None


def live_page(request: Request) -> Response:
    """All sessions that are active now."""
    rows = board(request.app.state.desk)
    body = render("live.html", rows=rows)
    return page(request, "Live", body, (HOME,), ("read.css",), ("live.js",))


def live_events(request: Request) -> Response:
    """The rows of the board whenever they change."""
    return stream(request, _Board(request.app.state.desk))


class _Board:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._told = ""

    def __call__(self) -> Said | None:
        try:
            html = str(render("live_rows.html", rows=board(self._desk)))
        except (UnspoolError, OSError):
            return None
        if html == self._told:
            return None
        self._told = html
        return Said("board", {"html": html})


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


ROUTES = [
    Route("/live", live_page),
    Route("/live/events", live_events),
    Route("/s/{key}/events", session_events),
]
