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
        utc = time.astimezone(UTC)
    except OverflowError:  # the first and last days of the calendar have no time in every zone
        utc = time.replace(tzinfo=UTC)
    exact = f"{utc.year:04}-{utc:%m-%dT%H:%M:%S}Z"
    kind = f' class="{style}"' if style else ""
    title = f"{utc.year:04}-{utc:%m-%d %H:%M:%S} UTC"
    return f'<time{kind} datetime="{exact}" title="{title}">{_shown(utc, style)}</time>'


def _shown(utc: datetime, style: Style) -> str:
    clock = f"{utc:%H:%M}"
    day = f"{utc.day} {_MONTHS[utc.month - 1]} {utc.year}"
    return {"clock": clock, "day": day}.get(style, f"{day}, {clock}")
