"""The making of a site: sessions in many processes, then the indexes above them.

At every moment each page is complete and leads only to pages that are there: a session's pages are made beside their
place and swapped in when complete, and before that its place holds a page that says so. Sessions whose logs are gone
stay, in the indexes too.
"""

import time
from collections.abc import Sequence
from pathlib import Path

from unspool.errors import UnspoolError
from unspool.site import look
from unspool.site.address import INDEX
from unspool.site.build.disk import replace, sweep_site
from unspool.site.build.indexes import above, write_indexes, write_missing
from unspool.site.build.pending import EMPTY, WAITING, pending
from unspool.site.build.plan import Plan, Step, Wanted
from unspool.site.build.pool import spread
from unspool.site.build.report import Failure, Report, Watch
from unspool.site.build.worker import Context, Made, Task, make
from unspool.site.frame import Frame
from unspool.site.search.archive import FOLDER as SEARCH

_SAVE = 2.0
"""Seconds between two saves of the manifest while sessions are made."""


class Run:
    """One run."""

    def __init__(self, site: Path, wanted: Wanted, plan: Plan, report: Report) -> None:
        self._site, self._wanted, self._plan, self._report = site, wanted, plan, report
        self._manifest = plan.manifest
        self._saved = time.monotonic()

    def run(self, watch: Watch) -> Report:
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
        for asset in look.assets():
            replace(self._site / asset.path, asset.data)
        write_missing(self._site, self._manifest, self._wanted.options)
        for step in self._plan.todo:
            if not (self._site / self._manifest.place(self._manifest.sessions[step.id]) / INDEX).exists():
                self._say(step, WAITING)

    def _left(self) -> list[Step]:
        """Sessions that tell of others which have just got another title; those just made know it already."""
        done = {step.id for step in self._plan.todo}
        for step in self._plan.todo:
            kept = self._manifest.sessions[step.id]
            kept.key = self._plan.key(step) if kept.key else ""
        left = [step for step in self._plan.changed() if step.id not in done]
        self._report.unchanged -= len(left)
        return left

    def _make(self, todo: Sequence[Step], watch: Watch) -> None:
        wanted = self._wanted
        steps = {step.found.path: step for step in todo}
        addresses = self._manifest.addresses()
        context = Context(str(self._site), wanted.options, addresses, wanted.prices, wanted.strays, wanted.kept)
        tasks = [self._task(step) for step in todo]
        total = sum(task.found.size for task in tasks)
        for task, result in spread(make, context, tasks, wanted.jobs):
            self._done(steps[task.found.path], result)
            watch(task.found.size, total)
            if time.monotonic() > self._saved + _SAVE:
                self._manifest.save(self._site)
                self._saved = time.monotonic()

    def _task(self, step: Step) -> Task:
        kept = self._manifest.sessions[step.id]
        crumbs = above(self._manifest.projects[kept.project])
        near, names = self._plan.near(step), self._plan.names(step)
        return Task(step.found, near, names, self._manifest.place(kept), crumbs)

    def _done(self, step: Step, result: Made | BaseException) -> None:
        """Note what came of a session; one that failed keeps the pages it had, and is tried again next time."""
        kept, report = self._manifest.sessions[step.id], self._report
        if isinstance(result, BaseException):
            why, kept.key = reason(result), ""
            report.failures.append(Failure(step.found.path, why))
            self._without_pages(step, f"This session could not be made into pages: {why}")
            return
        kept.log, kept.start, kept.told, kept.card = step.log, step.start, result.told, result.card
        kept.key = self._plan.key(step)
        if result.card is None:
            report.empty += 1
            self._without_pages(step, EMPTY)
            return
        report.made, report.files, report.size = report.made + 1, report.files + result.files, report.size + result.size

    def _without_pages(self, step: Step, words: str) -> None:
        if self._manifest.sessions[step.id].card is None:
            self._say(step, words)

    def _say(self, step: Step, words: str) -> None:
        """A page in the place of a session."""
        kept = self._manifest.sessions[step.id]
        frame = Frame("../../", above(self._manifest.projects[kept.project]), search=SEARCH)
        pending(self._site / self._manifest.place(kept), kept.id, words, self._wanted.options, frame)

    def _index(self) -> None:
        written = write_indexes(self._site, self._manifest, self._wanted.options)
        self._report.indexed, self._report.files = bool(written), self._report.files + written
        self._manifest.indexed = self._plan.shared
        self._manifest.save(self._site)


def reason(error: BaseException) -> str:
    """What went wrong, in a sentence."""
    if isinstance(error, UnspoolError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}."
    if isinstance(error, MemoryError):
        return "There was not enough memory."
    return f"{type(error).__name__}: {error}"
