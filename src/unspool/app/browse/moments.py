"""Moments and days as lists show them, on the clocks of wherever the reader wants them."""

from datetime import date, datetime, timedelta, tzinfo
from typing import NamedTuple

from unspool.index.periods import local, written

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Moment(NamedTuple):
    """A moment for a template."""

    text: str
    style: str
    """`clock` or `day`."""
    iso: str
    """For the page's script, which writes it on the browser's clock; empty where a zone was chosen."""
    full: str


def moment(seconds: float | None, zone: tzinfo | None, style: str = "clock") -> Moment | None:
    """A moment; None where there is none."""
    if seconds is None:
        return None
    there = local(seconds, zone)
    shown = f"{there:%H:%M}" if style == "clock" else _written(there.date())
    full = f"{_written(there.date())}, {there:%H:%M:%S}" + (f" {there:%Z}" if zone else "")
    return Moment(shown, style, "" if zone else written(seconds), full)


def day_of(seconds: float | None, zone: tzinfo | None) -> date | None:
    """The day of a moment there."""
    return None if seconds is None else local(seconds, zone).date()


def day_name(day: date | None, today: date) -> str:
    """Today, Yesterday, Friday 13 Nov, 13 Nov 2025."""
    if day is None:
        return "Without a date"
    if day == today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if timedelta(0) < today - day < timedelta(days=180):
        return f"{_WEEK[day.weekday()]}, {day.day} {_MONTHS[day.month - 1]}"
    return _written(day)


def ago(seconds: float, now: float) -> str:
    """12 s ago, 5 m ago, 3 h ago, 2 d ago."""
    past = max(0, round(now - seconds))
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if past >= unit:
            return f"{past // unit} {name} ago"
    return f"{past} s ago"


def today(now: float, zone: tzinfo | None) -> date:
    """The day it is there."""
    return local(now, zone).date()


def _written(day: date | datetime) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
