"""Time zones, and the span of time that --since and --until name."""

import re
from datetime import date, datetime, timedelta, tzinfo

import click

from unspool.cli import chosen
from unspool.index.periods import day_start
from unspool.index.when import ago
from unspool.index.zones import zone as named_zone

_DATE = re.compile(r"\d{4}-?\d{2}-?\d{2}")


def zone(name: str | None) -> tzinfo | None:
    """Europe/Berlin, UTC, +05:30, the settings' where none is named; None for the clock of this machine."""
    try:
        return chosen.zone() if name is None else named_zone(name)
    except ValueError:
        raise click.BadParameter(f"{name!r} is no time zone, such as Europe/Berlin, UTC or +05:30.") from None


def since(text: str | None, where: tzinfo | None) -> float | None:
    """The first second asked for: where a day begins, a time, or so long ago."""
    return None if text is None else _moment(text, where, after=0)


def until(text: str | None, where: tzinfo | None) -> float | None:
    """The first second no longer asked for; a date is asked for to its end."""
    return None if text is None else _moment(text, where, after=1)


def _moment(text: str, where: tzinfo | None, after: int) -> float:
    before = ago(text)
    if before:
        return before.timestamp()
    try:
        if _DATE.fullmatch(text.strip()):
            return day_start(date.fromisoformat(text.strip()) + timedelta(days=after), where)
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=where)).timestamp()
    except (ValueError, OverflowError):
        raise click.BadParameter(f"{text!r} is neither a date (2026-01-31) nor an age (12h, 3d, 2w).") from None
