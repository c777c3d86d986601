"""The places that are synced, and each compared with what the archive holds of it."""

import getpass
import os
import platform
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from unspool.agents import AGENTS, CodingAgent, FoundLog
from unspool.errors import NotFound
from unspool.store.archive import ArchiveDatabase, FileStatus, KeptFile, Origin
from unspool.store.archive.chain import Outcome, session_lines_name
from unspool.store.archive.line_filter import ByPath, Drops, FileRules, FilteredFile, Tombstones
from unspool.store.index.context_files import context_agent, whole_path
from unspool.store.library.discover import agent_roots, logs_below

if TYPE_CHECKING:
    from unspool.store.archive import Keeper  # which a sync without anything new does without


class ForgottenFiles:
    """What was forgotten of one agent: files by their paths, and by their sessions, so that no new file of a session
    comes back either; and lines of its list of prompts."""

    def __init__(self, graves: Tombstones, coding_agent: CodingAgent) -> None:
        self._graves, self._agent = graves, coding_agent
        self._hold = cache(lambda session: graves.hold_lines(coding_agent.prompt_list.name, session))

    def hides(self, path: str) -> bool:
        session = self._agent.session_of(path)
        return self._graves.hold(path) or bool(session and self._hold(session))

    def drops(self, path: str) -> Drops | None:
        return self._dropped if self._graves.names and path == self._agent.prompt_list.name else None

    def _dropped(self, line: bytes) -> bool:
        """Whether a line is of a forgotten session, or not whole yet and may be."""
        naming = self._agent.prompt_list.mentions(line)
        return not naming.whole or any(map(self._hold, naming.sessions))

    def aliases(self, path: str, lines: Iterable[bytes]) -> Iterator[str]:
        yield path
        if path == self._agent.prompt_list.name:
            sessions = {session for line in lines for session in self._agent.prompt_list.mentions(line).sessions}
        else:
            sessions = {self._agent.session_of(path)} - {""}
        yield from (session_lines_name(self._agent.prompt_list.name, session) for session in sessions)

    def apart(self, path: str) -> bool:
        return bool(self._agent.context_files.kind_of_kept(path))


class ContextRules(ByPath):
    """Knows context files by their whole paths, for many folders have files of one name."""

    def __init__(self, graves: Tombstones, origin: Origin) -> None:
        super().__init__(graves)
        self._origin = origin

    def hides(self, path: str) -> bool:
        return self._graves.hold(buried_name(self._origin, path))

    def aliases(self, path: str, lines: Iterable[bytes]) -> Iterable[str]:
        return (buried_name(self._origin, path),)

    def apart(self, path: str) -> bool:
        return True


def buried_name(origin: Origin, path: str) -> str:
    """The name that a context file is buried by."""
    return whole_path(origin, path).lstrip("/")


def file_rules(graves: Tombstones, origin: Origin) -> FileRules:
    """What holds for the files of a place; of an agent that nobody knows, what was forgotten by their paths alone."""
    if context_agent(origin) is not None:
        return ContextRules(graves, origin)
    agent = next((one for one in AGENTS if one.id == origin.agent), None)
    return ByPath(graves) if agent is None else ForgottenFiles(graves, agent)


def forgotten_names(session: str, agent: str = "") -> list[str]:
    """The names by which the prompts of a session are buried, with an agent those of its session alone."""
    names = [one.prompt_list.name for one in AGENTS if agent in ("", one.id)]
    return [session_lines_name(name, session) for name in names if name]


class SeenFile(NamedTuple):
    """A file of a source as it stands."""

    path: str
    status: FileStatus


class SyncPlace(NamedTuple):
    """One source of one agent."""

    agent: CodingAgent
    source: Path
    root: Path
    """The agent's own folder, or the source where it lies in none; paths in the archive begin below it."""

    @property
    def origin(self) -> Origin:
        return Origin(platform.node(), this_user(), os.path.realpath(self.root), self.agent.id)

    @property
    def prefix(self) -> str:
        """What the paths of this source begin with, where it is only a part of its root."""
        return "" if self.agent.is_whole(self.source) else f"{os.path.relpath(self.source, self.root)}/"

    def files(self) -> dict[str, SeenFile]:
        """Every file of its sessions, by its path below the root."""
        found: dict[str, SeenFile] = {}
        for one in self.agent.kept_files(self.source):
            with suppress(OSError):  # deleted this very moment
                found[self.inside(one.path)] = SeenFile(one.path, FileStatus.of(Path(one.path).stat()))
        return found

    def logs(self) -> Iterator[tuple[str, FoundLog]]:
        """Every session's log, with its path below the root."""
        for found in self.agent.discover(self.source):
            yield self.inside(found.path), found

    def inside(self, path: str) -> str:
        """A path below the root, with slashes."""
        return os.path.relpath(path, self.root).replace(os.sep, posixpath.sep)


def sync_places(sources: Sequence[Path]) -> list[SyncPlace]:
    """The places of the sources named, else of the agents' own folders that are there."""
    for source in sources:
        if not source.is_dir():
            raise NotFound(f"There is no folder {source}.")
    found: dict[tuple[str, str], SyncPlace] = {}
    for agent, source in agent_roots(sources):
        theirs = {log.agent_id for log in logs_below(source)} if agent is None else {agent.id}
        for one in AGENTS:
            # a folder without logs may still hold what an agent keeps beside them
            if one.id in theirs or (not theirs and one.home(source) is not None):
                place = SyncPlace(one, source, one.log_root(source))
                found.setdefault((one.id, os.path.realpath(source)), place)
    return list(found.values())


def this_user() -> str:
    """Who runs this."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid()) if hasattr(os, "getuid") else ""


class PlaceScan:
    """The files of a place, and which of them the archive does not hold as they stand."""

    def __init__(self, archive: ArchiveDatabase, place: SyncPlace) -> None:
        self.place = place
        with archive.db:
            self.origin = archive.origin(place.origin)
        self.kept = archive.kept(self.origin)
        self.failures: list[str] = []
        self.files: dict[str, SeenFile] = place.files()
        self._sieved: dict[str, FilteredFile] = {}
        graves = archive.graves()
        if graves.names:
            self._hide(graves)
        self.fresh = {path for path, seen in self.files.items() if not is_kept_so(seen, self.kept.get(path))}

    def _hide(self, graves: Tombstones) -> None:
        """Pass over what was forgotten."""

        forgotten = ForgottenFiles(graves, self.place.agent)
        self.files = {path: seen for path, seen in self.files.items() if not forgotten.hides(path)}
        for path in list(self.files):
            if (drops := forgotten.drops(path)) is not None:
                self._sift(path, drops)

    def _sift(self, path: str, drops: Drops) -> None:
        """Take a file without some lines; from here on its size is that of the rest."""
        seen, kept = self.files[path], self.kept.get(path)
        if kept is not None and kept.gone is None and seen.status[1:] == (kept.modified, kept.changed, kept.inode):
            self.files[path] = seen._replace(status=seen.status._replace(size=kept.size))  # it is as it was
            return
        sieved = self._sieved[path] = FilteredFile(Path(seen.path), seen.status.size, drops)
        try:
            self.files[path] = seen._replace(status=seen.status._replace(size=sieved.size))
        except OSError as error:
            self.failures.append(_unreadable(seen, error))
            del self.files[path]

    @property
    def gone(self) -> Iterator[KeptFile]:
        """Kept files that are no longer there, met for the first time."""
        prefix = self.place.prefix
        for path, kept in self.kept.items():
            if path not in self.files and kept.gone is None and path.startswith(prefix):
                yield kept

    def keep(self, keeper: "Keeper", paths: Iterable[str]) -> Iterator[tuple[Outcome, int]]:
        """Keep those of the files that are fresh; what became of each, and its size."""
        for path in sorted(self.fresh.intersection(paths)):
            seen = self.files[path]
            self.fresh.discard(path)
            try:
                source, last = self._sieved.get(path) or Path(seen.path), self.kept.get(path)
                apart = bool(self.place.agent.context_files.kind_of_kept(path))
                yield keeper.keep(self.origin, path, source, seen.status, last, apart=apart), seen.status.size
            except OSError as error:
                self.failures.append(_unreadable(seen, error))


def _unreadable(seen: SeenFile, error: OSError) -> str:
    return f"Cannot read {seen.path}: {error.strerror or error}."


def is_kept_so(seen: SeenFile, kept: KeptFile | None) -> bool:
    """Whether the archive holds a file as it stands."""
    return (
        kept is not None and kept.gone is None and seen.status == (kept.size, kept.modified, kept.changed, kept.inode)
    )
