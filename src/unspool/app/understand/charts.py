"""Pictures of the figures, as numbers for a template: bars over time, hours of the week, parts of a whole."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from operator import add
from typing import NamedTuple

import msgspec

from unspool import human
from unspool.app.understand import figures
from unspool.app.understand.gather import Board, step
from unspool.app.understand.tables import DAYS, shares
from unspool.index.periods import first_day, name
from unspool.index.said import spent
from unspool.index.sums import Sum

_MOST_BARS = 130
_SLOT, _WIDEST = 10, 8
_FEW, _EACH = 14, 5
"""Bars that are too few to fill their room are narrower; where there are no more than a handful, each is named."""
_SHADES = 4
HEIGHT = 100


class Bar(NamedTuple):
    """One bar: where it begins, how high it is, what it says."""

    x: float
    height: float
    says: str


class Bars(NamedTuple):
    """Bars over time."""

    name: str
    title: str
    about: str
    bars: tuple[Bar, ...]
    width: int
    thick: float
    most: str
    ticks: tuple[str, ...]
    each: bool
    """Whether every bar is named."""


class Square(NamedTuple):
    """An hour of the week."""

    x: int
    y: int
    shade: int
    says: str


class Part(NamedTuple):
    """A part of a whole, in parts of a hundred."""

    name: str
    x: float
    width: float
    says: str


class Period(NamedTuple):
    """A day, week or month."""

    first: date
    sum: Sum
    begun: int


def over_time(board: Board) -> tuple[Bars, ...]:
    """What was spent, used and begun, by day; by week or month where days would be too many to see."""
    by, found = periods(board)
    if not found:
        return ()
    return (
        _bars(f"Cost by {by}", by, found, lambda one: one.sum.cost, lambda one: spent(one.sum)),
        _bars(f"Tokens by {by}", by, found, lambda one: one.sum.total, lambda one: figures.tokens(one.sum)),
        _bars(
            f"Sessions begun by {by}", by, found, lambda one: one.begun, lambda one: human.count(one.begun, "session")
        ),
    )


def periods(board: Board) -> tuple[str, list[Period]]:
    """Day, week or month, and each of them from the first to the last that has anything, empty ones too."""
    days = {date.fromisoformat(row.key): row.sum for row in board.stats.daily if row.key}
    every = [*days, *board.begun]
    if not every:
        return "day", []
    first, last = min(every), max(every)
    by = next((one for one, size in (("day", 1), ("week", 7)) if (last - first).days // size < _MOST_BARS), "month")
    found: dict[date, Period] = {}
    at, end = first_day(by, first), first_day(by, last)
    while at <= end and len(found) < 5000:
        found[at] = Period(at, Sum(), 0)
        at = step(at, by)
    for day in set(every):
        into = first_day(by, day)
        before = found.get(into, Period(into, Sum(), 0))
        found[into] = Period(into, _added(before.sum, days.get(day, Sum())), before.begun + board.begun.get(day, 0))
    return by, [found[day] for day in sorted(found)]


def _added(one: Sum, other: Sum) -> Sum:
    return Sum(*map(add, msgspec.structs.astuple(one), msgspec.structs.astuple(other)))


def _bars(
    title: str, by: str, found: Sequence[Period], value: Callable[[Period], float], says: Callable[[Period], str]
) -> Bars:
    heights = shares([value(one) for one in found])
    thick = round(_WIDEST * min(1, len(found) / _FEW), 2)
    bars = tuple(
        Bar(round(at * _SLOT + (_SLOT - thick) / 2, 2), height, f"{name(by, one.first)}: {says(one)}")
        for at, (one, height) in enumerate(zip(found, heights, strict=True))
    )
    most = max(found, key=value)
    span = f"{len(found):,} {by}s from {name(by, found[0].first)} to {name(by, found[-1].first)}"
    about = f"{span}; most on {name(by, most.first)}: {says(most)}."
    slug = title.split(maxsplit=1)[0].lower()
    return Bars(
        slug, title, about, bars, len(found) * _SLOT, thick, says(most), tuple(_ticks(by, found)), len(found) <= _EACH
    )


def _ticks(by: str, found: Sequence[Period]) -> Iterator[str]:
    """The names of all where they are a handful; else of the first, the last and some between, evenly."""
    last = len(found) - 1
    few = len(found) <= _EACH
    for at in range(len(found)) if few else sorted({round(last * part / 4) for part in range(5)}):
        yield name(by, found[at].first)


def week(board: Board) -> tuple[Square, ...]:
    """Hours of the week, the darker the more requests; nothing where there were none."""
    most = max(map(max, board.stats.hours), default=0)
    if not most:
        return ()
    return tuple(
        Square(hour, day, -(-number * _SHADES // most), f"{DAYS[day]} {hour:02}:00: {human.count(number, 'request')}")
        for day, row in enumerate(board.stats.hours)
        for hour, number in enumerate(row)
    )


def sent(total: Sum) -> tuple[Part, ...]:
    """What was sent to the models: read from the cache, written to it, neither."""
    read, write, plain = total.cache_read, total.cache_write, total.input
    return parts([("read from cache", read), ("written to cache", write), ("not cached", plain)])


def filled(board: Board) -> tuple[Part, ...]:
    """What was put into windows, by kind."""
    return parts([(one.name, one.tokens) for one in board.stats.filled])


def parts(named: Sequence[tuple[str, int]]) -> tuple[Part, ...]:
    """Parts of a whole, one after the other; nothing where there is no whole."""
    whole = sum(number for _, number in named)
    found, at = [], 0.0
    for name_, number in named if whole else ():
        width = 100 * number / whole
        found.append(Part(name_, round(at, 2), round(width, 2), f"{human.tokens(number)} {name_} ({width:.1f} %)"))
        at += width
    return tuple(found)
