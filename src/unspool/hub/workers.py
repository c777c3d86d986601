"""Heavy work on what arrives, in processes of its own: a few at a time, each within bounds of time and memory.

A process that takes too long is killed and one that needs too much memory fails; neither hurts the hub or another's
work. What a function makes of files it leaves in a folder that the caller named, so that a killed one leaves nothing.
"""

import asyncio
import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, NamedTuple, ParamSpec, TypeVar

from unspool.errors import UnspoolError
from unspool.hub.errors import NO_ROOM, BadRequest, StoreFull, StoreUnavailable
from unspool.workers import start_worker

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")
_THREADS = 16
_START = 60.0
"""Seconds that a process may take to begin."""
_TASKS = 200
"""After so many a process is replaced by a fresh one."""
_BEYOND = "It could not be read within the bounds of this hub."


class WorkLimits(NamedTuple):
    processes: int = max(1, min(8, os.cpu_count() or 1))
    seconds: float = 300.0
    memory: int = 3 * 1024**3
    """Bytes of a process."""
    waiting: float = 60.0
    """Seconds for which one waits for a free process."""


class WorkerPool:
    """Processes that work for this one; they are started when they are needed and end with it."""

    def __init__(self, bounds: WorkLimits | None = None) -> None:
        self._bounds = bounds or WorkLimits()
        self._free = threading.BoundedSemaphore(self._bounds.processes)
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._stopped = False
        self._lock = threading.Lock()

    def run(self, function: Callable[_Given, _Made], *args: _Given.args, **named: _Given.kwargs) -> _Made:
        """What a function of a module makes; what it raises of ours is raised here.

        StoreUnavailable where every process is busy for long; BadRequest where it takes too much time or memory.
        """
        if not self._free.acquire(timeout=self._bounds.waiting):
            raise StoreUnavailable("The hub is busy with what others sent; try again in a minute.")
        try:
            worker = self._taken()
            try:
                made: _Made = worker.run((function, args, named), self._bounds.seconds)
                return made
            finally:
                with self._lock:
                    self._busy.discard(worker)
                    again = worker.fit and not self._stopped
                    if again:
                        self._idle.append(worker)
                if not again:
                    worker.end()
        finally:
            self._free.release()

    def stop(self) -> None:
        """End all processes; who waits for one is told that it did not come to its end."""
        with self._lock:
            idle, self._idle = self._idle, []
            busy, self._stopped = list(self._busy), True
        for worker in idle:
            worker.end()
        for worker in busy:
            worker.process.kill()  # whoever waits for it notices

    def _taken(self) -> "_Worker":
        while True:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            worker = worker or _Worker(self._bounds.memory)
            with self._lock:
                stopped = self._stopped
                if worker.fit and not stopped:
                    self._busy.add(worker)
                    return worker
            worker.end()
            if stopped:
                raise StoreUnavailable("The hub is about to end; try again in a minute.")


class _Worker:
    def __init__(self, memory: int) -> None:
        context = get_context("spawn")  # the hub has threads, which a fork would not survive
        self._end, there = context.Pipe()
        self.process = context.Process(target=_serve, args=(there, memory), daemon=True, name="unspool-work")
        self.process.start()
        there.close()
        self._tasks = 0
        if not self._end.poll(_START):  # what it takes to start is no part of a task's time
            self.end()
            raise StoreUnavailable("The hub is too busy to begin with this; try again in a minute.")
        self._end.recv()

    @property
    def fit(self) -> bool:
        return self._tasks < _TASKS and self.process.is_alive() and not self._end.closed

    def run(self, task: tuple[Any, ...], seconds: float) -> Any:
        """What one task makes; a process that has not answered is of no use any more."""
        self._tasks += 1
        with contextlib.ExitStack() as unanswered:
            unanswered.callback(self.end)
            try:
                self._end.send(task)
                if not self._end.poll(seconds):
                    raise BadRequest(f"It could not be read within {seconds:g} seconds.")
                done, made = self._end.recv()
            except (EOFError, OSError):
                raise BadRequest(_BEYOND) from None
            unanswered.pop_all()
        if done:
            return made
        raise made

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self._end.close()


def _end_after_crash(kind: type[BaseException] | None, _: object, trace: TracebackType | None) -> None:
    """End the process where nobody foresaw what happens; the log is told where, and nothing of what was worked on."""
    if kind is not None:
        sys.stderr.write("".join([*traceback.format_tb(trace), kind.__name__, "\n"]))
        sys.stderr.flush()
        os._exit(1)


def _serve(end: Connection, memory: int) -> None:
    start_worker()
    if os.name == "posix":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    with contextlib.ExitStack() as crashes, contextlib.suppress(EOFError, OSError):  # nobody asks any more
        crashes.push(_end_after_crash)
        end.send(True)
        while True:
            end.send(_done(*end.recv()))


def _done(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> tuple[bool, Any]:
    try:
        return True, function(*args, **named)
    except UnspoolError as error:
        return False, error
    except (MemoryError, RecursionError):
        return False, BadRequest(_BEYOND)
    except OSError as error:
        if error.errno in NO_ROOM:
            return False, StoreFull("The hub has no room to work on this now.")
        return False, StoreUnavailable("The hub's disk does not do what it should.")


@cache
def worker_pool() -> WorkerPool:
    return WorkerPool()


def stop_workers() -> None:
    """End all work of this process, done or not: of what was not acknowledged nothing is visible."""
    worker_pool().stop()
    _waiting().shutdown(cancel_futures=True)
    worker_pool.cache_clear()
    _waiting.cache_clear()


async def run_in_thread(function: Callable[_Given, _Made], *args: _Given.args, **named: _Given.kwargs) -> _Made:
    """What a function makes that may wait long for its work, in threads of their own: other requests have theirs."""
    return await asyncio.get_running_loop().run_in_executor(_waiting(), partial(function, *args, **named))


@cache
def _waiting() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, "unspool-waiting")
