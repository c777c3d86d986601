"""Moments as people type them: a day, a time of a day, or how long ago."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

from unspool.index.periods import day_start

_AGO = re.compile(r"(\d{1,5})\s*(h|d|w|m|y)")
_UNITS = {
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "m": timedelta(days=30),
    "y": timedelta(days=365),
}
_DAYS = {"today": 0, "yesterday": 1}


def ago(text: str) -> datetime | None:
    """The moment so long ago (12h, 3d, 2w, 6m, 1y); None where the text is no age, or older than the calendar."""
    found = _AGO.fullmatch(text.strip().lower())
    try:
        return datetime.now(UTC) - int(found[1]) * _UNITS[found[2]] if found else None
    except OverflowError:
        return None


def moment(text: str, zone: tzinfo | None = None) -> float | None:
    """Seconds of the epoch of 2026-01-31, 2026-01-31T12:00, today, yesterday, 12h, 3d, 2w, 6m or 1y; else None.

    Days begin, and clocks are read, in that zone; None: as on this machine.
    """
    text = text.strip().lower()
    try:
        before = ago(text)
        if before:
            return before.timestamp()
        if text in _DAYS:
            return day_start(datetime.now(zone).date() - timedelta(days=_DAYS[text]), zone)
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
