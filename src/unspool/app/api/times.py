"""The span of time that is asked for, and moments as the API writes them."""

from datetime import date, timedelta, tzinfo

from unspool.app.api.endpoint import Parameter
from unspool.app.config.store import current
from unspool.errors import UsageProblem
from unspool.index.periods import day_start, written
from unspool.index.when import moment
from unspool.index.zones import zone as named_zone

SINCE = Parameter("since", "From this day or moment on: 2026-01-31, or 3d, 2w ago.")
UNTIL = Parameter("until", "To the end of this day, or to this moment.")
ZONE = Parameter("tz", "Where days begin, as Europe/Berlin or UTC; without it, as the settings have it.")


def zone(name: str | None) -> tzinfo | None:
    """A time zone, the settings' where none is named; None: this machine's."""
    try:
        return named_zone(name) if name else current().zone
    except ValueError:
        raise UsageProblem(f"{name} is no time zone, such as Europe/Berlin, UTC or +05:30.") from None


def since(text: str | None, where: tzinfo | None) -> float | None:
    """The first second asked for."""
    return None if not text else _moment(text, where, 0)


def until(text: str | None, where: tzinfo | None) -> float | None:
    """The first second no longer asked for."""
    return None if not text else _moment(text, where, 1)


def _moment(text: str, where: tzinfo | None, days: int) -> float:
    try:
        return day_start(date.fromisoformat(text) + timedelta(days=days), where)
    except (ValueError, OverflowError):
        found = moment(text, where)
    if found is None:
        raise UsageProblem(f"{text} is neither a date (2026-01-31) nor an age (12h, 3d, 2w).")
    return found


def told(seconds: float | None) -> str | None:
    """2026-01-05T10:00:00Z; null where it is not known."""
    return None if seconds is None else written(seconds)
