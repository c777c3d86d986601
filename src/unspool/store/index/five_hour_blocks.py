"""Five-hour blocks, in which limits of use are counted.

A block begins with the hour (of UTC) of its first request and lasts five hours. A request after its end begins the
next; where nothing happened for more than five hours, a gap is told.
"""

import math
import time
from collections.abc import Iterable, Iterator

import msgspec

from unspool.store.index import billing
from unspool.store.index.billing import QUARTER, HasDatabase, ModelUsage, SumAdder, UsageFilter, UsageSum
from unspool.store.index.conditions import SqlCondition

HOURS = 5 * 3600.0


class BurnRate(msgspec.Struct, frozen=True):
    """How fast the running block is used up, and where that leads by its end."""

    tokens_a_minute: float
    cost_an_hour: int
    """Picodollars."""
    minutes_left: float
    tokens: int
    """Tokens at the end, if it goes on so."""
    cost: int


class FiveHourBlock(msgspec.Struct, frozen=True, omit_defaults=True):
    """Five hours, or the gap between two blocks."""

    start: float
    end: float
    sum: UsageSum = UsageSum()
    models: tuple[ModelUsage, ...] = ()
    first: float | None = None
    last: float | None = None
    gap: bool = False
    active: bool = False
    pace: BurnRate | None = None


class FiveHourBlocks(msgspec.Struct, frozen=True):
    """Blocks in order of time, and what they hold together."""

    rows: tuple[FiveHourBlock, ...]
    sum: UsageSum
    models: tuple[ModelUsage, ...]
    untimed: int = 0
    """Requests without a time, which no block holds."""


class _Quarter(msgspec.Struct, frozen=True):
    """Requests of a quarter of an hour, by one model. It holds its last moment and not its first, as a block does."""

    first: float
    last: float
    model: str
    fits: bool
    figures: tuple[int, ...]


class _OpenBlock:
    def __init__(self, first: float) -> None:
        self.start = first // 3600 * 3600
        self.first = self.last = first
        self.adding = SumAdder()

    def holds(self, moment: float) -> bool:
        return moment - self.start <= HOURS

    def take(self, quarter: _Quarter) -> None:
        self.last = max(self.last, quarter.last)
        if quarter.fits:
            self.adding.add(quarter.model, quarter.figures)

    def closed(self, now: float) -> FiveHourBlock:
        end, total = self.start + HOURS, self.adding.sum()
        active = now < end
        pace = _pace(total, self.last - self.first, end - now) if active else None
        return FiveHourBlock(
            self.start, end, total, self.adding.models(), self.first, self.last, active=active, pace=pace
        )


def five_hour_blocks(
    index: HasDatabase, wanted: UsageFilter = billing.ALL_USAGE, now: float | None = None
) -> FiveHourBlocks:
    """All blocks that reach into the time asked for.

    Where they begin and end is told by every request; their sums hold those of the projects and models asked for.
    """
    quarters, untimed = _quarters(index, wanted)
    since = -math.inf if wanted.since is None else wanted.since
    until = math.inf if wanted.until is None else wanted.until
    blocks = _blocks(quarters, time.time() if now is None else now)
    found = [block for block in blocks if block.end > since and block.start < until]
    everything = SumAdder()
    for block in found:
        for one in block.models:
            everything.add(one.model, msgspec.structs.astuple(one.sum))
    return FiveHourBlocks(tuple(found), everything.sum(), everything.models(), untimed)


def _quarters(index: HasDatabase, wanted: UsageFilter) -> tuple[list[_Quarter], int]:
    fits, models = billing.fitting_requests(index.db, wanted), billing.models_by_terms(index.db)
    keys = (f"CAST(CEIL(time / {QUARTER}.0) AS INTEGER)", "terms", f"({fits.sql})")
    rows = billing.add_sums(index.db, keys, SqlCondition("TRUE", fits.values), ", MIN(time), MAX(time)")
    quarters, untimed = [], 0
    for quarter, terms, fit, *figures, first, last in rows:
        if quarter is None:
            untimed += figures[0] if fit else 0
        else:
            quarters.append(_Quarter(first, last, models.get(terms, ""), bool(fit), tuple(figures)))
    return sorted(quarters, key=lambda quarter: quarter.first), untimed


def _blocks(quarters: Iterable[_Quarter], now: float) -> Iterator[FiveHourBlock]:
    current: _OpenBlock | None = None
    for quarter in quarters:
        if current is None or not current.holds(quarter.first):
            if current is not None:
                yield current.closed(now)
                if quarter.first - current.last > HOURS:
                    yield FiveHourBlock(current.last + HOURS, quarter.first, gap=True)
            current = _OpenBlock(quarter.first)
        current.take(quarter)
    if current is not None:
        yield current.closed(now)


def _pace(total: UsageSum, seconds: float, left: float) -> BurnRate | None:
    """None where one moment is all there is."""
    if seconds <= 0:
        return None
    more = max(0.0, left) / seconds
    return BurnRate(
        total.total / seconds * 60,
        round(total.cost * 3600 / seconds),
        max(0.0, left) / 60,
        total.total + round(total.total * more),
        total.cost + round(total.cost * more),
    )
