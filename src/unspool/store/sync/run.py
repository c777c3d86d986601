"""A sync: sources into the archive, the archive into the index."""

import posixpath
import time
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec

from unspool.agents import by_id, is_known
from unspool.model import Overview
from unspool.prices import PriceTable
from unspool.store.archive import ArchiveDatabase, Keeper, KeptFile
from unspool.store.index.database import Index, discard_index, index_errors_told
from unspool.store.index.requests import SessionRows
from unspool.store.index.schema import CALL_ENDS, index_salt
from unspool.store.index.write import IndexWriter, clean_text
from unspool.store.library.chains import ChainMember, link_sessions, unify_projects
from unspool.store.sync.context_files import CONTEXT_NOTE, keep_context_files
from unspool.store.sync.lock import PATIENCE, wait_for_lock
from unspool.store.sync.readers import PendingJob, ReaderPool, checkout_from_archive, checkouts
from unspool.store.sync.scan import PlaceScan, SyncPlace, sync_places
from unspool.store.sync.stale import (
    IndexedSession,
    IndexTask,
    StaleSessions,
    newest_first,
    stale_sessions,
    task_batches,
)

Progress = Callable[[int, int], None]
"""Hears the bytes of what is done, and of all that is to be done."""


class SyncReport(msgspec.Struct):
    """Counts of one sync; `parsed` is 0 where nothing changed."""

    new: int = 0
    grown: int = 0
    rewritten: int = 0
    gone: int = 0
    """Files that were missed for the first time. They stay in the archive."""
    files: int = 0
    """Files that were looked at."""
    bytes: int = 0
    """Bytes that were taken in."""
    parsed: int = 0
    """Sessions that were read for the index."""
    ghosts: int = 0
    """Sessions that are known from their traces alone."""
    failures: list[str] = []
    seconds: float = 0.0

    @property
    def changed(self) -> bool:
        return bool(self.new or self.grown or self.rewritten or self.gone or self.parsed)

    def add(self, outcomes: Counter[str]) -> None:
        """Count what became of files."""
        self.new += outcomes["new"]
        self.grown += outcomes["grown"]
        self.rewritten += outcomes["rewritten"]


class SyncChoices(NamedTuple):
    """What whoever asks for a sync may choose."""

    prices: PriceTable | None = None
    """The built-in list where none is given."""
    context_files: bool = True
    """Whether those in the folders that sessions worked in are kept too."""
    patience: float = PATIENCE
    """Seconds that another sync is waited for."""


class SyncOptions(NamedTuple):
    """What holds for a whole sync."""

    prices: PriceTable
    salt: str
    """What all rows depend on besides the logs: another one, and every session is read anew."""
    progress: Progress
    context_files: bool = True
    """Whether those in the folders that sessions worked in are kept too."""


class _Row(NamedTuple):
    id: int
    path: str
    project: str
    title: str
    kind: str
    ends: tuple[int, ...]
    skimmed: ChainMember


_TREES = "-t3code-"
"""What the folders of work trees are called that belong to a project by its name, which another folder may tell."""


_SETTLED = """UPDATE session SET project = ?, title = ?, kind = ?, errors = ?, refused = ?, interrupted = ?,
unanswered = ? WHERE id = ?"""


def settle_sessions(db: apsw.Connection, changed: Iterable[tuple[int, str]]) -> None:
    """Bring project, title, kind and the ends of calls of all sessions that lie beside the changed ones in line with
    each other."""
    places = {(origin, posixpath.dirname(path)) for origin, path in changed}
    trees: Any = db.execute("SELECT origin, path FROM session WHERE path LIKE ?", (f"%{_TREES}%",)) if places else ()
    places |= {(origin, posixpath.dirname(path)) for origin, path in trees}
    for origin, folder in sorted(places):
        rows = list(_beside(db, origin, folder))
        known = [path for (path,) in db.execute("SELECT DISTINCT project FROM session")] if _TREES in folder else ()
        paths = unify_projects(((_project_folder(origin, folder, row), row.skimmed.overview) for row in rows), known)
        told = link_sessions(
            [ChainMember(overview, row.skimmed.ids) for overview, row in zip(paths, rows, strict=True)]
        )
        for row, overview in zip(rows, told, strict=True):
            ends = tuple(overview.ends[end] for end in CALL_ENDS)
            now = clean_text(overview.project), clean_text(overview.title), overview.kind, ends
            if now != (row.project, row.title, row.kind, row.ends):
                db.execute(_SETTLED, (*now[:3], *ends, row.id))


def _project_folder(origin: int, folder: str, row: _Row) -> str:
    """The folder whose logs are all of one project; empty where the agent has none such."""
    agent = row.skimmed.overview.agent
    return f"{origin}/{folder}" if is_known(agent) and by_id(agent).filed_by_project else ""


def _beside(db: apsw.Connection, origin: int, folder: str) -> Iterable[_Row]:
    first = f"{folder}/" if folder else ""
    query = (
        "SELECT id, path, project, title, kind, overview, ids, errors, refused, interrupted, unanswered FROM session"
        " WHERE origin = ? AND path >= ? AND path < ? AND kind <> 'ghost' ORDER BY path"
    )
    rows: Any = db.execute(query, (origin, first, f"{folder}0" if folder else "\U0010ffff"))
    for number, path, project, title, kind, overview, ids, *ends in rows:
        if posixpath.dirname(path) == folder:
            read = msgspec.msgpack.decode(overview, type=Overview)
            yield _Row(number, path, project, title, kind, tuple(ends), ChainMember(read, array("Q", ids)))


class _Started(NamedTuple):
    """Sessions that are being read, and the files that were lent for it."""

    tasks: list[IndexTask]
    pending: list[PendingJob]
    lent: ExitStack


class SyncWork:
    """What a sync does once it knows what changed; `report` tells what it did."""

    def __init__(self, archive: ArchiveDatabase, index: Index, terms: SyncOptions, report: SyncReport) -> None:
        self._archive = archive
        self._index = index
        self._terms = terms
        self._total = 0
        self._reading = 0
        """Bytes to read, where nothing is to be kept: an index that is made anew tells how far it is, too."""
        self._changed: list[tuple[int, str]] = []
        self.report = report

    def all(self, scans: Sequence[PlaceScan], wanted: StaleSessions) -> None:
        """While one batch is read by other processes, this one keeps its files and indexes the batch before it."""
        ahead: deque[_Started] = deque()
        self._total = sum(scan.files[path].status.size for scan in scans for path in scan.fresh)
        total = sum(task.size for task in wanted.tasks)
        self._reading = 0 if self._total else total
        writing = IndexWriter(self._index.db, self._terms.prices)
        with ReaderPool(total, self._terms.prices) as readers, Keeper(self._archive) as keeper, writing as writer:
            self._drop(writer, wanted.dropped)
            self._keep_common(keeper, scans)
            soon = newest_first(wanted.tasks)
            self._show(readers, keeper, writer, soon)
            shown = {(task.origin, task.path) for task in soon}
            for batch in task_batches(task for task in wanted.tasks if (task.origin, task.path) not in shown):
                self._keep(keeper, [task for task in batch if task.found is None])  # read from the archive
                ahead.append(self._start(readers, batch))
                self._keep(keeper, batch)
                if len(ahead) > 2:
                    self._index_batch(readers, writer, ahead.popleft())
            self._keep_rest(keeper, scans)
            while ahead:
                self._index_batch(readers, writer, ahead.popleft())
            self._settle()
        self.report.bytes = keeper.bytes

    def _show(self, readers: ReaderPool, keeper: Keeper, writer: IndexWriter, soon: Sequence[IndexTask]) -> None:
        """Keep and index these before all others, and let them be seen."""
        if soon:
            started = self._start(readers, soon)
            self._keep(keeper, soon)
            self._index_batch(readers, writer, started)
            self._settle()
            if self._index.db.in_transaction:
                writer.pause()

    def _drop(self, writer: IndexWriter, sessions: Iterable[tuple[int, str]]) -> None:
        """Take out what is no session any more."""
        for session in sessions:
            writer.drop(self._index.db.execute("SELECT id FROM session WHERE origin = ? AND path = ?", session).get)
            self._changed.append(session)

    def _start(self, readers: ReaderPool, batch: Sequence[IndexTask]) -> _Started:
        lent = ExitStack()
        given = checkouts(self._archive, batch, lent, self.report.failures)
        jobs = [(task, task.job(given)) for task in batch]
        ready = [(task, job) for task, job in jobs if job is not None]
        return _Started([task for task, _ in ready], readers.start([job for _, job in ready]), lent)

    def _keep(self, keeper: Keeper, batch: Sequence[IndexTask]) -> None:
        """Put the files of a batch into the archive."""
        for task in batch:
            if task.scan is not None:
                self._keep_files(keeper, task.scan, task.files)
        keeper.commit()

    def _keep_common(self, keeper: Keeper, scans: Sequence[PlaceScan]) -> None:
        """Files that several sessions may depend on are kept before any of them is."""
        for scan in scans:
            self._keep_files(keeper, scan, list(filter(scan.place.agent.is_shared, scan.fresh)))
        keeper.commit()

    def _keep_rest(self, keeper: Keeper, scans: Sequence[PlaceScan]) -> None:
        """Files that are no session's, and the marks on those that are gone."""
        for scan in scans:
            self._keep_files(keeper, scan, list(scan.fresh))
            for kept in scan.gone:
                keeper.missed(kept.file)
                self.report.gone += 1
        keeper.commit()

    def _keep_files(self, keeper: Keeper, scan: PlaceScan, paths: Iterable[str]) -> None:
        outcomes: Counter[str] = Counter()
        for outcome, size in scan.keep(keeper, paths):
            outcomes[outcome] += 1
            self._terms.progress(size, self._total)
        self.report.add(outcomes)

    def _index_batch(self, readers: ReaderPool, writer: IndexWriter, started: _Started) -> None:
        with started.lent:
            for task, pending in zip(started.tasks, started.pending, strict=True):
                rows = readers.result(pending)
                if isinstance(rows, str):
                    self.report.failures.append(rows)
                else:
                    self._put(writer, task, rows)
                if self._reading:
                    self._terms.progress(task.size, self._reading)
        if writer.much:
            self._settle()
            writer.pause()

    def _settle(self) -> None:
        """Before anything is seen: what sessions tell of each other."""
        settle_sessions(self._index.db, self._changed)
        self._changed.clear()

    def _put(self, writer: IndexWriter, task: IndexTask, rows: SessionRows) -> None:
        kept = self._kept(task, rows)
        if task.lost(rows, kept):
            rows = checkout_from_archive(self._archive, task, self._terms.prices, self.report.failures) or rows
        if task.path in kept:
            writer.put(task.homely(rows), task.source(rows, kept, self._terms.salt))
            self._changed.append((task.origin, task.path))
            self.report.parsed += 1
        self.report.failures += rows.failures

    def _kept(self, task: IndexTask, rows: SessionRows) -> dict[str, KeptFile]:
        found = (self._archive.last(task.origin, path) for path in (*task.files, *rows.named))
        return {one.path: one for one in found if one is not None}


@contextmanager
def writable_archive(folder: Path, key: str | None, patience: float = PATIENCE) -> Iterator[ArchiveDatabase]:
    """The archive of a folder, when it is our turn to write; as strongly encrypted as this version can."""
    with wait_for_lock(folder, patience):
        if key is not None:
            from unspool.store.archive.salvage import strengthen  # few archives are encrypted

            strengthen(folder, key)
        with ArchiveDatabase.open(folder, key=key) as archive:
            yield archive


_USUAL = SyncChoices()


def sync(
    folder: Path,
    sources: Sequence[Path] = (),
    progress: Progress | None = None,
    key: str | None = None,
    choices: SyncChoices = _USUAL,
) -> SyncReport:
    """Keep everything new of the sources in the archive of a folder, and index it. Nothing is written to a source.

    AlreadyRunning where another sync goes on for longer than is waited for.
    """
    began = time.monotonic()
    table = choices.prices or PriceTable.load()
    terms = SyncOptions(table, index_salt(table), progress or (lambda _, __: None), choices.context_files)
    with writable_archive(folder, key, choices.patience) as archive:
        report = index_archive(archive, sync_places(sources), terms, key)
    report.seconds = time.monotonic() - began
    return report


def reindex(folder: Path, key: str | None = None) -> None:
    """Make the index of an archive as this version has it, from the archive alone."""
    table = PriceTable.load()
    with writable_archive(folder, key) as archive:
        index_archive(archive, (), SyncOptions(table, index_salt(table), lambda _, __: None), key)


def index_archive(archive: ArchiveDatabase, at: Sequence[SyncPlace], terms: SyncOptions, key: str | None) -> SyncReport:
    """Keep what is new at some places, and index it and whatever else the archive holds; for whoever has the turn."""
    try:
        return _indexed(archive, at, terms, key)
    except apsw.CorruptError:  # of the index, which is nothing that could not be made anew
        discard_index(archive.path.parent)
        return _indexed(archive, at, terms, key)


def _indexed(archive: ArchiveDatabase, at: Sequence[SyncPlace], terms: SyncOptions, key: str | None) -> SyncReport:
    folder = archive.path.parent
    with index_errors_told(folder), Index.open(folder, key=key) as index:
        return _run(archive, index, [PlaceScan(archive, place) for place in at], terms)


def _run(archive: ArchiveDatabase, index: Index, scans: Sequence[PlaceScan], terms: SyncOptions) -> SyncReport:
    query = "SELECT origin, path, state, named FROM session WHERE kind <> 'ghost'"
    known = {(origin, path): IndexedSession(*rest) for origin, path, *rest in index.db.execute(query)}
    wanted = stale_sessions(archive, scans, known, cache(lambda: _attached(index)), terms.salt)
    report = SyncReport(files=sum(len(scan.files) for scan in scans))
    if any(wanted) or any(scan.fresh for scan in scans) or any(True for scan in scans for _ in scan.gone):
        from unspool.store.archive.pack_writer import tidy_packs
        # as much as all the rest, and most syncs find nothing to do

        for name in ("ghosts", CONTEXT_NOTE):  # not known until all is done, which may be prevented
            index.note(name, "")
        SyncWork(archive, index, terms, report).all(scans, wanted)
        tidy_packs(archive)
        index.shrink()
    for scan in scans:
        report.failures += scan.failures
    beside = keep_context_files(archive, index, [scan.place for scan in scans], projects=terms.context_files)
    report.files, report.gone = report.files + beside.files, report.gone + beside.gone
    report.bytes += beside.bytes
    report.add(beside.outcomes)
    _haunt(archive, index, report)
    if scans and not report.failures:
        index.note("synced", str(time.time()))
    return report


def _attached(index: Index) -> set[tuple[int, str]]:
    query = "SELECT origin, log.path FROM log JOIN session ON session.id = session WHERE log.agent <> ''"
    return {(origin, path) for origin, path in index.db.execute(query)}


def _haunt(archive: ArchiveDatabase, index: Index, report: SyncReport) -> None:
    """Look for sessions that left traces only, where anything changed that could tell of them."""
    if not index.meta("ghosts"):
        from unspool.store.sync.ghosts import GhostIndexer

        report.ghosts = GhostIndexer(archive, index).all()
        index.note("ghosts", str(report.ghosts))
    else:
        report.ghosts = int(index.meta("ghosts"))
