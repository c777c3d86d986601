"""AppContext: the archive, index, sources and prices that every page of the app works with."""

import os
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import apsw

from unspool.agents import FoundLog
from unspool.config.settings import current_settings
from unspool.errors import NotFound, UnspoolError
from unspool.prices import PriceTable
from unspool.site.options import SiteOptions
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.database import ARCHIVE, INDEX
from unspool.store.index.database import Index
from unspool.store.library import Library
from unspool.store.library.kept_sessions import KeptSessions
from unspool.store.library.library import several_agents

T = TypeVar("T")
_CACHE_KB = 4_000
"""Of the index, for each thread."""
_ARCHIVES = 2
_UNPACKED = 24 * 1024 * 1024
"""Bytes that each archive keeps unpacked."""


class AppContext:
    """Shared by all requests. Connections are per thread and read only; nothing here writes to a source."""

    def __init__(
        self, folder: Path, sources: Sequence[Path] = (), key: str | None = None, prices: PriceTable | None = None
    ) -> None:
        self.folder = folder
        self.sources = tuple(sources)
        self.key = key
        self.prices = prices or PriceTable.load()
        self._local = threading.local()
        self._turns = threading.Semaphore(_ARCHIVES)
        self._archives: list[tuple[tuple[int, int] | None, ArchiveDatabase]] = []
        self._parts: dict[type, Any] = {}
        self._parts_lock = threading.Lock()

    @property
    def options(self) -> SiteOptions:
        """How pages of sessions are made, as the settings have it now."""
        return current_settings().options(SiteOptions())

    def part(self, kind: type[T], make: Callable[[], T] | None = None) -> T:
        """The one object of a kind that belongs to this app, made at its first use."""
        with self._parts_lock:
            if kind not in self._parts:
                self._parts[kind] = (make or kind)()
            found: T = self._parts[kind]
            return found

    @contextmanager
    def index(self) -> Iterator[Index]:
        """The index, for reading; the same connection for all that one thread does, until the index is made anew."""
        mark = file_identity(self.folder / INDEX)
        if getattr(self._local, "index", None) is None or self._local.mark != mark:
            self._local.index = Index.open(self.folder, key=self.key, readonly=True)
            self._local.index.db.pragma("cache_size", -_CACHE_KB)
            self._local.mark = mark
        yield self._local.index

    @contextmanager
    def archive(self) -> Iterator[ArchiveDatabase]:
        """The archive, for reading. There are a few of them for all threads: what each has unpacked takes room."""
        held = getattr(self._local, "archive", None)
        if held is not None:
            yield held
            return
        with self._turns:
            mark = file_identity(self.folder / ARCHIVE)
            self._local.archive = found = self._idle(mark)
            try:
                yield found
            finally:
                self._local.archive = None
                self._archives.append((mark, found))

    def _idle(self, mark: tuple[int, int] | None) -> ArchiveDatabase:
        """An archive that nobody reads from, of the file that is there now."""
        with suppress(IndexError):
            while True:
                known, found = self._archives.pop()
                if known == mark:
                    return found
                found.close()
        archive = ArchiveDatabase.open(self.folder, key=self.key, readonly=True)
        archive.hold(_UNPACKED)
        return archive

    def library(self) -> Library:
        """The sessions of the sources and of the archive, as they stand now."""
        kept = KeptSessions(self.folder, self.key)
        return Library(self.here, self.prices, kept if kept.there else None)

    @property
    def here(self) -> tuple[Path, ...]:
        """The sources named that are there now; the archive's folder, where no logs lie, if all of them are gone.

        For none at all would mean the usual ones.
        """
        there = tuple(source for source in self.sources if source.is_dir())
        return there or ((self.folder,) if self.sources else ())

    def found(self, key: str) -> FoundLog:
        library = self.library()
        for some in (library.logs, library.ghosts):
            found = [log for log in some() if log.is_called(key) and is_inside_source(log)]
            if len(found) > 1:
                raise several_agents(key, found)
            if found:
                return found[0]
        raise NotFound(f"There is no session {key}.")

    def session_key(self, agent: str, session_id: str) -> str:
        """What a session is called in addresses: its id, with its agent before it where another has that id too."""
        try:
            with self.index() as index:
                query = "SELECT key FROM session WHERE session_id = ? AND agent = ? LIMIT 1"
                key: str | None = index.db.execute(query, (session_id, agent)).get
        except (UnspoolError, OSError):  # nothing is kept yet
            return session_id
        return key or session_id


def is_inside_source(log: FoundLog) -> bool:
    """Whether a log lies in its source, and is no link to elsewhere; what the archive has was looked at before.

    The folder of all projects may be a link, as some users keep it on another disk; what lies in it may not.
    """
    if log.origin:
        return True
    folder = Path(log.path).parent
    roots = (log.root or folder, folder.parent if log.folder else folder)
    return any(os.path.realpath(log.path).startswith(f"{os.path.realpath(root)}{os.sep}") for root in roots)


def file_identity(path: Path) -> tuple[int, int] | None:
    """Which file it is; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


_MOST = 16
"""Answers of one index."""
_HELD: WeakKeyDictionary[apsw.Connection, tuple[int, dict[Hashable, Any]]] = WeakKeyDictionary()


def cached_answer(db: apsw.Connection, question: Hashable, ask: Callable[[], T]) -> T:
    """The answer to a question, asked again only when the index has changed."""
    version: int = db.pragma("data_version")
    held = _HELD.get(db)
    if held is None or held[0] != version:
        held = _HELD[db] = version, {}
    answers = held[1]
    if question not in answers:
        answer = ask()
        while len(answers) >= _MOST:
            answers.pop(next(iter(answers)))
        answers[question] = answer
    found: T = answers[question]
    return found
