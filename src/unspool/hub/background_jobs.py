"""Jobs that a hub runs by itself: sealing the audit log, expiring shares, tidying."""

import sys
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from starlette.datastructures import State

from unspool.errors import UnspoolError
from unspool.hub.context import Hub
from unspool.hub.people.audit import seal_audit
from unspool.hub.people.erasure import resume_erasures
from unspool.hub.people.rate_limit import forget_old_counts
from unspool.hub.sessions.session_store import sweep_passages
from unspool.hub.shares.share_store import expire_shares
from unspool.hub.store.verify import tidy_daily

_PATIENCE = 15.0
"""Seconds that the end waits for the chore at hand."""


class Job(NamedTuple):
    """Something to be done every so many seconds."""

    name: str
    every: float
    do: Callable[[], object]
    last: bool = True
    """Whether it is done once more at the end."""


class JobThread:
    """A thread that does them, until it is stopped."""

    def __init__(self, chores: tuple[Job, ...]) -> None:
        self._chores = chores
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="chores", daemon=True)

    def start(self) -> None:
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


def _done(chore: Job) -> None:
    """Do a chore; where a store does not answer, it is done the next time."""
    try:
        chore.do()
    except UnspoolError as error:
        sys.stderr.write(f'{{"chore": "{chore.name}", "trouble": "{type(error).__name__}"}}\n')


def background_jobs(hub: Hub, state: State) -> tuple[JobThread, JobThread]:
    """What a hub does by itself: what is quick, and beside it what takes long and can be broken off anywhere."""
    quick = JobThread(
        (
            Job("audit", 0.2, state.reads.flush),
            Job("pace", 5.0, state.pace.flush),
            Job("seal", 5.0, lambda: seal_audit(hub.store.db)),
            Job("passages", 2.0, lambda: sweep_passages(hub.store.db)),
            Job("expiry", 60.0, lambda: expire_shares(hub.store)),
            Job("erase", 60.0, lambda: resume_erasures(hub.store)),
            Job("pace.old", 3600.0, lambda: forget_old_counts(hub.store.db)),
        )
    )
    return quick, JobThread((Job("tidy", 600.0, lambda: tidy_daily(hub.store), last=False),))
