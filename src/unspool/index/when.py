"""Moments as people type them: a day, a time of a day, or how long ago."""

import re
from datetime import UTC, datetime, timedelta

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


def moment(text: str) -> float | None:
    """Seconds of the epoch of 2026-01-31, 2026-01-31T12:00, today, yesterday, 12h, 3d, 2w, 6m or 1y; else None."""
    text = text.strip().lower()
    try:
        before = ago(text)
        if before:
            return before.timestamp()
        if text in _DAYS:
            midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
            return (midnight - timedelta(days=_DAYS[text])).timestamp()
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
