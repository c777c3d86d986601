"""What the doctor looks at, and its findings."""

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from unspool.agents import AGENTS, CodingAgent, FoundLog, by_id, is_known
from unspool.agents.records import AgentFile
from unspool.errors import Busy, UnspoolError
from unspool.store.archive import ArchiveDatabase, KeptFile
from unspool.store.archive.database import ARCHIVE, sqlite_errors_told
from unspool.store.archive.line_filter import Tombstones
from unspool.store.library.discover import logs_below
from unspool.store.sync.scan import ForgottenFiles, SyncPlace, sync_places

Level = Literal["ok", "note", "warn", "bad"]
LEVELS: tuple[Level, ...] = ("bad", "warn", "note", "ok")
"""The worst first."""


class DoctorFinding(msgspec.Struct, frozen=True):
    level: Level
    check: str
    """The check's name, one word."""
    message: str
    """One sentence."""
    details: tuple[str, ...] = ()
    """Paths or sessions it is about."""
    remedy: str = ""
    """A command, or a sentence that says what to do; empty where nothing is to be done."""


class Finding(NamedTuple):
    """What a check yields: a `DoctorFinding` but for the check's name, its details as they are at hand."""

    level: Level
    message: str
    details: Iterable[object] = ()
    remedy: str = ""


DAY = 86_400.0


class ArchiveHolding(NamedTuple):
    files: Mapping[str, KeptFile] = {}
    """By the real path of their place, on this machine, and their path below it."""
    sessions: frozenset[str] = frozenset()
    """Ids of the sessions whose logs it has, from wherever they came."""
    synced: float | None = None
    """When it was last brought up to date."""
    trouble: str = ""
    """Why it cannot be read; empty where it can."""
    busy: bool = False
    """Whether it cannot be read only for now."""
    graves: Tombstones = Tombstones()


class AgentFolder(NamedTuple):
    """One agent's files: its format, the source as it was named, and the agent's own folder."""

    agent: CodingAgent
    root: Path
    home: Path


class DoctorScene:
    """Everything that the checks look at. Nothing is written, and what is not there is empty."""

    def __init__(self, sources: Sequence[Path], usual: Sequence[Path], archive: Path, now: datetime) -> None:
        self.sources = tuple(sources)
        """Folders that were named; empty where none was."""
        self.usual = tuple(usual)
        self.archive = archive
        self.now = now.timestamp()
        self.holding: ArchiveHolding | None = None
        """What the archive has; None where there is no archive."""

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """The folders that are there to be looked at."""
        return tuple(root for root in self.sources or self.usual if root.is_dir())

    @cached_property
    def agents(self) -> tuple[AgentFolder, ...]:
        found: dict[str, AgentFolder] = {}
        for root in self.roots:
            for agent in AGENTS:
                home = agent.home(root)
                if home is not None:
                    found.setdefault(os.path.realpath(home), AgentFolder(agent, root, home))
        return tuple(found.values())

    @cached_property
    def logs(self) -> tuple[FoundLog, ...]:
        """Every session's log, each file once."""
        found: dict[str, FoundLog] = {}
        for root in self.roots:
            for log in _discovered(root):
                found.setdefault(os.path.realpath(log.path), log)
        return tuple(found.values())

    @cached_property
    def places(self) -> tuple[SyncPlace, ...]:
        """The folders that are there, as a sync has them."""
        return tuple(sync_places(self.roots)) if self.roots else ()

    @cached_property
    def belongings(self) -> tuple[AgentFile, ...]:
        """Every file of the sources that is to be kept, each once."""
        return tuple(self._named.values())

    @cached_property
    def _named(self) -> dict[str, AgentFile]:
        """The files by the name that `Holding` has for them."""
        found: dict[str, AgentFile] = {}
        for place in self.places:
            above, forgotten = place.origin.root, ForgottenFiles(self.graves, place.agent)
            for one in place.agent.kept_files(place.source):
                inside = place.inside(one.path)
                if not forgotten.hides(inside):
                    found.setdefault(f"{above}/{inside}", one)
        return found

    @cached_property
    def _names(self) -> dict[str, str]:
        return {one.path: name for name, one in self._named.items()}

    @property
    def graves(self) -> Tombstones:
        """What was removed from the archive for good, and is not to be kept."""
        return self.holding.graves if self.holding is not None else Tombstones()

    def kept(self, one: AgentFile) -> KeptFile | None:
        """The last that the archive has of a file."""
        return self.holding.files.get(self._names[one.path]) if self.holding is not None else None

    def is_kept(self, one: AgentFile) -> bool:
        """Whether the archive has all of a file as it stands."""
        kept = self.kept(one)
        if kept is None or abs(kept.modified / 1e9 - one.modified) >= 0.001:
            return False
        # A list of prompts is kept without those that were forgotten.
        is_list = any(Path(one.path).name == agent.prompt_list.name for agent in AGENTS)
        return kept.size == one.size or (bool(self.graves.names) and is_list)


def _discovered(root: Path) -> list[FoundLog]:
    try:
        return logs_below(root)
    except OSError:
        return []


def archive_holding(folder: Path, places: Sequence[SyncPlace], key: str | None = None) -> ArchiveHolding | None:
    """What the archive in a folder holds of some places; None where there is no archive."""
    path = folder / ARCHIVE
    try:
        if not path.exists():
            return None
        with sqlite_errors_told(path), ArchiveDatabase.open(folder, key=key, readonly=True) as archive:
            return _held(archive, places, path.stat().st_mtime)
    except Busy:
        return ArchiveHolding(
            trouble="Another process is writing to the archive; ask again when it is done.", busy=True
        )
    except UnspoolError as error:
        return ArchiveHolding(trouble=str(error))
    except OSError as error:
        return ArchiveHolding(trouble=f"Cannot read the archive {path}: {error}.")


def _held(archive: ArchiveDatabase, places: Sequence[SyncPlace], written: float) -> ArchiveHolding:
    here = {place.origin for place in places}
    files: dict[str, KeptFile] = {}
    sessions: set[str] = set()
    for number, origin in archive.origins().items():
        if not is_known(origin.agent):
            continue
        kept = archive.kept(number)
        agent = by_id(origin.agent)
        sessions.update(agent.session_of(path) for path in kept if agent.is_log(path))
        if origin in here:
            files.update((f"{origin.root}/{path}", one) for path, one in kept.items())
    return ArchiveHolding(files, frozenset(sessions - {""}), written, graves=archive.graves())
