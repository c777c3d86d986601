"""Time zones by the names that people give them."""

import re
from datetime import UTC, timedelta, timezone, tzinfo

LOCAL = "local"
_OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d{2})?")


def zone(name: str) -> tzinfo | None:
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
