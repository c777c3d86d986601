"""Reads on a log that is being written: only what came since the last look."""

import copy
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.agents import AgentFormat, FoundLog, by_id
from unspool.agents.base import FoundAgent
from unspool.agents.lines import Cursor
from unspool.app.open_session import OpenSession
from unspool.errors import UnspoolError
from unspool.figures import all_turns
from unspool.model import (
    AgentSource,
    Dialect,
    Event,
    Facts,
    Plan,
    Questionnaire,
    Result,
    Session,
    Titles,
    Todo,
    Todos,
    ToolCall,
    Transcript,
)
from unspool.reading.assemble import assemble_session
from unspool.site.options import SiteOptions
from unspool.store.library.read import log_file, read_appended, read_session

LONG = 1024 * 1024
"""Bytes of a log from which on its last turns are read by themselves."""


class TurnStart(NamedTuple):
    """A turn that begins a page, and what is known from before it."""

    number: int
    cursor: Cursor
    time: datetime | None
    dialect: Dialect
    titles: Titles
    cwd: str
    repository: str


def start_at_turn(told: OpenSession, options: SiteOptions, first: int) -> TurnStart | None:
    """The turn that begins the page of a turn; None where the log is short, or no such turn is there to begin at."""
    session, scene = told.session, told.scene(options)
    if session.log.size < LONG or not told.found.path.endswith(".jsonl"):
        return None
    leaves = (leaf.turns for leaf in scene.addresses.live.leaves)
    turn = next((turns[0] for turns in leaves if any(turn.number == first for turn in turns)), None)
    if turn is None or turn.prompt is None or not turn.prompt.id or turn.number < 2:
        return None
    place = turn.prompt.place
    cursor = Cursor(place.offset, place.line)
    dialect = _primed(told, session, cursor)
    return TurnStart(turn.number, cursor, turn.started, dialect, session.titles, session.cwd, scene.repository)


def _primed(told: OpenSession, session: Session, cursor: Cursor) -> Dialect:
    """The dialect as it is at a place: todo lists and plan files of before are known to it."""
    inner = by_id(told.found.format).dialect(told.found, Facts(slug=session.slug))
    tasks: dict[str, Todo] = {}
    for call in sorted(_before(session, cursor.offset), key=lambda call: call.place.offset):
        if call.role == "todos":
            inner.todos(call, tasks)
        else:
            inner.note(call)
    return _Continued(inner, tasks)


def _before(session: Session, offset: int) -> Iterator[ToolCall]:
    """The calls that matter to later ones, whichever branch they stand on."""
    for turn in all_turns(session):
        for block in turn.blocks:
            if isinstance(block, ToolCall) and block.role in ("write", "edit", "todos") and block.place.offset < offset:
                yield block


class _Continued:
    """A dialect whose todo lists begin with those of before."""

    def __init__(self, inner: Dialect, tasks: dict[str, Todo]) -> None:
        self._inner, self._tasks = inner, tasks
        self.agent, self.named = inner.agent, inner.named

    def note(self, call: ToolCall) -> None:
        self._inner.note(call)

    def plan(self, call: ToolCall) -> Plan | None:
        return self._inner.plan(call)

    def questions(self, call: ToolCall) -> Questionnaire | None:
        return self._inner.questions(call)

    def todos(self, call: ToolCall, before: dict[str, Todo]) -> Todos | None:
        if not before:
            before.update(self._tasks)
        return self._inner.todos(call, before)

    def agent_ids(self, call: ToolCall) -> tuple[str, ...]:
        return self._inner.agent_ids(call)

    def agent_prompt(self, call: ToolCall) -> str:
        return self._inner.agent_prompt(call)

    def state(self, result: Result) -> str:
        return self._inner.state(result)


_SEAM = 64
"""Bytes before the end of what was read that must still be the same: otherwise the log was written anew."""
_BEFORE = 60
"""Seconds by which clocks of lines and of files may differ."""


class MustReadAll(Exception):
    """The session goes on from before the turn that its reading began at: all of it has to be read."""


class _Log:
    """One log and the events read from it so far. A line that is not finished yet is left for the next time."""

    def __init__(self, path: str, format_: AgentFormat, found: FoundLog, start: Cursor | None = None) -> None:
        self.path, self._format, self._found = path, format_, found
        self._start = start or Cursor()
        self._begin(self._start)

    def _begin(self, start: Cursor) -> None:
        self._parser = self._format.parser(self._found)
        self._events: list[Event] = []
        self._cursor, self._seam = start, b""

    def _again(self) -> None:
        """From the start, where the log is not the one that was read."""
        if self._start.offset:
            raise MustReadAll
        self._begin(self._start)

    def grown(self) -> Transcript:
        """All of it from where it begins, as it is now."""
        path = Path(self.path)
        if self._seam and self._at_seam(path) != self._seam:
            self._again()
        entries, cursor = read_appended(path, self._cursor)
        if cursor.offset < self._cursor.offset:
            self._again()
        done = [entry for entry in entries if entry.place.offset < cursor.offset]
        self._events += [self._parser.event(entry) for entry in done]
        self._cursor = cursor
        self._seam = done[-1].raw[-_SEAM:] if done else self._seam
        # copies: putting a session together gives lines that repeat an id another one
        events = [copy.copy(event) for event in self._events]
        return Transcript(events, self._parser.facts, log_file(self.path, cursor.offset))

    def _at_seam(self, path: Path) -> bytes:
        with path.open("rb") as stream:
            stream.seek(self._cursor.offset - len(self._seam))
            return stream.read(len(self._seam))


class IncrementalReader:
    """A session and its subagents, read on from where the last look ended; with a start, only what follows that."""

    def __init__(self, start: TurnStart | None = None) -> None:
        self._start = start
        self.whole = start is None
        self._logs: dict[str, _Log] = {}
        self.skipped = 0
        """Bytes of logs of subagents that had ended before the start."""

    def session(self, found: FoundLog) -> Session:
        """The session as it is now; of one that is read from a turn on, the turns from there. May raise Elsewhere."""
        if not found.path.endswith(".jsonl"):
            return read_session(found)  # packed: it cannot be read on
        format_, start = by_id(found.format), self._start
        main = self._log(found.path, format_, found, start.cursor if start is not None else None).grown()
        agents = list(self._agents(found, format_))
        if start is not None:
            _connected(main.events)
            return _continued(assemble_session(main, agents, start.dialect, found.session_id), start)
        session = assemble_session(main, agents, format_.dialect(found, main.facts), found.session_id)
        return msgspec.structs.replace(session, project=format_.project(main.facts, found.folder))

    def _agents(self, found: FoundLog, format_: AgentFormat) -> Iterator[AgentSource]:
        self.skipped = 0
        for agent in found.agents:
            try:
                if agent.path not in self._logs and self._ended(agent):
                    continue
                yield format_.agent(agent, self._log(agent.path, format_, found).grown())
            except (UnspoolError, OSError):
                continue  # it may be gone, or not there yet

    def _ended(self, agent: FoundAgent) -> bool:
        """Whether a subagent said its last word before the turns that are read."""
        if self._start is None or self._start.time is None:
            return False
        told = os.stat(agent.path)  # noqa: PTH116
        ended = told.st_mtime < self._start.time.timestamp() - _BEFORE
        self.skipped += told.st_size if ended else 0
        return ended

    def _log(self, path: str, format_: AgentFormat, found: FoundLog, start: Cursor | None = None) -> _Log:
        if path not in self._logs:
            self._logs[path] = _Log(path, format_, found, start)
        return self._logs[path]


def _connected(events: list[Event]) -> None:
    """Raises Elsewhere where a line continues one from before the first."""
    known = {event.id for event in events if event.id}
    for event in events[1:]:
        before = event.logical or event.parent
        if event.id and before and not event.sidechain and before not in known:
            raise MustReadAll


def _continued(session: Session, start: TurnStart) -> Session:
    """The turns with the numbers they have in the whole session, and what that is called."""
    turns = session.turns
    if not turns or turns[0].prompt is None or turns[0].prompt.place.offset != start.cursor.offset:
        raise MustReadAll
    moved = tuple(msgspec.structs.replace(turn, number=turn.number + start.number - 1) for turn in turns)
    return msgspec.structs.replace(session, turns=moved, branches=(), titles=start.titles, cwd=start.cwd)
