"""The places that are synced: each source with the agent whose it is, and its files as they stand."""

import getpass
import os
import platform
import posixpath
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from unspool.archive import Origin, Status
from unspool.errors import NotFound
from unspool.formats import FORMATS, Format, Found
from unspool.library.sources import usual_roots


class Seen(NamedTuple):
    """A file of a source as it stands."""

    path: str
    status: Status


class Place(NamedTuple):
    """One source of one agent."""

    format: Format
    source: Path
    root: Path
    """The agent's own folder, or the source where it lies in none; paths in the archive begin below it."""

    @property
    def origin(self) -> Origin:
        return Origin(platform.node(), _user(), os.path.realpath(self.root), self.format.id)

    @property
    def prefix(self) -> str:
        """What the paths of this source begin with, where it is only a part of its root."""
        inside = os.path.relpath(self.source, self.root)
        return "" if inside in (".", "projects") else f"{inside}/"

    def files(self) -> dict[str, Seen]:
        """Every file of its sessions, by its path below the root."""
        found: dict[str, Seen] = {}
        for one in self.format.belongings(self.source):
            with suppress(OSError):  # deleted this very moment
                found[self.inside(one.path)] = Seen(one.path, Status.of(Path(one.path).stat()))
        return found

    def logs(self) -> Iterator[tuple[str, Found]]:
        """Every session's log, with its path below the root."""
        for found in self.format.discover(self.source):
            yield self.inside(found.path), found

    def inside(self, path: str) -> str:
        """A path below the root, with slashes."""
        return os.path.relpath(path, self.root).replace(os.sep, posixpath.sep)


def places(sources: Sequence[Path]) -> list[Place]:
    """The places of the sources named, else of the agents' own folders that are there."""
    for source in sources:
        if not source.is_dir():
            raise NotFound(f"There is no folder {source}.")
    found: dict[tuple[str, str], Place] = {}
    for source in sources or [root for root in usual_roots() if root.is_dir()]:
        for format_ in FORMATS:
            place = Place(format_, source, format_.home(source) or source)
            found.setdefault((format_.id, os.path.realpath(source)), place)
    return list(found.values())


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid()) if hasattr(os, "getuid") else ""
