"""A polite end: a signal stops work that waits at once, and work that runs as Ctrl-C would."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

_POLITE = ("SIGTERM", "SIGHUP")
"""Signals that ask for an end as a service manager or a closed terminal does; the end is a good one."""


@contextmanager
def heeding(hear: Callable[[int], None]) -> Iterator[None]:
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


class Stop:
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
        """Ask for the end."""
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
        return heeding(self._hear)

    def _hear(self, number: int) -> None:
        self.set(number)
        if self._busy:
            self._busy = False  # once: a second signal must not break off the cleaning up
            raise Stopped
