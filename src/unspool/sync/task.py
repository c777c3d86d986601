"""A session whose rows in the index are to be made: from the source while it is there, else from the archive."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from unspool.archive import Kept
from unspool.formats import Format, Found
from unspool.library.states import Sessions
from unspool.sync.scan import Scan

if TYPE_CHECKING:  # what a sync without anything new does without
    from unspool.index.rows import Rows
    from unspool.index.write import Source
    from unspool.prices import PriceTable
    from unspool.sync.extract import Job

_BATCH = 12 * 1024 * 1024
"""Bytes of sessions that are read, kept and indexed together."""
_SOON = 4 * 1024 * 1024
"""Bytes of the newest sessions that are not kept waiting for the others, where those are many."""


class Task(NamedTuple):
    """A session to be read."""

    origin: int
    format: Format
    root: str
    """Where the paths of its origin begin, or began."""
    path: str
    files: tuple[str, ...]
    """Its files, by path."""
    size: int
    found: Found | None
    """None where only the archive has all of it."""
    scan: Scan | None
    common: tuple[str, ...] = ()
    """Files that it may need and that are no single session's."""

    def job(self, prices: "PriceTable", lent: Mapping[tuple[int, str], Found]) -> "Job | None":
        """What a reader needs; `lent` are logs of the archive. None where its log is not among them."""
        from unspool.sync.extract import Job

        if self.found is not None and self.scan is not None:
            seen = self.scan.files
            sizes = {seen[path].path: seen[path].status.size for path in self.files if path in seen}
            return Job(self.found, sizes, prices)
        found = lent.get((self.origin, self.path))
        return None if found is None else Job(found, {}, prices)

    def lost(self, rows: "Rows", kept: Mapping[str, Kept]) -> bool:
        """Whether rows were read without a file that they depend on and that only the archive has by now."""
        if self.found is None or self.scan is None:
            return False
        root = self.scan.place.root
        return any(name in kept and not (root / name).is_file() for name in rows.named)

    def source(self, rows: "Rows", kept: Mapping[str, Kept], salt: str) -> "Source":
        """Where rows were derived from."""
        from unspool.index.write import Source

        paths = {log.path: self._inside(log.path, rows.logs[0].path) for log in rows.logs}
        generations = {name: kept[path].generation if path in kept else 0 for name, path in paths.items()}
        state = Sessions(self.format, kept.values()).state(self.path, salt, rows.named)
        return Source(self.origin, self.path, state, generations, paths)

    def _inside(self, path: str, own: str) -> str:
        """The path below the origin of a log that was read where the session's own log is `own`."""
        root = own[: len(own) - len(self.path)]
        return path[len(root) :].replace("\\", "/")

    def homely(self, rows: "Rows") -> "Rows":
        """The rows, naming the log by the path it has or had."""
        path = str(Path(self.root) / self.path)
        log = msgspec.structs.replace(rows.overview.log, path=path)
        return rows._replace(overview=msgspec.structs.replace(rows.overview, log=log))


def newest(tasks: Sequence[Task]) -> list[Task]:
    """The newest few of very many, which somebody may wait to see; none where all are done soon enough."""
    if sum(task.size for task in tasks) < 16 * _SOON:
        return []
    chosen, left = list[Task](), _SOON
    for task in sorted(tasks, key=lambda one: -one.found.modified if one.found is not None else 0.0):
        if task.size <= left and task.found is not None:
            chosen.append(task)
            left -= task.size
    return chosen


def batches(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    """Tasks put together until there is enough to do."""
    batch: list[Task] = []
    for task in tasks:
        batch.append(task)
        if sum(one.size for one in batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
