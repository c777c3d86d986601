"""Who does the units of work of a write: this process, processes beside it, or the machines of a Ray cluster.

All that a task needs travels with it, and what it makes is written to the lake's storage, so that only small notes come
back. A task may be done twice, and then only one of its results counts.
"""

import logging
import os
import secrets
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar

from unspool.errors import Unreadable, UsageProblem
from unspool.workers import without_interrupts, worker_pool

_RETRIES = 3
"""How often a task is begun again whose process or machine died, before it is made smaller."""
_PATIENCE = 20.0
"""Seconds that a cluster has to answer in."""
_AHEAD = 2
"""Tasks that are handed out for every core: the others wait here, and not in the cluster's memory."""


class LakeTask(Protocol):
    """A unit of work."""

    @property
    def attempt(self) -> str:
        """Made a part of the names of all files that it writes."""

    def smaller(self) -> Sequence[Any]:
        """Tasks that together do the same, for one that processes die of; none where that cannot be."""


_Task = TypeVar("_Task", bound=LakeTask)
_Done = TypeVar("_Done")


class TaskRunner(Protocol):
    """Does tasks, several at a time."""

    @property
    def workers(self) -> int:
        """How many at a time, as far as is known now."""

    def run(self, do: Callable[[_Task], _Done], tasks: Iterable[_Task]) -> Iterator[_Done]:
        """What was made of each task, in whatever order. Where this is given up, nothing goes on behind it."""


class LocalRunner:
    """Processes of this machine; with one worker, this process itself."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def run(self, do: Callable[[_Task], _Done], tasks: Iterable[_Task]) -> Iterator[_Done]:
        """What was made of each, in their order; where the process that had one died, it is done here."""
        waiting = list(tasks)
        if self.workers == 1 or not waiting:
            yield from map(do, waiting)
            return
        pool = worker_pool(min(self.workers, len(waiting)), fresh=True)
        try:
            with without_interrupts():
                futures = [pool.submit(do, task) for task in waiting]
            for task, future in zip(waiting, futures, strict=True):
                try:
                    yield future.result()
                except BrokenProcessPool:
                    yield do(task)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def ray_runner(address: str = "") -> Iterator[TaskRunner]:
    """The machines of a Ray cluster: the one at the address, of RAY_ADDRESS, or one that is started on this machine."""
    try:
        import ray
    except ImportError:
        raise UsageProblem("This needs Ray: pip install 'unspool[ray]'") from None
    ours = not ray.is_initialized()
    if ours:
        _check_reachable(address or os.environ.get("RAY_ADDRESS", ""))
        try:
            ray.init(address=address or None, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as error:
            said = str(error).strip().splitlines()
            raise Unreadable(f"The Ray cluster cannot be reached: {said[0] if said else address}") from None
    try:
        yield _RayRunner(ray)
    finally:
        if ours:
            ray.shutdown()


def _check_reachable(address: str) -> None:
    """Unreadable where nobody listens at host:port; Ray itself would try for a very long time."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
        except (OSError, OverflowError):
            raise Unreadable(f"The Ray cluster cannot be reached: nobody answers at {address}.") from None


class _RayRunner:
    """A task is begun again where its machine died, and made smaller where it is what machines die of."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray

    @property
    def workers(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def run(self, do: Callable[[_Task], _Done], tasks: Iterable[_Task]) -> Iterator[_Done]:
        remote = self._ray.remote(num_cpus=1, max_retries=_RETRIES)(_attempt)
        waiting, again = iter(tasks), list[Any]()
        handed: dict[Any, Any] = {}
        try:
            while True:
                room = max(0, self.workers * _AHEAD - len(handed))
                more = [*islice(iter(again), room)]
                again = again[len(more) :]
                for task in (*more, *islice(waiting, room - len(more))):
                    handed[remote.remote(do, task)] = task
                if not handed:
                    return
                (done, *_), _ = self._ray.wait(list(handed), num_returns=1)
                task = handed.pop(done)
                result = self._result(done, task)
                if isinstance(result, _Smaller):
                    again += result.tasks
                else:
                    yield result
        finally:
            for reference in handed:
                self._ray.cancel(reference, force=True)

    def _result(self, reference: Any, task: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:
            raise error.cause from None  # what the task itself says
        except (errors.RaySystemError, errors.RayError) as error:
            smaller = task.smaller()
            if not smaller:
                said = str(error).strip().splitlines()[0]
                raise Unreadable(f"The Ray cluster could not finish a task: {said}") from None
            return _Smaller(smaller)


class _Smaller(NamedTuple):
    tasks: Sequence[Any]


def _attempt(do: Callable[[Any], Any], task: Any) -> Any:
    """Do a task by names of its own: a machine that was given up may still be at it."""
    return do(task._replace(attempt=f"{task.attempt}-{secrets.token_hex(4)}"))
