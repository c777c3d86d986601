"""Processes that work for this one, a pool of them or one for a call; work without garbage collection."""

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.connection import Connection


_Given = TypeVar("_Given")
_Made = TypeVar("_Made")
_Shared = TypeVar("_Shared")
_POLITE = ("SIGINT", "SIGTERM", "SIGHUP")


def start_worker() -> None:
    """A worker that is interrupted or stopped just ends, and so does one whose parent is gone."""
    for name in _POLITE:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _nothing() -> None:
    pass


def worker_pool(
    workers: int, set_up: Callable[..., None] = _nothing, *arguments: Any, fresh: bool = False
) -> "ProcessPoolExecutor":
    """Processes that end with this one; each calls `set_up` first. Submit under `without_interrupts`.

    `fresh`: this process may have threads, as some libraries start, so that its workers must not be copies of it.
    """
    from concurrent.futures import ProcessPoolExecutor  # dear to import where there is little to do
    from multiprocessing import get_context

    # A fork is ready at once, and safe while this process has no threads; elsewhere the system's own way is safe.
    context = get_context("spawn" if fresh else "fork" if sys.platform == "linux" else None)
    return ProcessPoolExecutor(workers, context, initializer=_set_up, initargs=(set_up, arguments))


_OBJECTS = 20_000
"""New objects in a worker after which it looks for garbage: next to nothing it makes refers to itself."""

_held: dict[str, Any] = {}
"""In a worker: the work, and what all tasks share; handed over once instead of with every task."""


def run_in_processes(
    work: Callable[[_Shared, _Given], _Made], shared: _Shared, tasks: Sequence[_Given], jobs: int
) -> Iterator[tuple[_Given, _Made | BaseException]]:
    """Each task with what `work` made of it or what went wrong, in the order of completion; `BrokenProcessPool` where
    its process died, as for want of memory. With less than two jobs all is done here, in a thread."""
    from concurrent.futures.process import BrokenProcessPool

    lost: list[_Given] = []
    for task, result in _in_pool(work, shared, tasks, jobs):
        if isinstance(result, BrokenProcessPool):
            lost.append(task)
        else:
            yield task, result
    # A process died and took with it what the others held: alone, each of them shows whether it is the one.
    for task in lost:
        yield from _in_pool(work, shared, [task], 2)


def _in_pool(
    work: Callable[[_Shared, _Given], _Made], shared: _Shared, tasks: Sequence[_Given], jobs: int
) -> Iterator[tuple[_Given, _Made | BaseException]]:
    from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    pool: Executor
    if jobs < 2 or not tasks:
        pool = ThreadPoolExecutor(1, initializer=_hold, initargs=(work, shared))
    else:
        pool = worker_pool(min(jobs, len(tasks)), _freeze_and_hold, work, shared)
    futures: dict[Future[_Made], _Given] = {}
    refused: list[tuple[_Given, BaseException]] = []
    try:
        with without_interrupts():
            for task in tasks:
                try:
                    futures[pool.submit(_work, task)] = task
                except BrokenProcessPool as broken:  # one died already
                    refused.append((task, broken))
        for future in as_completed(list(futures)):
            error = future.exception()
            yield futures.pop(future), future.result() if error is None else error
        yield from refused
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _hold(work: Any, shared: Any) -> None:
    _held.update(work=work, shared=shared)


def _work(task: Any) -> Any:
    return _held["work"](_held["shared"], task)


def _freeze_and_hold(work: Any, shared: Any) -> None:
    gc.freeze()  # what the parent had is no garbage, and stays shared while nobody looks through it
    gc.set_threshold(_OBJECTS)
    _hold(work, shared)


_SHARES = 64
"""Of the work of each process: the last to end has so little left that the others hardly wait."""


def map_in_processes(
    do: Callable[[_Given], _Made],
    items: Sequence[_Given],
    size: Callable[[_Given], int],
    progress: Callable[[int], object],
    jobs: int,
    lost: Callable[[_Given], _Made],
) -> list[_Made]:
    """What a function makes of each item, in their order; `lost` says what stands for one whose process died. The
    largest are begun first, small ones are handed over several at once; `progress` hears the size of what is done."""
    from concurrent.futures.process import BrokenProcessPool

    made: dict[int, _Made] = {}
    waiting = list(_batches([size(one) for one in items], jobs))
    while waiting:
        apart: list[list[int]] = []
        for some, done in run_in_processes(_each, (do, items), waiting, jobs):
            if isinstance(done, BrokenProcessPool):
                if len(some) > 1:
                    apart += [[number] for number in some]
                    continue
                made[some[0]] = lost(items[some[0]])
            elif isinstance(done, BaseException):
                raise done
            else:
                made.update(zip(some, done, strict=True))
            progress(sum(size(items[number]) for number in some))
        waiting = apart
    return [made[number] for number in range(len(items))]


def _each(shared: tuple[Callable[[_Given], _Made], Sequence[_Given]], some: Sequence[int]) -> list[_Made]:
    do, items = shared
    return [do(items[number]) for number in some]


def _batches(sizes: Sequence[int], jobs: int) -> Iterator[list[int]]:
    """The numbers of items that are handed over together, the largest first."""
    enough, some, held = sum(sizes) / (jobs * _SHARES), [], 0
    for number in sorted(range(len(sizes)), key=lambda number: -sizes[number]):
        some.append(number)
        held += sizes[number]
        if held >= enough:
            yield some
            some, held = [], 0
    if some:
        yield some


def _set_up(set_up: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    set_up(*arguments)
    start_worker()


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Signals that ask for an end are heeded when the block ends: a pool that is broken off while it starts leaves
    processes that nobody gives work or tells to end."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals never reach it
        return
    heard: list[int] = []
    numbers = [getattr(signal, name) for name in _POLITE if hasattr(signal, name)]
    ours = [number for number in numbers if callable(signal.getsignal(number))]
    before = {number: signal.signal(number, lambda number, _: heard.append(number)) for number in ours}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for number in heard[:1]:
        signal.raise_signal(number)


def _end_with_parent() -> None:
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


class ProcessCall(Generic[_Given, _Made]):
    """What a function makes of something, from the moment this is made. The process ends with this one."""

    def __init__(self, do: Callable[[_Given], _Made], given: _Given) -> None:
        from multiprocessing import get_context

        self._do = do
        self._given = given
        context = get_context("fork" if sys.platform == "linux" else None)  # ready at once; elsewhere not safe
        self._end, there = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(there, do, given), daemon=True)
        self._process.start()
        there.close()

    def result(self) -> _Made:
        """What was made; where the process died, it is made here."""
        try:
            made: _Made = self._end.recv()
        except EOFError:
            return self._do(self._given)
        finally:
            self._end.close()
            self._process.join()
        return made


def _run(end: "Connection[_Made, None]", do: Callable[[_Given], _Made], given: _Given) -> None:
    start_worker()
    end.send(do(given))
    end.close()


class GarbageCollectionPause:
    """No search for cycles while much is read at once: there are none to find, and it takes as long as the reading."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readers = 0

    def __enter__(self) -> None:
        with self._lock:
            self._readers += 1
            gc.disable()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._readers -= 1
            if not self._readers:
                gc.enable()


GC_PAUSE = GarbageCollectionPause()
