"""A limit on how long something may take, for work that cannot be asked to stop."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from unspool.errors import UnspoolError


@contextmanager
def patience(seconds: float, message: str) -> Iterator[None]:
    """UnspoolError with this message once so many seconds have passed; no limit where the system has no alarm."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_: int, __: FrameType | None) -> None:
        raise UnspoolError(message)

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
