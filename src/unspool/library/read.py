"""Reading one log: entries from a stream, a transcript from entries, from where the last read ended."""

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

import msgspec

from unspool.formats import FORMATS, Format, Found, documents
from unspool.formats.format import Decoder, Parser
from unspool.formats.lines import Cursor, Lines
from unspool.library.inputs import opened
from unspool.model import Entry, Event, LogFile, Transcript
from unspool.model.request import RecordedRequests

_HEAD = 4096


class Reader:
    """Gives the entries of one log and remembers how many lines were blank and where it ended."""

    def __init__(self, decoder: Decoder | None = None) -> None:
        self._lines = Lines(decoder or msgspec.json.Decoder())
        self._document = 0

    @property
    def size(self) -> int:
        """The bytes read."""
        return self._document or self._lines.size

    @property
    def is_document(self) -> bool:
        """Whether what was read was one document instead of lines."""
        return bool(self._document)

    @property
    def blank(self) -> int:
        return self._lines.blank

    @property
    def cursor(self) -> Cursor:
        return self._lines.cursor

    def entries(self, stream: BinaryIO, start: Cursor | None = None) -> Iterator[Entry]:
        """Every entry of a stream that stands at `start`; a log that is one document is taken apart."""
        start = start or Cursor()
        if start.offset == 0 and _may_be_document(stream):
            data = stream.read()
            found = documents.entries(data)
            if found is not None:
                self._document = len(data)
                yield from found
                return
            stream = io.BytesIO(data)
        yield from self._lines.entries(stream, start)


def _may_be_document(stream: BinaryIO) -> bool:
    """Whether the stream begins like one JSON document; nothing of it is consumed."""
    return isinstance(stream, io.BufferedReader) and documents.starts_document(stream.peek(_HEAD)[:_HEAD])


def transcript(name: str, format_: Format, found: Found | None = None) -> Transcript:
    """A log read whole."""
    reader, parser = Reader(), format_.parser(found)
    with opened(name) as stream:
        events = [parser.event(entry) for entry in reader.entries(stream)]
    return Transcript(events, parser.facts, log_file(name, reader.size), reader.blank)


def skimmed(name: str, format_: Format, parser: Parser, whole: frozenset[str] = frozenset()) -> Iterator[Event]:
    """The events of a log one by one, without the bulk of its lines, but for the answers to the calls named."""
    reader = Reader(format_.skimmer(whole))
    with opened(name) as stream:
        for entry in reader.entries(stream):
            yield parser.event(entry)


def recorded_requests(name: str, format_: Format | None = None) -> RecordedRequests:
    """The requests that a log keeps whole; the format by the log's own lines where none is named."""
    with opened(name) as stream:
        entries = Reader().entries(stream)
        if format_ is None:
            first = list(islice(entries, 20))
            format_, entries = sniffed(first), chain(first, entries)
        return format_.requests(entries)


def appended(path: Path, cursor: Cursor) -> tuple[list[Entry], Cursor]:
    """The entries that came after `cursor`, and where to go on; an unfinished line is given again next time.

    A log that shrank was rewritten by its agent: it is read from the start.
    """
    reader = Reader()
    with path.open("rb") as stream:
        if stream.seek(0, io.SEEK_END) < cursor.offset:
            cursor = Cursor()
        stream.seek(cursor.offset)
        found = list(reader.entries(stream, cursor))
    return found, reader.cursor


def log_file(name: str, size: int) -> LogFile:
    try:
        modified = datetime.fromtimestamp(Path(name).stat().st_mtime, UTC)
    except (OSError, ValueError):
        modified = None
    return LogFile(name, size, modified)


def sniffed(entries: list[Entry]) -> Format:
    """The format of a log by its first entries; the first one listed where none is sure."""
    for format_ in FORMATS:
        if any(entry.data is not None and format_.sniff(entry.data) for entry in entries[:20]):
            return format_
    return FORMATS[0]
