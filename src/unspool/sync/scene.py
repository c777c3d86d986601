"""What the doctor looks at: the sources, the archive and the time, each read once."""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from unspool.archive.graves import Graves
from unspool.formats import FORMATS, Format, Found
from unspool.formats.traces import Belonging
from unspool.sync.forgotten import Forgotten
from unspool.sync.places import Place, places

DAY = 86_400.0


class KeptFile(NamedTuple):
    """The last that an archive holds of a file."""

    size: int
    modified: float


class Holding(NamedTuple):
    """What an archive holds."""

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
    graves: Graves = Graves()


class Agent(NamedTuple):
    """One agent's files: its format, the source as it was named, and the agent's own folder."""

    format: Format
    root: Path
    home: Path


class Scene:
    """Everything that the checks look at. Nothing is written, and what is not there is empty."""

    def __init__(self, sources: Sequence[Path], usual: Sequence[Path], archive: Path, now: datetime) -> None:
        self.sources = tuple(sources)
        """Folders that were named; empty where none was."""
        self.usual = tuple(usual)
        self.archive = archive
        self.now = now.timestamp()
        self.holding: Holding | None = None
        """What the archive has; None where there is no archive."""

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """The folders that are there to be looked at."""
        return tuple(root for root in self.sources or self.usual if root.is_dir())

    @cached_property
    def agents(self) -> tuple[Agent, ...]:
        """Each agent's folder once."""
        found: dict[str, Agent] = {}
        for root in self.roots:
            for format_ in FORMATS:
                home = format_.home(root)
                if home is not None:
                    found.setdefault(os.path.realpath(home), Agent(format_, root, home))
        return tuple(found.values())

    @cached_property
    def logs(self) -> tuple[Found, ...]:
        """Every session's log, each file once."""
        found: dict[str, Found] = {}
        for root in self.roots:
            for log in _discovered(root):
                found.setdefault(os.path.realpath(log.path), log)
        return tuple(found.values())

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The folders that are there, as a sync has them."""
        return tuple(places(self.roots)) if self.roots else ()

    @cached_property
    def belongings(self) -> tuple[Belonging, ...]:
        """Every file of the sources that is to be kept, each once."""
        return tuple(self._named.values())

    @cached_property
    def _named(self) -> dict[str, Belonging]:
        """The files by the name that `Holding` has for them."""
        found: dict[str, Belonging] = {}
        for place in self.places:
            above, forgotten = place.origin.root, Forgotten(self.graves, place.format)
            for one in place.format.belongings(place.source):
                inside = place.inside(one.path)
                if not forgotten.hides(inside):
                    found.setdefault(f"{above}/{inside}", one)
        return found

    @cached_property
    def _names(self) -> dict[str, str]:
        return {one.path: name for name, one in self._named.items()}

    @property
    def graves(self) -> Graves:
        """What was removed from the archive for good, and is not to be kept."""
        return self.holding.graves if self.holding is not None else Graves()

    def kept(self, one: Belonging) -> KeptFile | None:
        """The last that the archive has of a file."""
        return self.holding.files.get(self._names[one.path]) if self.holding is not None else None

    def is_kept(self, one: Belonging) -> bool:
        """Whether the archive has all of a file as it stands."""
        kept = self.kept(one)
        if kept is None or abs(kept.modified - one.modified) >= 0.001:
            return False
        return kept.size == one.size or (bool(self.graves.names) and _is_list(one))


def _is_list(one: Belonging) -> bool:
    """Whether a file is a list of prompts, which is kept without those that were forgotten."""
    return any(Path(one.path).name == format_.prompts for format_ in FORMATS)


def _discovered(root: Path) -> list[Found]:
    try:
        return [log for format_ in FORMATS for log in format_.discover(root)]
    except OSError:
        return []
