"""Builds what a plan names: sessions in several processes, then the lists."""

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from unspool import human
from unspool.agents import FoundLog
from unspool.errors import UnspoolError
from unspool.figures import figures
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.reading.prompts import plan_key, plans_of
from unspool.render.html.elements import picture_inside
from unspool.site import page_template
from unspool.site.address import INDEX
from unspool.site.build.disk import encode_html, swap_folder, sweep_site, write_if_changed
from unspool.site.build.manifest import SiteManifest, SiteProject, project_name
from unspool.site.build.neighbourhood import NeighbourFacts, neighbour_facts, remembered_head
from unspool.site.build.plan import BuildFailure, BuildOptions, BuildPlan, BuildProgress, BuildReport, BuildStep
from unspool.site.list_pages import ProjectRows, master_page, project_page
from unspool.site.options import SiteOptions
from unspool.site.page_template import Crumb, Frame, PageTemplate, fill_template
from unspool.site.search_files import SEARCH_FOLDER, SearchedSession, SearchIndexWriter
from unspool.site.session_rows import SessionRow, session_row
from unspool.site.turn_pages import session_folder
from unspool.store.library.history import CountedLog
from unspool.store.library.neighbours import ChainHead, Neighbours
from unspool.store.library.read import read_countable, read_session
from unspool.workers import run_in_processes

if TYPE_CHECKING:
    from unspool.store.library.kept_sessions import KeptSessions


class _Around(Neighbours):
    """Neighbours of a session that was just read. They remember the beginnings of logs from one session to the next:
    many have the same around them."""

    def __init__(
        self, logs: Sequence[FoundLog], kept: "KeptSessions | None", count: Callable[[], CountedLog] | None
    ) -> None:
        super().__init__(lambda: logs, _load_prices, kept)
        self._path, self._count = logs[0].path, count

    def _counted(self, found: FoundLog) -> CountedLog:
        if self._count is not None and found.path == self._path:
            return self._counts.get(found.path) or self._counts.setdefault(found.path, self._count())
        return super()._counted(found)

    def _head(self, found: FoundLog) -> ChainHead | None:
        return remembered_head(found, self._kept)


_TOP = Crumb("Sessions", INDEX)
_SMALL = 4096
"""Characters of base64 up to which a file of its own costs more than it saves."""
_load_prices = cache(PriceTable.load)


class LinkedSession(NamedTuple):
    session: Session
    facts: NeighbourFacts
    """What the log says to its neighbours by itself."""


def read_for_pages(
    found: FoundLog, near: Sequence[FoundLog], names: Sequence[FoundLog], kept: "KeptSessions | None" = None
) -> LinkedSession:
    """Read a log; its links come from the logs near it, and its title from those that name others, if it has none."""
    alone, count = read_countable(found, kept) if near else (read_session(found, kept), None)
    offered = tuple(plan_key(plan) for plan in plans_of(alone.turns))
    facts = neighbour_facts(alone.title, alone.titles, offered, alone.links)
    around = (found, *near, *(() if facts.named else names))
    if len(around) == 1 and not found.versions:
        return LinkedSession(alone, facts)
    return LinkedSession(_Around(around, kept, count).linked(alone, found), facts)


class BuildContext(msgspec.Struct, frozen=True):
    """What all sessions of a run have in common."""

    site: str
    wanted: BuildOptions
    sessions: dict[str, str]
    """Where each session of the site lies, relative to its root, by id."""


class BuildTask(msgspec.Struct, frozen=True):
    found: FoundLog
    near: tuple[FoundLog, ...]
    """Logs of the same chain."""
    names: tuple[FoundLog, ...]
    """Logs that may hold a name for it."""
    folder: str
    """Its place below the site's root."""
    crumbs: tuple[Crumb, ...]


class BuildResult(msgspec.Struct, frozen=True):
    facts: NeighbourFacts
    card: SessionRow | None
    """None where the log holds no conversation, and no pages were made."""
    files: int = 0
    size: int = 0


def empty_page(options: SiteOptions, crumbs: tuple[Crumb, ...], title: str, words: str) -> bytes:
    """A page in the place of a session, which says why there is nothing else."""
    body = fill_template("pending.html", title=title, words=words)
    return encode_html(PageTemplate(options, Frame("../../", crumbs, search=SEARCH_FOLDER)).page(title, body))


class LinkedPages(Mapping[str, str]):
    """Where each session of a site lies; one that is asked for, since a page leads there, has a page from then on."""

    def __init__(self, context: BuildContext) -> None:
        self._context = context

    def __getitem__(self, name: str) -> str:
        place = self._context.sessions[name]
        page = Path(self._context.site, place)
        page.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError, FileNotFoundError), page.open("xb") as file:
            words = "This session is being made into pages; look again in a moment."
            file.write(empty_page(self._context.wanted.options, (_TOP,), "A session", words))
        return place

    def __iter__(self) -> Iterator[str]:
        return iter(self._context.sessions)

    def __len__(self) -> int:
        return len(self._context.sessions)


class PictureFiles:
    """Pictures and documents of a session as files beside its pages, each once however often it is shown."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.sizes: dict[str, int] = {}
        """Of the files that were written, by name."""

    def href(self, kind: str, data: str) -> str:
        """The name of the file that holds what is given in base64; what is small or no base64 stays in the page."""
        if len(data) < _SMALL:
            return picture_inside(kind, data)
        try:
            raw = b64decode(data)
        except ValueError:
            return picture_inside(kind, data)
        name = f"{blake2b(raw, digest_size=8).hexdigest()}.{kind.rpartition('/')[2]}"
        if name not in self.sizes:
            (self._folder / name).write_bytes(raw)
            self.sizes[name] = len(raw)
        return name


def build_session(context: BuildContext, task: BuildTask) -> BuildResult:
    """Read a session and put its pages in place; what was there before stays until they are complete."""
    wanted = context.wanted
    session, facts = read_for_pages(task.found, task.near, task.names, wanted.kept)
    if not wanted.makes(session.kind, session.title):
        return BuildResult(facts, None)
    prices = _load_prices(Path(wanted.prices) if wanted.prices else None)
    counted = figures(session, prices)
    files = size = 0
    with swap_folder(Path(context.site, task.folder)) as folder:
        pictures = PictureFiles(folder)
        href = picture_inside if wanted.options.self_contained else pictures.href
        frame = Frame("../../", task.crumbs, LinkedPages(context), SEARCH_FOLDER, prices, picture_href=href)
        for name, data in session_folder(session, counted, wanted.options, frame):
            with open(f"{folder}/{name}", "wb") as file:  # noqa: PTH123  hot
                file.write(data)
            files, size = files + 1, size + len(data)
    files, size = files + len(pictures.sizes), size + sum(pictures.sizes.values())
    shown = msgspec.structs.replace(session_row(session, counted), kept=bool(task.found.origin))
    return BuildResult(facts, shown, files, size)


def crumbs_above(project: SiteProject) -> tuple[Crumb, ...]:
    """The pages above a project's sessions."""
    return (_TOP, Crumb(project_name(project.path), f"{project.folder}/{INDEX}"))


def _project_rows(
    project: SiteProject, labels: dict[str, str], rows: tuple[tuple[str, SessionRow], ...] = ()
) -> ProjectRows:
    """A project under its name, and so much of its path as tells it from others of that name."""
    name = labels.get(project.path) or project_name(project.path)
    return ProjectRows(name, project.path, project.folder, rows)


def _labels(manifest: SiteManifest) -> dict[str, str]:
    return human.path_labels({project.path for project in manifest.projects.values()})


def write_missing_indexes(site: Path, manifest: SiteManifest, options: SiteOptions) -> None:
    """Indexes that are not there yet, so that pages below them have somewhere to lead."""
    for project in manifest.projects.values():
        if not (site / project.folder / INDEX).exists():
            _write_project(site, _project_rows(project, _labels(manifest)), options)
    if not (site / INDEX).exists():
        _write_master(site, [], options)
    if not (site / SEARCH_FOLDER).exists():
        SearchIndexWriter(site).write()


def write_indexes(site: Path, manifest: SiteManifest, options: SiteOptions) -> int:
    """All indexes, from what is in place; the number of files that were written."""
    rows: dict[str, list[tuple[str, SessionRow]]] = {}
    places = {project.folder: project for project in manifest.projects.values()}
    for kept in manifest.sessions.values():
        if kept.card is not None:
            rows.setdefault(manifest.projects[kept.project].folder, []).append((kept.folder, kept.card))
    labels = _labels(manifest)
    found = [_project_rows(places[folder], labels, tuple(listed)) for folder, listed in rows.items()]
    written = sum(_write_project(site, project, options) for project in found) + _write_master(site, found, options)
    writer = SearchIndexWriter(site)
    for project in found:
        for folder, _ in project.rows:
            writer.add(SearchedSession(f"{project.folder}/{folder}", project.name))
    return written + writer.write()


def _write_project(site: Path, project: ProjectRows, options: SiteOptions) -> bool:
    page = project_page(project, options, Frame("../", (_TOP,), search=SEARCH_FOLDER))
    return write_if_changed(site / project.folder / page.path, encode_html(page.html))


def _write_master(site: Path, found: list[ProjectRows], options: SiteOptions) -> bool:
    page = master_page(found, options, Frame(search=SEARCH_FOLDER))
    return write_if_changed(site / page.path, encode_html(page.html))


class SiteBuild:
    def __init__(self, site: Path, wanted: BuildOptions, plan: BuildPlan, report: BuildReport) -> None:
        self._site, self._wanted, self._plan, self._report = site, wanted, plan, report
        self._manifest = plan.manifest
        self._made: set[str] = set()
        """Sessions of this run that were made."""
        self._tellers: dict[str, list[BuildStep]] = {}
        """The sessions whose pages tell of another one, by the path of its log."""
        for step in plan.todo:
            for log in plan.near(step):
                self._tellers.setdefault(log.path, []).append(step)

    def run(self, watch: BuildProgress) -> BuildReport:
        self._prepare()
        try:
            self._make(self._plan.todo, watch)
            self._make(self._left(), watch)
        finally:
            self._manifest.save(self._site)
            sweep_site(self._site)
        written = write_indexes(self._site, self._manifest, self._wanted.options)
        self._report.indexed, self._report.files = bool(written), self._report.files + written
        self._manifest.indexed = self._plan.shared
        self._manifest.save(self._site)
        return self._report

    def _prepare(self) -> None:
        """Put everything in place that pages lead to, before there are pages that lead to it."""
        self._manifest.indexed = ""
        self._manifest.save(self._site)
        for asset in page_template.site_assets():
            write_if_changed(self._site / asset.path, asset.data)
        write_missing_indexes(self._site, self._manifest, self._wanted.options)

    def _left(self) -> list[BuildStep]:
        """Sessions that tell of others which have just got another title; those just made know it already."""
        done = {step.id for step in self._plan.todo}
        left = [step for step in self._plan.changed() if step.id not in done]
        self._report.unchanged -= len(left)
        return left

    def _make(self, todo: Sequence[BuildStep], watch: BuildProgress) -> None:
        steps = {step.found.path: step for step in todo}
        context = BuildContext(str(self._site), self._wanted, self._manifest.addresses())
        tasks = [self._task(step) for step in todo]
        total = sum(task.found.total_size for task in tasks)
        for task, result in run_in_processes(build_session, context, tasks, self._wanted.jobs):
            self._done(steps[task.found.path], result)
            watch(task.found.total_size, total)

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
        kept.log, kept.start, kept.told, kept.card = step.log, step.start, result.facts, result.card
        self._made.add(step.id)
        for one in (step, *self._tellers.get(step.found.path, ())):
            if one.id in self._made:  # its pages know already what this session has just told
                self._manifest.sessions[one.id].key = self._plan.key(one)
                self._manifest.note(self._site, one.id)
        if result.card is None:
            report.empty += 1
            self._without_pages(step, "This session holds no conversation.")
            return
        report.made, report.files, report.size = report.made + 1, report.files + result.files, report.size + result.size

    def _without_pages(self, step: BuildStep, words: str) -> None:
        if self._manifest.sessions[step.id].card is None:
            self._say(step, words)

    def _say(self, step: BuildStep, words: str) -> None:
        """A page in the place of a session, which says why there is nothing else."""
        kept = self._manifest.sessions[step.id]
        crumbs = crumbs_above(self._manifest.projects[kept.project])
        page = empty_page(self._wanted.options, crumbs, kept.id, words)
        write_if_changed(self._site / self._manifest.place(kept) / INDEX, page)


def error_reason(error: BaseException) -> str:
    """What went wrong, in a sentence."""
    if isinstance(error, UnspoolError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}."
    if isinstance(error, MemoryError):
        return "There was not enough memory."
    return f"{type(error).__name__}: {error}"
