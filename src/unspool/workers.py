"""Processes that work for this one, a pool of them or one for a call; work without garbage collection."""

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.connection import Connection


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


_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


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
