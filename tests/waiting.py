"""Waiting for something to hold, and an end for what must not go on for ever.

Nothing here measures how long something takes: limits of time are the benchmark's (`scripts/bench`). The ends are so
late that only what never comes meets them, on however busy a machine.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

PATIENCE = 120.0
"""Seconds after which something is taken never to come."""


def until(holds: Callable[[], object], said: Callable[[], object] = lambda: "", seconds: float = PATIENCE) -> None:
    """Wait until something holds; fail, with what is said, where it never does."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            pytest.fail(f"waited in vain: {said()}")
        time.sleep(0.02)


@contextmanager
def ending(seconds: float = PATIENCE) -> Iterator[None]:
    """What is done in here comes to its end: it fails where it hangs, or where its work grows as a square."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def late(number: int, frame: FrameType | None) -> None:
        pytest.fail(f"it did not end within {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
