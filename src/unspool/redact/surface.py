"""A text as it is looked through: folded, one byte a character, with its long unbroken runs set apart."""

import re
from collections.abc import Iterator

RUN = 20
"""Characters that a run has at least."""
_NAMES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_SHAPE = bytes(0x61 if byte in _NAMES + b"+/" else 0x20 for byte in range(256))
_NEEDLE = b"a" * RUN
_NAME = re.compile(rb"[a-z0-9_-]{20,}")
_BEFORE = 24
"""Characters before a name in which the key of a token may stand, as in `hvs.`."""
_ESCAPES = re.compile(rb"(?:\\(?:[nrtbfv]|u00[0-9a-f]{2}|x[0-9a-f]{2})|%(?:25)*[0-9a-f]{2}|\[(?:\d{1,2};)*\d{0,2}m)+")


def folded(text: str) -> bytes:
    """The text in lower case, each character one byte: positions are those of the text."""
    return text.encode("ascii", "replace").lower()


def runs(low: bytes) -> Iterator[tuple[int, int]]:
    """Where letters, digits and _ - + / stand together without a break, long enough for a key."""
    shape = low.translate(_SHAPE)
    start = shape.find(_NEEDLE)
    while start >= 0:
        end = shape.find(b" ", start)
        end = len(shape) if end < 0 else end
        yield start, end
        start = shape.find(_NEEDLE, end)


def names(low: bytes, long: list[tuple[int, int]]) -> list[int]:
    """Where a long name (a run without + and /) begins; after an escape too, whose letters are no part of it."""
    found = []
    for start, end in long:
        run = low[start:end]
        if b"/" in run or b"+" in run:
            found += [start + match.start() for match in _NAME.finditer(run)]
        else:
            found.append(start)
    found += [start + 1 for start in found if low[start : start + 1] == b"-"]
    return found + [match.end() for start in found if (match := _escape(low, start))]


def _escape(low: bytes, start: int) -> "re.Match[bytes] | None":
    return _ESCAPES.match(low, start - 1) if start and low[start - 1] in b"\\%[" else None


class Close:
    """What stands just before each name of a text, with how the name begins."""

    def __init__(self, low: bytes, places: list[int]) -> None:
        self._starts = [max(0, place - _BEFORE) for place in places]
        self._parts = [low[start : place + 4] for start, place in zip(self._starts, places, strict=True)]
        self._all = b"\0".join(self._parts)

    def of(self, key: bytes) -> list[int]:
        """Where in the text a key stands close to a name."""
        if key not in self._all:
            return []
        return sorted(
            {start + at for start, part in zip(self._starts, self._parts, strict=True) for at in found(part, key)}
        )


def found(where: bytes, key: bytes) -> Iterator[int]:
    """Every place of a key."""
    place = where.find(key)
    while place >= 0:
        yield place
        place = where.find(key, place + 1)
