"""Numbers behind the app's charts: figures over time, hours of the week, parts of a whole, stacks of the window."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from operator import add
from typing import NamedTuple

import msgspec

from unspool import human
from unspool.app.stats_data import DashboardData, format_tokens
from unspool.app.stats_tables import WEEKDAYS
from unspool.figures.context_window import ContextWindow, RequestWindow, TurnWindow
from unspool.model.usage import KINDS, SYSTEM_PROMPT, TOOL_DEFINITIONS
from unspool.site.address import Addresses
from unspool.store.index.billing import UsageSum, format_spent
from unspool.store.index.times import first_day
from unspool.web.charts import MOST_BARS, BarChart, bar_chart, periods_between

_SHADES = 4
HEIGHT = 100


class HourSquare(NamedTuple):
    x: int
    y: int
    shade: int
    says: str


class ChartPart(NamedTuple):
    """A part of a whole, in parts of a hundred."""

    name: str
    x: float
    width: float
    says: str


class ChartPeriod(NamedTuple):
    first: date
    sum: UsageSum
    begun: int


def charts_over_time(board: DashboardData) -> tuple[BarChart, ...]:
    """What was spent, used and begun, by day; by week or month where days would be too many to see."""
    by, found = chart_periods(board)
    if not found:
        return ()
    return (
        _bars("Cost", by, found, lambda one: (one.sum.cost, format_spent(one.sum))),
        _bars("Tokens", by, found, lambda one: (one.sum.total, format_tokens(one.sum))),
        _bars("Sessions begun", by, found, lambda one: (one.begun, human.count(one.begun, "session"))),
    )


def chart_periods(board: DashboardData) -> tuple[str, list[ChartPeriod]]:
    """Day, week or month, and each of them from the first to the last that has anything, empty ones too."""
    days = {date.fromisoformat(row.key): row.sum for row in board.stats.daily if row.key}
    every = [*days, *board.begun]
    if not every:
        return "day", []
    first, last = min(every), max(every)
    by = next((one for one, size in (("day", 1), ("week", 7)) if (last - first).days // size < MOST_BARS), "month")
    found = {at: ChartPeriod(at, UsageSum(), 0) for at in periods_between(by, first, last)}
    for day in set(every):
        into = first_day(by, day)
        before, used = found.get(into, ChartPeriod(into, UsageSum(), 0)), days.get(day, UsageSum())
        total = UsageSum(*map(add, msgspec.structs.astuple(before.sum), msgspec.structs.astuple(used)))
        found[into] = ChartPeriod(into, total, before.begun + board.begun.get(day, 0))
    return by, [found[day] for day in sorted(found)]


def _bars(
    what: str, by: str, found: Sequence[ChartPeriod], figure: Callable[[ChartPeriod], tuple[float, str]]
) -> BarChart:
    return bar_chart(what, by, [one.first for one in found], list(map(figure, found)))


def week_chart(board: DashboardData) -> tuple[HourSquare, ...]:
    """Hours of the week, the darker the more requests; nothing where there were none."""
    most = max(map(max, board.stats.hours), default=0)
    if not most:
        return ()
    squares = []
    for day, row in enumerate(board.stats.hours):
        for hour, number in enumerate(row):
            says = f"{WEEKDAYS[day]} {hour:02}:00: {human.count(number, 'request')}"
            squares.append(HourSquare(hour, day, -(-number * _SHADES // most), says))
    return tuple(squares)


def cache_chart(total: UsageSum) -> tuple[ChartPart, ...]:
    """What was sent to the models: read from the cache, written to it, neither."""
    read, write, plain = total.cache_read, total.cache_write, total.input
    return chart_parts([("read from cache", read), ("written to cache", write), ("not cached", plain)])


def chart_parts(named: Sequence[tuple[str, int]]) -> tuple[ChartPart, ...]:
    """Parts of a whole, one after the other; nothing where there is no whole."""
    whole = sum(number for _, number in named)
    found, at = [], 0.0
    for name, number in named if whole else ():
        width = 100 * number / whole
        found.append(ChartPart(name, round(at, 2), round(width, 2), f"{human.tokens(number)} {name} ({width:.1f} %)"))
        at += width
    return tuple(found)


STACK_HEIGHT, STACK_STEP, MAX_STACKS = 100, 10, 150
"""Of the picture: its height, the width of a stack with its gap, and how many there are at most."""
_UNACCOUNTED = "unaccounted"
_ORDER = (_UNACCOUNTED, SYSTEM_PROMPT, TOOL_DEFINITIONS, *KINDS)
"""From the bottom up."""


class StackLayer(NamedTuple):
    name: str
    y: float
    height: float


class TurnStack(NamedTuple):
    """One turn, or several that stand together."""

    x: int
    href: str
    says: str
    layers: tuple[StackLayer, ...]
    compacted: bool


class WindowChart(NamedTuple):
    width: int
    stacks: tuple[TurnStack, ...]
    names: tuple[str, ...]
    about: str
    compacted: bool


def stacks(filled: ContextWindow, addresses: Addresses) -> WindowChart | None:
    """The window over the turns; None where no two of them tell of it."""
    shown = [turn for turn in filled.turns if turn.window is not None or turn.compactions]
    windows = [turn.window for turn in shown if turn.window is not None]
    if len(windows) < 2:
        return None
    most = max(window.total for window in windows) or 1
    made = tuple(_stacks(shown, most, addresses))
    names = tuple(name for name in _ORDER if any(name in _tokens(window) for window in windows))
    about = f"{human.count(len(windows), 'turn')}, at its fullest {most:,} tokens."
    return WindowChart(len(made) * STACK_STEP, made, names, about, any(one.compacted for one in made))


def window_now(filled: ContextWindow) -> tuple[ChartPart, ...]:
    """The window that the last request found, with what is free in it where its size is known."""
    if filled.now is None:
        return ()
    found = [(name, tokens) for name, tokens in _tokens(filled.now).items() if tokens]
    free = max(0, filled.window - filled.now.total) if filled.window else 0
    return chart_parts([*found, ("free", free)] if free else found)


def _stacks(turns: Sequence[TurnWindow], most: int, addresses: Addresses) -> Iterator[TurnStack]:
    """A stack for each turn; where there are many, for the fullest of several neighbours."""
    together = -(-len(turns) // MAX_STACKS)
    for at, start in enumerate(range(0, len(turns), together)):
        group = turns[start : start + together]
        turn = max(group, key=lambda one: one.window.total if one.window is not None else 0)
        compacted = any(one.compactions for one in group)
        layers, y = [], float(STACK_HEIGHT)
        for kind, tokens in _tokens(turn.window).items() if turn.window is not None else ():
            height = STACK_HEIGHT * tokens / most
            y -= height
            layers.append(StackLayer(kind, round(y, 2), round(height, 2)))
        held = "no request" if turn.window is None else f"{turn.window.total:,} tokens"
        says, href = f"Turn {turn.number}: {held}", addresses.turn(turn.number)
        yield TurnStack(at * STACK_STEP, href, says, tuple(layers), compacted)


def _tokens(window: RequestWindow) -> dict[str, int]:
    """Tokens of every kind that is there, in the order that they are shown."""
    known = {_UNACCOUNTED: window.unaccounted, **window.kinds}
    return {name: known[name] for name in _ORDER if known.get(name)}
