"""Text inside dumps of bytes, as xxd, hexdump and od write them: an offset, pairs of digits, the characters."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from unspool.redact.view import View

_SECOND = "000010"
"""The offset of the second row, or what it ends with."""
_ROW = re.compile(
    r"(?:^|(?<=[\n\0]))[ \t>|+]{0,12}[0-9a-f]{6,8}:?[ \t]{1,4}((?:[0-9a-f]{2}[ \t]{0,2}){2,32})[^\n\0]{0,80}"
)
_PAIR = re.compile(r"[0-9a-f]{2}")
_MOST = 16
"""Bytes of a row; the characters beside them may read as more."""


class _Row(NamedTuple):
    first: int
    """Where in the bytes it begins."""
    start: int
    end: int


def views(text: str) -> Iterator[View]:
    """What the rows of each dump say together; what is found in a row takes the row with it, characters included."""
    if _SECOND not in text:
        return
    rows: list[_Row] = []
    parts: list[bytes] = []
    for match in _ROW.finditer(text):
        if rows and match.start() > rows[-1].end + 1:
            yield _view(parts, rows)
            rows, parts = [], []
        first = rows[-1].first + len(parts[-1]) if rows else 0
        rows.append(_Row(first, match.start(1), match.end()))
        parts.append(bytes.fromhex("".join(_PAIR.findall(match[1])[:_MOST])))
    if rows:
        yield _view(parts, rows)


def _view(parts: list[bytes], rows: list[_Row]) -> View:
    firsts = [row.first for row in rows]

    def span(start: int, end: int) -> tuple[int, int]:
        return rows[bisect_right(firsts, start) - 1].start, rows[bisect_right(firsts, end - 1) - 1].end

    return View(b"".join(parts).decode("latin-1"), span)
