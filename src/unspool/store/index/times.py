"""Days, weeks and months in a time zone, and moments as people type them."""

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo

_LEAST, _MOST = -62_132_788_800, 253_402_128_000
"""Within the ends of the calendar, so that no zone, week or month leads out of it."""


def local_time(seconds: float, zone: tzinfo | None) -> datetime:
    """That moment on the clocks there; None: on this machine's, summer time included."""
    return datetime.fromtimestamp(min(max(seconds, _LEAST), _MOST), zone)


def utc_time(seconds: float | None) -> datetime | None:
    """That moment; None where there is none, or none that the calendar has."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def day_start(day: date, zone: tzinfo | None) -> float:
    """The second in which a day begins there."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()


def first_day(by: str, day: date, week: int = 0) -> date:
    """The first day of the day, week or month that a day is in; weeks begin with day `week`, Monday being 0."""
    if by == "week":
        return day - timedelta(days=(day.weekday() - week) % 7)
    return day.replace(day=1) if by == "month" else day


def period_name(by: str, first: date) -> str:
    """2026-01-31, or 2026-01 for a month."""
    return first.isoformat()[:7] if by == "month" else first.isoformat()


def written_time(seconds: float) -> str:
    """A moment as data has it: 2026-01-05T10:00:00Z."""
    moment = local_time(seconds, UTC)
    text = moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")
    return text.replace("+00:00", "Z")


_AGO = re.compile(r"(\d{1,5})\s*(h|d|w|m|y)")
_UNITS = {
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "m": timedelta(days=30),
    "y": timedelta(days=365),
}
_DAYS = {"today": 0, "yesterday": 1}


def parse_ago(text: str) -> datetime | None:
    """The moment so long ago (12h, 3d, 2w, 6m, 1y); None where the text is no age, or older than the calendar."""
    found = _AGO.fullmatch(text.strip().lower())
    try:
        return datetime.now(UTC) - int(found[1]) * _UNITS[found[2]] if found else None
    except OverflowError:
        return None


def parse_moment(text: str, zone: tzinfo | None = None) -> float | None:
    """Seconds of the epoch of 2026-01-31, 2026-01-31T12:00, today, yesterday, 12h, 3d, 2w, 6m or 1y; else None.

    Days begin, and clocks are read, in that zone; None: as on this machine.
    """
    text = text.strip().lower()
    try:
        before = parse_ago(text)
        if before:
            return before.timestamp()
        if text in _DAYS:
            return day_start(datetime.now(zone).date() - timedelta(days=_DAYS[text]), zone)
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


LOCAL = "local"
_OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d{2})?")


def parse_zone(name: str) -> tzinfo | None:
    """Europe/Berlin, UTC, +05:30; None for `local`, the clock of this machine with its summer time.

    ValueError where there is no such zone.
    """
    name = name.strip()
    if name.casefold() in ("", LOCAL):
        return None
    if name.casefold() in ("utc", "z"):
        return UTC
    offset = _OFFSET.fullmatch(name)
    if offset and int(offset[2]) < 24 and int(offset[3] or 0) < 60:
        ahead = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return timezone(-ahead if offset[1] == "-" else ahead)
    return _named(name)


def _named(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, OSError) as problem:
        raise ValueError(f"There is no time zone {name}.") from problem
