"""A log opened to be copied: every line understood, and its bytes at hand."""

import io
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec
from msgspec.structs import replace

from unspool.agents import AGENTS, CodingAgent, FoundLog, by_id, chosen_roots, writer_of
from unspool.agents.lines import line_entries, starts_document
from unspool.agents.writing import LogWriter
from unspool.errors import Unreadable, UnspoolError, UsageProblem
from unspool.files import scratch_folder
from unspool.model import Event, Place, Problem
from unspool.reading.draft import SessionDraft
from unspool.store.library import Library
from unspool.store.library.discover import head_agent, not_a_log
from unspool.store.library.inputs import is_url, open_log
from unspool.store.library.read import read_transcript
from unspool.workers import GC_PAUSE


class OriginalLog:
    """The lines of one log, as they were at one moment."""

    def __init__(self, data: bytes, found: FoundLog, path: str = "") -> None:
        self.found = found
        self.path = path or found.path
        """Where it lies for a person, though it may be read from elsewhere."""
        self.agent: CodingAgent = by_id(found.agent_id)
        self.data = data
        self.unfinished = b""
        """What stands behind the last whole line: one that is being written, or was torn."""
        self._mended: dict[Place, bytes] = {}
        self.problems: list[Problem] = []
        read = self.agent.events(_stream(data))
        self.events = events = [self._noted(event) for event in read]
        self.facts = read.facts
        if read.is_document:
            raise Unreadable(f"{self.path} is one document, not a log of lines, and cannot be copied.")
        self.beside = [event for event in events if event.side is not None or not (event.id or event.kind == "problem")]
        """Lines that are no part of the conversation."""
        self.draft = SessionDraft(events, own=False)

    def _noted(self, event: Event) -> Event:
        """The event, its line made whole where it was damaged or lacks its end."""
        event.nested = None  # what a line of progress repeats of a subagent is no line that could be copied
        if event.problem is not None:
            self.problems.append(event.problem)
        raw = self.data[event.place.offset : event.place.offset + event.place.size]
        if event.problem is not None or not raw.endswith(b"\n"):
            entry = next(line_entries(raw), None)
            if entry is not None and entry.data is not None:
                self._mended[event.place] = msgspec.json.encode(entry.data)
        return event

    @property
    def session(self) -> str:
        """Its id: by the agent's own file name, else by what its lines say."""
        return self.found.session_id if self.found.root else self.facts.session or self.found.session_id

    @property
    def at_home(self) -> bool:
        """Whether it lies where an agent of this user wrote it; one that was sent here may say whatever it wants to."""
        return bool(self.found.root) and Path(self.path).is_file()

    def raw(self, event: Event) -> bytes:
        """The bytes of a line; where it was damaged, what could be read of it."""
        mended = self._mended.get(event.place)
        start = event.place.offset
        return mended if mended is not None else self.data[start : start + event.place.size]

    def reader(self) -> Callable[[bytes], Event]:
        """Says of lines made from these what they say."""
        return lambda raw: next(iter(self.agent.events(io.BytesIO(raw))))


def read_original(found: FoundLog, path: str = "") -> OriginalLog:
    """The log of a session, read whole; a line that is only half written yet is left for later."""
    with open_log(found.path) as stream:
        data = stream.read()
    log = OriginalLog(_finished(data), found, path)
    log.unfinished = data[len(log.data) :]
    return log


def _finished(data: bytes) -> bytes:
    """The data up to the last line that is whole."""
    end = data.rfind(b"\n") + 1
    if end == len(data):
        return data
    try:
        msgspec.json.decode(memoryview(data)[end:])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return data[:end] or data
    return data


def _stream(data: bytes) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(data), 1 << 20)


class Bridge:
    """Finds the line of the main log that such a line goes back to. The subagents' logs are read when asked for."""

    def __init__(self, log: OriginalLog) -> None:
        self._log = log
        self._above: dict[str, str] | None = None

    def __call__(self, event: Event) -> int | None:
        there = self._log.draft.tree.at
        above = self.parents()
        at, seen = event.parent, set[str]()
        while at is not None and at not in there and at not in seen:
            seen.add(at)
            at = above.get(at)
        found = there.get(at or "")
        return found if found is not None and found < there[event.id] else None

    def parents(self) -> dict[str, str]:
        """The line that each line of the subagents' logs follows, by id."""
        if self._above is None:
            self._above = {}
            for agent in self._log.found.agents:
                try:
                    events = read_transcript(agent.path, self._log.agent).events
                except (UnspoolError, OSError, msgspec.DecodeError):
                    continue  # the copy then follows the line before, as for any parent that is missing
                self._above.update({one.id: one.parent for one in events if one.id and one.parent})
        return self._above


_PEEKED = 4096


class CopySource(NamedTuple):
    """A log to copy, and where it belongs."""

    log: OriginalLog
    home: Path
    """The agent's folder that copies go to."""
    folder: Path | None
    """The folder among the agent's that it lies in; None where it lies elsewhere."""


@contextmanager
def open_source(library: Library, name: str | FoundLog) -> Iterator[CopySource]:
    """What a person's name for a session means, read whole; what goes along with it is there while the `with` lasts."""
    found = library.resolve(name) if isinstance(name, str) else name
    with GC_PAUSE:
        if isinstance(found, str):
            with fetched_log(found) as here:
                yield CopySource(read_original(here, found), own_home(by_id(here.agent_id)), None)
        else:
            with library.located(found) as here:
                there = bool(found.root) and Path(found.root).is_dir()
                home = Path(found.root) if there else own_home(by_id(found.agent_id))
                yield CopySource(read_original(here, found.path), home, Path(found.path).parent if there else None)


@contextmanager
def fetched_log(name: str) -> Iterator[FoundLog]:
    """A log that lies by itself; what can be read only once is kept for a while."""
    found = _alone(name)
    if name != "-" and not is_url(name):
        yield found
        return
    with scratch_folder() as folder, open_log(name) as stream:
        path = folder / "log.jsonl"
        with path.open("wb") as file:
            shutil.copyfileobj(stream, file, 1 << 20)
        yield replace(_alone(str(path)), session_id=found.session_id)


@contextmanager
def open_lines(library: Library, name: str | FoundLog) -> Iterator[tuple[BinaryIO, LogWriter]]:
    """The lines of the log that a person's name means, and who knows what such lines must be."""
    found = library.resolve(name) if isinstance(name, str) else name
    if isinstance(found, str):
        found = _alone(found)
    with library.located(found) as here, open_log(here.path) as stream:
        if isinstance(stream, io.BufferedReader) and starts_document(stream.peek(_PEEKED)[:_PEEKED]):
            raise Unreadable(f"{found.path} is one document, not a log of lines, and cannot be resumed.")
        yield stream, writer_of(by_id(found.agent_id))


def copy_target(source: CopySource, session: str, cwd: str) -> Path:
    """Where a copy goes whose session runs in `cwd`: into the same folder, unless that is another session's."""
    writer = writer_of(source.log.agent)
    if source.folder is not None and cwd == source.log.facts.cwd and source.log.agent.filed_by_project:
        return source.folder / writer.place(source.home, cwd, session).name
    if not cwd:
        raise UsageProblem(f"{source.log.path} names no working folder to put a copy to; -o says where it goes.")
    return writer.place(source.home, cwd, session)


def _alone(name: str) -> FoundLog:
    """A log that lies by itself: standard input, an address, a file elsewhere."""
    stem = "stdin" if name == "-" else name.rstrip("/").rsplit("/", 1)[-1].split(".")[0]
    if not is_url(name) and name != "-" and Path(name).is_dir():
        raise UsageProblem(f"{name} is a folder; name a session.")
    if name == "-" or is_url(name):
        return FoundLog(name, stem, AGENTS[0].id, 0, 0.0)
    agent = head_agent(name)
    if agent is None and Path(name).is_file():
        raise not_a_log(name)
    return FoundLog(name, stem, (agent or AGENTS[0]).id, 0, 0.0)


def own_home(agent: CodingAgent) -> Path:
    """The user's own folder of an agent."""
    roots = chosen_roots(agent, os.environ, Path.home()) or agent.roots(os.environ, Path.home())
    return agent.home(roots[0]) or roots[0]
