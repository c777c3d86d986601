"""What a run has to do: which sessions there are, where each belongs in the site, and which have changed."""

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from unspool.formats import Found
from unspool.library.skims import overview_of
from unspool.site.address import INDEX, slug
from unspool.site.build.fingerprint import fingerprint
from unspool.site.build.manifest import Kept, Manifest, digest, load
from unspool.site.build.neighbourhood import Neighbourhood, Start, start
from unspool.site.build.projects import free, key_of, settle
from unspool.site.options import SiteOptions

if TYPE_CHECKING:
    from unspool.library.kept import KeptSessions


class Wanted(msgspec.Struct, frozen=True):
    """How a site is to be made."""

    options: SiteOptions = SiteOptions()
    jobs: int = 1
    force: bool = False
    """Make every session again."""
    strays: bool = False
    """Subagents' logs whose session is gone count as sessions."""
    project: str = ""
    """Only projects whose path holds this."""
    prices: str = ""
    """The user's own price table, if there is one."""
    kept: "KeptSessions | None" = None
    """Where sessions are read whose logs are gone from their sources."""

    def fits(self, project: str) -> bool:
        return self.project.casefold() in project.casefold()

    def digest(self) -> str:
        """Of everything that all pages depend on."""
        site = self.options
        told = (*(getattr(site, name) for name in site.__struct_fields__ if name != "hide"), *sorted(site.hide))
        return digest(fingerprint(), self.strays, _state(self.prices) if self.prices else "", *told)


class Step(msgspec.Struct, frozen=True):
    """One session of the site that has a log."""

    id: str
    found: Found
    log: str
    """Digest of the log's state."""
    start: Start


def _start(found: Found, known: Kept | None, state: str, kept: "KeptSessions | None") -> Start:
    """The start of a log, read again only where the log has changed."""
    return known.start if known is not None and known.log == state else start(found, kept)


def _log_state(found: Found) -> str:
    """Changes when the log, a subagent's log or what lies in the session's own folder does."""
    if found.origin:
        return digest("kept", found.size, repr(found.modified))
    agents = (
        f"{agent.id} {_state(agent.path)} {_state(agent.sidecar) if agent.sidecar else ''}" for agent in found.agents
    )
    return digest(found.size, repr(found.modified), *agents, *_companions(found))


def _companions(found: Found) -> list[str]:
    """The folders of a session's companions; a folder's time changes when a file comes or goes."""
    try:
        with os.scandir(found.home) as entries:
            return sorted(f"{entry.name} {entry.stat().st_mtime_ns}" for entry in entries)
    except OSError:
        return []


def _state(path: str) -> str:
    """Changes when the file does."""
    try:
        status = os.stat(path)  # noqa: PTH116  pathlib costs as much again, for thousands of files
    except OSError:
        return ""
    return f"{status.st_size} {status.st_mtime_ns}"


def _place(made: Sequence[Step], manifest: Manifest) -> None:
    """Give every session its entry in the manifest; a new one gets a folder that no other of its project has."""
    taken: dict[str, set[str]] = {}
    for kept in manifest.sessions.values():
        taken.setdefault(manifest.projects[kept.project].folder, set()).add(kept.folder)
    for step in made:
        if step.id not in manifest.sessions:
            project = key_of(step.found)
            folder = free(slug(step.found.session_id), taken.setdefault(manifest.projects[project].folder, set()))
            manifest.sessions[step.id] = Kept(step.found.session_id, project, folder, "", step.start)


class Plan:
    """What a run is going to do; nothing is written."""

    def __init__(self, logs: Sequence[Found], site: Path, wanted: Wanted) -> None:
        self.manifest, self.shared, self._site = load(site), wanted.digest(), site
        self._archive = wanted.kept
        settle(logs, self.manifest, wanted.kept)
        every = {step.found.path: step for step in _steps(logs, self.manifest, wanted.kept)}
        self._ids = {path: step.id for path, step in every.items()}
        starts = {path: step.start for path, step in every.items()}
        self._around = Neighbourhood(logs, starts, lambda found: self._offered(every[found.path]))
        projects = self.manifest.projects
        self.steps = [step for step in every.values() if wanted.fits(projects[key_of(step.found)].path)]
        _place(self.steps, self.manifest)
        used = {kept.project for kept in self.manifest.sessions.values()}
        self.manifest.projects = {key: project for key, project in projects.items() if key in used}
        self.todo = _largest_first(self.steps) if wanted.force else self.changed()

    def changed(self) -> list[Step]:
        """Sessions that have to be made: their key is another, or their pages are gone."""
        return _largest_first(step for step in self.steps if not self._fresh(step))

    def _fresh(self, step: Step) -> bool:
        kept = self.manifest.sessions[step.id]
        page = f"{self._site}/{self.manifest.place(kept)}/{INDEX}"
        return kept.key == self.key(step) and os.path.exists(page)  # noqa: PTH110  as for stat

    def key(self, step: Step) -> str:
        """Of everything that a session's pages are made of, as far as it is known now."""
        kept = self.manifest.sessions[step.id]
        near, names = self.near(step), () if kept.told.named else self.names(step)
        labels = [(other.told.title, other.told.prompt) for log in near if (other := self._kept(log)) is not None]
        leads = [f"{name} {self._addresses.get(name, '')}" for name in kept.told.leads]
        return digest(self.shared, step.log, *sorted(self._around.digests((*near, *names))), *sorted(labels), *leads)

    @cached_property
    def _addresses(self) -> dict[str, str]:
        """Where a page that leads to another session finds it; one that comes later changes the page."""
        return self.manifest.addresses()

    def near(self, step: Step) -> tuple[Found, ...]:
        """The logs of the same chain that a session's pages tell of."""
        return tuple(self._around.near(step.found))

    def names(self, step: Step) -> tuple[Found, ...]:
        """The logs that may hold a name for a session."""
        return tuple(self._around.names(step.found))

    def _kept(self, found: Found) -> Kept | None:
        return self.manifest.sessions.get(self._ids[found.path])

    def _offered(self, step: Step) -> tuple[int, ...]:
        """The plans put forward in a session, which is read only where it has changed."""
        kept = self.manifest.sessions.get(step.id)
        if kept is not None and kept.log == step.log:
            return kept.told.offered
        overview = overview_of(step.found, self._archive)
        return overview.offered if overview is not None else ()


def _largest_first(steps: Iterable[Step]) -> list[Step]:
    """So that processes which share the work end together."""
    return sorted(steps, key=lambda step: -step.found.size)


def _steps(logs: Sequence[Found], manifest: Manifest, kept: "KeptSessions | None") -> list[Step]:
    made = []
    folders: dict[str, str] = {}
    for found in logs:
        name, state = digest(_real(found.path, folders)), _log_state(found)
        made.append(Step(name, found, state, _start(found, manifest.sessions.get(name), state, kept)))
    return made


def _real(path: str, folders: dict[str, str]) -> str:
    """The path without links; each folder is looked at once."""
    folder, name = os.path.split(path)
    if not name or os.path.islink(path):  # noqa: PTH114  as for stat
        return os.path.realpath(path)
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    return os.path.join(folders[folder], name)  # noqa: PTH118
