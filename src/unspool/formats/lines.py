"""Lines of a log as entries, with their numbers and byte offsets, read from where the last read ended."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from unspool.formats.decode import is_blank, mended
from unspool.formats.format import Decoder
from unspool.model import Entry, Place


class Cursor(NamedTuple):
    """Where the next read begins: everything before it was read and ended in a newline."""

    offset: int = 0
    line: int = 1


class Lines:
    """The entries of a stream, line by line. `blank`, `size` and `cursor` are right once the last one was taken."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self.blank = 0
        self.size = 0
        self.cursor = Cursor()

    def entries(self, stream: Iterable[bytes], start: Cursor) -> Iterator[Entry]:
        """Every value of every line of a stream that stands at `start`; blank lines are counted only."""
        decode = self._decoder.decode
        offset, number = self.cursor = start
        size = offset
        for raw in stream:
            size += len(raw)
            try:
                data = decode(raw)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                data = None
            if isinstance(data, dict):
                yield Entry(Place(number, offset, len(raw)), raw, data)
            elif is_blank(raw):
                self.blank += 1
            else:
                yield from mended(raw, number, offset)
            if not raw.endswith(b"\n"):
                break  # an unfinished line is read again
            offset = size
            number += 1
        self.size, self.cursor = size, Cursor(offset, number)
