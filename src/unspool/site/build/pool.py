"""Work spread over processes that never outlive the one that started them.

What goes wrong with one task is that task's result: neither an error nor a process that dies stops the others.
"""

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, TypeVar

from unspool.library.workers import settle_in, uninterrupted

Shared = TypeVar("Shared")
Job = TypeVar("Job")
Done = TypeVar("Done")
Work = Callable[[Shared, Job], Done]
Ended = tuple[Job, Done | BaseException]

_OBJECTS = 20_000
"""New objects in a worker after which it looks for garbage: next to nothing it makes refers to itself."""

_held: dict[str, Any] = {}
"""In a worker: the work, and what all tasks share; handed over once instead of with every task."""


def spread(
    work: Work[Shared, Job, Done], shared: Shared, tasks: Sequence[Job], jobs: int
) -> Iterator[Ended[Job, Done]]:
    """Each task with what `work` made of it or what went wrong, in the order of completion."""
    lost: list[Job] = []
    for task, result in _run(work, shared, tasks, jobs):
        if isinstance(result, BrokenProcessPool):
            lost.append(task)
        else:
            yield task, result
    # A process died and took with it what the others held: alone, each of them shows whether it is the one.
    for task in lost:
        yield from _run(work, shared, [task], 2)


def _run(work: Work[Shared, Job, Done], shared: Shared, tasks: Sequence[Job], jobs: int) -> Iterator[Ended[Job, Done]]:
    pool = _pool(jobs, len(tasks), (work, shared))
    try:
        with uninterrupted():
            futures = {pool.submit(_work, task): task for task in tasks}
        for future in as_completed(list(futures)):
            error = future.exception()
            yield futures.pop(future), future.result() if error is None else error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _pool(jobs: int, tasks: int, held: tuple[Any, Any]) -> Executor:
    if jobs < 2 or tasks == 0:
        return ThreadPoolExecutor(1, initializer=_hold, initargs=held)
    # A fork is ready at once and this process has no threads yet; elsewhere the system's own way is the safe one.
    context = get_context("fork" if sys.platform == "linux" else None)
    return ProcessPoolExecutor(min(jobs, tasks), context, initializer=_settle_in, initargs=held)


def _hold(work: Any, shared: Any) -> None:
    _held.update(work=work, shared=shared)


def _work(task: Any) -> Any:
    return _held["work"](_held["shared"], task)


def _settle_in(work: Any, shared: Any) -> None:
    """A worker that is interrupted just ends, and so does one whose parent is gone."""
    gc.freeze()  # what the parent had is no garbage, and stays shared while nobody looks through it
    gc.set_threshold(_OBJECTS)
    _hold(work, shared)
    settle_in()
