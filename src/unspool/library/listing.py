"""All sessions together: counted, linked to each other and priced."""

from collections.abc import Sequence

import msgspec

from unspool.library.chains import Skimmed, linked
from unspool.library.projects import unified
from unspool.library.skims import Counted, priced
from unspool.model import Overview, Usage
from unspool.prices import Cost, PriceTable
from unspool.turns.ledger import Ledger


class Listing(msgspec.Struct, frozen=True):
    """Sessions newest first, with what they used together, each request counted once."""

    overviews: tuple[Overview, ...]
    usage: Usage
    cost: Cost
    failures: tuple[str, ...] = ()


def listed(done: Sequence[Counted], prices: PriceTable) -> Listing:
    """A listing of sessions that were counted one by one."""
    overviews = _overviews(done, prices)
    failures = tuple(one.failure for one in done if one.failure)
    together = _together([one.ledger for one in done])
    return Listing(overviews, together.usage, prices.cost(together), failures)


def _overviews(done: Sequence[Counted], prices: PriceTable) -> tuple[Overview, ...]:
    named = [(f"{one.found.root}/{one.found.folder}", one) for one in done if one.overview is not None]
    priced_ = [priced(one.overview, one.ledger, prices) for _, one in named if one.overview is not None]
    settled = unified((folder, overview) for (folder, _), overview in zip(named, priced_, strict=True))
    skims = [Skimmed(overview, one.ids) for (_, one), overview in zip(named, settled, strict=True)]
    return tuple(sorted(linked(skims), key=_newest))


def _together(ledgers: list[Ledger]) -> Ledger:
    """All requests once, gathered into the largest ledger, which spares a copy of it."""
    gathered = max(ledgers, key=len, default=Ledger())
    for ledger in ledgers:
        if ledger is not gathered:
            gathered.merge(ledger)
    return gathered


def _newest(overview: Overview) -> tuple[float, str]:
    when = overview.ended or overview.log.modified
    return (-when.timestamp() if when is not None else 0.0, overview.id)
