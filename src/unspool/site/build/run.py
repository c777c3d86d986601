"""Runs a build: sessions in many processes, then the indexes above them."""

import time
from collections.abc import Sequence
from pathlib import Path

from unspool.errors import UnspoolError
from unspool.site import page_template
from unspool.site.address import INDEX
from unspool.site.build.disk import encode_html, sweep_site, write_if_changed
from unspool.site.build.manifest import SiteManifest, SiteProject, project_name
from unspool.site.build.plan import BuildFailure, BuildOptions, BuildPlan, BuildProgress, BuildReport, BuildStep
from unspool.site.build.worker import BuildContext, BuildResult, BuildTask, build_session, run_in_processes
from unspool.site.list_pages import ProjectCards, master_page, project_page
from unspool.site.options import SiteOptions
from unspool.site.page_template import Crumb, Frame, PageTemplate, fill_template
from unspool.site.search_files import SEARCH_FOLDER as SEARCH
from unspool.site.search_files import SearchedSession, SearchIndexWriter
from unspool.site.summaries import Card

_TOP = Crumb("Sessions", INDEX)


def crumbs_above(project: SiteProject) -> tuple[Crumb, ...]:
    """The pages above a project's sessions."""
    return (_TOP, Crumb(project_name(project.path), f"{project.folder}/{INDEX}"))


def project_cards(manifest: SiteManifest) -> list[ProjectCards]:
    """Every project that has sessions with pages."""
    cards: dict[str, list[tuple[str, Card]]] = {}
    places = {project.folder: project for project in manifest.projects.values()}
    for kept in manifest.sessions.values():
        if kept.card is not None:
            cards.setdefault(manifest.projects[kept.project].folder, []).append((kept.folder, kept.card))
    return [_shelf(places[folder], tuple(found)) for folder, found in cards.items()]


def _shelf(project: SiteProject, cards: tuple[tuple[str, Card], ...]) -> ProjectCards:
    return ProjectCards(project_name(project.path), project.path, project.folder, cards)


def write_missing_indexes(site: Path, manifest: SiteManifest, options: SiteOptions) -> None:
    """Indexes that are not there yet, so that pages below them have somewhere to lead."""
    for project in manifest.projects.values():
        if not (site / project.folder / INDEX).exists():
            _write_project(site, _shelf(project, ()), options)
    if not (site / INDEX).exists():
        _write_master(site, [], options)
    if not (site / SEARCH).exists():
        SearchIndexWriter(site).write()


def write_indexes(site: Path, manifest: SiteManifest, options: SiteOptions) -> int:
    """All indexes, from what is in place; the number of files that were written."""
    found = project_cards(manifest)
    written = sum(_write_project(site, shelf, options) for shelf in found) + _write_master(site, found, options)
    writer = SearchIndexWriter(site)
    for shelf in found:
        for folder, _ in shelf.cards:
            writer.add(SearchedSession(f"{shelf.folder}/{folder}", shelf.name))
    return written + writer.write()


def _write_project(site: Path, shelf: ProjectCards, options: SiteOptions) -> bool:
    page = project_page(shelf, options, Frame("../", (_TOP,), search=SEARCH))
    return write_if_changed(site / shelf.folder / page.path, encode_html(page.html))


def _write_master(site: Path, found: list[ProjectCards], options: SiteOptions) -> bool:
    page = master_page(found, options, Frame(search=SEARCH))
    return write_if_changed(site / page.path, encode_html(page.html))


NOT_YET_MADE = "This session is being made into pages; look again in a moment."
NO_CONVERSATION = "This session holds no conversation."


def write_placeholder(folder: Path, title: str, words: str, options: SiteOptions, frame: Frame) -> None:
    """Say in a session's place why there is nothing else."""
    body = fill_template("pending.html", title=title, words=words)
    write_if_changed(folder / INDEX, encode_html(PageTemplate(options, frame).page(title, body)))


_SAVE = 2.0
"""Seconds between two saves of the manifest while sessions are made."""


class SiteBuild:
    def __init__(self, site: Path, wanted: BuildOptions, plan: BuildPlan, report: BuildReport) -> None:
        self._site, self._wanted, self._plan, self._report = site, wanted, plan, report
        self._manifest = plan.manifest
        self._saved = time.monotonic()

    def run(self, watch: BuildProgress) -> BuildReport:
        self._prepare()
        try:
            self._make(self._plan.todo, watch)
            self._make(self._left(), watch)
        finally:
            self._manifest.save(self._site)
            sweep_site(self._site)
        self._index()
        return self._report

    def _prepare(self) -> None:
        """Put everything in place that pages lead to, before there are pages that lead to it."""
        self._manifest.indexed = ""
        for asset in page_template.site_assets():
            write_if_changed(self._site / asset.path, asset.data)
        write_missing_indexes(self._site, self._manifest, self._wanted.options)
        for step in self._plan.todo:
            if not (self._site / self._manifest.place(self._manifest.sessions[step.id]) / INDEX).exists():
                self._say(step, NOT_YET_MADE)

    def _left(self) -> list[BuildStep]:
        """Sessions that tell of others which have just got another title; those just made know it already."""
        done = {step.id for step in self._plan.todo}
        for step in self._plan.todo:
            kept = self._manifest.sessions[step.id]
            kept.key = self._plan.key(step) if kept.key else ""
        left = [step for step in self._plan.changed() if step.id not in done]
        self._report.unchanged -= len(left)
        return left

    def _make(self, todo: Sequence[BuildStep], watch: BuildProgress) -> None:
        wanted = self._wanted
        steps = {step.found.path: step for step in todo}
        addresses = self._manifest.addresses()
        context = BuildContext(str(self._site), wanted.options, addresses, wanted.prices, wanted.strays, wanted.kept)
        tasks = [self._task(step) for step in todo]
        total = sum(task.found.size for task in tasks)
        for task, result in run_in_processes(build_session, context, tasks, wanted.jobs):
            self._done(steps[task.found.path], result)
            watch(task.found.size, total)
            if time.monotonic() > self._saved + _SAVE:
                self._manifest.save(self._site)
                self._saved = time.monotonic()

    def _task(self, step: BuildStep) -> BuildTask:
        kept = self._manifest.sessions[step.id]
        crumbs = crumbs_above(self._manifest.projects[kept.project])
        near, names = self._plan.near(step), self._plan.names(step)
        return BuildTask(step.found, near, names, self._manifest.place(kept), crumbs)

    def _done(self, step: BuildStep, result: BuildResult | BaseException) -> None:
        """Note what came of a session; one that failed keeps the pages it had, and is tried again next time."""
        kept, report = self._manifest.sessions[step.id], self._report
        if isinstance(result, BaseException):
            why, kept.key = error_reason(result), ""
            report.failures.append(BuildFailure(step.found.path, why))
            self._without_pages(step, f"This session could not be made into pages: {why}")
            return
        kept.log, kept.start, kept.told, kept.card = step.log, step.start, result.told, result.card
        kept.key = self._plan.key(step)
        if result.card is None:
            report.empty += 1
            self._without_pages(step, NO_CONVERSATION)
            return
        report.made, report.files, report.size = report.made + 1, report.files + result.files, report.size + result.size

    def _without_pages(self, step: BuildStep, words: str) -> None:
        if self._manifest.sessions[step.id].card is None:
            self._say(step, words)

    def _say(self, step: BuildStep, words: str) -> None:
        """A page in the place of a session."""
        kept = self._manifest.sessions[step.id]
        frame = Frame("../../", crumbs_above(self._manifest.projects[kept.project]), search=SEARCH)
        write_placeholder(self._site / self._manifest.place(kept), kept.id, words, self._wanted.options, frame)

    def _index(self) -> None:
        written = write_indexes(self._site, self._manifest, self._wanted.options)
        self._report.indexed, self._report.files = bool(written), self._report.files + written
        self._manifest.indexed = self._plan.shared
        self._manifest.save(self._site)


def error_reason(error: BaseException) -> str:
    """What went wrong, in a sentence."""
    if isinstance(error, UnspoolError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}."
    if isinstance(error, MemoryError):
        return "There was not enough memory."
    return f"{type(error).__name__}: {error}"
