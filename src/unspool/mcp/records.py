"""What the tools look into: archive, index and sessions, brought up to date first; which one is the caller's."""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from datetime import tzinfo
from pathlib import Path
from typing import NamedTuple

import apsw

from unspool import human
from unspool.agents import FoundAgent, FoundLog
from unspool.agents.mcp_clients import SESSION_VARIABLES
from unspool.config.settings import current_settings
from unspool.errors import NotFound, UnspoolError
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.database import Index, OtherVersion
from unspool.store.library import Library
from unspool.store.library.kept_sessions import KeptSessions
from unspool.store.sync import SyncChoices, SyncReport, sync

_PATIENCE = 1.0
"""Seconds that a call waits for what is new."""
_CURRENT = 600.0
"""Seconds within which a session of the caller's folder was written to that is taken for the caller's own."""
_OPEN = 40_000_000
"""Bytes of logs whose sessions are kept in memory; the last one is, however large."""


class RecordSources(NamedTuple):
    """Where records are, and how they are read."""

    archive: Path
    sources: tuple[Path, ...]
    key: str | None
    prices: PriceTable
    zone: tzinfo | None = None
    synced: bool = True
    """Whether calls keep what is new first."""


class Freshness:
    """Keeps what is new before a call is answered, as long as that takes no longer than a caller waits."""

    def __init__(self, place: RecordSources, patience: float = _PATIENCE) -> None:
        self._place, self._patience = place, patience
        self._lock = threading.Lock()
        self._running: threading.Thread | None = None
        self._report: SyncReport | None = None
        self._failure = ""
        self._done, self._total = 0, 0

    def told(self) -> str:
        """Bring the index up to date, and how fresh it is, in a line."""
        if not self._place.synced:
            return f"index: {self._age()}"
        with self._lock:
            if self._running is None or not self._running.is_alive():
                self._running = threading.Thread(target=self._sync, name="unspool mcp sync", daemon=True)
                self._running.start()
            running = self._running
        running.join(self._patience)
        if running.is_alive():
            far = f" ({human.size(self._done)} of {human.size(self._total)})" if self._total else ""
            return f"index: {self._age()}, being brought up to date{far}"
        if self._failure:
            return f"index: {self._age()}; what is new could not be kept: {self._failure}"
        new = self._report.new + self._report.grown + self._report.rewritten if self._report is not None else 0
        return f"index: fresh, {human.count(new, 'new file')}" if new else "index: fresh"

    def _sync(self) -> None:
        self._done = self._total = 0
        place = self._place
        try:
            choices = SyncChoices(place.prices, current_settings().context_files, self._patience)
            self._report = sync(place.archive, place.sources, self._progress, place.key, choices)
            self._failure = self._report.failures[0] if self._report.failures else ""
        except (UnspoolError, OSError, apsw.Error, BrokenExecutor) as problem:
            self._failure = str(problem)

    def _progress(self, size: int, total: int) -> None:
        self._done, self._total = self._done + size, total

    def _age(self) -> str:
        try:
            with Index.open(self._place.archive, key=self._place.key, readonly=True) as index:
                synced = float(index.meta("synced") or 0)
        except (UnspoolError, ValueError):
            return "not made yet"
        return f"{human.duration(max(1, time.time() - synced))} old" if synced else "never whole"


class Records:
    """The sessions that are asked about. Every thread may ask."""

    def __init__(self, place: RecordSources, patience: float = _PATIENCE) -> None:
        self.place = place
        self.freshness = Freshness(place, patience)
        self._opened: OrderedDict[tuple[str, float, int], Session] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def index(self) -> Iterator[Index]:
        try:
            opened = Index.open(self.place.archive, key=self.place.key, readonly=True)
        except (NotFound, OtherVersion):
            if not self.place.synced:
                raise
            raise NotFound("The index is being made; ask again in a while.") from None
        with opened as index:
            yield index

    @contextmanager
    def archive(self) -> Iterator[ArchiveDatabase]:
        with ArchiveDatabase.open(self.place.archive, key=self.place.key, readonly=True) as archive:
            yield archive

    def library(self) -> Library:
        kept = KeptSessions(self.place.archive, self.place.key)
        return Library(self.place.sources, self.place.prices, kept if kept.there else None)

    def open(self, found: FoundLog, library: Library) -> Session:
        """A session, whole; those that were opened last are in memory as long as their logs stay as they are."""
        key = found.path, found.modified, found.size + sum(map(_size, found.agents))
        with self._lock:
            held = self._opened.get(key)
        if held is not None:
            return held
        session = library.open(found)
        with self._lock:
            self._opened[key] = session
            while len(self._opened) > 1 and sum(size for _, _, size in self._opened) > _OPEN:
                self._opened.popitem(last=False)
        return session

    def current(self) -> list[str]:
        """The ids of the sessions that may be the caller's own: the one that its surroundings name, else those of
        this folder that were written to just now."""
        named = [os.environ[name] for name in SESSION_VARIABLES if os.environ.get(name)]
        if named:
            return named
        here = str(Path.cwd())
        with self.index() as index:
            query = "SELECT key, project FROM session WHERE ended > ?"
            rows = index.db.execute(query, (time.time() - _CURRENT,)).fetchall()
        return [str(key) for key, project in rows if project and f"{here}/".startswith(f"{str(project).rstrip('/')}/")]


def _size(agent: FoundAgent) -> int:
    """Bytes of a subagent's log, which may grow while that of its session does not."""
    try:
        return Path(agent.path).stat().st_size
    except OSError:
        return 0
