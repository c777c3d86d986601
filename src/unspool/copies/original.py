"""A log opened to be copied: every line understood, and its bytes at hand."""

import io
from collections.abc import Callable
from pathlib import Path

import msgspec

from unspool.agents import AgentFormat, FoundLog, by_id, lines
from unspool.errors import Unreadable, UnspoolError
from unspool.model import Entry, Event, Facts, Place, Problem
from unspool.reading.draft import SessionDraft
from unspool.store.library.inputs import is_url, open_log
from unspool.store.library.read import LogReader, read_transcript

_HEAD = 4096


def as_lines(path: str, folder: Path) -> Path | None:
    """The entries of a document as a log in a folder; None where it has lines already, or can be read only once."""
    if path == "-" or is_url(path):
        return None
    with open_log(path) as stream:
        head = stream.read(_HEAD)
        found = lines.document_entries(head + stream.read()) if lines.starts_document(head) else None
    if found is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "document.jsonl"
    made.write_bytes(b"".join(msgspec.json.encode(one.data) + b"\n" for one in found if one.data is not None))
    return made


class OriginalLog:
    """The lines of one log, as they were at one moment."""

    def __init__(self, data: bytes, found: FoundLog, path: str = "") -> None:
        self.found = found
        self.path = path or found.path
        """Where it lies for a person, though it may be read from elsewhere."""
        self.format: AgentFormat = by_id(found.format)
        self.data = data
        self.unfinished = b""
        """What stands behind the last whole line: one that is being written, or was torn."""
        self._parser = self.format.parser(None)
        self._mended: dict[Place, bytes] = {}
        self.problems: list[Problem] = []
        reader = LogReader()
        self.events = events = [self._event(entry) for entry in reader.entries(_stream(data))]
        if reader.is_document:
            raise Unreadable(f"{self.path} is one document, not a log of lines, and cannot be copied.")
        self.beside = [event for event in events if event.side is not None or not (event.id or event.kind == "problem")]
        """Lines that are no part of the conversation."""
        self.draft = SessionDraft(events, own=False)

    def _event(self, entry: Entry) -> Event:
        event = self._parser.event(entry)
        if event.problem is not None:
            self.problems.append(event.problem)
        pieced = event.problem is not None or not entry.raw.endswith(b"\n")
        if pieced and entry.data is not None:
            self._mended[event.place] = msgspec.json.encode(entry.data)
        return event

    @property
    def facts(self) -> Facts:
        return self._parser.facts

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
        parser = self.format.parser(None)
        return lambda raw: parser.event(Entry(Place(0, 0, len(raw)), raw, msgspec.json.decode(raw)))


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
                    events = read_transcript(agent.path, self._log.format).events
                except (UnspoolError, OSError, msgspec.DecodeError):
                    continue  # the copy then follows the line before, as for any parent that is missing
                self._above.update({one.id: one.parent for one in events if one.id and one.parent})
        return self._above
