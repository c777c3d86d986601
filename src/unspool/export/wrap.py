"""Lines broken at spaces to fit a width, under their own indent or list mark."""

import re
from collections.abc import Iterator

from rich.cells import cell_len, chop_cells

_MARK = re.compile(r"\s*(?:(?:[-*+•]|\d{1,4}[.)])\s+|(?:>\s?)+)?")


def wrapped(line: str, width: int) -> Iterator[str]:
    """The line in pieces no wider than `width`; a word wider than that stays whole, so that it can be copied."""
    if _fits(line, width):
        yield line
        return
    found = _MARK.match(line)
    mark = found[0] if found and len(found[0]) <= width // 2 else ""
    hang = mark if ">" in mark else " " * len(mark)
    room = width - len(mark)
    for number, piece in enumerate(_pieces(line[len(mark) :], room)):
        yield (hang if number else mark) + piece


def _fits(line: str, width: int) -> bool:
    return len(line) <= width if line.isascii() else len(line) * 2 <= width or cell_len(line) <= width


def _pieces(text: str, room: int) -> Iterator[str]:
    row: list[str] = []
    used = 0
    for word in _words(text, room):
        size = len(word) if word.isascii() else cell_len(word)
        if row and used + size > room:
            yield " ".join(row).rstrip()
            row, used = [], 0
        row.append(word)
        used += size + 1
    if row:
        yield " ".join(row).rstrip()


def _words(text: str, room: int) -> Iterator[str]:
    """Words; scripts that write without spaces may break anywhere."""
    for word in text.split(" "):
        if word.isascii() or cell_len(word) <= room or room < 2:
            yield word
        else:
            yield from chop_cells(word, room)
