"""Moments in a page: UTC as it is written, made local by the page's script, the full time in the title."""

from datetime import UTC, datetime
from typing import Literal

Style = Literal["", "clock", "day"]

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def when(time: datetime | None, style: Style = "") -> str:
    """A moment: date and time, or one of them; nothing where there is no time."""
    if time is None:
        return ""
    try:
        utc = time if time.tzinfo is UTC else time.astimezone(UTC)
    except OverflowError:  # the first and last days of the calendar have no time in every zone
        utc = time.replace(tzinfo=UTC)
    date, _, clock = utc.isoformat(timespec="seconds")[:19].partition("T")
    kind = f' class="{style}"' if style else ""
    shown = clock[:5] if style == "clock" else _day(utc) if style == "day" else f"{_day(utc)}, {clock[:5]}"
    return f'<time{kind} datetime="{date}T{clock}Z" title="{date} {clock} UTC">{shown}</time>'


def _day(utc: datetime) -> str:
    return f"{utc.day} {_MONTHS[utc.month - 1]} {utc.year}"
