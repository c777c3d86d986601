"""Passages of a session, and the choice of those that are shortened."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from unspool.clone.compress.bands import SHARES, Bands, Level
from unspool.figures.tokens import estimate


class Passage(NamedTuple):
    """The words of one line."""

    id: str
    """The line's own id."""
    turn: int
    """Counted from 0."""
    role: Literal["assistant", "user"]
    text: str


class Wish(NamedTuple):
    """What is asked for beside the bands."""

    turns: int = 0
    """Turns of the whole session; 0: as many as the passages tell of."""
    user: bool = False
    """Whether what the person wrote is shortened too."""
    minimum: int = 50
    """Passages of fewer tokens stay as they are."""
    width: int = 0
    """Requests at once; 0: as many as the provider is good for."""


PLAIN = Wish()


class Chosen(NamedTuple):
    """A passage that is to be shortened."""

    passage: Passage
    level: Level
    tokens: int
    """Estimated."""

    @property
    def target(self) -> int:
        """Tokens that are aimed at."""
        return max(1, self.tokens * SHARES[self.level] // 100)


class Choice(NamedTuple):
    """What is shortened, and how many passages of the bands are too short for it."""

    chosen: tuple[Chosen, ...]
    skipped: int


def choose(passages: Sequence[Passage], bands: Bands, wish: Wish = PLAIN) -> Choice:
    """The passages that fall into a band and are long enough."""
    if len({passage.id for passage in passages}) != len(passages):
        raise ValueError("a line has one passage")
    turns = wish.turns or max((passage.turn for passage in passages), default=0) + 1
    chosen, skipped = list[Chosen](), 0
    for passage in passages:
        level = bands.level(passage.turn, turns)
        if level is None or (passage.role == "user" and not wish.user):
            continue
        tokens = estimate(passage.text)
        if tokens < wish.minimum:
            skipped += 1
        else:
            chosen.append(Chosen(passage, level, tokens))
    return Choice(tuple(chosen), skipped)
