"""BuildPlan: which sessions have to be made anew; build_site brings a site up to date."""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from unspool.agents import FoundLog
from unspool.errors import UnspoolError
from unspool.model.session import is_unlisted
from unspool.site.address import INDEX, slug
from unspool.site.build.disk import lock_folder, sweep_site
from unspool.site.build.manifest import (
    BuiltSession,
    SiteManifest,
    fingerprint,
    free_name,
    load_manifest,
    place_projects,
    project_key,
    short_digest,
)
from unspool.site.build.neighbourhood import LogStart, Neighbourhood, overview_facts, start
from unspool.site.options import SiteOptions
from unspool.store.library.read import make_overview, offered_plans

if TYPE_CHECKING:
    from unspool.store.library.kept_sessions import KeptSessions


class BuildOptions(msgspec.Struct, frozen=True):
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

    def makes(self, kind: str, title: str) -> bool:
        """Whether a session gets pages; those that lists leave out do not."""
        return self.strays if kind == "subagent" else not is_unlisted(kind, title)

    def digest(self) -> str:
        """Of everything that all pages depend on."""
        site = self.options
        told = (*(getattr(site, name) for name in site.__struct_fields__ if name != "hide"), *sorted(site.hide))
        return short_digest(fingerprint(), self.strays, _state(self.prices) if self.prices else "", *told)


class BuildStep(msgspec.Struct, frozen=True):
    """One session of the site that has a log."""

    id: str
    found: FoundLog
    log: str
    """Digest of the log's state."""
    start: LogStart


def _log_state(found: FoundLog) -> str:
    """Changes when the log, a subagent's log, what lies in the session's own folder or another version of it does."""
    versions = (f"version {one.size} {one.modified!r}" for one in found.versions)
    if found.origin:
        return short_digest("kept", found.size, repr(found.modified), *versions)
    agents = (
        f"{agent.id} {_state(agent.path)} {_state(agent.sidecar) if agent.sidecar else ''}" for agent in found.agents
    )
    return short_digest(found.size, repr(found.modified), *agents, *_companions(found), *versions)


def _companions(found: FoundLog) -> list[str]:
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


def _place(made: Sequence[BuildStep], manifest: SiteManifest) -> None:
    """Give every session its entry in the manifest; a new one gets a folder that no other of its project has."""
    taken: dict[str, set[str]] = {}
    for kept in manifest.sessions.values():
        taken.setdefault(manifest.projects[kept.project].folder, set()).add(kept.folder)
    for step in made:
        if step.id not in manifest.sessions:
            project = project_key(step.found)
            folder = free_name(slug(step.found.session_id), taken.setdefault(manifest.projects[project].folder, set()))
            manifest.sessions[step.id] = BuiltSession(step.found.session_id, project, folder, "", step.start)


class BuildPlan:
    """What a run is going to do; nothing is written."""

    def __init__(self, logs: Sequence[FoundLog], site: Path, wanted: BuildOptions) -> None:
        self.manifest, self.shared, self._site = load_manifest(site), wanted.digest(), site
        self._archive = wanted.kept
        place_projects(logs, self.manifest, wanted.kept)
        every = {step.found.path: step for step in _steps(logs, self.manifest, wanted.kept)}
        self._ids = {path: step.id for path, step in every.items()}
        starts = {path: step.start for path, step in every.items()}
        self._around = Neighbourhood(logs, starts, lambda found: self._offered(every[found.path]))
        projects = self.manifest.projects
        self.steps = [step for step in every.values() if wanted.fits(projects[project_key(step.found)].path)]
        _place(self.steps, self.manifest)
        used = {kept.project for kept in self.manifest.sessions.values()}
        self.manifest.projects = {key: project for key, project in projects.items() if key in used}
        self.todo = _largest_first(self.steps) if wanted.force else self.changed()

    def changed(self) -> list[BuildStep]:
        """Sessions that have to be made: their key is another, or their pages are gone."""
        return _largest_first(step for step in self.steps if not self._is_fresh(step))

    def foreseen(self) -> list[BuildStep]:
        """What a run would make: what has to be made now, and what tells of a session that has another title then."""
        for step in self.todo:
            overview = make_overview(step.found, self._archive)
            if overview is not None:
                self.manifest.sessions[step.id].told = overview_facts(overview)
        todo = {step.id for step in self.todo}
        return [*self.todo, *(step for step in self.changed() if step.id not in todo)]

    def _is_fresh(self, step: BuildStep) -> bool:
        kept = self.manifest.sessions[step.id]
        page = f"{self._site}/{self.manifest.place(kept)}/{INDEX}"
        return kept.key == self.key(step) and os.path.exists(page)  # noqa: PTH110  as for stat

    def key(self, step: BuildStep) -> str:
        """Of everything that a session's pages are made of, as far as it is known now."""
        kept = self.manifest.sessions[step.id]
        near, names = self.near(step), () if kept.told.named else self.names(step)
        others = (self.manifest.sessions.get(self._ids[log.path]) for log in near)
        labels = [(other.told.title, other.told.prompt) for other in others if other is not None]
        leads = [f"{name} {self._addresses.get(name, '')}" for name in kept.told.leads]
        return short_digest(
            self.shared, step.log, *sorted(self._around.digests((*near, *names))), *sorted(labels), *leads
        )

    @cached_property
    def _addresses(self) -> dict[str, str]:
        """Where a page that leads to another session finds it; one that comes later changes the page."""
        return self.manifest.addresses()

    def near(self, step: BuildStep) -> tuple[FoundLog, ...]:
        """The logs of the same chain that a session's pages tell of."""
        return tuple(self._around.near(step.found))

    def names(self, step: BuildStep) -> tuple[FoundLog, ...]:
        """The logs that may hold a name for a session."""
        return tuple(self._around.names(step.found))

    def _offered(self, step: BuildStep) -> tuple[int, ...]:
        """The plans put forward in a session, which is read only where it has changed."""
        kept = self.manifest.sessions.get(step.id)
        if kept is not None and kept.log == step.log:
            return kept.told.offered
        return offered_plans(step.found, self._archive)


def _largest_first(steps: Iterable[BuildStep]) -> list[BuildStep]:
    """So that processes which share the work end together."""
    return sorted(steps, key=lambda step: -step.found.total_size)


def _steps(logs: Sequence[FoundLog], manifest: SiteManifest, kept: "KeptSessions | None") -> list[BuildStep]:
    made = []
    folders: dict[str, str] = {}
    for found in logs:
        name, state = short_digest(_real(found.path, folders)), _log_state(found)
        known = manifest.sessions.get(name)
        begun = known.start if known is not None and known.log == state else start(found, kept)
        made.append(BuildStep(name, found, state, begun))
    return made


def _real(path: str, folders: dict[str, str]) -> str:
    """The path without links; each folder is looked at once."""
    folder, name = os.path.split(path)
    if not name or os.path.islink(path):  # noqa: PTH114  as for stat
        return os.path.realpath(path)
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    return os.path.join(folders[folder], name)  # noqa: PTH118


class BuildFailure(msgspec.Struct, frozen=True):
    """A session that could not be made."""

    log: str
    why: str


class BuildReport(msgspec.Struct):
    made: int = 0
    unchanged: int = 0
    empty: int = 0
    """Logs that hold no conversation."""
    gone: int = 0
    """Sessions that stay though their logs are gone."""
    files: int = 0
    size: int = 0
    failures: list[BuildFailure] = []
    indexed: bool = False
    """Whether the indexes were written."""


BuildProgress = Callable[[int, int], None]
"""Hears the bytes of each log that is done, and of all that there are to do."""


def build_site(
    logs: Sequence[FoundLog], site: Path, wanted: BuildOptions, watch: BuildProgress = lambda _, __: None
) -> BuildReport:
    """Bring a site up to date with these logs."""
    site.mkdir(parents=True, exist_ok=True)
    with lock_folder(site) as mine:
        if not mine:
            raise UnspoolError(f"Another run of unspool is writing to {site}.")
        sweep_site(site)
        plan = BuildPlan(logs, site, wanted)
        if not plan.todo and plan.manifest.indexed == plan.shared and (site / INDEX).exists():
            return plan_report(plan)
        from unspool.site.build.run import SiteBuild

        return SiteBuild(site, wanted, plan, plan_report(plan)).run(watch)


def plan_report(plan: BuildPlan) -> BuildReport:
    """What there is to say before anything is made."""
    ids = {step.id for step in plan.steps}
    gone = sum(kept.card is not None for key, kept in plan.manifest.sessions.items() if key not in ids)
    empty = sum(plan.manifest.sessions[key].card is None for key in ids - {step.id for step in plan.todo})
    return BuildReport(unchanged=len(plan.steps) - len(plan.todo) - empty, empty=empty, gone=gone)
