"""Keeps an archive up to date: a sync at the start, after changes, and now and then."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from unspool.errors import UnspoolError
from unspool.store.sync.lock import StopSignal

PULSE = 0.5
"""Seconds that a wait lasts at most: so soon a stop and the clock are heeded."""


class FileEvents:
    """The system's file events below some paths. OSError where it has no means left to watch them."""

    def __init__(self, paths: Iterable[Path], stop: StopSignal) -> None:
        from watchfiles import watch

        beat = int(PULSE * 1000)
        self._heard = watch(
            *paths,
            watch_filter=None,
            debounce=beat,
            step=beat // 2,
            rust_timeout=beat,
            yield_on_timeout=True,
            stop_event=stop,
            force_polling=False,
            poll_delay_ms=30_000,  # for systems where it falls back to that by itself
            ignore_permission_denied=True,
        )
        self._early = self._next()  # the first wait sets up the watches: from here on nothing is missed

    def wait(self) -> set[str]:
        """The paths that changed, after `PULSE` seconds at most; OSError where the system stopped telling."""
        early, self._early = self._early, set()
        return early or self._next()

    def _next(self) -> set[str]:
        try:
            return {path for _, path in next(self._heard, set())}
        except RuntimeError as error:  # what watchfiles makes of an error of the system
            raise OSError(str(error)) from None

    def close(self) -> None:
        self._heard.close()


FolderId = tuple[int, int]
"""Device and inode, which tell that another folder is there under the same name."""

Report = TypeVar("Report")
Report_contra = TypeVar("Report_contra", contravariant=True)


class WatchPace(NamedTuple):
    """How soon and how often, in seconds."""

    calm: float = 1.0
    """No change for so long, and a burst is over."""
    patience: float = 10.0
    """A burst that does not end is not waited for longer."""
    gap: float = 5.0
    """Between two syncs at least."""
    share: float = 20.0
    """Between two syncs at least so many times what the last one took of a processor."""
    interval: float = 600.0
    """Between two looks at everything at most, unless the last took too long for that."""
    poll: float = 0.0
    """Look so often instead of waiting for events; 0 is to wait for events."""
    deaf: float = 60.0
    """Look so often where the system gives no events."""
    settle: float = 2.0
    """How often to see whether a folder came or went."""
    retry: float = 5.0
    """After a failure; twice as long after each further one, until it is `interval`."""


class EventSource(Protocol[Report_contra]):
    """Who is told what happens."""

    def synced(self, report: Report_contra) -> None: ...

    def failed(self, why: Exception, wait: float) -> None:
        """A sync failed; the next attempt is so many seconds away."""

    def deaf(self, why: OSError, poll: float) -> None:
        """There are no events to be had; instead it is looked every so many seconds."""


class WatchTarget(NamedTuple):
    """What is watched: the sources, and the paths below one that tell of a change."""

    sources: tuple[Path, ...]
    paths: Callable[[Path], Sequence[Path]]
    ignored: Path | None = None
    """Changes below this folder mean nothing: the archive may lie within a source."""


class Watcher(Generic[Report]):
    """Runs `sync(sources)` for the sources that changed, until `stop`."""

    def __init__(
        self,
        sync: Callable[[tuple[Path, ...]], Report],
        watched: WatchTarget,
        ear: EventSource[Report],
        stop: StopSignal,
        pace: WatchPace = WatchPace(),  # noqa: B008  a value
        failures: tuple[type[Exception], ...] = (UnspoolError, OSError),
    ) -> None:
        self._sync, self._watched, self._ear, self._stop, self._pace = sync, watched, ear, stop, pace
        self._failures = failures
        self._folders: dict[Path, dict[Path, FolderId]] = {}
        """The watched folders of each source that are there."""
        self._events: FileEvents | None = None
        self._deaf = bool(pace.poll)
        self._every = pace.poll or pace.interval
        self._changed: set[Path] = set()
        self._first = self._last = 0.0
        self._ready = self._whole = self._look = time.monotonic()
        self._failed = 0
        self._caught_up = False

    def follow(self) -> None:
        """Sync and watch; returns when the stop is asked for while nothing is done, else Stopped passes through."""
        try:
            self._watch()
            while not self._stop.is_set():
                if time.monotonic() >= self._next_sync():
                    self._run()
                self._note(self._heard())
                if time.monotonic() >= self._look:
                    self._watch()
        finally:
            self._silence()

    def _next_sync(self) -> float:
        settled = min(self._last + self._pace.calm, self._first + self._pace.patience)
        return max(min(settled, self._whole) if self._changed else self._whole, self._ready)

    def _heard(self) -> set[str]:
        if self._events is None:
            self._stop.wait(PULSE)
            return set()
        try:
            return self._events.wait()
        except OSError as why:
            self._turn_deaf(why)
            return set()

    def _silence(self) -> None:
        if self._events is not None:
            self._events.close()
            self._events = None

    def _note(self, paths: Iterable[str]) -> None:
        """Remember which sources the changed paths belong to."""
        ignored = os.path.realpath(self._watched.ignored) if self._watched.ignored else ""
        telling = [path for path in paths if not (ignored and _within(path, ignored))]
        self._mark(
            source
            for source, folders in self._folders.items()
            if any(_within(path, str(folder)) for folder in folders for path in telling)
        )

    def _mark(self, sources: Iterable[Path]) -> None:
        for source in sources:
            self._last = time.monotonic()
            if not self._changed:
                self._first = self._last
            self._changed.add(source)

    def _watch(self) -> None:
        """See which folders are there; where that is another set than before, watch those, and sync what is new."""
        self._look = time.monotonic() + self._pace.settle
        found = {source: _present(self._watched.paths(source)) for source in self._watched.sources}
        moved = [source for source, folders in found.items() if folders != self._folders.get(source, {})]
        if not moved:
            return
        self._folders = found
        self._mark(source for source in moved if found[source])
        self._listen([path for folders in found.values() for path in folders])

    def _listen(self, paths: Sequence[Path]) -> None:
        self._silence()
        if self._deaf or not paths:
            return
        try:
            self._events = FileEvents(paths, self._stop)
        except FileNotFoundError:  # it went while being looked at
            self._folders = {}
        except OSError as why:
            self._turn_deaf(why)

    def _turn_deaf(self, why: OSError) -> None:
        """Without events, look more often."""
        self._silence()
        self._deaf = True
        self._every = min(self._every, self._pace.deaf)
        self._whole = min(self._whole, time.monotonic() + self._every)
        self._ear.deaf(why, self._every)

    def _run(self) -> None:
        """One sync, of what changed or of everything where that is due; its failure is told and made up for later."""
        everything = time.monotonic() >= self._whole
        there = [source for source in self._watched.sources if source.is_dir()]
        wanted = tuple(source for source in there if everything or source in self._changed)
        self._changed = set()
        used, wait = _used(), 0.0
        try:
            reports = []
            if wanted:
                with self._stop.busy():
                    reports.append(self._sync(wanted))
        except self._failures as why:
            wait = min(self._pace.retry * 2**self._failed, self._pace.interval)
            self._failed = min(self._failed + 1, 30)
            self._ear.failed(why, wait)
        else:
            self._failed = 0
            for report in reports:
                self._ear.synced(report)
        self._rest(_used() - used, wait, everything=everything)

    def _rest(self, used: float, retry: float, *, everything: bool) -> None:
        now = time.monotonic()
        gap = min(self._pace.gap, self._every)
        self._ready = now + max(gap, self._pace.share * used if self._caught_up else 0.0, retry)
        self._caught_up = self._caught_up or not retry
        if retry:
            self._whole = self._ready
        elif everything:
            self._whole = now + self._every


def _present(paths: Iterable[Path]) -> dict[Path, FolderId]:
    """Those that are there, by their real path."""
    found: dict[Path, FolderId] = {}
    for path in (Path(os.path.realpath(path)) for path in paths):
        with suppress(OSError):
            status = path.stat()
            found[path] = status.st_dev, status.st_ino
    return found


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _used() -> float:
    """Seconds of processor that this process and its children took."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
