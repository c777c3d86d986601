"""Context files as the index knows them: which there are, their versions, and which sessions ran under which."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import apsw

from unspool.agents import by_id, is_known
from unspool.agents.context_files import CONTEXT_KINDS
from unspool.doc import Diff
from unspool.errors import Ambiguous, NotFound
from unspool.store.archive.chain import Origin
from unspool.store.index.filters import sessions_holding
from unspool.tools.diff import diff_of_texts

if TYPE_CHECKING:
    from unspool.store.archive import ArchiveDatabase

CONTEXT = "context-files"
"""Stands where an archive has the id of an agent, at places whose files are no sessions' but context files."""
_TOP = "/"
_MEANT = 12


def context_origin(machine: str, user: str, agent: str = "", root: str = _TOP) -> Origin:
    """The place of the archive that context files are kept under: those of an agent's own folder below it, those of
    projects by their whole paths."""
    return Origin(machine, user, root, f"{CONTEXT}:{agent}" if agent else CONTEXT)


def context_agent(origin: Origin) -> str | None:
    """The agent whose own folder a place of context files is; empty for that of all projects, None for others."""
    name, _, agent = origin.agent.partition(":")
    return agent if name == CONTEXT else None


def is_context_file(origin: Origin, path: str) -> bool:
    """Whether a file of a place is a context file, be it among those of sessions."""
    if context_agent(origin) is not None:
        return True
    return is_known(origin.agent) and bool(by_id(origin.agent).context_files.kind_of_kept(path))


def whole_path(origin: Origin, path: str) -> str:
    """Where a file of a place lies, or lay."""
    return f"{origin.root.rstrip('/')}/{path}"


class KnownContextFile(NamedTuple):
    """A context file, with how it stands."""

    id: int
    origin: int
    path: str
    place: str
    """Its whole path."""
    kind: str
    agents: tuple[str, ...]
    folder: str
    """Of a project: sessions that work there or below it run under the file. Empty for others."""
    project: str
    versions: int
    time: float
    """When it last changed."""
    until: float | None
    """Since when it is gone; None while it is there."""


class ContextVersion(NamedTuple):
    """What a context file held for a while."""

    number: int
    """Counted from 1, the oldest."""
    generation: int
    size: int
    time: float
    """Since when, as far as that is known."""
    until: float | None
    kept: float
    """When it was first kept."""
    digest: str

    def text(self, archive: "ArchiveDatabase") -> str | None:
        """Its words; None where it holds no text."""
        return decode_context(archive.read(self.generation))

    def diff(self, archive: "ArchiveDatabase", path: str, before: "ContextVersion | None") -> Diff | None:
        """What changed from the version before to this one; None where either holds no text."""
        old, new = "" if before is None else before.text(archive), self.text(archive)
        return None if old is None or new is None else diff_of_texts(path, old, new, created=before is None)


def decode_context(data: bytes) -> str | None:
    """The words of a context file; None where it holds no text."""
    return None if b"\0" in data else data.decode(errors="replace").removeprefix("\ufeff")


class RunSession(NamedTuple):
    """A session, with what tells what it ran under."""

    id: int
    key: str
    agent: str
    origin: int
    path: str
    cwd: str
    slug: str
    named: frozenset[str]
    project: str
    title: str
    started: float | None
    ended: float | None


How = Literal["logged", "by time", "not known"]


class RanUnder(NamedTuple):
    """That a session ran under a context file."""

    file: KnownContextFile
    session: RunSession
    version: ContextVersion | None
    """None where it is not known how the file stood then."""
    how: How
    """Whether the log shows it, or time and folder tell; `not known` where it was kept only later."""
    changed: bool = False
    """Whether it changed while the session ran."""


_FILES = """SELECT context_file.id, origin, path, place, kind, agents, folder, project, count(*), max(time),
max(iif(number = (SELECT max(number) FROM context_version AS other WHERE other.file = context_file.id), until, NULL))
FROM context_file JOIN context_version ON context_version.file = context_file.id"""
_VERSIONS = "SELECT number, generation, size, time, until, kept, digest FROM context_version WHERE file = ? ORDER BY 1"
_SESSIONS = """SELECT id, key, agent, origin, path, cwd, slug, named, project, title, started, coalesce(ended, started)
FROM session WHERE kind <> 'ghost' AND version_of IS NULL"""


class ContextFileIndex:
    """Asks the index about context files; `origins` are the places of its archive by their numbers."""

    def __init__(self, db: apsw.Connection, origins: Mapping[int, Origin]) -> None:
        self._db, self._origins = db, origins
        self.versions = cache(self._versions)
        """All versions of a file by its id, the oldest first."""
        self._sessions = cache(lambda: [_run(row) for row in db.execute(_SESSIONS)])
        self._worked = cache(self._worked_below)

    def files(self, kinds: Sequence[str] = (), projects: Sequence[str] = (), most: int = 0) -> list[KnownContextFile]:
        """Those of some kinds, of projects whose paths hold one of some texts: the last changed first."""
        held = " OR ".join("project LIKE ? ESCAPE '\\'" for _ in projects)
        marks = ", ".join("?" * len(kinds))
        where = " AND ".join(filter(None, (f"kind IN ({marks})" if kinds else "", f"({held})" if held else "")))
        asked = f"{_FILES} {f'WHERE {where}' if where else ''} GROUP BY 1 ORDER BY 10 DESC, place LIMIT ?"
        values = (*kinds, *map(sessions_holding, projects), most or -1)
        return [_known(row) for row in self._db.execute(asked, values)]

    def find(self, name: str, here: str) -> KnownContextFile:
        """The file meant by a path: whole or relative to a folder, or what only one path ends with."""
        whole = posixpath.normpath(posixpath.join(here, name))
        asked = f"{_FILES} WHERE place = ? OR substr('/' || place, -?) = ? GROUP BY 1 ORDER BY place"
        end = f"/{name.lstrip('/')}"
        found = [_known(row) for row in self._db.execute(asked, (whole, len(end), end))]
        fits = [one for one in found if one.place == whole] or found
        if not fits:
            raise NotFound(f"No context file is kept whose path ends with {name!r}.")
        if len({one.place for one in fits}) > 1:
            listed = tuple(f"{one.place}  {one.kind}" for one in fits[:_MEANT])
            raise Ambiguous(f"{len(fits)} context files end with {name!r}:", listed)
        return fits[0]

    def of_session(self, key: str) -> list[RanUnder]:
        """The context files that a session ran under, by kind and path."""
        row: Any = self._db.execute(f"{_SESSIONS} AND key = ? LIMIT 1", (key,)).fetchone()
        if row is None:
            return []
        run, loads = _run(row), dict[str, set[str]]()
        for path, digest in self._db.execute("SELECT path, digest FROM loaded WHERE session = ?", (run.id,)):
            loads.setdefault(path, set()).add(digest)
        found = (self._relation(file, run, loads.get(file.place)) for file in self.files())
        told = [one for one in found if one is not None]
        return sorted(told, key=lambda one: (CONTEXT_KINDS.index(one.file.kind), one.file.place))

    def of_file(self, file: KnownContextFile) -> list[RanUnder]:
        """The sessions that ran under a context file, the newest first."""
        loads: dict[int, set[str]] = {}
        for session, digest in self._db.execute("SELECT session, digest FROM loaded WHERE path = ?", (file.place,)):
            loads.setdefault(session, set()).add(digest)
        found = (self._relation(file, run, loads.get(run.id)) for run in self._sessions())
        return sorted((one for one in found if one is not None), key=lambda one: -(one.session.started or 0))

    def _versions(self, file: int) -> list[ContextVersion]:
        return [ContextVersion(*row) for row in self._db.execute(_VERSIONS, (file,))]

    def _relation(self, file: KnownContextFile, run: RunSession, loaded: "set[str] | None") -> RanUnder | None:
        """How a session stands to a file; None where it did not run under it. `loaded`: what its log tells of it."""
        named = file.origin == run.origin and (file.path in run.named or self._is_called_so(file, run))
        if loaded is None and not named and not self._holds(file, run):
            return None
        versions = self.versions(file.id)
        at, changed = in_force(versions, run.started, run.ended)
        said = next((one for one in reversed(versions) if loaded and one.digest and one.digest in loaded), None)
        if loaded is not None or (named and at is not None):
            return RanUnder(file, run, said or at, "logged", changed)
        if at is not None:
            return RanUnder(file, run, at, "by time", changed)
        later = not named and run.started is not None and bool(versions) and versions[0].time > run.started
        return RanUnder(file, run, None, "not known") if later else None

    def _is_called_so(self, file: KnownContextFile, run: RunSession) -> bool:
        """Whether a file among those of sessions has the name that the session's log says the agent gave it."""
        agent = self._origins[file.origin].agent if run.slug and file.origin in self._origins else ""
        return is_known(agent) and by_id(agent).context_files.slug_of_kept(file.path) == run.slug

    def _holds(self, file: KnownContextFile, run: RunSession) -> bool:
        """Whether sessions such as this one run under the file while it is there."""
        place, theirs = self._origins.get(file.origin), self._origins.get(run.origin)
        if place is None or theirs is None or run.agent not in file.agents:
            return False
        agent = context_agent(place)
        if agent is None:
            return file.origin == run.origin and _is_beside(file, run, place)
        if place[:2] != theirs[:2]:  # another machine or user
            return False
        return self._is_home(place, theirs) if agent else self._is_worked_in(file.folder, run)

    def _is_home(self, place: Origin, theirs: Origin) -> bool:
        """Whether a folder of an agent is the one that a session's log is from; where no log is from it, whether it is
        the agent's at all."""
        known = any(one == theirs._replace(root=place.root) for one in self._origins.values())
        return theirs.root == place.root if known else True

    def _is_worked_in(self, folder: str, run: RunSession) -> bool:
        if is_below(run.cwd, folder):
            return True
        return is_below(folder, run.cwd) and bool(run.cwd) and run.id in self._worked(folder)

    def _worked_below(self, folder: str) -> frozenset[int]:
        asked = "SELECT session FROM worked WHERE folder = ? OR (folder >= ? AND folder < ?)"
        rows = self._db.execute(asked, (folder, f"{folder}/", f"{folder}0"))
        return frozenset(session for (session,) in rows)


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies below it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _is_beside(file: KnownContextFile, run: RunSession, place: Origin) -> bool:
    """Whether a file among those of sessions is this one's: by its name, or because its log lies in a folder around."""
    owner = by_id(place.agent).session_of(file.path) if is_known(place.agent) else ""
    if owner:
        return owner == run.key
    folder = posixpath.dirname(run.path)
    return bool(folder) and file.path.startswith(f"{folder}/")


def in_force(
    versions: Sequence[ContextVersion], started: float | None, ended: float | None
) -> tuple[ContextVersion | None, bool]:
    """The version that was there when something began, else the first that came while it went on; and whether one came
    meanwhile. None where none was, or nothing tells."""
    if started is None:
        return None, False
    until = max(started, ended or started)
    before = (one for one in versions if one.time <= started and (one.until is None or one.until > started))
    during = [one for one in versions if started < one.time <= until]
    return max(before, default=next(iter(during), None), key=lambda one: one.number), bool(during)


def _run(row: Any) -> RunSession:
    return RunSession._make((*row[:7], frozenset(row[7].splitlines()), *row[8:]))


def _known(row: Any) -> KnownContextFile:
    return KnownContextFile._make((*row[:5], tuple(row[5].split()), *row[6:]))


def by_version(found: Iterable[RanUnder]) -> Iterator[tuple[ContextVersion | None, list[RanUnder]]]:
    """The sessions of a file by the version that they ran under, the newest first; those of none known last."""
    ordered = sorted(found, key=lambda one: -one.version.number if one.version is not None else 1)
    for number, group in groupby(ordered, key=lambda one: one.version.number if one.version is not None else 0):
        members = list(group)
        yield members[0].version if number else None, members
