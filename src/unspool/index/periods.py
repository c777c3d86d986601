"""Days, weeks and months where somebody lives, from seconds of the epoch."""

from datetime import UTC, date, datetime, timedelta, tzinfo

_LEAST, _MOST = -62_132_788_800, 253_402_128_000
"""Within the ends of the calendar, so that no zone, week or month leads out of it."""


def local(seconds: float, zone: tzinfo | None) -> datetime:
    """That moment on the clocks there; None: on this machine's, summer time included."""
    return datetime.fromtimestamp(min(max(seconds, _LEAST), _MOST), zone)


def day_start(day: date, zone: tzinfo | None) -> float:
    """The second in which a day begins there."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()


def first_day(by: str, day: date, week: int = 0) -> date:
    """The first day of the day, week or month that a day is in; weeks begin with day `week`, Monday being 0."""
    if by == "week":
        return day - timedelta(days=(day.weekday() - week) % 7)
    return day.replace(day=1) if by == "month" else day


def name(by: str, first: date) -> str:
    """2026-01-31, or 2026-01 for a month."""
    return first.isoformat()[:7] if by == "month" else first.isoformat()


def written(seconds: float) -> str:
    """A moment as data has it: 2026-01-05T10:00:00Z."""
    moment = local(seconds, UTC)
    text = moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")
    return text.replace("+00:00", "Z")
