"""What a hub does by itself while it runs: writing down, sealing, ending what has expired, sweeping.

Any number of processes may do these at the same time; each is done again where it broke off.
"""

import sys
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from unspool.errors import UnspoolError

_PATIENCE = 15.0
"""Seconds that the end waits for the chore at hand."""


class Chore(NamedTuple):
    """Something to be done every so many seconds."""

    name: str
    every: float
    do: Callable[[], object]
    last: bool = True
    """Whether it is done once more at the end."""


class Chores:
    """A thread that does them, until it is stopped."""

    def __init__(self, chores: tuple[Chore, ...]) -> None:
        self._chores = chores
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="chores", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the chore at hand, and do what must not stay undone once more."""
        self._stop.set()
        self._thread.join(_PATIENCE)
        for chore in self._chores:
            if chore.last:
                _done(chore)

    def _work(self) -> None:
        due = {chore.name: time.monotonic() + chore.every for chore in self._chores}
        while not self._stop.wait(max(0.05, min(due.values()) - time.monotonic())):
            for chore in self._chores:
                if due[chore.name] <= time.monotonic():
                    _done(chore)
                    due[chore.name] = time.monotonic() + chore.every


def _done(chore: Chore) -> None:
    """Do a chore; where a store does not answer, it is done the next time."""
    try:
        chore.do()
    except UnspoolError as error:
        sys.stderr.write(f'{{"chore": "{chore.name}", "trouble": "{type(error).__name__}"}}\n')
