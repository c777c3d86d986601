"""Makes one session's pages in a pool of processes."""

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import cache, lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from unspool.agents import FoundLog
from unspool.figures import figures
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.reading.assemble import plans_of
from unspool.reading.overview import plan_key
from unspool.site.build.disk import swap_folder
from unspool.site.build.neighbourhood import NeighbourFacts
from unspool.site.options import SiteOptions
from unspool.site.page_template import Crumb, Frame
from unspool.site.search_files import SEARCH_FOLDER
from unspool.site.summaries import Card, card
from unspool.site.turn_pages import session_folder
from unspool.store.library import read_session
from unspool.store.library.neighbours import LogHead, Neighbours, log_head
from unspool.workers import start_worker, without_interrupts

if TYPE_CHECKING:
    from unspool.store.library.kept_sessions import KeptSessions


_EMPTY = ("empty", "stub")


class _Around(Neighbours):
    """Neighbours that remember the beginnings of logs from one session to the next: many have the same around them."""

    def _head(self, found: FoundLog) -> LogHead | None:
        return _begun(found, self._kept)


_begun = lru_cache(maxsize=4096)(log_head)


class LinkedSession(NamedTuple):
    """A session, and what it says to its neighbours by itself."""

    session: Session
    told: NeighbourFacts


def read_for_pages(
    found: FoundLog, near: Sequence[FoundLog], names: Sequence[FoundLog], kept: "KeptSessions | None" = None
) -> LinkedSession:
    """Read a log; its links come from the logs near it, and its title from those that name others, if it has none."""
    alone = read_session(found, kept)
    titles = alone.titles
    named = bool(titles.custom or titles.generated or titles.plan or titles.summary)
    offered = tuple(plan_key(plan) for plan in plans_of(alone.turns))
    around = (found, *near, *(() if named else names))
    session = _Around(lambda: around, kept).linked(alone, found) if len(around) > 1 else alone
    leads = tuple(link.session for link in alone.links)
    return LinkedSession(session, NeighbourFacts(alone.title, titles.prompt, named, offered, leads))


def is_empty_session(session: Session, *, strays: bool) -> bool:
    """Whether a session holds nothing that a person would look for; `strays` are subagents without a session."""
    if session.kind == "subagent":
        return not strays
    return session.kind in _EMPTY or session.title.strip().casefold() == "warmup"


class BuildContext(msgspec.Struct, frozen=True):
    """What all sessions of a run have in common."""

    site: str
    options: SiteOptions
    sessions: dict[str, str]
    """Where each session of the site lies, relative to its root, by id."""
    prices: str = ""
    """The user's own price table, if there is one."""
    strays: bool = False
    """Whether a subagent's log whose session is gone is a session."""
    kept: "KeptSessions | None" = None
    """Where sessions are read whose logs are gone from their sources."""


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
    told: NeighbourFacts
    card: Card | None
    """None where the log holds no conversation, and no pages were made."""
    files: int = 0
    size: int = 0


def build_session(context: BuildContext, task: BuildTask) -> BuildResult:
    """Read a session and put its pages in place; what was there before stays until they are complete."""
    session, told = read_for_pages(task.found, task.near, task.names, context.kept)
    if is_empty_session(session, strays=context.strays):
        return BuildResult(told, None)
    prices = _prices(context.prices)
    counted = figures(session, prices)
    frame = Frame("../../", task.crumbs, context.sessions, SEARCH_FOLDER, prices)
    files = size = 0
    with swap_folder(Path(context.site, task.folder)) as folder:
        for name, data in session_folder(session, counted, context.options, frame):
            (folder / name).write_bytes(data)
            files, size = files + 1, size + len(data)
    shown = msgspec.structs.replace(card(session, counted), kept=bool(task.found.origin))
    return BuildResult(told, shown, files, size)


@cache
def _prices(own: str) -> PriceTable:
    return PriceTable.load(Path(own) if own else None)


Shared = TypeVar("Shared")
Job = TypeVar("Job")
Done = TypeVar("Done")
Work = Callable[[Shared, Job], Done]
Ended = tuple[Job, Done | BaseException]

_OBJECTS = 20_000
"""New objects in a worker after which it looks for garbage: next to nothing it makes refers to itself."""

_held: dict[str, Any] = {}
"""In a worker: the work, and what all tasks share; handed over once instead of with every task."""


def run_in_processes(
    work: Work[Shared, Job, Done], shared: Shared, tasks: Sequence[Job], jobs: int
) -> Iterator[Ended[Job, Done]]:
    """Each task with what `work` made of it or what went wrong, in the order of completion."""
    lost: list[Job] = []
    for task, result in _run(work, shared, tasks, jobs):
        if isinstance(result, BrokenProcessPool):
            lost.append(task)
        else:
            yield task, result
    # A process died and took with it what the others held: alone, each of them shows whether it is the one.
    for task in lost:
        yield from _run(work, shared, [task], 2)


def _run(work: Work[Shared, Job, Done], shared: Shared, tasks: Sequence[Job], jobs: int) -> Iterator[Ended[Job, Done]]:
    pool = _pool(jobs, len(tasks), (work, shared))
    try:
        with without_interrupts():
            futures = {pool.submit(_work, task): task for task in tasks}
        for future in as_completed(list(futures)):
            error = future.exception()
            yield futures.pop(future), future.result() if error is None else error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _pool(jobs: int, tasks: int, held: tuple[Any, Any]) -> Executor:
    if jobs < 2 or tasks == 0:
        return ThreadPoolExecutor(1, initializer=_hold, initargs=held)
    # A fork is ready at once and this process has no threads yet; elsewhere the system's own way is the safe one.
    context = get_context("fork" if sys.platform == "linux" else None)
    return ProcessPoolExecutor(min(jobs, tasks), context, initializer=_settle_in, initargs=held)


def _hold(work: Any, shared: Any) -> None:
    _held.update(work=work, shared=shared)


def _work(task: Any) -> Any:
    return _held["work"](_held["shared"], task)


def _settle_in(work: Any, shared: Any) -> None:
    """A worker that is interrupted just ends, and so does one whose parent is gone."""
    gc.freeze()  # what the parent had is no garbage, and stays shared while nobody looks through it
    gc.set_threshold(_OBJECTS)
    _hold(work, shared)
    start_worker()
