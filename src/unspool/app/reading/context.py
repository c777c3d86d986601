"""How full the window was, turn by turn: bars for a picture, and the same as rows of a table."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from unspool import human
from unspool.model import Notice, Session, Turn
from unspool.site import brief
from unspool.site.address import Addresses

HEIGHT, STEP, MOST = 100, 10, 150
"""Of the picture: its height, the width of a bar, and how many there are at most."""


class Bar(NamedTuple):
    """One turn, or several that stand together."""

    x: int
    y: int
    height: int
    href: str
    said: str
    compacted: bool


class Row(NamedTuple):
    """A turn of the table."""

    number: int
    href: str
    words: str
    tokens: str
    compacted: bool


class Context(NamedTuple):
    """The picture of a session's window."""

    width: int
    bars: tuple[Bar, ...]
    rows: tuple[Row, ...]
    peak: str
    now: str
    compactions: int


def context(session: Session, addresses: Addresses) -> Context | None:
    """The window over the live turns; None where the log tells nothing of it."""
    turns = [turn for turn in session.turns if turn.context or _compacted(turn)]
    most = max((turn.context for turn in turns), default=0)
    if most == 0 or len(turns) < 2:
        return None
    bars = tuple(_bars(turns, most, addresses))
    now = next(turn.context for turn in reversed(turns) if turn.context)
    rows = tuple(_row(turn, addresses) for turn in turns)
    compactions = sum(_compacted(turn) for turn in turns)
    return Context(len(bars) * STEP, bars, rows, human.tokens(most), human.tokens(now), compactions)


def _compacted(turn: Turn) -> int:
    return sum(isinstance(block, Notice) and block.kind == "compaction" for block in turn.blocks)


def _bars(turns: Sequence[Turn], most: int, addresses: Addresses) -> Iterator[Bar]:
    """A bar for each turn; where there are many, for the fullest of several neighbours."""
    together = -(-len(turns) // MOST)
    for at, start in enumerate(range(0, len(turns), together)):
        group = turns[start : start + together]
        turn = max(group, key=lambda one: one.context)
        height = max(2, round(HEIGHT * turn.context / most))
        said = f"Prompt {turn.number}: {human.tokens(turn.context)}"
        compacted = any(map(_compacted, group))
        yield Bar(at * STEP, HEIGHT - height, height, addresses.turn(turn.number), said, compacted)


def _row(turn: Turn, addresses: Addresses) -> Row:
    words = brief.line(turn.prompt)
    return Row(turn.number, addresses.turn(turn.number), words, f"{turn.context:,}", bool(_compacted(turn)))
