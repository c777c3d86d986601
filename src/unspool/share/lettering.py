"""A title set in lines: how wide letters are without their font, where a line breaks, which way it is read.

Widths are those of a wide, bold font, so that a line fits in most others too.
"""

from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import bidirectional, category, east_asian_width

MORE = "…"
_JOINER = "\u200d"
_SORTS = ((" .,;:!|'`ijl()[]", 0.4), ('fIrt/\\-"', 0.5), ("mwMW@%", 1.1))
_WIDTHS = {letter: width for letters, width in _SORTS for letter in letters}
_CAPITAL, _USUAL, _WIDE = 0.82, 0.7, 1.05
_MARKS = 2
"""Marks above and below a letter that are drawn; more are no writing."""


class Set(NamedTuple):
    """The lines of a title, and whether they are read from the right."""

    lines: list[str]
    leftward: bool


def set_in(text: str, room: float, lines: int) -> Set:
    """The text in at most so many lines, each so many times as wide as its letters are high."""
    made = list(_lines(text, room))
    if len(made) > lines:
        made = [*made[: lines - 1], _cut(made[lines - 1], room)]
    return Set(made, _leftward(text))


def _lines(text: str, room: float) -> Iterator[str]:
    """Broken between words, and within one that no line can hold."""
    line: list[str] = []
    for word in text.split():
        letters = [*([" "] if line else []), *_letters(word)]
        if line and _width([*line, *letters]) > room:
            yield "".join(line)
            line, letters = [], letters[1:]
        line += letters
        while (fits := _fitting(line, room)) < len(line):
            yield "".join(line[:fits])
            line = line[fits:]
    if line:
        yield "".join(line)


def _cut(line: str, room: float) -> str:
    """A line with the sign that there is more."""
    letters = list(_letters(line))
    kept = "".join(letters[: _fitting(letters, room - _USUAL * 1.5)])
    return f"{kept.rstrip(' .,;:')}{MORE}"


def _fitting(letters: list[str], room: float) -> int:
    """How many of the letters fit; one at least."""
    for number in range(len(letters), 1, -1):
        if _width(letters[:number]) <= room:
            return number
    return min(1, len(letters))


def _letters(text: str) -> Iterator[str]:
    """What is drawn as one: a letter with its marks, pictures that are joined."""
    held, marks = "", 0
    for one in text:
        mark = category(one) in ("Mn", "Me", "Cf") or "\U0001f3fb" <= one <= "\U0001f3ff"
        if held and (mark or held.endswith(_JOINER)):
            marks += mark
            held += one if marks <= _MARKS or one == _JOINER or held.endswith(_JOINER) else ""
            continue
        if held:
            yield held
        held, marks = one, 0
    if held:
        yield held


def _width(letters: list[str]) -> float:
    return sum(_wide(one[0]) for one in letters)


def _wide(letter: str) -> float:
    if east_asian_width(letter) in "WF" or category(letter) == "So":
        return _WIDE
    return _WIDTHS.get(letter, _CAPITAL if letter.isupper() else _USUAL)


def _leftward(text: str) -> bool:
    """Whether the first letter that has a direction is of a script that is read from the right."""
    for letter in text:
        direction = bidirectional(letter)
        if direction in ("R", "AL", "L"):
            return direction != "L"
    return False
