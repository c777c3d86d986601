"""A text without one disguise, and the way back: each stretch of it to the stretch of the text as given."""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import re

Span = Callable[[int, int], tuple[int, int]]


class View(NamedTuple):
    """A text as it reads without its disguise."""

    text: str
    span: Span
    """A stretch of it to the stretch as given."""


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


def replaced(text: str, found: Iterable["re.Match[str]"], decoded: Callable[["re.Match[str]"], str], at: int) -> View:
    """A part of a text, which begins at `at` of the whole, with each match replaced."""
    parts: list[str] = []
    pieces = _Pieces([], [], [])
    last = length = 0
    for match in found:
        for piece, start, end in ((text[last : match.start()], last, match.start()), (decoded(match), *match.span())):
            pieces.views.append(length)
            pieces.starts.append(start + at)
            pieces.ends.append(end + at)
            parts.append(piece)
            length += len(piece)
        last = match.end()
    pieces.views.append(length)
    pieces.starts.append(last + at)
    pieces.ends.append(len(text) + at)
    parts.append(text[last:])
    return View("".join(parts), pieces.span)
