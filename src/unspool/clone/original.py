"""A log opened to be copied: every line understood, and its bytes at hand."""

import io
from collections.abc import Callable
from pathlib import Path

import msgspec

from unspool.errors import Unreadable
from unspool.formats import Format, Found, by_id
from unspool.library.inputs import opened
from unspool.library.read import Reader
from unspool.model import Entry, Event, Facts, Place, Problem
from unspool.turns.draft import Draft


class Original:
    """The lines of one log, as they were at one moment."""

    def __init__(self, data: bytes, found: Found, path: str = "") -> None:
        self.found = found
        self.path = path or found.path
        """Where it lies for a person, though it may be read from elsewhere."""
        self.format: Format = by_id(found.format)
        self.data = data
        self.unfinished = b""
        """What stands behind the last whole line: one that is being written, or was torn."""
        self._parser = self.format.parser(None)
        self._mended: dict[Place, bytes] = {}
        self.problems: list[Problem] = []
        reader = Reader()
        self.events = events = [self._event(entry) for entry in reader.entries(_stream(data))]
        if reader.is_document:
            raise Unreadable(f"{self.path} is one document, not a log of lines, and cannot be copied.")
        self.beside = [event for event in events if event.side is not None or not (event.id or event.kind == "problem")]
        """Lines that are no part of the conversation."""
        self.draft = Draft(events, own=False)

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


def original(found: Found, path: str = "") -> Original:
    """The log of a session, read whole; a line that is only half written yet is left for later."""
    with opened(found.path) as stream:
        data = stream.read()
    log = Original(_finished(data), found, path)
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
