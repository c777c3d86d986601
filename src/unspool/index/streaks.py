"""Days in a row."""

from collections.abc import Iterable
from datetime import date, timedelta

import msgspec


class Streak(msgspec.Struct, frozen=True):
    """How many days something was done, and how many in a row."""

    days: int = 0
    longest: int = 0
    current: int = 0
    """Days in a row up to today, or up to yesterday where today has nothing yet."""
    first: str = ""
    last: str = ""


def streak(days: Iterable[str], today: date) -> Streak:
    """The streaks of days that are written 2026-01-31."""
    found = sorted({date.fromisoformat(day) for day in days})
    if not found:
        return Streak()
    longest = run = 0
    before: date | None = None
    for day in found:
        run = run + 1 if before is not None and day - before == timedelta(days=1) else 1
        longest, before = max(longest, run), day
    current = run if today - timedelta(days=1) <= found[-1] <= today else 0
    return Streak(len(found), longest, current, found[0].isoformat(), found[-1].isoformat())
