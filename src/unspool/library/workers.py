"""Processes that read for this one: they end quietly, and never outlive it."""

import os
import signal
import threading
from multiprocessing import parent_process
from multiprocessing.connection import wait


def settle_in() -> None:
    """A worker that is interrupted or stopped just ends, and so does one whose parent is gone."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
