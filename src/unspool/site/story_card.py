"""The story of a session as a picture, for link previews and to be kept: what was asked, what came of it, its run."""

from base64 import b64encode
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import ClassVar, NamedTuple
from unicodedata import bidirectional, category, east_asian_width

import msgspec

from unspool import human
from unspool.agents import by_id
from unspool.figures import Figures, figures
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.render.html.elements import visible
from unspool.render.view import View
from unspool.site.address import Addresses
from unspool.site.options import SiteOptions
from unspool.site.page_template import Frame, fill_template
from unspool.site.png import require_png
from unspool.site.session_story import asked_words, came_words, last_test_run
from unspool.site.session_strip import Happening, StripPiece, strip_pieces
from unspool.site.session_view import SessionView, format_cost
from unspool.site.summaries import model_name, shorten_line

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
    fits = _fitting(letters, room - _USUAL * 1.5)
    kept = "".join(letters[:fits])
    at = kept.rfind(" ")
    if fits < len(letters) and letters[fits] != " " and at > len(kept) // 2:
        kept = kept[:at]
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


class CardLines(NamedTuple):
    """Words laid out: how high their letters are, their lines, and whether these are read from the right."""

    size: int
    lines: list[str]
    leftward: bool


class CardPart(NamedTuple):
    """A piece of the story with its name, where it stands and how wide it may be."""

    name: str
    words: TitleLines
    x: int
    y: int
    width: int
    colour: str


class CardPiece(NamedTuple):
    x: float
    width: float
    colour: str


_LEFT, _ROOM = 64, 1072
"""Units to the left of all that is written, and how wide a line may be."""
_SIZES = ((60, 1), (46, 2))
"""How high letters of a title are, and how many lines of them there are at most: a short one is written large."""
_WORDS, _LINES, _FACTS = 25, 7, 27
"""How high letters of a part are, how many lines it has at most, and how high those of the facts are."""
_ASKED, _CAME = "#7fb0f5", "#7cc999"
_COLOURS: dict[Happening, str] = {
    "you": "#7fb0f5", "thinking": "#dcc158", "looking": "#4b4459", "running": "#6cc5d0", "changing": "#c3a1f0",
    "subagent": "#a0afe3", "failed": "#f0938b", "answer": "#6a6862", "compacted": "#e2a557",
}  # fmt: skip


def story_card(view: SessionView) -> bytes:
    """The story of a session as a picture: an SVG of 1200 by 630."""
    session = view.session
    title = visible(shorten_line(session.title, 200)) or "Untitled session"
    large, small = (CardLines(size, *set_title(title, _ROOM / size, lines)) for size, lines in _SIZES)
    heading = large if "".join(large.lines).replace(" ", "") == "".join(title.split()) else small
    models = ", ".join(dict.fromkeys(model_name(call.model) for call in view.counted.models if call.model))
    drawn = fill_template(
        "card.svg",
        title=title,
        heading=heading,
        kicker=visible(shorten_line(human.joined(by_id(session.agent).name, models), 60)),
        parts=list(_parts(view, "" if heading.lines[-1].endswith(MORE) else title, heading)),
        facts=set_title(human.joined(*card_facts(view)), _ROOM / _FACTS, 2).lines,
        strip=list(_strip(strip_pieces(view))),
    )
    return drawn.encode("utf-8", "replace")


def _parts(view: SessionView, said: str, heading: CardLines) -> Iterator[CardPart]:
    """What was asked and what came of it, beside each other below the heading; what it has `said` is not said again."""
    y = 166 + int(len(heading.lines) * heading.size * 1.2)
    asked, came = (visible(shorten_line(words, 600)) for words in (asked_words(view), came_words(view)))
    if _folded(asked) == _folded(said):
        asked = ""
    both = ("ASKED", asked, _ASKED), ("CAME OF IT", came, _CAME)
    told = [(name, words, colour) for name, words, colour in both if words]
    width = (_ROOM - 40 * (len(told) - 1)) // max(1, len(told))
    for at, (name, words, colour) in enumerate(told):
        laid = set_title(words, (width - 24) / _WORDS, min(_LINES, (496 - y) // 34))
        yield CardPart(name, laid, _LEFT + at * (width + 40), y, width, colour)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _strip(pieces: list[StripPiece]) -> Iterator[CardPiece]:
    """The run along the foot of the card, from edge to edge."""
    total, x = sum(piece.seconds + 1 for piece in pieces), 0.0
    for kind, same in groupby(pieces, lambda piece: piece.kind):
        width = 1200 * sum(piece.seconds + 1 for piece in same) / total
        yield CardPiece(round(x, 1), round(width + 0.2, 1), _COLOURS[kind])
        x += width


def card_facts(view: SessionView) -> Iterator[str]:
    """What the session left behind, cost and took, in a few words each."""
    counted, session = view.counted, view.session
    changed = [file for file in counted.files if file.writes]
    if changed:
        lines = f"+{sum(file.added for file in changed):,} −{sum(file.removed for file in changed):,}"
        yield f"{human.count(len(changed), 'file')} {lines}"
    if counted.commits:
        yield human.count(len(counted.commits), "commit")
    run = last_test_run(view)
    if run is not None and (said := run.said or {True: "passed", False: "failed", None: ""}[run.passed]):
        yield f"tests {visible(shorten_line(said, 40))}"
    yield human.count(counted.turns, "prompt")
    yield format_cost(counted.cost)
    yield human.elapsed(session.started, session.ended)


def describe_session(counted: Figures) -> str:
    """What a session adds up to, on one line."""
    calls, changed = counted.tool_calls, sum(bool(file.writes) for file in counted.files)
    return human.joined(
        human.count(counted.turns, "prompt"),
        human.count(calls, "tool call") if calls else "",
        human.count(changed, "file") + " changed" if changed else "",
        human.count(len(counted.commits), "commit") if counted.commits else "",
    )


def image_data_url(svg: bytes) -> str:
    """The picture as an address that holds it."""
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"


class CardWriter(msgspec.Struct, frozen=True):
    """The story of a session as a picture."""

    name: ClassVar[str] = "card"
    suffixes: ClassVar[tuple[str, ...]] = (".svg", ".png")
    description: ClassVar[str] = "the story of a session as a picture, SVG or PNG"
    binary: ClassVar[bool] = False
    prices: PriceTable
    png: bool = False

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        del view, folder
        drawn = story_card(view_for_card(session, self.prices))
        yield require_png(drawn) if self.png else drawn


def view_for_card(session: Session, prices: PriceTable) -> SessionView:
    options = SiteOptions()
    return SessionView(session, figures(session, prices), options, Frame(prices=prices), Addresses(session, options))
