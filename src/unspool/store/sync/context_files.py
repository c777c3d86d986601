"""Context files kept and indexed: those of agents' own folders, and those of the folders that sessions worked in."""

import os
import platform
import posixpath
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from unspool.agents import AGENTS, CodingAgent, by_id, is_known
from unspool.agents.checkout import repository_top
from unspool.agents.context_files import (
    LARGEST,
    ContextPattern,
    context_status,
    find_context_files,
    fits,
    project_scope,
)
from unspool.errors import UnspoolError
from unspool.model.events import words_digest
from unspool.store.archive import ArchiveDatabase, FileStatus, Keeper, KeptFile, Origin
from unspool.store.archive.chain import Outcome
from unspool.store.index.context_files import context_agent, context_origin, decode_context, is_below, whole_path
from unspool.store.index.database import Index
from unspool.store.index.normalize_text import normalize_text
from unspool.store.index.write import clean_text
from unspool.store.sync.scan import ContextRules, SeenFile, SyncPlace, is_kept_so, this_user

ACTIVE_DAYS = 90
"""Folders are looked through as long as a session worked there within so many days."""
_MOST_NESTED = 100
"""Folders below one that was worked in that are looked at, where sessions touched files."""


@cache
def project_patterns() -> tuple[ContextPattern, ...]:
    """Where context files of any agent lie in a project."""
    return tuple(dict.fromkeys(one for agent in AGENTS for one in agent.context_files.project))


@cache
def _plain_patterns() -> tuple[ContextPattern, ...]:
    """Those that agents look for in each folder that they meet."""
    return tuple(one for one in project_patterns() if one.kind == "instructions" and len(one.names) == 1)


class _FreshFile(NamedTuple):
    origin: Origin
    path: str
    seen: SeenFile
    kept: KeptFile | None


CONTEXT_NOTE = "context files"
"""The note of the index that is empty until it knows the context files of the archive."""


class ContextReport(NamedTuple):
    """What a sync did with context files."""

    files: int
    """Those that were looked at."""
    outcomes: Counter[str]
    gone: int = 0
    bytes: int = 0


def keep_context_files(
    archive: ArchiveDatabase, index: Index, places: Sequence[SyncPlace], *, projects: bool
) -> ContextReport:
    """Keep what is new of the context files of some places, and of `projects` that sessions worked in; and index what
    is kept of them."""
    scan = ContextScan(archive, index, places, projects=projects)
    report = ContextReport(scan.files, Counter())
    if scan.fresh or scan.gone:
        index.note(CONTEXT_NOTE, "")
        with Keeper(archive) as keeper:
            report = report._replace(outcomes=Counter(scan.keep(keeper)), gone=len(scan.gone))
        report = report._replace(bytes=keeper.bytes)
    if not index.meta(CONTEXT_NOTE):
        ContextIndexer(archive, index).all()
        index.note(CONTEXT_NOTE, "indexed")
    return report


class ContextScan:
    """The context files that are there, and which of them the archive does not hold as they stand."""

    def __init__(self, archive: ArchiveDatabase, index: Index, places: Sequence[SyncPlace], *, projects: bool) -> None:
        self._archive, self._index = archive, index
        self._known = {origin: number for number, origin in archive.origins().items()}
        self._graves = archive.graves()
        self.fresh: list[_FreshFile] = []
        self.gone: list[KeptFile] = []
        self.files = 0
        """How many were looked at."""
        self._homes = dict(_homes(places))
        for home, agent in self._homes.items():
            found = agent.context_files.in_home(Path(home))
            origin = context_origin(platform.node(), this_user(), agent.id, home)
            self._compare(origin, {os.path.relpath(one.path, home): one.status for one in found})
        if projects and places:
            origin = context_origin(platform.node(), this_user())
            self._compare(origin, {path.lstrip("/"): status for path, status in self._in_projects()})

    def keep(self, keeper: Keeper) -> Iterator[Outcome]:
        """Keep what is fresh; what became of each. What may not be read is passed over."""
        with self._archive.db:
            numbers = {origin: self._archive.origin(origin) for origin in {one.origin for one in self.fresh}}
        for one in self.fresh:
            with suppress(OSError):
                place = numbers[one.origin]
                yield keeper.keep(place, one.path, Path(one.seen.path), one.seen.status, one.kept, apart=True)
        for kept in self.gone:
            keeper.missed(kept.file)

    def _compare(self, origin: Origin, found: dict[str, os.stat_result]) -> None:
        """Note what is fresh and what is gone of a place."""
        number = self._known.get(origin)
        kept = self._archive.kept(number) if number is not None else {}
        rules = ContextRules(self._graves, origin)
        paths = {path.replace(os.sep, posixpath.sep): status for path, status in found.items()}
        for path, last in kept.items():
            if path not in paths and last.gone is None:
                status, there = _still_there(whole_path(origin, path))
                if status is not None:
                    paths[path] = status
                elif not there:
                    self.gone.append(last)
        self.files += len(paths)
        for path, status in paths.items():
            seen = SeenFile(whole_path(origin, path), FileStatus.of(status))
            if not is_kept_so(seen, kept.get(path)) and not rules.hides(path):
                self.fresh.append(_FreshFile(origin, path, seen, kept.get(path)))

    def _in_projects(self) -> Iterator[tuple[str, os.stat_result]]:
        for folder, (patterns, top) in self._folders().items():
            if any(is_below(folder, home) for home in self._homes):
                continue  # an agent's own folder is no project
            for one in find_context_files(Path(folder), patterns, Path(top)):
                yield one.path.replace(os.sep, posixpath.sep), one.status

    def _folders(self) -> dict[str, tuple[Sequence[ContextPattern], str]]:
        """The folders to look at, with what to look for in each and where links may lead."""
        found: dict[str, tuple[Sequence[ContextPattern], str]] = {}
        home = str(Path.home())
        for cwd in self._worked_in():
            if not os.path.isdir(cwd):  # noqa: PTH112  hot
                continue
            top = repository_top(cwd)
            last = top or (home if is_below(cwd, home) else cwd)
            for folder in _between(last, cwd):
                found[folder] = _plain_patterns() if folder == home else project_patterns(), top or folder
            for folder in self._nested(cwd):
                found.setdefault(folder, (_plain_patterns(), top or cwd))
        return found

    def _here(self) -> str:
        """The places of this machine and user that sessions are from, for SQL."""
        mine = platform.node(), this_user()
        return str([number for origin, number in self._known.items() if origin[:2] == mine])

    def _worked_in(self) -> list[str]:
        """Folders of this machine that sessions worked in of late."""
        asked = (
            "SELECT DISTINCT cwd FROM session WHERE cwd LIKE '/%' AND coalesce(ended, started) >= ?"
            " AND origin IN (SELECT value FROM json_each(?))"
        )
        if os.name != "posix":
            asked = asked.replace("cwd LIKE '/%'", "cwd <> ''")
        rows = self._index.db.execute(asked, (time.time() - ACTIVE_DAYS * 86_400, self._here()))
        return sorted({posixpath.normpath(cwd.replace(os.sep, "/")) for (cwd,) in rows})

    def _nested(self, cwd: str) -> list[str]:
        """Folders below one, and above files that sessions touched."""
        asked = "SELECT DISTINCT folder FROM worked WHERE folder >= ? AND folder < ? LIMIT ?"
        rows: Any = self._index.db.execute(asked, (f"{cwd}/", f"{cwd}0", _MOST_NESTED)).fetchall()
        found = dict.fromkeys(one for (folder,) in rows for one in _between(cwd, posixpath.normpath(folder)))
        return [one for one in found if one != cwd][:_MOST_NESTED]


def _homes(places: Iterable[SyncPlace]) -> Iterator[tuple[str, CodingAgent]]:
    """The agents' own folders, each with its agent."""
    for place in places:
        agent = place.agent
        if not agent.context_files.home or not agent.is_whole(place.source):
            continue
        home = agent.home(place.source)
        if home is not None:
            yield os.path.realpath(home), agent
            if place.source in agent.roots(os.environ, Path.home()):
                further = agent.context_files.elsewhere(os.environ, Path.home())
                yield from ((os.path.realpath(one), agent) for one in further if one.is_dir())


def _between(top: str, folder: str) -> list[str]:
    """A folder, and those above it up to another one that it lies below; none where it does not."""
    found = [folder]
    while is_below(folder, top) and folder != top:
        folder = posixpath.dirname(folder)
        found.append(folder)
    return found if folder == top else []


def _still_there(path: str) -> tuple[os.stat_result | None, bool]:
    """What the system says of a file that was a context file; and whether it is there, or may be."""
    try:
        top = (repository_top(path) or posixpath.dirname(path)) if os.path.islink(path) else path  # noqa: PTH114  hot
        status = context_status(path, top)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None, False
    except OSError:
        return None, True
    return status, status is not None


class _Version(NamedTuple):
    """A row of `context_version`, before its words."""

    number: int
    generation: int
    size: int
    time: float
    until: float | None
    kept: float


class ContextIndexer:
    """Brings the context files of an index up to date with the archive."""

    def __init__(self, archive: ArchiveDatabase, index: Index) -> None:
        self._archive, self._db = archive, index.db
        rows: Any = self._db.execute("SELECT id, origin, path FROM context_file")
        self._files: dict[tuple[int, str], int] = {(origin, path): number for number, origin, path in rows}

    def all(self) -> None:
        """Write the context files of every place with all their versions, and take out what is kept no longer."""
        left = dict(self._files)
        with self._db:
            for number, origin in self._archive.origins().items():
                for path, told in self._listed(number, origin):
                    left.pop((number, clean_text(path)), None)
                    self._write(number, path, told)
            for file in left.values():
                self._drop_versions(file, ())
                self._db.execute("DELETE FROM context_file WHERE id = ?", (file,))

    def _listed(self, number: int, origin: Origin) -> Iterator[tuple[str, "tuple[Any, ...]"]]:
        """The context files of a place: path; whole path, kind, agents, folder and project; versions."""
        agent = context_agent(origin)
        coding_agent = origin.agent if agent is None else agent
        if coding_agent and not is_known(coding_agent):
            return
        if agent is None and not by_id(coding_agent).context_files.kept:
            return
        for path, versions in self._archive.versions(number).items():
            told = self._told(number, origin, path)
            if told is not None:
                yield path, (whole_path(origin, path), *told, _timed(versions))

    def _told(self, number: int, origin: Origin, path: str) -> tuple[str, str, str, str] | None:
        """Kind, agents, folder and project of a file; None where it is no context file."""
        agent = context_agent(origin)
        if agent:
            kind = by_id(agent).context_files.kind_in_home(path)
            return (kind, f" {agent} ", "", "") if kind else None
        if agent is None:
            kind = by_id(origin.agent).context_files.kind_of_kept(path)
            slug = by_id(origin.agent).context_files.slug_of_kept(path)
            return (kind, f" {origin.agent} ", "", self._project(number, path, slug)) if kind else None
        scope = project_scope(whole_path(origin, path), project_patterns())
        if scope is None:
            return None
        readers = [
            one.id for one in AGENTS if any(fits(scope.matched, pattern) for pattern in one.context_files.project)
        ]
        return scope.kind, f" {' '.join(readers)} ", scope.folder, scope.folder

    def _project(self, origin: int, path: str, slug: str) -> str:
        """The project of a file among those of sessions: that of the last session that names it, is called so, or has
        its log in a folder around it."""
        asked = (
            "SELECT project FROM session WHERE origin = ? AND kind <> 'ghost' AND project <> '' AND"
            " (instr(char(10) || named || char(10), char(10) || ? || char(10)) OR (path >= ? AND path < ?)"
            " OR (slug = ? AND slug <> ''))"
            " ORDER BY coalesce(ended, started) DESC LIMIT 1"
        )
        above = posixpath.dirname(posixpath.dirname(path))
        around = (f"{above}/", f"{above}0") if above else ("", "")
        found: str | None = self._db.execute(asked, (origin, clean_text(path), *around, clean_text(slug))).get
        return found or ""

    def _write(self, origin: int, path: str, told: tuple[Any, ...]) -> None:
        *columns, versions = told
        asked = (
            "INSERT INTO context_file(origin, path, place, kind, agents, folder, project) VALUES(?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET kind = excluded.kind, agents = excluded.agents, folder = excluded.folder,"
            " project = excluded.project RETURNING id"
        )
        file: int = self._db.execute(asked, (origin, clean_text(path), *map(clean_text, columns))).get
        rows: Any = self._db.execute("SELECT generation, size, id FROM context_version WHERE file = ?", (file,))
        known = {(generation, size): number for generation, size, number in rows}
        self._drop_versions(file, [one[1:3] for one in versions])
        for one in versions:
            if (row := known.get(one[1:3])) is not None:
                again = "UPDATE context_version SET number = ?, time = ?, until = ?, kept = ? WHERE id = ?"
                self._db.execute(again, (one.number, *one[3:], row))
            else:
                self._add(file, one)

    def _add(self, file: int, one: _Version) -> None:
        try:
            text = decode_context(self._archive.read(one.generation)) if one.size <= LARGEST else None
        except UnspoolError:
            text = None  # verify tells of what is damaged
        self._db.execute(
            "INSERT INTO context_version(file, number, generation, size, time, until, kept, digest)"
            " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
            (file, *one, words_digest(text) if text and text.strip() else ""),
        )
        if text:
            row = self._db.last_insert_rowid()
            self._db.execute("INSERT INTO context_text(rowid, text) VALUES(?, ?)", (row, normalize_text(text)))

    def _drop_versions(self, file: int, keep: Sequence[tuple[int, ...]]) -> None:
        rows = self._db.execute("SELECT id, generation, size FROM context_version WHERE file = ?", (file,)).fetchall()
        for row, *state in rows:
            if tuple(state) not in keep:
                self._db.execute("DELETE FROM context_text WHERE rowid = ?", (row,))
                self._db.execute("DELETE FROM context_version WHERE id = ?", (row,))


def _timed(versions: Sequence[tuple[KeptFile, float]]) -> list[_Version]:
    """Versions with when each was so: from its own time on, or from when it was first kept where that was before, or
    where its own time tells of an earlier version; until the next came, or the file was missed."""
    found: list[_Version] = []
    for kept, seen in versions:
        since = min(kept.modified / 1e9, seen)
        if found and since <= found[-1].time:
            since = max(seen, found[-1].time)
        if found and (found[-1].until is None or found[-1].until > since):
            found[-1] = found[-1]._replace(until=since)
        found.append(_Version(kept.number, kept.generation, kept.size, since, kept.gone, seen))
    return found
