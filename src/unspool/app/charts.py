"""Numbers behind the app's charts: figures over time, hours of the week, days of the year, parts of a whole, scales."""

from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from math import ceil, floor, log10
from operator import add
from typing import NamedTuple
from urllib.parse import urlencode

import msgspec

from unspool import human
from unspool.app.stats_data import DashboardData, format_tokens
from unspool.app.stats_tables import WEEKDAYS
from unspool.figures.context_window import ContextWindow, RequestWindow
from unspool.model.usage import KINDS, SYSTEM_PROMPT, TOOL_DEFINITIONS
from unspool.render.html.elements import day_text
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


class DaySquare(NamedTuple):
    x: int
    y: int
    shade: int
    says: str
    href: str
    """The sessions of the day; empty where there were none."""


class MonthName(NamedTuple):
    x: int
    text: str
    says: str
    href: str


class YearChart(NamedTuple):
    squares: tuple[DaySquare, ...]
    months: tuple[MonthName, ...]
    about: str


_WEEKS = 53


class DayFigure(NamedTuple):
    """What a day is shaded by, and how it is told."""

    number: float
    words: str


def year_chart(days: Mapping[date, DayFigure], today: date, project: str = "") -> YearChart | None:
    """The last twelve months, a column a week, Monday at the top; None where they have nothing.

    A day leads to the list of its sessions, of a `project` where one is meant.
    """
    monday = today - timedelta(days=today.weekday())
    first = monday - timedelta(weeks=_WEEKS - 1)
    shown = {day: figure for day, figure in days.items() if first <= day <= today and figure.number > 0}
    if not shown:
        return None
    most = max(shown, key=lambda day: (shown[day].number, day))
    squares = []
    for at in range((today - first).days + 1):
        day = first + timedelta(days=at)
        figure = shown.get(day)
        shade = ceil(_SHADES * figure.number / shown[most].number) if figure else 0
        says = f"{WEEKDAYS[day.weekday()]}, {day_text(day)}: {figure.words if figure else 'nothing'}"
        squares.append(DaySquare(at // 7, at % 7, shade, says, _list_href(day, day, project) if figure else ""))
    named = [first + timedelta(weeks=week) for week in range(_WEEKS)]
    months = [
        MonthName(week, _MONTHS[day.month - 1][:3], f"{_MONTHS[day.month - 1]} {day.year}", _month_href(day, project))
        for week, day in enumerate(named)
        if week < _WEEKS - 2 and (week == 0 or day.month != named[week - 1].month)
    ]
    if len(months) > 1 and months[1].x - months[0].x < 3:
        del months[0]  # its name would run into the next
    about = f"{human.count(len(shown), 'day')} of the last 12 months; most on {day_text(most)}: {shown[most].words}."
    return YearChart(tuple(squares), tuple(months), about)


_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def _month_href(day: date, project: str) -> str:
    return _list_href(day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1]), project)


def _list_href(first: date, last: date, project: str) -> str:
    given = {"since": first, "until": last, **({"project": project} if project else {})}
    return f"/sessions?{urlencode(given, errors='replace')}"


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


_UNACCOUNTED = "unaccounted"
KIND_ORDER = (_UNACCOUNTED, SYSTEM_PROMPT, TOOL_DEFINITIONS, *KINDS)
"""From the bottom up."""
_LINES = 4
_NEAR = 4
"""How many times what was reached a limit may be, to be drawn as a line: farther away it would press all else flat."""


class AxisMark(NamedTuple):
    """A line across a chart: how far from its foot, in parts of its height, and what it stands for."""

    part: float
    text: str


class PlotScale(NamedTuple):
    """What a chart's height stands for, the lines across it, and a limit: a line, or words where it is far above."""

    top: float
    marks: tuple[AxisMark, ...]
    limit: AxisMark | None = None
    beyond: str = ""

    def part(self, number: float) -> float:
        """How much of the height a number takes, 0 to 1."""
        return min(1.0, number / self.top)


def plot_scale(most: float, shown: Callable[[float], str], limit: int | None = None, lines: int = _LINES) -> PlotScale:
    """A scale for figures up to `most`, in round steps."""
    if most <= 0:
        return PlotScale(1.0, ())
    near = limit is not None and limit <= most * _NEAR
    most = max(most, limit or 0) if near else most
    step = _round_step(most / lines)
    top = max(step, step * -(-most // step))
    marks = tuple(AxisMark(round(at * step / top, 4), shown(at * step)) for at in range(1, round(top / step) + 1))
    if limit is None:
        return PlotScale(top, marks)
    says = f"limit {shown(limit)}"
    line = AxisMark(round(limit / top, 4), says) if near else None
    # a line that stands where the limit does would hide it
    apart = tuple(mark for mark in marks if line is None or abs(mark.part - line.part) > 0.5 / len(marks))
    return PlotScale(top, apart, line, "" if near else says)


def _round_step(least: float) -> float:
    """The next of 1, 2, 2.5, 5, 10 times a power of ten."""
    power = 10.0 ** floor(log10(least))
    return next(power * part for part in (1, 2, 2.5, 5, 10) if power * part >= least * 0.999)


def window_now(filled: ContextWindow) -> tuple[ChartPart, ...]:
    """The window that the last request found, with what is free in it where its size is known."""
    if filled.now is None:
        return ()
    found = [(name, tokens) for name, tokens in window_tokens(filled.now).items() if tokens]
    free = max(0, filled.window - filled.now.total) if filled.window else 0
    return chart_parts([*found, ("free", free)] if free else found)


def window_tokens(window: RequestWindow) -> dict[str, int]:
    """Tokens of every kind that is there, in the order that they are shown."""
    known = {_UNACCOUNTED: window.unaccounted, **window.kinds}
    return {name: known[name] for name in KIND_ORDER if known.get(name)}
