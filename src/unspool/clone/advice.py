"""Which treatment a session needs: what each would win, and the mildest that gives it room again."""

from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from unspool.clone.draught import Wish, drawn
from unspool.clone.material import Material
from unspool.clone.original import Original
from unspool.clone.treatment import PRESETS, Treatment
from unspool.figures.filling import Filling, filling
from unspool.library.opening import read_session
from unspool.library.read import recorded_requests

_FULL, _FILLING, _ROOM = 0.70, 0.50, 0.50
"""Shares of the window: over the first a copy is due; under the second none is; a copy should come under the third."""
_WORTH = 0.10
"""The share of the window that a copy should win where the session is not full yet."""
_USUAL = 200_000
"""The window taken for a model whose own is not known."""


class Choice(msgspec.Struct, frozen=True):
    """What one treatment would leave."""

    name: str
    flags: str
    """What `unspool clone` is given for it."""
    tokens: int
    """Of the conversation, estimated."""
    total: int
    """With what is in every request besides."""
    gain: int
    share: float


class Advice(msgspec.Struct, frozen=True):
    """What to do with a session."""

    tokens: int
    total: int
    window: int
    window_known: bool
    exact: bool
    """Whether the log keeps its last request whole, so that estimates are held against all that was measured."""
    share: float
    choices: tuple[Choice, ...]
    recommended: str
    """The name of the choice; `none` where it is best left alone."""
    reason: str


_LADDER: tuple[tuple[str, str, Treatment], ...] = (
    ("thinking", "--strip-thinking 100%", Treatment(strip_thinking=100)),
    ("images", "--drop-images --strip-thinking 100%", Treatment(drop_images=True, strip_thinking=100)),
    (
        "stub",
        "--keep-tool-turns 20 --mode stub",
        replace(PRESETS["default"], truncate=0, mode="stub"),
    ),
    *((name, f"--preset {name}", PRESETS[name]) for name in ("default", "aggressive", "heavy", "extreme")),
)


def window_of(log: Original) -> Filling:
    """What fills the window of a log that is to be copied, exactly where the log keeps its requests."""
    return filling(read_session(log.found), recorded_requests(log.found.path, log.format))


def advice(log: Material, filled: Filling) -> Advice:
    """What each treatment would win, and which one to choose."""
    window = filled.window or _USUAL
    scale = filled.scale
    plain = round(drawn(log, PRESETS["none"], Wish()).after.tokens * scale)
    beside = filled.now.beside if filled.now is not None else 0
    choices = tuple(_choice(log, step, _Sizes(plain, beside, window, scale)) for step in _LADDER)
    total, exact = plain + beside, filled.now is not None and filled.now.exact
    name, reason = _chosen(total, window, choices, len(filled.turns))
    return Advice(plain, total, window, filled.window is not None, exact, total / window, choices, name, reason)


class _Sizes(NamedTuple):
    """What choices are weighed against: the conversation as it is, what comes on top of it, and the window."""

    plain: int
    beside: int
    window: int
    scale: float


def _choice(log: Material, step: tuple[str, str, Treatment], sizes: _Sizes) -> Choice:
    name, flags, treatment = step
    tokens = round(drawn(log, treatment, Wish()).after.tokens * sizes.scale)
    total = tokens + sizes.beside
    return Choice(name, flags, tokens, total, sizes.plain - tokens, total / sizes.window)


def _chosen(total: int, window: int, choices: tuple[Choice, ...], turns: int) -> tuple[str, str]:
    share = total / window
    roomy = next((choice for choice in choices if choice.share <= _ROOM), None)
    if share < _FILLING:
        fresh = " It is short: starting afresh costs little too." if share < 0.2 and turns < 5 else ""
        return "none", f"The window is {share:.0%} full: go on as it is.{fresh}"
    if share < _FULL:
        worth = next((choice for choice in choices if choice.gain >= _WORTH * window), None)
        if worth is None:
            return "none", f"The window is {share:.0%} full, and no treatment would win much: go on as it is."
        return worth.name, f"The window is {share:.0%} full; this wins {worth.gain:,} tokens at little cost."
    if roomy is not None:
        return roomy.name, f"The window is {share:.0%} full; this is the mildest that brings it under {_ROOM:.0%}."
    least = min(choices, key=lambda choice: choice.total)
    return least.name, (
        f"The window is {share:.0%} full, and even this leaves {least.share:.0%}: what is left is what was said. "
        "`--compress` shortens that, and `unspool fork --without` leaves turns out."
    )
