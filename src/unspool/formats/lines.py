"""Lines of a log with their numbers and byte offsets, read from where the last read ended."""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple


class Line(NamedTuple):
    """The exact bytes of one line, its newline included; only the last line of a log may lack one."""

    raw: bytes
    number: int
    offset: int


class Cursor(NamedTuple):
    """Where the next read begins: everything before it was read and ended in a newline."""

    offset: int = 0
    line: int = 1


def lines(stream: BinaryIO, start: Cursor = Cursor()) -> Iterator[Line]:  # noqa: B008  a frozen value
    """Yield the lines of a stream that stands at `start`."""
    offset, number = start
    for raw in stream:
        yield Line(raw, number, offset)
        offset += len(raw)
        number += 1


def after(line: Line | None, start: Cursor) -> Cursor:
    """Where to read on once `line` was the last one read: a line without newline is read again."""
    if line is None:
        return start
    if line.raw.endswith(b"\n"):
        return Cursor(line.offset + len(line.raw), line.number + 1)
    return Cursor(line.offset, line.number)
