"""Which sessions the index does not know as the archive holds them."""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from unspool.agents import CodingAgent, FoundLog, by_id, is_known
from unspool.errors import UnspoolError
from unspool.store.archive import ArchiveDatabase, KeptFile, Origin
from unspool.store.library.session_files import SessionFiles
from unspool.store.sync.scan import PlaceScan

if TYPE_CHECKING:
    from unspool.store.index.requests import SessionRows
    from unspool.store.index.write import RowSource
    from unspool.store.sync.extract import ExtractJob


_BATCH = 12 * 1024 * 1024
"""Bytes of sessions that are read, kept and indexed together."""
_SOON = 4 * 1024 * 1024
"""Bytes of the newest sessions that are not kept waiting for the others, where those are many."""


class IndexTask(NamedTuple):
    """A session to be read."""

    origin: int
    agent: CodingAgent
    root: str
    """Where the paths of its origin begin, or began."""
    path: str
    files: tuple[str, ...]
    """Its files, by path."""
    size: int
    found: FoundLog | None
    """None where only the archive has all of it."""
    scan: PlaceScan | None
    common: tuple[str, ...] = ()
    """Files that it may need and that are no single session's."""

    def job(self, lent: Mapping[tuple[int, str], FoundLog]) -> "ExtractJob | None":
        """What a reader needs; `lent` are logs of the archive. None where its log is not among them."""
        from unspool.store.sync.extract import ExtractJob

        if self.found is not None and self.scan is not None:
            seen = self.scan.files
            sizes = {seen[path].path: seen[path].status.size for path in self.files if path in seen}
            return ExtractJob(self.found, sizes)
        found = lent.get((self.origin, self.path))
        return None if found is None else ExtractJob(found, {})

    def lost(self, rows: "SessionRows", kept: Mapping[str, KeptFile]) -> bool:
        """Whether rows were read without a file that they depend on and that only the archive has by now."""
        if self.found is None or self.scan is None:
            return False
        root = self.scan.place.root
        return any(name in kept and not (root / name).is_file() for name in rows.named)

    def source(self, rows: "SessionRows", kept: Mapping[str, KeptFile], salt: str) -> "RowSource":
        """Where rows were derived from."""
        from unspool.store.index.write import RowSource

        paths = {log.path: self._inside(log.path, rows.logs[0].path) for log in rows.logs}
        generations = {name: kept[path].generation if path in kept else 0 for name, path in paths.items()}
        state = SessionFiles(self.agent, kept.values()).state(self.path, salt, rows.named)
        return RowSource(self.origin, self.path, state, generations, paths)

    def _inside(self, path: str, own: str) -> str:
        """The path below the origin of a log that was read where the session's own log is `own`."""
        root = own[: len(own) - len(self.path)]
        return path[len(root) :].replace("\\", "/")

    def homely(self, rows: "SessionRows") -> "SessionRows":
        """The rows, naming the log by the path it has or had."""
        path = str(Path(self.root) / self.path)
        log = msgspec.structs.replace(rows.overview.log, path=path)
        return rows._replace(overview=msgspec.structs.replace(rows.overview, log=log))


def newest_first(tasks: Sequence[IndexTask]) -> list[IndexTask]:
    """The newest few of very many, which somebody may wait to see; none where all are done soon enough."""
    if sum(task.size for task in tasks) < 16 * _SOON:
        return []
    chosen, left = list[IndexTask](), _SOON
    for task in sorted(tasks, key=lambda one: -one.found.modified if one.found is not None else 0.0):
        if task.size <= left and task.found is not None:
            chosen.append(task)
            left -= task.size
    return chosen


def task_batches(tasks: Iterable[IndexTask]) -> Iterator[list[IndexTask]]:
    """Tasks put together until there is enough to do."""
    batch: list[IndexTask] = []
    for task in tasks:
        batch.append(task)
        if sum(one.size for one in batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


Attached = Callable[[], Set[tuple[int, str]]]
"""Tells the subagents' logs that the index has with their sessions."""
_HEAD = 256 * 1024


class IndexedSession(NamedTuple):
    """What the index knows of where a session's rows are from."""

    state: bytes = b""
    lines: str = ""

    @property
    def named(self) -> list[str]:
        """The files of several sessions that it depends on too."""
        return self.lines.splitlines()


Knowledge = Mapping[tuple[int, str], IndexedSession]
"""What the index knows of each session, by origin and path."""
_NOTHING = IndexedSession()


class _Files(NamedTuple):
    """The files of a place as they stand, by session, and subagents' logs that lie among sessions by folder."""

    own: Mapping[str, Sequence[str]]
    beside: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, scan: PlaceScan) -> "_Files":
        agent = scan.place.agent
        own: dict[str, list[str]] = {}
        beside: dict[str, list[str]] = {}
        for path in scan.files:
            session = agent.session_of(path)
            if session:
                own.setdefault(session, []).append(path)
            elif agent.is_stray_agent(path):
                beside.setdefault(posixpath.dirname(path), []).append(path)
        return cls(own, beside)

    def around(self, path: str, session: str) -> tuple[str, ...]:
        """The files that a session's rows may depend on."""
        return (*self.own.get(session, ()), *self.beside.get(posixpath.dirname(path), ()))


class StaleSessions(NamedTuple):
    """What the index does not know yet, and what it knows and should not."""

    tasks: list[IndexTask]
    """In the order of their paths; those whose logs are gone from their places last."""
    dropped: list[tuple[int, str]]


def stale_sessions(
    archive: ArchiveDatabase, scans: Sequence[PlaceScan], known: Knowledge, attached: Attached, salt: str
) -> StaleSessions:
    """Sessions to be read, and rows of what is no session any more, by origin and path."""
    found: dict[tuple[int, str], IndexTask | None] = {}
    inner: set[tuple[int, str]] = set()
    """Subagents' logs, which their sessions take in."""
    for scan in scans:
        logs = sorted(scan.place.logs(), key=lambda one: one[0])
        for path, task in _of_scan(scan, logs, known, salt):
            found.setdefault((scan.origin, path), task)
        inner |= {(scan.origin, scan.place.inside(one.path)) for _, log in logs for one in log.agents}
    for number, origin in archive.origins().items():
        if not is_known(origin.agent):
            continue
        here = {scan: _Files.of(scan) for scan in scans if scan.origin == number and scan.fresh}
        kept = next((scan.kept for scan in scans if scan.origin == number), None) or archive.kept(number)
        sessions = SessionFiles(by_id(origin.agent), kept.values())
        taken = inner | found.keys()
        for path in sorted(path for path in sessions.paths if (number, path) not in taken):
            before = known.get((number, path), _NOTHING)
            task = _touched(_gone(path, sessions, number, origin), sessions, here, before.named)
            current = task.scan is None and _current(before, sessions, path, salt)
            found[number, path] = None if current else task
        there = {path for scan in scans if scan.origin == number for path in scan.files}
        for path in sorted(path for path in sessions.beside if path not in there):
            stray = (number, path) in known or (number, path) in attached()
            found[number, path] = None if stray else _stray(archive, path, sessions, number, origin)
    return StaleSessions(
        [task for task in found.values() if task is not None], [one for one in known if one not in found]
    )


def _of_scan(
    scan: PlaceScan, found_logs: Sequence[tuple[str, FoundLog]], known: Knowledge, salt: str
) -> Iterator[tuple[str, IndexTask | None]]:
    """Every session of a place that has its log there; None for those that are up to date."""
    files = _Files.of(scan)
    sessions = SessionFiles(scan.place.agent, scan.kept.values())
    logs = {f"{posixpath.dirname(log)}/{session}" for log, session in sessions.paths.items()}
    for path, found in found_logs:
        if path not in scan.files:
            continue  # it came after the files were listed: the next sync takes it
        if found.owner and f"{posixpath.dirname(path)}/{found.owner}" in logs:
            continue  # only the archive has the log of its session, which takes it in
        before = known.get((scan.origin, path), _NOTHING)
        inner = (scan.place.inside(agent.path) for agent in found.agents)
        here = (*files.around(path, found.session_id), path, *inner)
        fresh = not scan.fresh.isdisjoint((*here, *before.named))
        current = not fresh and _current(before, sessions, path, salt)
        yield path, None if current else _present(scan, sessions, path, found, here)


def _current(known: IndexedSession, sessions: SessionFiles, path: str, salt: str) -> bool:
    return known.state == sessions.state(path, salt, known.named)


def _present(scan: PlaceScan, sessions: SessionFiles, path: str, found: FoundLog, here: Sequence[str]) -> IndexTask:
    """A session that has its log in its place; from the archive where other files of it are only there."""
    kept = sessions.files(path)
    lost = any(one.path not in scan.files for one in kept if _around(one.path, path))
    agents = tuple(agent for agent in found.agents if scan.place.inside(agent.path) in scan.files)
    logs = (path, *(scan.place.inside(agent.path) for agent in agents))
    size = sum(scan.files[log].status.size for log in logs)
    files = tuple(dict.fromkeys([*here, *(one.path for one in kept)]))
    seen = None if lost else msgspec.structs.replace(found, agents=agents)
    common = sessions.common if lost else ()
    return IndexTask(scan.origin, scan.place.agent, str(scan.place.root), path, files, size, seen, scan, common)


def _gone(path: str, sessions: SessionFiles, number: int, origin: Origin) -> IndexTask:
    """A session whose log only the archive has."""
    kept = {one.path: one.size for one in sessions.files(path)}
    size = sum(size for name, size in kept.items() if _around(name, path))
    return IndexTask(number, by_id(origin.agent), origin.root, path, tuple(kept), size, None, None, sessions.common)


def _touched(
    task: IndexTask, sessions: SessionFiles, scans: Mapping[PlaceScan, _Files], named: Sequence[str]
) -> IndexTask:
    """The task, with a scan where files that it depends on are still there, and changed."""
    for scan, files in scans.items():
        around = files.around(task.path, sessions.paths.get(task.path, ""))
        fresh = scan.fresh.intersection((*around, *named))
        if fresh:
            return task._replace(files=tuple(dict.fromkeys([*task.files, *sorted(fresh)])), scan=scan)
    return task


def _stray(
    archive: ArchiveDatabase, path: str, sessions: SessionFiles, number: int, origin: Origin
) -> IndexTask | None:
    """A subagent's log that only the archive has, and whose session nobody has: it stands for itself."""
    kept = archive.last(number, path)
    try:
        head = b"" if kept is None else archive.read(kept.generation, 0, _HEAD)
    except UnspoolError:
        return None  # verify tells of what is damaged
    owner = by_id(origin.agent).owner(head.split(b"\n"))
    logs = {f"{posixpath.dirname(log)}/{session}" for log, session in sessions.paths.items()}
    return None if f"{posixpath.dirname(path)}/{owner}" in logs else _gone(path, sessions, number, origin)


def _around(path: str, log: str) -> bool:
    """Whether a file lies in or below the folder of a log."""
    folder = posixpath.dirname(log)
    return not folder or path.startswith(f"{folder}/")
