"""Sessions read by other processes, which never outlive this one."""

import gc
import os
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import NamedTuple, Self

from unspool.index.rows import Rows
from unspool.library.workers import settle_in, uninterrupted
from unspool.sync.extract import Job, extract

WORTH_A_POOL = 12 * 1024 * 1024
"""Bytes to read, below which other processes cost more than they bring."""
LARGE = 64 * 1024 * 1024
"""A session of so many bytes is read here: handing its rows over would hold them twice."""


class Pending(NamedTuple):
    """A session that is being read elsewhere, or will be here."""

    job: Job
    future: "Future[Rows | str] | None"


class Readers:
    """Reads sessions, elsewhere where there is enough to do."""

    def __init__(self, total: int, jobs: int | None = None) -> None:
        workers = jobs or os.cpu_count() or 1
        self._pool = _pool(workers) if workers > 1 and total >= WORTH_A_POOL else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def start(self, jobs: Sequence[Job]) -> list[Pending]:
        """Begin to read sessions; what is large waits until it is asked for."""
        pool = self._pool
        with uninterrupted():
            return [
                Pending(job, None if pool is None or job.size >= LARGE else self._submit(pool, job)) for job in jobs
            ]

    @staticmethod
    def _submit(pool: ProcessPoolExecutor, job: Job) -> "Future[Rows | str] | None":
        try:
            return pool.submit(extract, job)
        except BrokenProcessPool:
            return None

    @staticmethod
    def result(pending: Pending) -> Rows | str:
        """The rows of a session, or why there are none; where the process that read it died, it is read here."""
        if pending.future is None:
            return extract(pending.job)
        try:
            return pending.future.result()
        except BrokenProcessPool:
            return extract(pending.job)


def _pool(workers: int) -> ProcessPoolExecutor:
    # A fork is ready at once, and no thread of this process holds a lock yet; elsewhere the system's own way is safe.
    context = get_context("fork" if sys.platform == "linux" else None)
    return ProcessPoolExecutor(workers, context, initializer=_settle_in)


def _settle_in() -> None:
    gc.disable()  # what is read holds no cycles, and looking for them takes a sixth of the time
    settle_in()
