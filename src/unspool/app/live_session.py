"""A session that grows: its lines are read as they come."""

import copy
import io
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from unspool.agents import CodingAgent, FoundLog, by_id
from unspool.agents.lines import Cursor
from unspool.agents.records import FoundAgent
from unspool.app import session_frame
from unspool.app.context import AppContext
from unspool.app.open_session import LogState, OpenSession, SessionCache, file_state, locate_log, log_state
from unspool.errors import UnspoolError
from unspool.figures import calls_of, figures
from unspool.model import AgentSource, Dialect, Event, Facts, Session, Titles, Todo, Todos, ToolCall, Transcript
from unspool.reading.assemble import assemble_session
from unspool.site import summaries
from unspool.site.options import SiteOptions
from unspool.site.page_template import Frame
from unspool.site.session_view import SessionView
from unspool.site.turn_layout import TurnRenderer
from unspool.store.library.read import assemble, log_file, read_session
from unspool.workers import GC_PAUSE

LONG = 1024 * 1024
"""Bytes of a log from which on its last turns are read by themselves."""
_REMEMBERED_ROLES = ("write", "edit", "todos")


class TurnStart(NamedTuple):
    """A turn that begins a page, and what is known from before it."""

    number: int
    cursor: Cursor
    time: datetime | None
    dialect: Dialect
    titles: Titles
    cwd: str
    repository: str


def start_at_turn(opened: OpenSession, options: SiteOptions, first: int) -> TurnStart | None:
    """The turn that begins the page of a turn; None where the log is short, or no such turn is there to begin at."""
    session, view = opened.session, opened.view(options)
    agent = by_id(opened.found.agent_id)
    if session.log.size < LONG or not opened.found.path.endswith(".jsonl") or agent.reads_whole:
        return None
    leaves = (leaf.turns for leaf in view.addresses.live.leaves)
    turn = next((turns[0] for turns in leaves if any(turn.number == first for turn in turns)), None)
    if turn is None or turn.prompt is None or not turn.prompt.id or turn.number < 2:
        return None
    place = turn.prompt.place
    inner = agent.dialect(opened.found, Facts(slug=session.slug))
    # what was written and planned before, on whichever branch, matters to later calls
    calls = [call for call in calls_of(session) if call.role in _REMEMBERED_ROLES and call.place.offset < place.offset]
    tasks: dict[str, Todo] = {}
    for call in sorted(calls, key=lambda call: call.place.offset):
        if call.role == "todos":
            inner.todos(call, tasks)
        else:
            inner.note(call)
    cursor, dialect = Cursor(place.offset, place.line), cast("Dialect", _Continued(inner, tasks))
    return TurnStart(turn.number, cursor, turn.started, dialect, session.titles, session.cwd, view.repository)


class _Continued:
    """A dialect whose todo lists begin with those of before; for all else it is the one inside."""

    def __init__(self, inner: Dialect, tasks: dict[str, Todo]) -> None:
        self._inner, self._tasks = inner, tasks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def todos(self, call: ToolCall, before: dict[str, Todo]) -> Todos | None:
        if not before:
            before.update(self._tasks)
        return self._inner.todos(call, before)


_SEAM = 64
"""Bytes before the end of what was read that must still be the same: otherwise the log was written anew."""
_BEFORE = 60
"""Seconds by which clocks of lines and of files may differ."""


class MustReadAll(Exception):
    """The session goes on from before the turn that its reading began at: all of it has to be read."""


class _Log:
    """One log and the events read from it so far. A line that is not finished yet is left for the next time."""

    def __init__(self, path: str, agent: CodingAgent, found: FoundLog, start: Cursor | None = None) -> None:
        self._path, self._agent, self._found = Path(path), agent, found
        self._start = start or Cursor()
        self._begin()

    def _begin(self) -> None:
        self._reader = self._agent.events(io.BytesIO(), self._found, self._start)
        self._events: list[Event] = []
        self._seam = b""

    def grown(self) -> Transcript:
        """All of it from where it begins, as it is now; MustReadAll where what came before is not the same any more."""
        with self._path.open("rb") as stream:
            end = self._reader.cursor.offset
            stream.seek(max(0, end - len(self._seam)))
            if stream.read(len(self._seam)) != self._seam:  # rewritten, or cut off
                if self._start.offset:
                    raise MustReadAll
                self._begin()
                end = 0
            stream.seek(end)
            self._events += self._reader.more(stream)
            end = self._reader.cursor.offset
            stream.seek(max(0, end - _SEAM))
            self._seam = stream.read(min(_SEAM, end))
        # copies: putting a session together gives lines that repeat an id another one
        events = [copy.copy(event) for event in self._events]
        return Transcript(events, self._reader.facts, log_file(str(self._path), end))


class IncrementalReader:
    """A session and its subagents, read on from where the last look ended; with a start, only what follows that."""

    def __init__(self, start: TurnStart | None = None) -> None:
        self._start = start
        self.whole = start is None
        self._logs: dict[str, _Log] = {}
        self.skipped = 0
        """Bytes of logs of subagents that had ended before the start."""

    def session(self, found: FoundLog) -> Session:
        """The session as it is now; of one that is read from a turn on, the turns from there. May raise MustReadAll."""
        agent, start = by_id(found.agent_id), self._start
        if not found.path.endswith(".jsonl") or agent.reads_whole:
            return read_session(found)  # it cannot be read on
        main = self._log(found.path, agent, found, start.cursor if start is not None else None).grown()
        subagents = list(self._agents(found, agent))
        if start is None:
            return assemble(agent, found, main, subagents)
        return _turns_from(start, assemble_session(main, subagents, start.dialect, found.session_id), main.events)

    def _agents(self, found: FoundLog, coding_agent: CodingAgent) -> Iterator[AgentSource]:
        self.skipped = 0
        for agent in found.agents:
            try:
                if agent.path not in self._logs and self._ended(agent):
                    continue
                yield coding_agent.subagent(agent, self._log(agent.path, coding_agent, found).grown())
            except (UnspoolError, OSError):
                continue  # it may be gone, or not there yet

    def _ended(self, agent: FoundAgent) -> bool:
        """Whether a subagent said its last word before the turns that are read."""
        if self._start is None or self._start.time is None:
            return False
        status = os.stat(agent.path)  # noqa: PTH116
        ended = status.st_mtime < self._start.time.timestamp() - _BEFORE
        self.skipped += status.st_size if ended else 0
        return ended

    def _log(self, path: str, coding_agent: CodingAgent, found: FoundLog, start: Cursor | None = None) -> _Log:
        if path not in self._logs:
            self._logs[path] = _Log(path, coding_agent, found, start)
        return self._logs[path]


def _turns_from(start: TurnStart, session: Session, events: list[Event]) -> Session:
    """The turns with the numbers they have in the whole session, and what that is called; MustReadAll where they are
    others, or a line continues one from before the first."""
    known = {event.id for event in events if event.id}
    for event in events[1:]:
        before = event.logical or event.parent
        if event.id and before and not event.sidechain and before not in known:
            raise MustReadAll
    turns = session.turns
    if not turns or turns[0].prompt is None or turns[0].prompt.place.offset != start.cursor.offset:
        raise MustReadAll
    moved = tuple(msgspec.structs.replace(turn, number=turn.number + start.number - 1) for turn in turns)
    return msgspec.structs.replace(session, turns=moved, branches=(), titles=start.titles, cwd=start.cwd)


class SessionLook(NamedTuple):
    view: SessionView
    mark: str


class TurnHtml(msgspec.Struct, frozen=True):
    number: int
    html: str
    words: str

    @property
    def digest(self) -> str:
        """Another one whenever the turn is told otherwise."""
        return blake2b(self.html.encode(errors="replace"), digest_size=12).hexdigest()


def render_turns_from(view: SessionView, first: int) -> list[TurnHtml]:
    """The turns from a number on, each as its own page tells it."""
    found = []
    for leaf in view.addresses.live.leaves:
        if leaf.turns and leaf.turns[-1].number >= first:
            renderer = TurnRenderer(view)
            found += [TurnHtml(turn.number, renderer.turn(turn), summaries.turn_line(turn)) for turn in leaf.turns]
    return [one for one in found if one.number >= first]


_REMEMBERED = 64
Digests = dict[int, str]
"""What was told of each turn, by its number."""


class TurnNews(msgspec.Struct, frozen=True):
    mark: str
    turns: tuple[TurnHtml, ...]
    last: int
    """The number of the last turn: a page that has later ones drops them."""


class FollowedSession:
    """A session that is followed by one or more pages, from the first turn that any of them shows."""

    def __init__(self, context: AppContext, key: str) -> None:
        self._context, self._key = context, key
        self._first = sys.maxsize
        self._reader = IncrementalReader()
        self._found: FoundLog | None = None
        self._state: LogState = ()
        self._last: SessionLook | None = None
        self._options = context.options
        self._known: OrderedDict[tuple[str, int], Digests] = OrderedDict()
        self._lock = threading.Lock()

    def changed(self) -> bool:
        """Whether the logs look otherwise than when they were last read; cheap."""
        return self._found is None or self._state != _state_of(self._found)

    @property
    def mark(self) -> str:
        return self._last.mark if self._last is not None else ""

    def look(self, first: int) -> SessionLook:
        """The session as it is now, or its turns from the page of a turn on."""
        with self._lock:
            if self._last is not None and first >= self._first and not self.changed():
                return self._last
            self._found = locate_log(self._context, self._key)
            self._state = _state_of(self._found)
            if first < self._first:
                self._first = first
                opened = self._context.part(SessionCache).last(self._key)
                self._begin(start_at_turn(opened, self._context.options, first) if opened is not None else None)
            with GC_PAUSE:
                self._last = self._look(self._found)
            return self._last

    def _begin(self, start: TurnStart | None) -> None:
        """Read on from a turn; from the log's beginning where there is none."""
        self._reader, self._options = IncrementalReader(start), self._context.options
        if start is not None:
            self._options = msgspec.structs.replace(self._options, repository=start.repository)

    def _look(self, found: FoundLog) -> SessionLook:
        try:
            session = self._reader.session(found)
        except MustReadAll:
            self._begin(None)
            session = self._reader.session(found)
        prices, mark = self._context.prices, session_frame.log_position(session, self._reader.skipped)
        view = SessionView(session, figures(session, prices), self._options, Frame("/", prices=prices))
        if self._reader.whole and session.log.size >= LONG:
            start = start_at_turn(OpenSession(found, session, prices), self._context.options, self._first)
            if start is not None:
                self._begin(start)  # the next look need not go through all of it
        return SessionLook(view, mark)

    def since(self, known: str, first: int) -> Digests:
        """What a page has that shows the session as of a mark; nothing where that is not known any more."""
        look = self.look(first)
        if look.mark == known:
            return {one.number: one.digest for one in render_turns_from(look.view, first)}
        with self._lock:
            return dict(self._known.get((known, first), {}))

    def news(self, seen: Digests, first: int) -> tuple[TurnNews, Digests]:
        """What is new to somebody who has seen these, from a turn on; and what they have seen then."""
        look = self.look(first)
        turns = render_turns_from(look.view, first)
        digests = {one.number: one.digest for one in turns}
        with self._lock:
            self._known[look.mark, first] = digests
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        new = tuple(one for one in turns if seen.get(one.number) != one.digest)
        last = max((turn.number for turn in look.view.session.turns[-1:]), default=0)
        return TurnNews(look.mark, new, last), digests


def _state_of(found: FoundLog) -> LogState:
    """The logs, and the folders where those of new subagents appear."""
    folders = by_id(found.agent_id).session_folders(found)
    return (*log_state(found), *(file_state(str(folder)) for folder in folders))
