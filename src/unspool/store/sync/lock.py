"""One sync at a time, and a polite end on a signal."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from unspool.errors import AlreadyRunning, Unreadable
from unspool.files import locked

_SYNC, _WATCH = "sync.lock", "watch.lock"
_PAUSE = 0.1
PATIENCE = 600.0
"""Seconds that a sync waits for its turn."""


@contextmanager
def wait_for_lock(folder: Path, seconds: float = PATIENCE) -> Iterator[None]:
    """Wait for our turn to sync in a folder, made where it is missing; AlreadyRunning where another goes on longer."""
    with _opened(folder, _SYNC) as descriptor:
        deadline = time.monotonic() + seconds
        while not _ours(descriptor):
            if time.monotonic() > deadline:
                raise AlreadyRunning(f"Another sync of the archive in {folder} goes on.")
            time.sleep(_PAUSE)
        yield


@contextmanager
def sole_lock(folder: Path) -> Iterator[None]:
    """Be the only watcher of the archive in a folder; AlreadyRunning where another one is."""
    with _opened(folder, _WATCH) as descriptor:
        if not _ours(descriptor):
            raise AlreadyRunning(
                f"Another `unspool watch`{_holder(descriptor)} keeps the archive in {folder} up to date already."
            )
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield


@contextmanager
def _opened(folder: Path, name: str) -> Iterator[int]:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Unreadable(f"Cannot write in the folder of the archive, {folder}: {error.strerror or error}.") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _ours(descriptor: int) -> bool:
    """Whether the lock is ours now. On a file system without locks it is everybody's: two would do the same work
    twice, and what they write is guarded by the database."""
    try:
        return locked(descriptor)
    except OSError:
        return True


def _holder(descriptor: int) -> str:
    try:
        number = os.read(descriptor, 32).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return f" (process {number})" if number.isdecimal() else ""


_POLITE = ("SIGTERM", "SIGHUP")
"""Signals that ask for an end as a service manager or a closed terminal does; the end is a good one."""


@contextmanager
def heed_signals(hear: Callable[[int], None]) -> Iterator[None]:
    """Have `hear` told of signals that ask for an end, until that of the block. Those that are ignored, as nohup has
    it, stay so."""
    numbers = [getattr(signal, name) for name in ("SIGINT", *_POLITE) if hasattr(signal, name)]
    heeded = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, lambda number, _: hear(number)) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Stopped(KeyboardInterrupt):
    """Asked to end while at work; whatever is open rolls back, as it does for Ctrl-C."""


class StopSignal:
    """Whether the end was asked for, and how."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._busy = False
        self.signal = 0

    def is_set(self) -> bool:
        return self._asked.is_set()

    def wait(self, seconds: float) -> bool:
        """Sleep, unless the end is asked for; whether it was."""
        return self._asked.wait(seconds)

    def set(self, number: int = 0) -> None:
        self.signal = self.signal or number
        self._asked.set()

    @property
    def interrupted(self) -> bool:
        """Whether it was Ctrl-C rather than a request."""
        return self.signal == signal.SIGINT

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Work that a signal breaks off; nothing is begun once the end was asked for."""
        self._busy = True
        try:
            if self.is_set():
                raise Stopped
            yield
        finally:
            self._busy = False

    def heeding(self) -> AbstractContextManager[None]:
        """Answer signals until the end of the block."""
        return heed_signals(self._hear)

    def _hear(self, number: int) -> None:
        self.set(number)
        if self._busy:
            self._busy = False  # once: a second signal must not break off the cleaning up
            raise Stopped
