"""A log opened to be copied: every line understood, and its bytes at hand."""

import io
from collections.abc import Callable

import msgspec

from unspool.errors import Unreadable
from unspool.formats import Format, Found, by_id
from unspool.library.inputs import opened
from unspool.library.read import Reader
from unspool.model import Entry, Event, Facts, Place, Problem
from unspool.turns.draft import Draft


class Original:
    """The lines of one log, as they were at one moment."""

    def __init__(self, data: bytes, found: Found) -> None:
        self.found = found
        self.format: Format = by_id(found.format)
        self.data = data
        self._parser = self.format.parser(None)
        self._mended: dict[Place, bytes] = {}
        self.problems: list[Problem] = []
        reader = Reader()
        self.events = events = [self._event(entry) for entry in reader.entries(_stream(data))]
        if reader.is_document:
            raise Unreadable(f"{found.path} is one document, not a log of lines, and cannot be copied.")
        self.beside = [event for event in events if event.side is not None or not (event.id or event.kind == "problem")]
        """Lines that are no part of the conversation."""
        self.draft = Draft(events, own=False)

    def _event(self, entry: Entry) -> Event:
        event = self._parser.event(entry)
        if event.problem is not None:
            self.problems.append(event.problem)
            if entry.data is not None:
                self._mended[event.place] = msgspec.json.encode(entry.data)
        return event

    @property
    def facts(self) -> Facts:
        return self._parser.facts

    def raw(self, event: Event) -> bytes:
        """The bytes of a line; where it was damaged, what could be read of it."""
        mended = self._mended.get(event.place)
        start = event.place.offset
        return mended if mended is not None else self.data[start : start + event.place.size]

    def reader(self) -> Callable[[bytes], Event]:
        """Says of lines made from these what they say."""
        parser = self.format.parser(None)
        return lambda raw: parser.event(Entry(Place(0, 0, len(raw)), raw, msgspec.json.decode(raw)))


def original(found: Found) -> Original:
    """The log of a session, read whole."""
    with opened(found.path) as stream:
        return Original(stream.read(), found)


def _stream(data: bytes) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(data), 1 << 20)
