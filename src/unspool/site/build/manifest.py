"""What a site was made of, where its projects lie, and the fingerprint of the program."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from unspool import human
from unspool.agents import FoundLog, by_id
from unspool.site.address import INDEX
from unspool.site.build.disk import write_if_changed
from unspool.site.build.neighbourhood import LogStart, NeighbourFacts
from unspool.site.session_rows import SessionRow
from unspool.store.library.chains import project_named_after
from unspool.store.library.read import project_in_head

if TYPE_CHECKING:
    from unspool.store.library.kept_sessions import KeptSessions


MANIFEST_FILE = ".unspool.json"
DONE_FILE = ".unspool.done"
"""Sessions that were made since the manifest was saved, a line each; a run that is broken off leaves it behind."""
VERSION = 1


class SiteProject(msgspec.Struct, frozen=True):
    """A project's place in the site, for as long as the site lives."""

    folder: str
    path: str
    """The project's path as its logs tell it."""


class BuiltSession(msgspec.Struct, omit_defaults=True):
    """One session of the site."""

    id: str
    project: str
    """Key of its project."""
    folder: str
    """Its folder below the project's."""
    log: str
    """Digest of the bytes it was made of."""
    start: LogStart
    told: NeighbourFacts = NeighbourFacts()
    key: str = ""
    """Digest of everything its pages were made of; empty where they could not be made."""
    card: SessionRow | None = None
    """What indexes show of it; None where it has no pages."""


class SiteManifest(msgspec.Struct):
    """Everything a site holds; projects and sessions by digests of the paths they come from."""

    version: int = VERSION
    indexed: str = ""
    """What the indexes were made with; empty while sessions change below them."""
    projects: dict[str, SiteProject] = {}
    sessions: dict[str, BuiltSession] = {}

    def place(self, kept: BuiltSession) -> str:
        """Where a session lies below the site's root."""
        return f"{self.projects[kept.project].folder}/{kept.folder}"

    def addresses(self) -> dict[str, str]:
        """The first page of every session, relative to the site's root, by the session's id."""
        return {kept.id: f"{self.place(kept)}/{INDEX}" for kept in self.sessions.values()}

    def save(self, site: Path) -> None:
        write_if_changed(site / MANIFEST_FILE, msgspec.json.encode(self))
        (site / DONE_FILE).unlink(missing_ok=True)

    def note(self, site: Path, name: str) -> None:
        """Remember what became of one session, whatever becomes of this run."""
        with (site / DONE_FILE).open("ab") as stream:
            stream.write(msgspec.json.encode((name, self.sessions[name])) + b"\n")


def load_manifest(site: Path) -> SiteManifest:
    """The manifest of a site; a fresh one where there is none that can be read."""
    try:
        found = msgspec.json.decode((site / MANIFEST_FILE).read_bytes(), type=SiteManifest)
    except (OSError, msgspec.DecodeError):
        return SiteManifest()
    if found.version != VERSION:
        return SiteManifest()
    found.sessions.update((name, built) for name, built in _noted(site) if name in found.sessions)
    return found


def _noted(site: Path) -> Iterator[tuple[str, BuiltSession]]:
    try:
        lines = (site / DONE_FILE).read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        with suppress(msgspec.DecodeError):  # the last one, where the run was killed while it wrote
            yield msgspec.json.decode(line, type=tuple[str, BuiltSession])


def short_digest(*parts: object) -> str:
    """A short name for some values."""
    return blake2b("\0".join(map(str, parts)).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


PACKAGE = str(Path(__file__).parents[2])
ABOVE = ("cli", "lake", "hub", "app", "mcp", "web", "config", "hub_client", "share")
_APART = frozenset({"__pycache__", "demo", *ABOVE})
"""Folders of the package that have no part in a page: all layers above this one, which it may not import."""


@cache
def fingerprint() -> str:
    """Another one whenever pages may come out differently: of the content of every file that takes part."""
    return digest_of(PACKAGE)


def digest_of(package: str) -> str:
    """Of the names and contents of the files below a folder."""
    digest = blake2b(digest_size=12)
    for path in sorted(_files(package)):
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123  a third of the time, in every run
            content = file.read()
        digest.update(f"{path[len(package) :]}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                yield entry.path
            elif entry.name not in _APART:
                yield from _files(entry.path)


_ASKED = 8
"""How many logs of a project are asked for its path."""
RESERVED_FOLDERS = {"assets", "search"}
"""Folders of the site that are no projects."""


def project_key(found: FoundLog) -> str:
    """The key of a log's project: the same folder name in two sources is two projects; where folders tell nothing of
    projects, each log has its own key, and its lines tell."""
    if not by_id(found.agent_id).filed_by_project:
        return short_digest(found.root, found.session_id)
    return short_digest(found.root or found.path.rpartition(found.folder)[0], found.folder)


def place_projects(logs: Iterable[FoundLog], manifest: SiteManifest, kept: "KeptSessions | None" = None) -> None:
    """Give every project of these logs its place in the manifest; those that have one keep it.

    Log folders that belong to one project, as those of its worktrees do, share its place.
    """
    fresh: dict[str, list[FoundLog]] = {}
    for found in logs:
        key = project_key(found)
        if key not in manifest.projects:
            fresh.setdefault(key, []).append(found)
    taken = RESERVED_FOLDERS | {project.folder for project in manifest.projects.values()}
    paths = {key: _path(group, kept) for key, group in fresh.items()}
    known = {project.path: project.folder for project in manifest.projects.values()}
    for key, path in sorted(paths.items(), key=lambda item: (item[1], item[0])):
        # A folder's name has nothing that an address would have to escape.
        plain = re.sub(r"[^a-z0-9_-]+", "-", project_name(path).lower()).strip("-")[:60]
        known[path] = known.get(path) or free_name(plain or "project", taken)
        manifest.projects[key] = SiteProject(known[path], path)


def _path(group: list[FoundLog], kept: "KeptSessions | None") -> str:
    """The project's path as its newest logs tell; the one its folder is named after, if any does."""
    folder, newest = group[0].folder, ""
    for found in group[:_ASKED]:
        path = project_in_head(found, kept)
        if path and project_named_after(folder, (path,)):
            return path
        newest = newest or path
    return newest or folder


def project_name(path: str) -> str:
    """What a project is called: the last part of its path."""
    return human.last_part(path) or "project"


def free_name(wanted: str, taken: set[str]) -> str:
    """A name that nobody has, and from now on somebody does."""
    number, found = 1, wanted
    while found in taken:
        number += 1
        found = f"{wanted}-{number}"
    taken.add(found)
    return found
