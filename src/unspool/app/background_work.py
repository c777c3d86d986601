"""What the process behind the app does: sync, watch, sync again, and tell of it."""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import active_children
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from unspool.errors import UnspoolError
from unspool.library.sources import usual_roots
from unspool.library.workers import settle_in
from unspool.prices import PriceTable
from unspool.sync.report import Report
from unspool.sync.stop import Stop, Stopped
from unspool.sync.watch import Pace, Watched, Watcher

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Message: TypeAlias = tuple[int, int] | Report | str
"""Bytes done and in all; a sync that ended; why one failed."""

_BEAT = 0.1
"""Seconds between two reports of progress."""
_DAYS = 1e6
_PACE = Pace(calm=0.5, patience=5.0, gap=2.0)
"""Somebody looks on, so it follows more closely than a service."""


class Job(NamedTuple):
    """What is kept where."""

    folder: Path
    sources: tuple[Path, ...]
    key: str | None
    prices: PriceTable


def keep(job: Job, pipe: "Connection[Message, None]") -> None:
    """Keep the archive up to date until a signal, or until whoever started this is gone."""
    if hasattr(os, "nice"):
        os.nice(5)  # the requests go first
    settle_in()
    stop = Stop()
    with stop.heeding(), suppress(Stopped, BrokenPipeError):
        threading.Thread(target=_end_helpers, args=(stop,), daemon=True).start()
        _watcher(job, _Teller(pipe), stop).follow()


def _end_helpers(stop: Stop) -> None:
    """A sync that is broken off does not wait for the logs that are being read for it."""
    stop.wait(_DAYS)
    for process in active_children():
        process.terminate()


def _watcher(job: Job, teller: "_Teller", stop: Stop) -> Watcher[Report]:
    from concurrent.futures import BrokenExecutor

    import apsw

    from unspool.formats import FORMATS
    from unspool.sync import sync

    def lively(root: Path) -> list[Path]:
        return list(dict.fromkeys(path for format_ in FORMATS for path in format_.lively(root)))

    def synced(changed: tuple[Path, ...]) -> Report:
        return sync(job.folder, changed, teller.progress(), job.key, job.prices)

    sources = job.sources or tuple(usual_roots())
    if not any(source.is_dir() for source in sources):
        _begin(job)
    failures = (UnspoolError, OSError, apsw.Error, BrokenExecutor)
    return Watcher(synced, Watched(sources, lively, job.folder), teller, stop, _PACE, failures)


def _begin(job: Job) -> None:
    """An archive with nothing in it, so that there is something to look at before there are logs."""
    from unspool.archive import Archive
    from unspool.index.store import Index
    from unspool.sync.turn import waiting

    with waiting(job.folder), Archive.open(job.folder, key=job.key), Index.open(job.folder, key=job.key):
        pass


class _Teller:
    """Tells what happens through a pipe."""

    def __init__(self, pipe: "Connection[Message, None]") -> None:
        self._pipe = pipe

    def progress(self) -> Callable[[int, int], None]:
        """Hears how far one sync is; not every step is told."""
        self._pipe.send((0, 0))
        done, told = 0, 0.0

        def advance(size: int, total: int) -> None:
            nonlocal done, told
            done += size
            if time.monotonic() - told >= _BEAT or done >= total:
                told = time.monotonic()
                self._pipe.send((done, total))

        return advance

    def synced(self, report: Report) -> None:
        self._pipe.send(report)

    def failed(self, why: Exception, wait: float) -> None:
        self._pipe.send(f"{why} It is tried again in {wait:.0f} seconds.")

    def deaf(self, why: OSError, poll: float) -> None:
        """Looking now and then is good enough; there is nothing to tell a reader."""
