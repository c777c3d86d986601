"""Bars over time, and their lengths: numbers behind the charts that the app and the hub draw alike."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from unspool.store.index.times import first_day, period_name

MOST_BARS = 130
_SLOT, _WIDEST = 10, 8
_FEW, _EACH = 14, 5
"""Bars that are too few to fill their room are narrower; where there are no more than a handful, each is named."""
_NEXT = {"day": 1, "week": 7, "month": 31}


class ChartBar(NamedTuple):
    x: float
    height: float
    says: str


class BarChart(NamedTuple):
    name: str
    title: str
    about: str
    bars: tuple[ChartBar, ...]
    width: int
    thick: float
    most: str
    ticks: tuple[str, ...]
    each: bool
    """Whether every bar is named."""


def bar_lengths(values: Sequence[float]) -> tuple[float, ...]:
    """Parts of a hundred of the largest; what is above nothing can be seen."""
    most = max(values, default=0)
    return tuple(round(max(100 * value / most, 0.5), 2) if value > 0 else 0.0 for value in values)


def periods_between(by: str, first: date, last: date, most: int = 5000) -> list[date]:
    """The first days of every day, week or month from one to another; the earliest, where there are too many."""
    found: list[date] = []
    at, end = first_day(by, first), first_day(by, last)
    while at <= end and len(found) < most:
        found.append(at)
        at = first_day(by, at + timedelta(days=_NEXT[by]))
    return found


def bar_chart(what: str, by: str, periods: Sequence[date], figures: Sequence[tuple[float, str]]) -> BarChart:
    """A bar for each period, as high as its figure, which is given as a number and in words."""
    names = [period_name(by, one) for one in periods]
    values, words = zip(*figures, strict=True)
    thick = round(_WIDEST * min(1, len(names) / _FEW), 2)
    bars = tuple(
        ChartBar(round(at * _SLOT + (_SLOT - thick) / 2, 2), height, f"{names[at]}: {words[at]}")
        for at, height in enumerate(bar_lengths(values))
    )
    most = values.index(max(values))
    about = f"{len(names):,} {by}s from {names[0]} to {names[-1]}; most on {names[most]}: {words[most]}."
    few, last = len(names) <= _EACH, len(names) - 1
    # all names where they are a handful; else the first, the last and some between, evenly
    ticks = tuple(names if few else [names[at] for at in sorted({round(last * part / 4) for part in range(5)})])
    slug = what.split(maxsplit=1)[0].lower()
    return BarChart(slug, f"{what} by {by}", about, bars, len(names) * _SLOT, thick, words[most], ticks, few)
