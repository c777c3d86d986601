"""Sessions kept, read and indexed, a batch after the other."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from unspool.archive import Archive, Keeper, Kept
from unspool.index.rows import Rows
from unspool.index.store import Index
from unspool.index.write import Writer
from unspool.library.states import is_common
from unspool.sync.loans import from_archive, loans
from unspool.sync.pool import Pending, Readers
from unspool.sync.report import Report, Terms
from unspool.sync.scan import Scan
from unspool.sync.settle import settle
from unspool.sync.stale import Stale
from unspool.sync.task import Task, batches, newest


class _Started(NamedTuple):
    """Sessions that are being read, and the files that were lent for it."""

    tasks: list[Task]
    pending: list[Pending]
    lent: ExitStack


class Work:
    """What a sync does once it knows what changed; `report` tells what it did."""

    def __init__(self, archive: Archive, index: Index, terms: Terms, report: Report) -> None:
        self._archive = archive
        self._index = index
        self._terms = terms
        self._total = 0
        self._reading = 0
        """Bytes to read, where nothing is to be kept: an index that is made anew tells how far it is, too."""
        self._changed: list[tuple[int, str]] = []
        self.report = report

    def all(self, scans: Sequence[Scan], wanted: Stale) -> None:
        """While one batch is read by other processes, this one keeps its files and indexes the batch before it."""
        ahead: deque[_Started] = deque()
        self._total = sum(scan.files[path].status.size for scan in scans for path in scan.fresh)
        total = sum(task.size for task in wanted.tasks)
        self._reading = 0 if self._total else total
        writing = Writer(self._index.db, self._terms.prices)
        with Readers(total) as readers, Keeper(self._archive) as keeper, writing as writer:
            self._drop(writer, wanted.dropped)
            self._keep_common(keeper, scans)
            soon = newest(wanted.tasks)
            self._show(readers, keeper, writer, soon)
            shown = {(task.origin, task.path) for task in soon}
            for batch in batches(task for task in wanted.tasks if (task.origin, task.path) not in shown):
                self._keep(keeper, [task for task in batch if task.found is None])  # read from the archive
                ahead.append(self._start(readers, batch))
                self._keep(keeper, batch)
                if len(ahead) > 1:
                    self._index_batch(readers, writer, ahead.popleft())
            self._keep_rest(keeper, scans)
            while ahead:
                self._index_batch(readers, writer, ahead.popleft())
            self._settle()
        self.report.bytes = keeper.bytes

    def _show(self, readers: Readers, keeper: Keeper, writer: Writer, soon: Sequence[Task]) -> None:
        """Keep and index these before all others, and let them be seen."""
        if soon:
            started = self._start(readers, soon)
            self._keep(keeper, soon)
            self._index_batch(readers, writer, started)
            self._settle()
            if self._index.db.in_transaction:
                writer.pause()

    def _drop(self, writer: Writer, sessions: Iterable[tuple[int, str]]) -> None:
        """Take out what is no session any more."""
        for session in sessions:
            writer.drop(self._index.db.execute("SELECT id FROM session WHERE origin = ? AND path = ?", session).get)
            self._changed.append(session)

    def _start(self, readers: Readers, batch: Sequence[Task]) -> _Started:
        lent = ExitStack()
        given = loans(self._archive, batch, lent, self.report.failures)
        jobs = [(task, task.job(self._terms.prices, given)) for task in batch]
        ready = [(task, job) for task, job in jobs if job is not None]
        return _Started([task for task, _ in ready], readers.start([job for _, job in ready]), lent)

    def _keep(self, keeper: Keeper, batch: Sequence[Task]) -> None:
        """Put the files of a batch into the archive."""
        for task in batch:
            if task.scan is not None:
                self._keep_files(keeper, task.scan, task.files)
        keeper.commit()

    def _keep_common(self, keeper: Keeper, scans: Sequence[Scan]) -> None:
        """Files that several sessions may depend on are kept before any of them is."""
        for scan in scans:
            self._keep_files(keeper, scan, [path for path in scan.fresh if is_common(path)])
        keeper.commit()

    def _keep_rest(self, keeper: Keeper, scans: Sequence[Scan]) -> None:
        """Files that are no session's, and the marks on those that are gone."""
        for scan in scans:
            self._keep_files(keeper, scan, list(scan.fresh))
            for kept in scan.gone:
                keeper.missed(kept.file)
                self.report.gone += 1
        keeper.commit()

    def _keep_files(self, keeper: Keeper, scan: Scan, paths: Iterable[str]) -> None:
        outcomes: Counter[str] = Counter()
        for outcome, size in scan.keep(keeper, paths):
            outcomes[outcome] += 1
            self._terms.progress(size, self._total)
        self.report.add(outcomes)

    def _index_batch(self, readers: Readers, writer: Writer, started: _Started) -> None:
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
        settle(self._index.db, self._changed)
        self._changed.clear()

    def _put(self, writer: Writer, task: Task, rows: Rows) -> None:
        kept = self._kept(task, rows)
        if task.lost(rows, kept):
            rows = from_archive(self._archive, task, self._terms.prices, self.report.failures) or rows
        if task.path in kept:
            writer.put(task.homely(rows), task.source(rows, kept, self._terms.salt))
            self._changed.append((task.origin, task.path))
            self.report.parsed += 1
        self.report.failures += rows.failures

    def _kept(self, task: Task, rows: Rows) -> dict[str, Kept]:
        found = (self._archive.last(task.origin, path) for path in (*task.files, *rows.named))
        return {one.path: one for one in found if one is not None}
