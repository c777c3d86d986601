"""Lines and files that were forgotten: tombstones, and files read without such lines."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, Self

from unspool.store.archive.chain import name_digest, session_lines_name

Drops = Callable[[bytes], bool]
"""Whether a line, given with its end, is not to be kept."""
CUT = 1024 * 1024
"""Files are cut into pieces at multiples of this, wherever a pack ends: so equal files have equal pieces."""


class OpenFile(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def seek(self, place: int, /) -> int: ...


class FilteredFile:
    """The beginning of a file, `upto` bytes of it, without the lines that `drops` names; places are those in what is
    left. Open in a `with`."""

    def __init__(self, path: Path, upto: int, drops: Drops) -> None:
        self._path, self._upto, self._drops = path, upto, drops

    @property
    def size(self) -> int:
        """How many bytes are left; OSError where the file cannot be read."""
        with self as stream:
            return sum(map(len, stream.lines()))

    def __enter__(self) -> Self:
        self._stream = self._path.open("rb")
        self.seek(0)
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def lines(self) -> Iterator[bytes]:
        """The lines that are left, from the first one on."""
        self._stream.seek(0)
        return (line for line in split_lines(_upto(self._stream, self._upto)) if not self._drops(line))

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


def _upto(stream: BinaryIO, size: int) -> Iterator[bytes]:
    while size > 0 and (data := stream.read(min(size, CUT))):
        size -= len(data)
        yield data


def split_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of some bytes, each with its end; the last may have none."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest


def filtered_pieces(chunks: Iterable[bytes], drops: Drops) -> Iterator[bytes]:
    """What is left of some bytes without the lines that `drops` names, in pieces."""
    return cut_pieces(line for line in split_lines(chunks) if not drops(line))


def cut_pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Bytes in pieces as files are cut into."""
    rest = b""
    for chunk in chunks:
        rest += chunk
        while len(rest) >= CUT:
            yield rest[:CUT]
            rest = rest[CUT:]
    if rest:
        yield rest


class Tombstones(NamedTuple):
    """The tombstones of an archive, read once."""

    names: frozenset[bytes] = frozenset()
    salts: tuple[str, ...] = ()

    def hold(self, name: str) -> bool:
        """Whether what has that name, as a file below its place has its path, was removed for good."""
        return bool(self.names) and any(name_digest(salt, name) in self.names for salt in self.salts)

    def hold_lines(self, path: str, session: str) -> bool:
        """Whether the lines of a session in a file of all sessions were."""
        return self.hold(session_lines_name(path, session))


class FileRules(Protocol):
    """What was forgotten of the files of a place, and how they are kept, for whoever takes files in."""

    def hides(self, path: str) -> bool:
        """Whether a file is not to be kept."""

    def drops(self, path: str) -> Drops | None:
        """Which lines of a file are not to be kept; None where it is kept as it is."""

    def aliases(self, path: str, lines: Iterable[bytes]) -> Iterable[str]:
        """All names by which a file, or lines of it, may have been buried."""

    def apart(self, path: str) -> bool:
        """Whether each state of a file is a generation of its own, also one that only has more at its end."""


class ByPath:
    """Knows files by their paths alone."""

    def __init__(self, graves: Tombstones) -> None:
        self._graves = graves

    def hides(self, path: str) -> bool:
        return self._graves.hold(path)

    def drops(self, path: str) -> Drops | None:
        return None

    def aliases(self, path: str, lines: Iterable[bytes]) -> Iterable[str]:
        return (path,)

    def apart(self, path: str) -> bool:
        return False
