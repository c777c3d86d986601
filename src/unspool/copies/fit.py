"""What each treatment would win, which to choose, and the mildest that fits into a number of tokens."""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from unspool.copies.copy_plan import CopyRequest, plan_copy
from unspool.copies.material import CopyMaterial
from unspool.copies.original import OriginalLog
from unspool.copies.treatment import PRESETS, Treatment
from unspool.errors import Unsound
from unspool.figures.context_window import ContextWindow, context_window
from unspool.store.library.read import read_session, recorded_requests

_FULL, _FILLING, _ROOM = 0.70, 0.50, 0.50
"""Shares of the window: over the first a copy is due; under the second none is; a copy should come under the third."""
_WORTH = 0.10
"""The share of the window that a copy should win where the session is not full yet."""
_USUAL = 200_000
"""The window taken for a model whose own is not known."""


class TreatmentChoice(msgspec.Struct, frozen=True):
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


class TreatmentAdvice(msgspec.Struct, frozen=True):
    """What to do with a session."""

    tokens: int
    total: int
    window: int
    window_known: bool
    exact: bool
    """Whether the log keeps its last request whole, so that estimates are held against all that was measured."""
    share: float
    choices: tuple[TreatmentChoice, ...]
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


def window_of(log: OriginalLog) -> ContextWindow:
    """What fills the window of a log that is to be copied, exactly where the log keeps its requests."""
    return context_window(read_session(log.found), recorded_requests(log.found.path, log.agent))


def advise(log: CopyMaterial, filled: ContextWindow) -> TreatmentAdvice:
    """What each treatment would win, and which one to choose."""
    window = filled.window or _USUAL
    scale = filled.scale
    plain = round(plan_copy(log, PRESETS["none"], CopyRequest()).after.tokens * scale)
    beside = filled.now.beside if filled.now is not None else 0
    choices = tuple(_choice(log, step, _Sizes(plain, beside, window, scale)) for step in _LADDER)
    total, exact = plain + beside, filled.now is not None and filled.now.exact
    name, reason = _chosen(total, window, choices, len(filled.turns))
    return TreatmentAdvice(
        plain, total, window, filled.window is not None, exact, total / window, choices, name, reason
    )


class _Sizes(NamedTuple):
    """What choices are weighed against: the conversation as it is, what comes on top of it, and the window."""

    plain: int
    beside: int
    window: int
    scale: float


def _choice(log: CopyMaterial, step: tuple[str, str, Treatment], sizes: _Sizes) -> TreatmentChoice:
    name, flags, treatment = step
    tokens = round(plan_copy(log, treatment, CopyRequest()).after.tokens * sizes.scale)
    total = tokens + sizes.beside
    return TreatmentChoice(name, flags, tokens, total, sizes.plain - tokens, total / sizes.window)


def _chosen(total: int, window: int, choices: tuple[TreatmentChoice, ...], turns: int) -> tuple[str, str]:
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


def room_for_conversation(tokens: int, filled: ContextWindow) -> int:
    """What of so many tokens of a window is left for the conversation, as estimates count it.

    Where the log keeps its last request, system prompt and tools are known to take their part; else all is left.
    """
    if filled.now is None or not filled.now.exact:
        return tokens
    left = tokens - filled.now.beside
    if left <= 0:
        raise Unsound(f"System prompt and tools alone take {filled.now.beside:,} tokens.")
    return max(1, int(left / filled.scale))


def mildest_fit(log: CopyMaterial, treatment: Treatment, tokens: int) -> Treatment:
    """The first treatment that fits, from doing nothing to doing all, the oldest turns first."""
    steps = list(_steps(log, treatment))
    low, high = 0, len(steps) - 1
    least = _tokens(log, steps[high])
    if least > tokens:
        raise Unsound(
            f"It does not fit into {tokens:,} tokens: without tools, reasoning and images, {least:,} are left."
        )
    while low < high:
        middle = (low + high) // 2
        if _tokens(log, steps[middle]) <= tokens:
            high = middle
        else:
            low = middle + 1
    fits = (step for step in steps[high:] if plan_copy(log, step, CopyRequest()).after.tokens <= tokens)
    return next(fits, steps[-1])


def _steps(log: CopyMaterial, treatment: Treatment) -> Iterator[Treatment]:
    """Treatments, each a little harder than the one before: turn by turn cut short, then turn by turn gone."""
    plain = replace(treatment, keep_tool_turns=None, truncate=0, strip_tools=0, strip_thinking=0)
    yield plain
    bare = replace(plain, strip_thinking=100)
    yield bare
    turns = range(len(log.conversation.forgotten().turns()), -1, -1)
    for keep in turns:
        yield replace(bare, keep_tool_turns=keep, mode="truncate")
    for keep in turns:
        yield replace(bare, keep_tool_turns=keep, truncate=100, mode="remove")
    yield replace(bare, keep_tool_turns=0, mode="remove", drop_images=True)


def _tokens(log: CopyMaterial, treatment: Treatment) -> int:
    """What the agent would load: that does not hang on what compactions have closed, which is quicker left out."""
    return plan_copy(log, replace(treatment, drop_compacted=True), CopyRequest()).after.tokens
