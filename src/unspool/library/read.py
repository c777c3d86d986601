"""Reading one log: entries from a stream, a transcript from entries, from where the last read ended."""

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from unspool.formats import FORMATS, Format, Found, documents
from unspool.formats.decode import decode, is_blank
from unspool.formats.format import Decoder, Parser
from unspool.formats.lines import Cursor, Line, after, lines
from unspool.library.inputs import opened
from unspool.model import Entry, Event, LogFile, Transcript


class Reader:
    """Gives the entries of one log and remembers how many lines were blank and where it ended."""

    def __init__(self, decoder: Decoder | None = None) -> None:
        self._decoder: Decoder = decoder or msgspec.json.Decoder()
        self.blank = 0
        self.size = 0
        self.cursor = Cursor()

    def entries(self, stream: BinaryIO, start: Cursor | None = None) -> Iterator[Entry]:
        """Every entry of a stream that stands at `start`; a log that is one document is taken apart."""
        start = start or Cursor()
        self.cursor = start
        if start.offset == 0:
            first = stream.readline()
            if _may_be_document(first):
                data = first + stream.read()
                found = documents.entries(data)
                if found is not None:
                    self.size = len(data)
                    yield from found
                    return
                stream = io.BytesIO(data)
                first = stream.readline()
            yield from self._line(Line(first, 1, 0), start)
            start = Cursor(len(first), 2)
        for line in lines(stream, start):
            yield from self._line(line, start)

    def _line(self, line: Line, start: Cursor) -> Iterator[Entry]:
        if not line.raw:
            return
        self.size = line.offset + len(line.raw)
        self.cursor = after(line, start)
        if is_blank(line.raw):
            self.blank += 1
            return
        yield from decode(line, self._decoder)


def _may_be_document(first: bytes) -> bool:
    return documents.starts_document(first) or first.strip() in (b"{", b"\xef\xbb\xbf{")


def transcript(name: str, format_: Format, found: Found | None = None) -> Transcript:
    """A log read whole."""
    reader, parser = Reader(), format_.parser(found)
    with opened(name) as stream:
        events = [parser.event(entry) for entry in reader.entries(stream)]
    return Transcript(events, parser.facts, log_file(name, reader.size), reader.blank)


def skimmed(name: str, format_: Format, parser: Parser) -> Iterator[Event]:
    """The events of a log one by one, without the bulk of its lines."""
    reader = Reader(format_.skimmer())
    with opened(name) as stream:
        for entry in reader.entries(stream):
            yield parser.event(entry)


def appended(path: Path, cursor: Cursor) -> tuple[list[Entry], Cursor]:
    """The entries that came after `cursor`, and where to go on; an unfinished line is given again next time."""
    reader = Reader()
    with path.open("rb") as stream:
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
