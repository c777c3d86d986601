"""Which sessions the index does not know as the archive will hold them."""

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import msgspec

from unspool.archive import Archive, Origin
from unspool.errors import UnspoolError
from unspool.formats import Found, by_id, is_known
from unspool.library.states import Sessions
from unspool.sync.scan import Scan
from unspool.sync.task import Task

Attached = Callable[[], Set[tuple[int, str]]]
"""Tells the subagents' logs that the index has with their sessions."""
_HEAD = 256 * 1024


class Known(NamedTuple):
    """What the index knows of where a session's rows are from."""

    state: bytes = b""
    lines: str = ""

    @property
    def named(self) -> list[str]:
        """The files of several sessions that it depends on too."""
        return self.lines.splitlines()


Knowledge = Mapping[tuple[int, str], Known]
"""What the index knows of each session, by origin and path."""
_NOTHING = Known()


class _Files(NamedTuple):
    """The files of a place as they stand, by session, and subagents' logs that lie among sessions by folder."""

    own: Mapping[str, Sequence[str]]
    beside: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, scan: Scan) -> "_Files":
        format_ = scan.place.format
        own: dict[str, list[str]] = {}
        beside: dict[str, list[str]] = {}
        for path in scan.files:
            session = format_.belongs(path)
            if session:
                own.setdefault(session, []).append(path)
            elif format_.is_agent_beside(path):
                beside.setdefault(posixpath.dirname(path), []).append(path)
        return cls(own, beside)

    def around(self, path: str, session: str) -> tuple[str, ...]:
        """The files that a session's rows may depend on."""
        return (*self.own.get(session, ()), *self.beside.get(posixpath.dirname(path), ()))


class Stale(NamedTuple):
    """What the index does not know yet, and what it knows and should not."""

    tasks: list[Task]
    """In the order of their paths; those whose logs are gone from their places last."""
    dropped: list[tuple[int, str]]


def stale(archive: Archive, scans: Sequence[Scan], known: Knowledge, attached: Attached, salt: str) -> Stale:
    """Sessions to be read, and rows of what is no session any more, by origin and path."""
    found: dict[tuple[int, str], Task | None] = {}
    for scan in scans:
        for path, task in _of_scan(scan, known, salt):
            found.setdefault((scan.origin, path), task)
    for number, origin in archive.origins().items():
        if not is_known(origin.agent):
            continue
        here = {scan: _Files.of(scan) for scan in scans if scan.origin == number and scan.fresh}
        kept = next((scan.kept for scan in scans if scan.origin == number), None) or archive.kept(number)
        sessions = Sessions(by_id(origin.agent), kept.values())
        for path in sorted(path for path in sessions.paths if (number, path) not in found):
            before = known.get((number, path), _NOTHING)
            task = _touched(_gone(path, sessions, number, origin), sessions, here, before.named)
            current = task.scan is None and _current(before, sessions, path, salt)
            found[number, path] = None if current else task
        there = {path for scan in scans if scan.origin == number for path in scan.files}
        for path in sorted(path for path in sessions.beside if path not in there):
            stray = (number, path) in known or (number, path) in attached()
            found[number, path] = None if stray else _stray(archive, path, sessions, number, origin)
    return Stale([task for task in found.values() if task is not None], [one for one in known if one not in found])


def _of_scan(scan: Scan, known: Knowledge, salt: str) -> Iterator[tuple[str, Task | None]]:
    """Every session of a place that has its log there; None for those that are up to date."""
    files = _Files.of(scan)
    sessions = Sessions(scan.place.format, scan.kept.values())
    logs = {f"{posixpath.dirname(log)}/{session}" for log, session in sessions.paths.items()}
    for path, found in sorted(scan.place.logs(), key=lambda one: one[0]):
        if path not in scan.files:
            continue  # it came after the files were listed: the next sync takes it
        if found.owner and f"{posixpath.dirname(path)}/{found.owner}" in logs:
            continue  # only the archive has the log of its session, which takes it in
        before = known.get((scan.origin, path), _NOTHING)
        here = (*files.around(path, found.session_id), path)
        fresh = not scan.fresh.isdisjoint((*here, *before.named))
        current = not fresh and _current(before, sessions, path, salt)
        yield path, None if current else _present(scan, sessions, path, found, here)


def _current(known: Known, sessions: Sessions, path: str, salt: str) -> bool:
    return known.state == sessions.state(path, salt, known.named)


def _present(scan: Scan, sessions: Sessions, path: str, found: Found, here: Sequence[str]) -> Task:
    """A session that has its log in its place; from the archive where other files of it are only there."""
    kept = sessions.files(path)
    lost = any(one.path not in scan.files for one in kept if _around(one.path, path))
    agents = tuple(agent for agent in found.agents if scan.place.inside(agent.path) in scan.files)
    logs = (path, *(scan.place.inside(agent.path) for agent in agents))
    size = sum(scan.files[log].status.size for log in logs)
    files = tuple(dict.fromkeys([*here, *(one.path for one in kept)]))
    seen = None if lost else msgspec.structs.replace(found, agents=agents)
    common = sessions.common if lost else ()
    return Task(scan.origin, scan.place.format, str(scan.place.root), path, files, size, seen, scan, common)


def _gone(path: str, sessions: Sessions, number: int, origin: Origin) -> Task:
    """A session whose log only the archive has."""
    kept = {one.path: one.size for one in sessions.files(path)}
    size = sum(size for name, size in kept.items() if _around(name, path))
    return Task(number, by_id(origin.agent), origin.root, path, tuple(kept), size, None, None, sessions.common)


def _touched(task: Task, sessions: Sessions, scans: Mapping[Scan, _Files], named: Sequence[str]) -> Task:
    """The task, with a scan where files that it depends on are still there, and changed."""
    for scan, files in scans.items():
        around = files.around(task.path, sessions.paths.get(task.path, ""))
        fresh = scan.fresh.intersection((*around, *named))
        if fresh:
            return task._replace(files=tuple(dict.fromkeys([*task.files, *sorted(fresh)])), scan=scan)
    return task


def _stray(archive: Archive, path: str, sessions: Sessions, number: int, origin: Origin) -> Task | None:
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
