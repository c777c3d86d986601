"""A session that is being written: only what came is read, and put together with what was read before."""

import copy
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from unspool.app.live.start import Start
from unspool.errors import UnspoolError
from unspool.formats import Format, Found, by_id
from unspool.formats.found import FoundAgent
from unspool.formats.lines import Cursor
from unspool.library.opening import read_session
from unspool.library.read import appended, log_file
from unspool.model import AgentSource, Event, Session, Transcript
from unspool.turns.assemble import assemble

_SEAM = 64
"""Bytes before the end of what was read that must still be the same: otherwise the log was written anew."""
_BEFORE = 60
"""Seconds by which clocks of lines and of files may differ."""


class Elsewhere(Exception):
    """The session goes on from before the turn that its reading began at: all of it has to be read."""


class _Log:
    """One log and the events read from it so far. A line that is not finished yet is left for the next time."""

    def __init__(self, path: str, format_: Format, found: Found, start: Cursor | None = None) -> None:
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
            raise Elsewhere
        self._begin(self._start)

    def grown(self) -> Transcript:
        """All of it from where it begins, as it is now."""
        path = Path(self.path)
        if self._seam and self._at_seam(path) != self._seam:
            self._again()
        entries, cursor = appended(path, self._cursor)
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


class Growth:
    """A session and its subagents, read on from where the last look ended; with a start, only what follows that."""

    def __init__(self, start: Start | None = None) -> None:
        self._start = start
        self.whole = start is None
        self._logs: dict[str, _Log] = {}
        self.skipped = 0
        """Bytes of logs of subagents that had ended before the start."""

    def session(self, found: Found) -> Session:
        """The session as it is now; of one that is read from a turn on, the turns from there. May raise Elsewhere."""
        if not found.path.endswith(".jsonl"):
            return read_session(found)  # packed: it cannot be read on
        format_, start = by_id(found.format), self._start
        main = self._log(found.path, format_, found, start.cursor if start is not None else None).grown()
        agents = list(self._agents(found, format_))
        if start is not None:
            _connected(main.events)
            return _continued(assemble(main, agents, start.dialect, found.session_id), start)
        session = assemble(main, agents, format_.dialect(found, main.facts), found.session_id)
        return msgspec.structs.replace(session, project=format_.project(main.facts, found.folder))

    def _agents(self, found: Found, format_: Format) -> Iterator[AgentSource]:
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

    def _log(self, path: str, format_: Format, found: Found, start: Cursor | None = None) -> _Log:
        if path not in self._logs:
            self._logs[path] = _Log(path, format_, found, start)
        return self._logs[path]


def _connected(events: list[Event]) -> None:
    """Raises Elsewhere where a line continues one from before the first."""
    known = {event.id for event in events if event.id}
    for event in events[1:]:
        before = event.logical or event.parent
        if event.id and before and not event.sidechain and before not in known:
            raise Elsewhere


def _continued(session: Session, start: Start) -> Session:
    """The turns with the numbers they have in the whole session, and what that is called."""
    turns = session.turns
    if not turns or turns[0].prompt is None or turns[0].prompt.place.offset != start.cursor.offset:
        raise Elsewhere
    moved = tuple(msgspec.structs.replace(turn, number=turn.number + start.number - 1) for turn in turns)
    return msgspec.structs.replace(session, turns=moved, branches=(), titles=start.titles, cwd=start.cwd)
