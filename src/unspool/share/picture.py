"""A picture of a session for programs that show a link: its title and what it adds up to, and nothing else."""

import textwrap
from base64 import b64encode
from typing import NamedTuple
from unicodedata import east_asian_width

from unspool import human
from unspool.figures import Figures
from unspool.formats import by_id
from unspool.model import Session
from unspool.site.brief import flat
from unspool.site.sheet import render

_WIDE, _LINES, _ROOM = 28, 3, 1040
"""Letters on a line, lines, and how many units wide a line may be."""


class Line(NamedTuple):
    """A line of the title, and the width it is pressed into where its letters are wide; else 0."""

    text: str
    room: int


def picture(session: Session, counted: Figures) -> bytes:
    """An SVG of 1200 by 630."""
    title = flat(session.title, 200) or "Untitled session"
    cut = textwrap.wrap(title, _WIDE, max_lines=_LINES, placeholder=" …") or [title[:_WIDE]]
    lines = [Line(text, _ROOM if _width(text) > _WIDE else 0) for text in cut]
    kicker = f"A session of {by_id(session.agent).name}"
    drawn = render("preview.svg", title=title, lines=lines, kicker=kicker, facts=facts(counted))
    return drawn.encode("utf-8", "replace")


def _width(text: str) -> int:
    """Letters, those of East Asia twice."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def facts(counted: Figures) -> list[str]:
    """What the session adds up to, in two lines at most."""
    calls, changed = counted.tool_calls, sum(bool(file.writes) for file in counted.files)
    done = human.joined(
        human.count(calls, "tool call") if calls else "",
        human.count(changed, "file") + " changed" if changed else "",
        human.count(len(counted.commits), "commit") if counted.commits else "",
    )
    return [line for line in (human.count(counted.turns, "turn"), done) if line]


def described(counted: Figures) -> str:
    """The same on one line."""
    return human.joined(*facts(counted))


def inside(svg: bytes) -> str:
    """The picture as an address that holds it."""
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
