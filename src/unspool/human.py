"""Figures as people write them: 1.9 M tokens, 1 h 47 m, 34 kB, 2026-03-01 10:20 UTC."""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from decimal import Decimal

_CLOCK = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def tokens(number: int) -> str:
    """950, 9.4 k, 120 k, 1.9 M."""
    return _scaled(number)


def size(number: float) -> str:
    """950 B, 9.4 kB, 120 MB: powers of a thousand."""
    text = _scaled(number)
    return f"{text}B" if text[-1].isalpha() else f"{text} B"


def _scaled(number: float) -> str:
    if number < 999.5:
        return f"{number:.0f}"
    value, unit = float(min(number, 10**18)) / 1000, "k"
    for larger in ("M", "G"):
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:,.0f} {unit}"


_LEAST, _CENTS = Decimal.from_float(0.0005), Decimal.from_float(0.1)  # decimals are compared with them faster


def money(amount: Decimal | float, *, floor: bool = False, unpriced: bool = False) -> str:
    """$4.12; $0.003 where cents would say nothing, <$0.001 for less; with ≥ where it is a lower bound, because figures
    are not final or some of it has no known price; ? where nothing has one."""
    if unpriced and not amount:
        return "?"
    floor = floor or unpriced
    if 0 < amount < _LEAST and not floor:
        return "<$0.001"
    text = f"${amount:,.3f}" if 0 < amount < _CENTS else f"${amount:,.2f}"
    return f"≥{text}" if floor else text


def duration(seconds: float) -> str:
    """480 ms, 4.2 s, 12 s, 3 m 5 s, 1 h 47 m, 2 d 3 h: the two largest units."""
    if 0 < seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if 0 < seconds < 9.95:
        return f"{seconds:.1f} s".replace(".0 ", " ")
    left = max(0, round(seconds))
    parts: list[str] = []
    for unit, name in _CLOCK:
        count, left = divmod(left, unit)
        if count:
            parts.append(f"{count} {name}")
        if len(parts) == 2 or (parts and not count):
            break
    return " ".join(parts) or "0 s"


def moment(time: datetime | None, zone: tzinfo | None = UTC) -> str:
    """2026-03-01 10:20 UTC; empty where there is no time. Zone None: on this machine's clock."""
    return _shown(time, zone, "%Y-%m-%d %H:%M %Z")


def minute(time: datetime | None, zone: tzinfo | None = UTC) -> str:
    """2026-03-01 10:20; empty where there is no time."""
    return _shown(time, zone, "%Y-%m-%d %H:%M")


def day(time: datetime | None, zone: tzinfo | None = UTC) -> str:
    """2026-03-01; empty where there is no time."""
    return _shown(time, zone, "%Y-%m-%d")


def _shown(time: datetime | None, zone: tzinfo | None, pattern: str) -> str:
    if time is None:
        return ""
    try:
        return time.astimezone(zone).strftime(pattern)
    except (OverflowError, ValueError):  # the first and last days of the calendar have no time in every zone
        return time.isoformat()


def count(number: float, one: str, many: str = "") -> str:
    """1 turn, 3 turns, 2,400 lines."""
    return f"{number:,.0f} {one if number == 1 else many or one + 's'}"


def elapsed(start: datetime | None, end: datetime | None) -> str:
    """How long from start to end; empty where either is missing or the clock went back."""
    if start is None or end is None:
        return ""
    seconds = (end - start).total_seconds()
    return duration(seconds) if seconds > 0 else ""


_DEEPEST = 8
"""Parts of a path that a label has at most; after that it is the whole path."""


def last_part(path: str) -> str:
    """The last part of a path, whichever way its slashes lean; it is what a project is called."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path


def path_labels(paths: Iterable[str]) -> dict[str, str]:
    """Paths whose last part others have too, by so many of their last parts as no other ends with."""
    found: dict[str, str] = {}
    left, depth = list(paths), 1
    while left and depth <= _DEEPEST:
        named = {path: "/".join(_parts(path)[-depth:]) for path in left}
        often = Counter(named.values())
        done = {path: label for path, label in named.items() if often[label] == 1 or len(_parts(path)) <= depth}
        found |= {path: label for path, label in done.items() if depth > 1}
        left, depth = [path for path in left if path not in done], depth + 1
    return found | {path: path for path in left}


def _parts(path: str) -> list[str]:
    return [part for part in re.split(r"[\\/]", path) if part]


def joined(*parts: str) -> str:
    """The parts that say something, with a dot between."""
    return " · ".join(filter(None, parts))
