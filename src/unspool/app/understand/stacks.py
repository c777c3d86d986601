"""The window of a session as a picture: a stack for each turn, its kinds one above the other, cut by compactions."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from unspool import human
from unspool.app.understand.charts import Part, parts
from unspool.figures.filling import Filling, Request, TurnFilling
from unspool.model.window import KINDS, SYSTEM_PROMPT, TOOL_DEFINITIONS
from unspool.site.address import Addresses

HEIGHT, STEP, MOST = 100, 10, 150
"""Of the picture: its height, the width of a stack with its gap, and how many there are at most."""
_UNACCOUNTED = "unaccounted"
_ORDER = (_UNACCOUNTED, SYSTEM_PROMPT, TOOL_DEFINITIONS, *KINDS)
"""From the bottom up."""


class Layer(NamedTuple):
    """One kind of a stack."""

    name: str
    y: float
    height: float


class Stack(NamedTuple):
    """One turn, or several that stand together."""

    x: int
    href: str
    says: str
    layers: tuple[Layer, ...]
    compacted: bool


class Stacks(NamedTuple):
    """The picture, with the names of what is in it."""

    width: int
    stacks: tuple[Stack, ...]
    names: tuple[str, ...]
    about: str
    compacted: bool


def stacks(filled: Filling, addresses: Addresses) -> Stacks | None:
    """The window over the turns; None where no two of them tell of it."""
    shown = [turn for turn in filled.turns if turn.window is not None or turn.compactions]
    windows = [turn.window for turn in shown if turn.window is not None]
    if len(windows) < 2:
        return None
    most = max(window.total for window in windows) or 1
    made = tuple(_stacks(shown, most, addresses))
    names = tuple(name for name in _ORDER if any(name in _tokens(window) for window in windows))
    about = f"{human.count(len(windows), 'turn')}, at its fullest {most:,} tokens."
    return Stacks(len(made) * STEP, made, names, about, any(one.compacted for one in made))


def now(filled: Filling) -> tuple[Part, ...]:
    """The window that the last request found, with what is free in it where its size is known."""
    if filled.now is None:
        return ()
    found = [(name, tokens) for name, tokens in _tokens(filled.now).items() if tokens]
    free = max(0, filled.window - filled.now.total) if filled.window else 0
    return parts([*found, ("free", free)] if free else found)


def _stacks(turns: Sequence[TurnFilling], most: int, addresses: Addresses) -> Iterator[Stack]:
    """A stack for each turn; where there are many, for the fullest of several neighbours."""
    together = -(-len(turns) // MOST)
    for at, start in enumerate(range(0, len(turns), together)):
        group = turns[start : start + together]
        turn = max(group, key=lambda one: one.window.total if one.window is not None else 0)
        compacted = any(one.compactions for one in group)
        said = "no request" if turn.window is None else f"{turn.window.total:,} tokens"
        href = addresses.turn(turn.number)
        yield Stack(at * STEP, href, f"Turn {turn.number}: {said}", tuple(_layers(turn.window, most)), compacted)


def _layers(window: Request | None, most: int) -> Iterator[Layer]:
    y = float(HEIGHT)
    for name, tokens in _tokens(window).items() if window is not None else ():
        height = HEIGHT * tokens / most
        y -= height
        yield Layer(name, round(y, 2), round(height, 2))


def _tokens(window: Request) -> dict[str, int]:
    """Tokens of every kind that is there, in the order that they are shown."""
    known = {_UNACCOUNTED: window.unaccounted, **window.kinds}
    return {name: known[name] for name in _ORDER if known.get(name)}
