"""Overviews of many logs, counted in parallel, linked and priced."""

import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from unspool.agents import FoundLog, by_id
from unspool.errors import UnspoolError
from unspool.model import Overview, Usage
from unspool.prices import Cost, PriceTable
from unspool.reading.ledger import CallLedger
from unspool.reading.overview import OverviewReader
from unspool.store.library.chains import ChainMember, link_sessions, unify_projects
from unspool.store.library.read import log_file, skim_events

if TYPE_CHECKING:
    from unspool.store.library.kept_sessions import KeptSessions


_WORTH_A_POOL = 24 * 1024 * 1024
Progress = Callable[[int], None]


class CountedLog(NamedTuple):
    """One log counted: its overview, its line ids and its billed requests; or why it could not be read."""

    found: FoundLog
    overview: Overview | None
    ids: Sequence[int]
    ledger: CallLedger
    failure: str = ""


def make_overview(found: FoundLog, kept: "KeptSessions | None" = None) -> Overview | None:
    """What a list shows of one session; `kept` knows what is gone from its source. None where it cannot be read."""
    return kept.overview(found) if kept is not None and found.origin else count_log(found).overview


def count_log(found: FoundLog) -> CountedLog:
    """Count one session; a subagent's log that cannot be read is told of, and the rest counts."""
    format_ = by_id(found.format)
    parser = format_.parser(None)
    skim = OverviewReader(format_.dialect(found, parser.facts))
    failure = _attempt(found.path, lambda: skim.main(skim_events(found.path, format_, parser)))
    if failure:
        return CountedLog(found, None, array("Q"), CallLedger(), failure)
    if skim.open_plans:
        skim.settle(skim_events(found.path, format_, format_.parser(None), skim.open_plans))
    for agent in found.agents:
        events = skim_events(agent.path, format_, format_.parser(None))
        failure = _attempt(agent.path, lambda events=events: skim.agent(events)) or failure  # type: ignore[misc]
    overview = skim.overview(found.session_id, parser.facts, log_file(found.path, found.size))
    overview = msgspec.structs.replace(
        overview, project=format_.project(parser.facts, found.folder), size=found.total_size
    )
    return CountedLog(found, overview, skim.ids, skim.ledger, failure)


def _attempt(path: str, read: Callable[[], None]) -> str:
    """Why a log could not be read; empty where it could."""
    try:
        read()
    except UnspoolError as error:
        return str(error)
    except OSError as error:
        return f"Cannot read {path}: {error.strerror or error}."
    return ""


def count_logs(logs: Sequence[FoundLog], progress: Progress, jobs: int | None = None) -> Iterator[CountedLog]:
    """Count many sessions, in the order given; `progress` hears the bytes of each that is done."""
    workers = min(jobs or os.cpu_count() or 1, len(logs))
    if workers < 2 or sum(log.size for log in logs) < _WORTH_A_POOL:
        for log in logs:
            yield count_log(log)
            progress(log.size)
        return
    from concurrent.futures import ProcessPoolExecutor  # dear to import where there is little to do

    from unspool.workers import start_worker, without_interrupts

    pool = ProcessPoolExecutor(workers, initializer=start_worker)
    try:
        with without_interrupts():
            counting = pool.map(count_log, logs, chunksize=max(1, min(8, len(logs) // (workers * 8))))
        for done in counting:
            yield done
            progress(done.found.size)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def price_overview(overview: Overview, ledger: CallLedger, prices: PriceTable) -> Overview:
    """The overview with what its requests cost at list prices."""
    total = prices.cost(ledger)
    return msgspec.structs.replace(overview, cost=total.amount, unpriced=tuple(name for name, _ in total.unpriced))


class SessionListing(msgspec.Struct, frozen=True):
    """Sessions newest first, with what they used together, each request counted once."""

    overviews: tuple[Overview, ...]
    usage: Usage
    cost: Cost
    failures: tuple[str, ...] = ()


def list_overviews(done: Sequence[CountedLog], prices: PriceTable) -> SessionListing:
    """A listing of sessions that were counted one by one."""
    overviews = _overviews(done, prices)
    failures = tuple(one.failure for one in done if one.failure)
    together = _together([one.ledger for one in done])
    return SessionListing(overviews, together.usage, prices.cost(together), failures)


def _overviews(done: Sequence[CountedLog], prices: PriceTable) -> tuple[Overview, ...]:
    named = [(f"{one.found.root}/{one.found.folder}", one) for one in done if one.overview is not None]
    priced_ = [price_overview(one.overview, one.ledger, prices) for _, one in named if one.overview is not None]
    settled = unify_projects((folder, overview) for (folder, _), overview in zip(named, priced_, strict=True))
    skims = [ChainMember(overview, one.ids) for (_, one), overview in zip(named, settled, strict=True)]
    return tuple(sorted(link_sessions(skims), key=_newest))


def _together(ledgers: list[CallLedger]) -> CallLedger:
    """All requests once, gathered into the largest ledger, which spares a copy of it."""
    gathered = max(ledgers, key=len, default=CallLedger())
    for ledger in ledgers:
        if ledger is not gathered:
            gathered.merge(ledger)
    return gathered


def _newest(overview: Overview) -> tuple[float, str]:
    when = overview.ended or overview.log.modified
    return (-when.timestamp() if when is not None else 0.0, overview.id)
