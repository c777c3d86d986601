"""Text inside base64 and hexadecimal, standard or for addresses, wrapped or not, and the text inside binary files."""

import binascii
import re
import string
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate

from unspool.redact.view import View

_LEAST = 24
"""Characters of base64 that could hold a key."""
_BINARY = 160
"""Characters of base64 that could be a file with words in it."""


def _of(bit: int) -> str:
    """The characters of base64, for addresses too, without a bit: that which would begin a byte beyond ASCII."""
    letters = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
    zero = [letter for number, letter in enumerate(letters) if not number & bit]
    return "[" + "".join(zero) + ("_" if "/" in zero else "") + (r"\-" if "+" in zero else "") + "]"


_READS = re.compile(rf"(?:{_of(32)}{_of(8)}{_of(2)}[A-Za-z0-9+/_-]){{{_LEAST // 4}}}")
"""How the base64 of plain text begins."""
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){20,}")
_MAY = re.compile(rf"{_READS.pattern}|[2-7][0-9a-fA-F]{{39}}")
"""The same, or its hexadecimal."""
_GAP = re.compile(r"(?:\r?\n|\\r\\n|\\n)[ \t>+]{0,12}")
_WORDS = re.compile(r"[\x20-\x7e\r\n\t]{20,}")
_LINE = 48
"""Characters that a line of wrapped base64 has at least."""
_URL = str.maketrans("-_", "+/")
_PRINTED = bytes(range(0x20, 0x7F)) + b"\r\n\t\x1b\x00"
_WORDS_ONLY = bytes(byte if byte in _PRINTED else 0 for byte in range(256))

Runs = list[tuple[int, int]]


def views(text: str, runs: Iterable[tuple[int, int]]) -> Iterator[View]:
    """What the runs of a text hold, where that is text or holds some."""
    lines: Runs = []
    for start, end in runs:
        if lines and not _follows(text, lines[-1][1], start):
            yield from _base64(text, lines)
            lines = []
        if lines or (end - start >= _LINE and (end - start) % 4 == 0 and text[end : end + 1] in {"\n", "\r", "\\"}):
            lines.append((start, end))
        elif end - start >= _BINARY or _MAY.match(text, start, end):
            yield from _one(text, start, end)
    if lines:
        yield from _base64(text, lines)


def _follows(text: str, end: int, start: int) -> bool:
    return start - end <= 16 and _GAP.fullmatch(text, end, start) is not None


def _one(text: str, start: int, end: int) -> Iterator[View]:
    run = text[start:end]
    if run[0] in "234567" and _HEX.fullmatch(run):
        data = bytes.fromhex(run)
        if _readable(data):
            yield View(data.decode("ascii"), lambda first, last: (start + 2 * first, start + 2 * last))
    elif len(run) >= _BINARY or _READS.match(run):
        yield from _base64(text, [(start, end)])


def _base64(text: str, pieces: Runs) -> Iterator[View]:
    run = "".join([text[start:end] for start, end in pieces]).translate(_URL)
    run = run[: len(run) - (len(run) % 4 == 1)]
    data = binascii.a2b_base64(run + "=" * (-len(run) % 4))
    if found := _text(data):
        yield View(found[0], _way(text, pieces, found[1]))


def _text(data: bytes) -> tuple[str, int] | None:
    """The text in some bytes, zeros for what is none, and how many bytes a character has; None where there is none."""
    if len(data) > 16 and not any(data[1:32:2]) and all(data[:32:2]):
        return data[: len(data) // 2 * 2].decode("utf-16-le", "replace"), 2
    if _readable(data):
        return data.decode("ascii"), 1
    if len(data) > 48 and _WORDS.search(words := data.translate(_WORDS_ONLY).decode("ascii")):
        return words, 1
    return None


def _readable(data: bytes) -> bool:
    return data.isascii() and not data.translate(None, _PRINTED)


def _way(text: str, pieces: Runs, width: int) -> Callable[[int, int], tuple[int, int]]:
    """The characters of base64 that a stretch of its bytes is written with; the padding at its end goes too."""
    firsts = [0, *accumulate(end - start for start, end in pieces)]
    length = firsts.pop()

    def place(at: int) -> int:
        piece = bisect_right(firsts, at) - 1
        return pieces[piece][0] + at - firsts[piece]

    def span(start: int, end: int) -> tuple[int, int]:
        begin, stop = start * width // 3 * 4, min(length, -(-end * width // 3) * 4)
        last = place(stop - 1) + 1
        while stop == length and text[last : last + 1] == "=":
            last += 1
        return place(begin), last

    return span
