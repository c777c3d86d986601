"""A file of all sessions without the lines of those that were forgotten: what is kept of it, and how it is compared."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol, Self

Drops = Callable[[bytes], bool]
"""Whether a line, given with its end, is not to be kept."""
CUT = 1024 * 1024
"""Files are cut into pieces at multiples of this, wherever a pack ends: so equal files have equal pieces."""


class Opened(Protocol):
    """What is needed of an open file."""

    def read(self, size: int, /) -> bytes: ...

    def seek(self, place: int, /) -> int: ...


class Sieved:
    """The beginning of a file, `upto` bytes of it, without the lines that `drops` names."""

    def __init__(self, path: Path, upto: int, drops: Drops) -> None:
        self._path, self._upto, self._drops = path, upto, drops

    def opened(self) -> "_Sieved":
        return _Sieved(self._path.open("rb"), self._upto, self._drops)

    @property
    def size(self) -> int:
        """How many bytes are left; OSError where the file cannot be read."""
        with self.opened() as stream:
            return sum(map(len, stream.lines()))


class _Sieved:
    """An open one. Its place is one in what is left."""

    def __init__(self, stream: BinaryIO, upto: int, drops: Drops) -> None:
        self._stream, self._upto, self._drops = stream, upto, drops
        self._left, self._rest = self.lines(), b""

    def lines(self) -> Iterator[bytes]:
        """The lines that are left, from the first one on."""
        self._stream.seek(0)
        return (line for line in split(_upto(self._stream, self._upto)) if not self._drops(line))

    def seek(self, place: int) -> int:
        self._left, self._rest = self.lines(), b""
        while place > 0 and (data := self.read(min(place, CUT))):
            place -= len(data)
        return place

    def read(self, size: int) -> bytes:
        found = bytearray(self._rest)
        while len(found) < size and (line := next(self._left, b"")):
            found += line
        self._rest = bytes(found[size:])
        return bytes(found[:size])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


def _upto(stream: BinaryIO, size: int) -> Iterator[bytes]:
    while size > 0 and (data := stream.read(min(size, CUT))):
        size -= len(data)
        yield data


def split(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of some bytes, each with its end; the last may have none."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest


def cut(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Bytes in pieces as files are cut into."""
    rest = b""
    for chunk in chunks:
        rest += chunk
        while len(rest) >= CUT:
            yield rest[:CUT]
            rest = rest[CUT:]
    if rest:
        yield rest
