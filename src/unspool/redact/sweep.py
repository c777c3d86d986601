"""Many texts looked through at once: a line of a log has dozens, most of them short, and many seen before."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from unspool.redact.finder import Finder
from unspool.redact.match import Match

_REMEMBERED = 200_000
"""Texts whose findings are remembered."""
_WORTH = 20_000
"""Characters of a text that is too long to be remembered."""
_TELLING = re.compile(r"(?i)pass|pwd|secret|token|key|credential|auth|cookie")
_LONG = 60
"""A key longer than this names no secret."""


class Path(NamedTuple):
    """Where a text stands: in what, and under which key or number."""

    parent: "Path | None" = None
    piece: str | int = ""

    def __str__(self) -> str:
        """message.content[0].text"""
        before = str(self.parent) if self.parent is not None else ""
        if isinstance(self.piece, int):
            return f"{before}[{self.piece}]"
        return f"{before}.{self.piece}" if before else self.piece


class Text(NamedTuple):
    """A text of a value: where it stands, the key that tells what it is, and what it says."""

    path: Path
    key: str
    text: str

    @property
    def whole(self) -> str:
        """The text as an assignment to its key."""
        return f'{self.key}="{self.text}"' if self.key else self.text


@lru_cache(10_000)
def telling(key: str) -> bool:
    """Whether a key says what its text is, as `password` does."""
    return bool(_TELLING.search(key)) and len(key) <= _LONG


def swept(finder: Finder, texts: Sequence[Text]) -> list[list[Match]]:
    """What must go of each text."""
    if len(finder.known) > _REMEMBERED:
        finder.known.clear()
    wholes = [text.whole for text in texts]
    found = {whole: finder.known[whole] for whole in wholes if whole in finder.known}
    fresh = [whole for whole in dict.fromkeys(wholes) if whole not in found]
    if fresh:
        found.update(_fresh(finder, fresh))
        finder.known.update((whole, found[whole]) for whole in fresh if len(whole) < _WORTH)
    return [_within(found[whole], text, whole) for text, whole in zip(texts, wholes, strict=True)]


def _fresh(finder: Finder, wholes: list[str]) -> dict[str, list[Match]]:
    found: dict[str, list[Match]] = {whole: [] for whole in wholes}
    for whole, match in _together(finder, [whole for whole in wholes if "\0" not in whole]):
        found[whole].append(match)
    for whole in wholes:
        if "\0" in whole:
            found[whole] = finder.find(whole)
    return found


def _together(finder: Finder, wholes: list[str]) -> Iterator[tuple[str, Match]]:
    """No match runs over a zero, so texts with zeros between are looked through as one."""
    starts, length = [], 0
    for whole in wholes:
        starts.append(length)
        length += len(whole) + 1
    for match in finder.find("\0".join(wholes)):
        number = bisect_right(starts, match.start) - 1
        at, whole = starts[number], wholes[number]
        yield whole, match._replace(start=match.start - at, end=min(match.end - at, len(whole)))


def _within(found: list[Match], text: Text, whole: str) -> list[Match]:
    """The findings that are of the text itself, not of its key."""
    if not found or len(whole) == len(text.text):
        return found
    at, end = len(text.key) + 2, len(whole) - 1
    inside = [match._replace(start=max(at, match.start) - at, end=min(end, match.end) - at) for match in found]
    return [match for match in inside if match.end > match.start]
