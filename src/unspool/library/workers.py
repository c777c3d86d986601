"""Processes that read for this one: they end quietly, and never outlive it."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.connection import wait

_POLITE = ("SIGINT", "SIGTERM", "SIGHUP")


def settle_in() -> None:
    """A worker that is interrupted or stopped just ends, and so does one whose parent is gone."""
    for name in _POLITE:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


@contextmanager
def uninterrupted() -> Iterator[None]:
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
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
