"""Opens sessions for pages, and keeps those that were read."""

import copy
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request

from unspool.agents import FoundLog, by_id
from unspool.app.context import AppContext, is_inside_source
from unspool.errors import NotFound, UnspoolError
from unspool.figures import Figures, all_turns, family, figures
from unspool.model import Overview, Result, Session, ToolCall, Turn
from unspool.prices import PriceTable
from unspool.site.address import Addresses, Item
from unspool.site.options import SiteOptions
from unspool.site.page_template import Frame
from unspool.site.session_view import SessionView
from unspool.store.library.chains import source_id
from unspool.store.library.neighbours import Neighbours
from unspool.store.library.read import read_session
from unspool.workers import GC_PAUSE


class OpenSession:
    """A session with what all its pages need; `prompts` are those that the whole of it has, where only a part of its
    log was read; `key` is what addresses call it."""

    def __init__(
        self, found: FoundLog, session: Session, prices: PriceTable, prompts: int | None = None, *, key: str = ""
    ) -> None:
        self.found, self.session, self.part, self.key = found, session, prompts is not None, key or session.id
        self.counted: Figures = figures(session, prices)
        if prompts is not None:
            self.counted = msgspec.structs.replace(self.counted, turns=max(prompts, self.counted.turns))
        self.size = sum(member.log.size for member in family(session))
        self._prices = prices
        self._views: dict[tuple[SiteOptions, str], SessionView] = {}

    def view(self, options: SiteOptions, frame: Frame | None = None, base: str = "") -> SessionView:
        """The session ready to be told in a frame; all that no frame changes is made once.

        `base` leads to its folder, for whoever tells it elsewhere.
        """
        view = copy.copy(self._view(options, base))
        view.frame = frame or view.frame
        return view

    def addresses(self, options: SiteOptions) -> Addresses:
        return self._view(options).addresses

    def _view(self, options: SiteOptions, base: str = "") -> SessionView:
        if (options, base) not in self._views:
            frame, addresses = Frame("/", prices=self._prices), Addresses(self.session, options, base)
            made = SessionView(self.session, self.counted, options, frame, addresses)
            made.whole = not self.part
            same = {name: one for name, one in self._views.items() if name[0] == options}
            self._views = {**same, (options, base): made}
        return self._views[options, base]


LogState = tuple[tuple[str, int, int], ...]
"""Path, size and time of each log: another one, and the session is read again."""


def log_state(found: FoundLog) -> LogState:
    versions = tuple((one.path, one.size, int(one.modified * 1e9)) for one in found.versions)
    if found.origin:  # only the archive has it
        return ((found.path, found.size, int(found.modified * 1e9)), *versions)
    return (*(file_state(path) for path in (found.path, *(agent.path for agent in found.agents))), *versions)


def file_state(path: str) -> tuple[str, int, int]:
    try:
        status = os.stat(path)  # noqa: PTH116  hot
    except OSError:
        return path, -1, 0
    return path, status.st_size, status.st_mtime_ns


def locate_log(context: AppContext, key: str) -> FoundLog:
    """The log of a session, where the index says that it lies as long as it is there; NotFound where no source and
    no archive has one of that id."""
    places = _places(context, key)
    if not places or not all(path.is_file() for _, path in places):
        return context.found(key)
    files = {log.path: log for agent, path in places for log in by_id(agent).discover(path.parent)}
    here = [log for log in files.values() if log.is_called(key) and is_inside_source(log)]
    return msgspec.structs.replace(here[0], versions=tuple(here[1:])) if here else context.found(key)


def read_linked_session(context: AppContext, found: FoundLog) -> Session:
    """A session whole, with the sessions that it continues and that continue it."""
    if found.origin or any(one.origin for one in found.versions):
        return context.library().open(found)
    session = read_session(found)
    return Neighbours(lambda: _near(context, found, session), lambda: context.prices).linked(session, found)


def indexed_overview(context: AppContext, key: str) -> Overview | None:
    """What the index has of a session; None where it has nothing yet."""
    try:
        with context.index() as index:
            query = "SELECT overview FROM session WHERE key = ? AND overview <> x'' ORDER BY version_of IS NOT NULL"
            row: Any = index.db.execute(query, (key,)).fetchone()
    except (UnspoolError, OSError):
        return None
    return msgspec.msgpack.decode(row[0], type=Overview) if row is not None else None


def _places(context: AppContext, key: str) -> list[tuple[str, Path]]:
    try:
        with context.index() as index, context.archive() as archive:
            query = "SELECT origin, path FROM session WHERE key = ? ORDER BY version_of IS NOT NULL"
            rows: Any = index.db.execute(query, (key,)).fetchall()
            origins = archive.origins() if rows else {}
    except (UnspoolError, OSError):  # nothing is kept yet: the sources tell
        return []
    return [(origins[origin].agent, Path(origins[origin].root) / path) for origin, path in rows if origin in origins]


def _near(context: AppContext, found: FoundLog, session: Session) -> list[FoundLog]:
    """The logs of the same folder; those that the session says it continues or that have history in common with it,
    wherever they are."""
    beside = list(by_id(found.agent_id).discover(Path(os.path.dirname(found.path))))  # noqa: PTH120
    wanted = {source_id(session.source)} if session.source else set()
    wanted |= {link.session for link in session.links if link.relation == "copied-from"}
    wanted |= _sharing_history(context, found)
    for name in wanted - {log.session_id for log in beside}:
        with suppress(NotFound):
            beside.append(locate_log(context, context.session_key(found.agent_id, name)))
    return beside


def _sharing_history(context: AppContext, found: FoundLog) -> set[str]:
    """The sessions that one copied its history from, or that copied it from there, as the index knows."""
    query = """SELECT other.session_id FROM session AS mine JOIN session AS other ON other.id = mine.history
    OR other.history = mine.id WHERE mine.session_id = ? AND mine.agent = ? AND other.agent = mine.agent
    AND mine.version_of IS NULL AND other.version_of IS NULL"""
    try:
        with context.index() as index:
            return {name for (name,) in index.db.execute(query, (found.session_id, found.agent_id))}
    except (UnspoolError, OSError):
        return set()


LONG = 6 * 1024 * 1024
"""Bytes of a log from which on nobody waits for all of it."""

MAX_SESSIONS = 4
"""Sessions held at once, the last read."""
_LATER = 0.4
"""Seconds in which the page that was asked for, with its styles and scripts, has the processor for itself."""
BYTES = 16 * 1024 * 1024
"""Of their logs together, unless one alone is longer; in memory they take some three times as much."""


class SessionCache:
    """The sessions of one app that are being read. Each is read once, however many ask for it at the same time."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, LogState], OpenSession] = OrderedDict()
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Lock] = {}
        self._begun: set[str] = set()

    def ready(self, found: FoundLog) -> OpenSession | None:
        """The session, where it is held and still the same."""
        name = found.name, log_state(found)
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
            return self._kept.get(name)

    def last(self, key: str) -> OpenSession | None:
        """The session as it was when it was last read, where that is still held."""
        with self._lock:
            return next((held for held in self._kept.values() if held.found.is_called(key)), None)

    def whole(self, context: AppContext, found: FoundLog) -> OpenSession:
        """The session; read now where it is not held."""
        with self._lock:
            turn = self._turns.setdefault(found.name, threading.Lock())
        with turn:
            held = self.ready(found)
            if held is None:
                name, key = (found.name, log_state(found)), context.session_key(found.agent_id, found.session_id)
                with GC_PAUSE:
                    held = OpenSession(found, read_linked_session(context, found), context.prices, key=key)
                self._keep(name, held)
            return held

    def begin(self, context: AppContext, found: FoundLog) -> None:
        """Read the session soon, while others go on; the one who asks next finds it held, or waits for the rest."""
        with self._lock:
            if found.name in self._begun:
                return
            self._begun.add(found.name)
        later = threading.Timer(_LATER, self._read, (context, found))
        later.daemon = True
        later.start()

    def _read(self, context: AppContext, found: FoundLog) -> None:
        try:
            self.whole(context, found)
        except (UnspoolError, OSError):
            pass  # whoever asks for the whole is told
        finally:
            with self._lock:
                self._begun.discard(found.name)

    def _keep(self, name: tuple[str, LogState], held: OpenSession) -> None:
        with self._lock:
            for older in [one for one in self._kept if one[0] == name[0]]:
                del self._kept[older]
            self._kept[name] = held
            while len(self._kept) > 1 and (
                len(self._kept) > MAX_SESSIONS or sum(one.size for one in self._kept.values()) > BYTES
            ):
                self._kept.popitem(last=False)


def get_session(context: AppContext, key: str) -> OpenSession:
    return context.part(SessionCache).whole(context, locate_log(context, key))


def requested_session(request: Request) -> tuple[AppContext, OpenSession]:
    """The app's context, and the session that a request's path names, whole."""
    context: AppContext = request.app.state.context
    return context, get_session(context, request.path_params["key"])


def session_items(session: Session) -> Iterator[Item]:
    """Every prompt and block of a session, those of abandoned branches included."""
    for turn in all_turns(session):
        yield from turn_items(turn)


def turn_items(turn: Turn) -> Iterator[Item]:
    if turn.prompt is not None:
        yield turn.prompt
    yield from turn.blocks


def results_of(item: Item) -> tuple[Result, ...]:
    """What answered a call, in order; nothing where an item is no call."""
    if not isinstance(item, ToolCall):
        return ()
    return (*item.earlier, item.result) if item.result is not None else item.earlier
