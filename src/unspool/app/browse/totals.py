"""What today and this week add up to, and how busy the last days were."""

from collections import Counter
from datetime import date, timedelta, tzinfo
from typing import NamedTuple

import apsw

from unspool import human
from unspool.app.browse.moments import day_of, today
from unspool.app.browse.rows import dollars
from unspool.index.billing import Condition, added
from unspool.index.periods import day_start, first_day
from unspool.index.sums import Sum
from unspool.site.statistics import Tile

_DAYS = 30
_ACTIVE = "SELECT count(DISTINCT key) FROM session WHERE ended >= ? AND kind NOT IN ('empty', 'stub')"


class Bar(NamedTuple):
    """A day of the last thirty: its height in parts of a hundred, and what it stands for."""

    height: int
    words: str


def tiles(db: apsw.Connection, zone: tzinfo | None, now: float) -> tuple[Tile, ...]:
    """Today, this week, the week's tokens."""
    here = today(now, zone)
    day, week = day_start(here, zone), day_start(first_day("week", here), zone)
    spent, weekly = _spent(db, day), _spent(db, week)
    cached = f"{weekly.cached:.0%} from cache" if weekly.cached else ""
    return (
        _tile("Today", spent, _count(db, day)),
        _tile("This week", weekly, _count(db, week)),
        Tile("Tokens this week", human.tokens(weekly.total), cached, f"{weekly.total:,}"),
    )


def bars(db: apsw.Connection, zone: tzinfo | None, now: float) -> tuple[Bar, ...]:
    """Sessions a day over the last days; none where there were none."""
    last = today(now, zone)
    first = last - timedelta(days=_DAYS - 1)
    ended = db.execute("SELECT ended FROM session WHERE ended >= ? AND kind <> 'ghost'", (day_start(first, zone),))
    days = Counter[date | None](day_of(second, zone) for (second,) in ended)
    most = max(days.values(), default=0)
    if not most:
        return ()
    every = (first + timedelta(days=at) for at in range(_DAYS))
    return tuple(Bar(max(4, round(100 * days[one] / most)) if days[one] else 0, _told(one, days[one])) for one in every)


def _told(day: date, number: int) -> str:
    return f"{day.isoformat()}: {human.count(number, 'session')}"


def _tile(name: str, spent: Sum, sessions: int) -> Tile:
    said = human.count(sessions, "session")
    return Tile(name, dollars(spent.cost, floor=spent.floor) or "$0.00", said, f"{said}, at list prices")


def _count(db: apsw.Connection, since: float) -> int:
    number: int = db.execute(_ACTIVE, (since,)).get
    return number


def _spent(db: apsw.Connection, since: float) -> Sum:
    """What requests since a moment used. Only sessions that reach beyond it are looked at, for they are few."""
    where = Condition("time >= ? AND session IN (SELECT id FROM session WHERE ended >= ?)", (since, since))
    rows = [figures for _, *figures in added(db, ("terms",), where)]
    return Sum(*map(sum, zip(*rows, strict=True))) if rows else Sum()
