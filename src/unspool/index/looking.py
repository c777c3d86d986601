"""Looks for a pattern in the archive: whole logs by their bytes, then lines, then what they mean."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from unspool.index.hits import Row, Store, Teller, Told
from unspool.index.pattern import Pattern
from unspool.index.results import Hit
from unspool.index.schema import KINDS

_TITLE = KINDS.index("title")
_WINDOW = 4 * 1024 * 1024


class Bytes(Store, Protocol):
    """What is needed of an archive."""

    def read(self, generation: int, start: int = 0, size: int | None = None) -> bytes: ...

    def stream(self, generation: int) -> Iterator[bytes]: ...


class Looking:
    """Looks for one pattern."""

    def __init__(self, teller: Teller, archive: Bytes, pattern: Pattern) -> None:
        self._teller = teller
        self._archive = archive
        self._lines = _Lines(archive)
        self._hint, self._exact = pattern.hint

    def may_hold(self, told: Told, generations: Sequence[int]) -> bool:
        """Whether the bytes of a session's logs hold what the pattern cannot do without."""
        if not self._hint or any(self._in(name.encode(errors="replace")) for name in told.names):
            return True
        return any(self._streamed(generation) for generation in generations)

    def hits(self, rows: Sequence[Row], told: Told) -> Iterator[Hit]:
        """The documents that hold it."""
        for row in rows:
            raw = b"" if row.kind == _TITLE else self._lines.line(row.generation, row.place)
            if row.kind == _TITLE or self._in(raw):
                hit = self._teller.hit(row, told, raw)
                if hit is not None:
                    yield hit

    def _streamed(self, generation: int) -> bool:
        before = b""
        for chunk in self._archive.stream(generation):
            if self._in(before + chunk):
                return True
            before = chunk[-len(self._hint) :]
        return False

    def _in(self, raw: bytes) -> bool:
        return self._hint in (raw if self._exact else raw.lower())


class _Lines:
    """Lines of logs that are asked for in order: the bytes around the last one are kept."""

    def __init__(self, archive: Bytes) -> None:
        self._archive = archive
        self._generation = -1
        self._start = 0
        self._window = b""

    def line(self, generation: int, place: int) -> bytes:
        """The line that begins at a byte, without its end."""
        end = self._end(generation, place)
        if end < 0:
            self._generation, self._start = generation, place
            self._window = self._archive.read(generation, place, _WINDOW)
            end = self._end(generation, place)
        if end < 0:
            return self._archive.line(generation, place)
        return self._window[place - self._start : end]

    def _end(self, generation: int, place: int) -> int:
        """Where in the window the line ends; negative where it does not lie in it."""
        at = place - self._start
        return self._window.find(b"\n", at) if generation == self._generation and 0 <= at < len(self._window) else -1
