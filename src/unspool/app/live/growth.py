"""A session that is being written: only what came is read, and the session is put together anew."""

import copy
from pathlib import Path

import msgspec

from unspool.errors import UnspoolError
from unspool.formats import Format, Found, by_id
from unspool.formats.lines import Cursor
from unspool.library.opening import read_session
from unspool.library.read import appended, log_file
from unspool.model import AgentSource, Event, Session, Transcript
from unspool.turns.assemble import assemble

_SEAM = 64
"""Bytes before the end of what was read that must still be the same: otherwise the log was written anew."""


class _Log:
    """One log and the events read from it so far. A line that is not finished yet is left for the next time."""

    def __init__(self, path: str, format_: Format, found: Found) -> None:
        self.path, self._format, self._found = path, format_, found
        self._begin()

    def _begin(self) -> None:
        self._parser = self._format.parser(self._found)
        self._events: list[Event] = []
        self._cursor, self._seam = Cursor(), b""

    def grown(self) -> Transcript:
        """All of it, as it is now."""
        path = Path(self.path)
        if self._seam and self._at_seam(path) != self._seam:
            self._begin()
        entries, cursor = appended(path, self._cursor)
        if cursor.offset < self._cursor.offset:
            self._begin()
        done = [entry for entry in entries if entry.place.offset < cursor.offset]
        self._events += [self._parser.event(entry) for entry in done]
        self._cursor = cursor
        self._seam = done[-1].raw[-_SEAM:] if done else self._seam
        # copies: putting a session together gives lines that repeat an id another one
        return Transcript(
            [copy.copy(event) for event in self._events], self._parser.facts, log_file(self.path, cursor.offset)
        )

    def _at_seam(self, path: Path) -> bytes:
        with path.open("rb") as stream:
            stream.seek(self._cursor.offset - len(self._seam))
            return stream.read(len(self._seam))


class Growth:
    """A session and its subagents, read on from where the last look ended."""

    def __init__(self) -> None:
        self._logs: dict[str, _Log] = {}

    def session(self, found: Found) -> Session:
        """The session as it is now."""
        if not found.path.endswith(".jsonl"):
            return read_session(found)  # packed: it cannot be read on
        format_ = by_id(found.format)
        main = self._log(found.path, format_, found).grown()
        agents = list(self._agents(found, format_))
        session = assemble(main, agents, format_.dialect(found, main.facts), found.session_id)
        return msgspec.structs.replace(session, project=format_.project(main.facts, found.folder))

    def _agents(self, found: Found, format_: Format) -> list[AgentSource]:
        sources = []
        for agent in found.agents:
            try:
                sources.append(format_.agent(agent, self._log(agent.path, format_, found).grown()))
            except (UnspoolError, OSError):
                continue  # it may be gone, or not there yet
        return sources

    def _log(self, path: str, format_: Format, found: Found) -> _Log:
        if path not in self._logs:
            self._logs[path] = _Log(path, format_, found)
        return self._logs[path]
