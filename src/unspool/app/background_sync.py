"""The sync behind the app: a process of its own that syncs, watches and reports its state."""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe, active_children, get_context
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import msgspec

from unspool.config.settings import current_settings
from unspool.errors import UnspoolError
from unspool.prices import PriceTable
from unspool.store.library.discover import usual_roots, watched_paths
from unspool.store.sync.lock import Stopped, StopSignal
from unspool.store.sync.run import SyncReport
from unspool.store.sync.watch import Watcher, WatchPace, WatchTarget
from unspool.workers import start_worker

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess


SyncMessage: TypeAlias = tuple[int, int] | SyncReport | str
"""Bytes done and in all; a sync that ended; why one failed."""

_BEAT = 0.1
"""Seconds between two reports of progress."""
_DAYS = 1e6
_PACE = WatchPace(calm=0.5, patience=5.0, gap=2.0)
"""Somebody looks on, so it follows more closely than a service."""


class SyncSettings(NamedTuple):
    folder: Path
    sources: tuple[Path, ...]
    key: str | None
    prices: PriceTable


def run_background_sync(job: SyncSettings, pipe: "Connection[SyncMessage, None]") -> None:
    """Keep the archive up to date until a signal, or until whoever started this is gone."""
    if hasattr(os, "nice"):
        os.nice(5)  # the requests go first
    start_worker()
    stop = StopSignal()

    def end_helpers() -> None:
        """A sync that is broken off does not wait for the logs that are being read for it."""
        stop.wait(_DAYS)
        for process in active_children():
            process.terminate()

    with stop.heeding(), suppress(Stopped, BrokenPipeError):
        threading.Thread(target=end_helpers, daemon=True).start()
        _watcher(job, _Reporter(pipe), stop).follow()


def _watcher(job: SyncSettings, reporter: "_Reporter", stop: StopSignal) -> Watcher[SyncReport]:
    from concurrent.futures import BrokenExecutor

    import apsw

    from unspool.store.index.database import Index
    from unspool.store.sync import SyncChoices, sync
    from unspool.store.sync.run import writable_archive

    def synced(changed: tuple[Path, ...]) -> SyncReport:
        choices = SyncChoices(job.prices, current_settings().context_files)
        return sync(job.folder, changed, reporter.progress(), job.key, choices)

    sources, folder, key = job.sources or tuple(usual_roots()), job.folder, job.key
    if not any(source.is_dir() for source in sources):  # something to look at before there are logs
        with writable_archive(folder, key), Index.open(folder, key=key):
            pass
    failures = (UnspoolError, OSError, apsw.Error, BrokenExecutor)
    return Watcher(synced, WatchTarget(sources, watched_paths, folder), reporter, stop, _PACE, failures)


class _Reporter:
    def __init__(self, pipe: "Connection[SyncMessage, None]") -> None:
        self._pipe = pipe

    def progress(self) -> Callable[[int, int], None]:
        """Hears how far one sync is; not every step is told."""
        self._pipe.send((0, 0))
        done, last = 0, 0.0

        def advance(size: int, total: int) -> None:
            nonlocal done, last
            done += size
            if time.monotonic() - last >= _BEAT or done >= total:
                last = time.monotonic()
                self._pipe.send((done, total))

        return advance

    def synced(self, report: SyncReport) -> None:
        self._pipe.send(report)

    def failed(self, why: Exception, wait: float) -> None:
        self._pipe.send(f"{why} It is tried again in {wait:.0f} seconds.")

    def deaf(self, why: OSError, poll: float) -> None:
        """Looking now and then is good enough; there is nothing to tell a reader."""


_PATIENCE = 1.2
"""Seconds that the process may take to end by itself."""
_KILLED = 30.0
"""Seconds that a busy machine may take to end a process that was killed."""
_AGAIN = 5.0
"""Seconds before it is started anew after it died; twice as long after each further time."""
_LONGEST = 600.0


class SyncState(msgspec.Struct, frozen=True):
    state: Literal["idle", "syncing", "done", "failed"] = "idle"
    """Idle: nothing was done yet, or the app reads only."""
    done: int = 0
    """Bytes of the running sync that are kept."""
    total: int = 0
    """Bytes that it has to keep, as far as is known."""
    failure: str = ""
    """Why the last sync failed, or what of it."""
    report: SyncReport | None = None
    """What the last sync did."""
    at: float | None = None
    """When that was, in seconds of the epoch."""
    round: int = 0
    """How many syncs found something since the start: another number, and there is something new to show."""


class BackgroundSync:
    """Starts and ends the process, and knows how it stands."""

    def __init__(self, folder: Path, sources: tuple[Path, ...], key: str | None, prices: PriceTable) -> None:
        self._job = SyncSettings(folder, sources, key, prices)
        self._state = SyncState()
        self._changed = threading.Condition()
        self._process: SpawnProcess | None = None
        self._follower = threading.Thread(target=self._follow, name="background", daemon=True)
        """Starts the process, and alone takes note of its end: of two that wait for one, either may miss it."""
        self.stopping = threading.Event()
        """Set when the app ends: whoever waits for long looks here."""

    @property
    def state(self) -> SyncState:
        return self._state

    def wait(self, known: SyncState, seconds: float) -> SyncState:
        """The state as soon as it is another than the one known, or after so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._state is not known or self.stopping.is_set(), seconds)
        return self._state

    def start(self) -> None:
        self._follower.start()

    def ask(self) -> None:
        """Ask it to end, without waiting for that."""
        self.stopping.set()
        process = self._process
        if process is not None and process.pid is not None and process.is_alive():
            process.terminate()

    def stop(self, patience: float = _PATIENCE) -> None:
        """End it: politely, or after so many seconds not. What is kept is safe either way."""
        self.ask()
        with self._changed:
            self._changed.notify_all()
        if self._follower.ident is None:  # it was never started
            return
        self._follower.join(patience)
        process = self._process
        if self._follower.is_alive() and process is not None and process.pid is not None:
            process.kill()
            self._follower.join(_KILLED)

    def _follow(self) -> None:
        wait = _AGAIN
        while not self.stopping.is_set():
            began, why = time.monotonic(), "The sync's process ended."
            try:
                self._once()
            except OSError as problem:  # no process is to be had
                why = f"The sync cannot be started: {problem.strerror or problem}."
            if self.stopping.is_set():
                return
            self._become(msgspec.structs.replace(self._state, state="failed", failure=why))
            wait = _AGAIN if time.monotonic() - began > _LONGEST else min(wait * 2, _LONGEST)
            self.stopping.wait(wait)

    def _once(self) -> None:
        receiver, sender = Pipe(duplex=False)
        with receiver:
            with sender:
                self._process = get_context("spawn").Process(
                    target=run_background_sync, args=(self._job, sender), name="unspool sync"
                )
                self._process.start()
            if self.stopping.is_set():
                self._process.terminate()
            with suppress(EOFError, OSError):
                while True:
                    self._become(_after(self._state, receiver.recv()))
            self._process.join()

    def _become(self, state: SyncState) -> None:
        with self._changed:
            self._state = state
            self._changed.notify_all()


def _after(before: SyncState, message: SyncMessage) -> SyncState:
    replace = msgspec.structs.replace
    match message:
        case (int(done), int(total)):
            return replace(before, state="syncing", done=done, total=total, failure="")
        case SyncReport() as report:
            seen = before.round + bool(report.changed)
            failure = "\n".join(report.failures)
            return SyncState("done", before.done, before.total, failure, report, time.time(), seen)
        case str(why):
            return replace(before, state="failed", failure=why, at=time.time())
