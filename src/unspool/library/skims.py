"""Overviews of many logs, a process a core where there is enough to do."""

import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from unspool.errors import UnspoolError
from unspool.formats import Found, by_id
from unspool.library.read import log_file, skimmed
from unspool.model import Overview
from unspool.prices import PriceTable
from unspool.turns.ledger import Ledger
from unspool.turns.skim import Skim

if TYPE_CHECKING:
    from unspool.library.kept import KeptSessions

_WORTH_A_POOL = 24 * 1024 * 1024
Progress = Callable[[int], None]


class Counted(NamedTuple):
    """One log counted: its overview, its line ids and its billed requests; or why it could not be read."""

    found: Found
    overview: Overview | None
    ids: Sequence[int]
    ledger: Ledger
    failure: str = ""


def overview_of(found: Found, kept: "KeptSessions | None" = None) -> Overview | None:
    """What a list shows of one session; `kept` knows what is gone from its source. None where it cannot be read."""
    return kept.overview(found) if kept is not None and found.origin else count(found).overview


def count(found: Found) -> Counted:
    """Count one session; a subagent's log that cannot be read is told of, and the rest counts."""
    format_ = by_id(found.format)
    parser = format_.parser(None)
    skim = Skim(format_.dialect(found, parser.facts))
    failure = _attempt(found.path, lambda: skim.main(skimmed(found.path, format_, parser)))
    if failure:
        return Counted(found, None, array("Q"), Ledger(), failure)
    if skim.open_plans:
        skim.settle(skimmed(found.path, format_, format_.parser(None), skim.open_plans))
    for agent in found.agents:
        events = skimmed(agent.path, format_, format_.parser(None))
        failure = _attempt(agent.path, lambda events=events: skim.agent(events)) or failure  # type: ignore[misc]
    overview = skim.overview(found.session_id, parser.facts, log_file(found.path, found.size))
    overview = msgspec.structs.replace(
        overview, project=format_.project(parser.facts, found.folder), size=found.total_size
    )
    return Counted(found, overview, skim.ids, skim.ledger, failure)


def _attempt(path: str, read: Callable[[], None]) -> str:
    """Why a log could not be read; empty where it could."""
    try:
        read()
    except UnspoolError as error:
        return str(error)
    except OSError as error:
        return f"Cannot read {path}: {error.strerror or error}."
    return ""


def counted(logs: Sequence[Found], progress: Progress, jobs: int | None = None) -> Iterator[Counted]:
    """Count many sessions, in the order given; `progress` hears the bytes of each that is done."""
    workers = min(jobs or os.cpu_count() or 1, len(logs))
    if workers < 2 or sum(log.size for log in logs) < _WORTH_A_POOL:
        for log in logs:
            yield count(log)
            progress(log.size)
        return
    from concurrent.futures import ProcessPoolExecutor  # dear to import where there is little to do

    from unspool.library.workers import settle_in, uninterrupted

    pool = ProcessPoolExecutor(workers, initializer=settle_in)
    try:
        with uninterrupted():
            counting = pool.map(count, logs, chunksize=max(1, min(8, len(logs) // (workers * 8))))
        for done in counting:
            yield done
            progress(done.found.size)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def priced(overview: Overview, ledger: Ledger, prices: PriceTable) -> Overview:
    """The overview with what its requests cost at list prices."""
    total = prices.cost(ledger)
    return msgspec.structs.replace(overview, cost=total.amount, unpriced=tuple(name for name, _ in total.unpriced))
