"""A text without one disguise, and the way back: each stretch of it to the stretch of the text as given."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

_WORD = 2000
_CUT = re.compile(r"[^\s\0\"'`<>]++")

Span = Callable[[int, int], tuple[int, int]]
Edit = tuple[int, int, str]
"""A stretch of a text and what it reads as."""


class View(NamedTuple):
    """A text as it reads without its disguise."""

    text: str
    span: Span
    """A stretch of it to the stretch as given."""


class Window(NamedTuple):
    """A part of a text, and what reads differently in it, in order."""

    start: int
    end: int
    edits: Iterable[Edit]


class _Pieces(NamedTuple):
    views: list[int]
    """Where each piece begins in the view; every second one, from the second on, is decoded."""
    starts: list[int]
    ends: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        return self._start(start), self._end(end)

    def _start(self, at: int) -> int:
        piece = bisect_right(self.views, at) - 1
        return self.starts[piece] + (at - self.views[piece] if piece % 2 == 0 else 0)

    def _end(self, at: int) -> int:
        piece = bisect_right(self.views, at - 1) - 1
        return self.starts[piece] + at - self.views[piece] if piece % 2 == 0 else self.ends[piece]


def viewed(text: str, windows: Iterable[Window]) -> Iterator[View]:
    """The windows of a text as one view, with zeros between, which nothing that is found runs over."""
    pieces = _Pieces([], [], [])
    parts: list[str] = []
    last = length = 0
    for start, end, reads in _edits(windows):
        for piece, begin, stop in ((text[last:start], last, start), (reads, start, end)):
            pieces.views.append(length)
            pieces.starts.append(begin)
            pieces.ends.append(stop)
            parts.append(piece)
            length += len(piece)
        last = end
    if parts:
        yield View("".join(parts), pieces.span)


def _edits(windows: Iterable[Window]) -> Iterator[Edit]:
    """What is between the windows reads as a zero; so does what follows the last one."""
    last = 0
    for window in windows:
        start = max(last, window.start)
        if start < window.end:
            yield last, start, "\0"
            yield from (edit for edit in window.edits if edit[0] >= start)
            last = window.end
    if last:
        yield last, last, "\0"


def around(text: str, start: int, end: int, before: int, after: int) -> tuple[int, int]:
    """A stretch with so many characters on either side, none of them beyond a zero, and no word cut through."""
    first, last = max(0, start - before), min(len(text), end + after)
    left = text.rfind("\0", first, start) + 1
    right = text.find("\0", end, last)
    return left or first - _cut(text[max(0, first - _WORD) : first][::-1]), right if right >= 0 else _after(text, last)


def _after(text: str, at: int) -> int:
    found = _CUT.match(text, at, at + _WORD)
    return found.end() if found else at


def _cut(text: str) -> int:
    found = _CUT.match(text)
    return found.end() if found else 0
