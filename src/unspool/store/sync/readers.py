"""Sessions read by other processes, and files checked out of the archive for them."""

import gc
import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import msgspec

from unspool.agents import FoundLog
from unspool.prices import PriceTable
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.requests import SessionRows
from unspool.store.library.session_files import SessionFiles, checkout
from unspool.store.sync.extract import ExtractJob, extract_rows
from unspool.store.sync.stale import IndexTask
from unspool.workers import without_interrupts, worker_pool

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

WORTH_A_POOL = 12 * 1024 * 1024
"""Bytes to read, below which other processes cost more than they bring."""
LARGE = 64 * 1024 * 1024
"""A session of so many bytes is read here: handing its rows over would hold them twice."""


HandedRows = bytes | SessionRows | str
"""What another process gives: rows packed, or as they are where they cannot be; or why there are none."""


class PendingJob(NamedTuple):
    """A session that is being read elsewhere, or will be here."""

    job: ExtractJob
    future: "Future[HandedRows] | None"


class ReaderPool:
    """Reads sessions, elsewhere where there is enough to do."""

    def __init__(self, total: int, prices: PriceTable) -> None:
        workers, self._prices = os.cpu_count() or 1, prices
        several = workers > 1 and total >= WORTH_A_POOL
        self._pool = worker_pool(workers, _set_up_worker, prices) if several else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def start(self, jobs: Sequence[ExtractJob]) -> list[PendingJob]:
        """Begin to read sessions; what is large waits until it is asked for."""
        pool = self._pool
        with without_interrupts():
            return [
                PendingJob(job, None if pool is None or job.size >= LARGE else self._submit(pool, job)) for job in jobs
            ]

    @staticmethod
    def _submit(pool: "ProcessPoolExecutor", job: ExtractJob) -> "Future[HandedRows] | None":
        from concurrent.futures.process import BrokenProcessPool  # dear to load, and mostly nothing is new

        try:
            return pool.submit(extract_packed, job)
        except BrokenProcessPool:
            return None

    def result(self, pending: PendingJob) -> SessionRows | str:
        """The rows of a session, or why there are none; where the process that read it died, it is read here."""
        if pending.future is None:
            return extract_rows(pending.job, self._prices)
        from concurrent.futures.process import BrokenProcessPool

        try:
            given = pending.future.result()
        except BrokenProcessPool:
            return extract_rows(pending.job, self._prices)
        return unpack_rows(given)


_held: list[PriceTable] = []
"""In a worker: the prices, handed over once instead of with every job, which would take a tenth of the time."""


def _set_up_worker(prices: PriceTable) -> None:
    gc.disable()  # what is read holds no cycles, and looking for them takes a sixth of the time
    _held.append(prices)


def extract_packed(job: ExtractJob) -> HandedRows:
    """In a worker: the rows of a session, to be handed over."""
    rows = extract_rows(job, _held[0])
    if isinstance(rows, str):
        return rows
    try:
        return msgspec.msgpack.encode(rows)  # which takes half as long as pickling a tuple for each of them does
    except (ValueError, OverflowError):
        return rows  # with halves of characters, or numbers beyond 64 bits


def unpack_rows(given: HandedRows) -> SessionRows | str:
    """What was handed over."""
    return _unpacker().decode(given) if isinstance(given, bytes) else given


@cache
def _unpacker() -> msgspec.msgpack.Decoder[SessionRows]:
    return msgspec.msgpack.Decoder(SessionRows)


Loans = dict[tuple[int, str], FoundLog]
"""Logs where they can be read for a while, by origin and path."""


def checkouts(archive: ArchiveDatabase, tasks: Iterable[IndexTask], open_: ExitStack, failures: list[str]) -> Loans:
    """The logs of those tasks that are to be read from the archive, until the stack closes.

    All of one place lie in one folder, for they may share files. What the archive cannot give back is told in
    `failures`, and does not keep the rest from being read.
    """
    by_origin: dict[int, list[IndexTask]] = {}
    for task in tasks:
        if task.found is None:
            by_origin.setdefault(task.origin, []).append(task)
    return {
        (origin, path): found
        for origin, group in by_origin.items()
        for path, found in _lent(archive, group, open_, failures).items()
    }


def checkout_from_archive(
    archive: ArchiveDatabase, task: IndexTask, prices: PriceTable, failures: list[str]
) -> SessionRows | None:
    """The rows of one session, read from the archive alone; None where they cannot be."""
    common = SessionFiles(task.agent, archive.kept(task.origin).values()).common
    task = task._replace(found=None, common=common)
    with ExitStack() as open_:
        job = task.job(checkouts(archive, [task], open_, failures))
        rows = "" if job is None else extract_rows(job, prices)
    return None if isinstance(rows, str) else rows


def _lent(
    archive: ArchiveDatabase, tasks: Sequence[IndexTask], open_: ExitStack, failures: list[str]
) -> dict[str, FoundLog]:
    origin, agent = tasks[0].origin, tasks[0].agent
    paths = dict.fromkeys(path for task in tasks for path in (*task.files, *task.common))
    kept = [one for one in (archive.last(origin, path) for path in paths) if one is not None]
    sessions = SessionFiles(agent, kept)
    files = {one.path: one for task in tasks for one in sessions.needed(task.path)}
    root = open_.enter_context(checkout(archive, files.values(), failures))
    return {_inside(found.path, root): found for found in agent.discover(root)}


def _inside(path: str, root: Path) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")
