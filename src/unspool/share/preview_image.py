"""The link preview of a session: an SVG with its title and figures."""

from base64 import b64encode
from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import bidirectional, category, east_asian_width

from unspool import human
from unspool.agents import by_id
from unspool.figures import Figures
from unspool.model import Session
from unspool.render.html.elements import visible
from unspool.site.page_template import fill_template
from unspool.site.summaries import shorten_line

MORE = "…"
_JOINER = "\u200d"
_SORTS = ((" .,;:!|'`ijl()[]", 0.4), ('fIrt/\\-"', 0.5), ("mwMW@%", 1.1))
_WIDTHS = {letter: width for letters, width in _SORTS for letter in letters}
_CAPITAL, _USUAL, _WIDE = 0.82, 0.7, 1.05
_MARKS = 2
"""Marks above and below a letter that are drawn; more are no writing."""


class TitleLines(NamedTuple):
    """The lines of a title, and whether they are read from the right."""

    lines: list[str]
    leftward: bool


def set_title(text: str, room: float, lines: int) -> TitleLines:
    """The text in at most so many lines, each so many times as wide as its letters are high."""
    made = list(_lines(text, room))
    if len(made) > lines:
        made = [*made[: lines - 1], _cut(made[lines - 1], room)]
    return TitleLines(made, _leftward(text))


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


_ROOM = 1040
"""Units that a line may be wide."""
_SIZES = ((84, 2), (60, 3))
"""How high letters are, and how many lines of them there are at most: a short title is written large."""


def preview_image(session: Session, counted: Figures) -> bytes:
    """An SVG of 1200 by 630."""
    title = visible(shorten_line(session.title, 200)) or "Untitled session"
    large, small = ((size, set_title(title, _ROOM / size, lines)) for size, lines in _SIZES)
    size, laid = large if "".join(large[1].lines).replace(" ", "") == "".join(title.split()) else small
    kicker, facts = f"A session of {by_id(session.agent).name}", image_facts(counted)
    drawn = fill_template("preview.svg", title=title, **laid._asdict(), size=size, kicker=kicker, facts=facts)
    return drawn.encode("utf-8", "replace")


def image_facts(counted: Figures) -> list[str]:
    """What the session adds up to, in two lines at most."""
    calls, changed = counted.tool_calls, sum(bool(file.writes) for file in counted.files)
    done = human.joined(
        human.count(calls, "tool call") if calls else "",
        human.count(changed, "file") + " changed" if changed else "",
        human.count(len(counted.commits), "commit") if counted.commits else "",
    )
    return [line for line in (human.count(counted.turns, "turn"), done) if line]


def describe_session(counted: Figures) -> str:
    """The same on one line."""
    return human.joined(*image_facts(counted))


def image_data_url(svg: bytes) -> str:
    """The picture as an address that holds it."""
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
