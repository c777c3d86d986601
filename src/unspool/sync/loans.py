"""Sessions that only the archive has whole, checked out together for as long as they are read."""

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from unspool.archive import Archive
from unspool.formats import Found
from unspool.index.rows import Rows
from unspool.library.lend import lent
from unspool.library.states import Sessions
from unspool.prices import PriceTable
from unspool.sync.extract import extract
from unspool.sync.task import Task

Loans = dict[tuple[int, str], Found]
"""Logs where they can be read for a while, by origin and path."""


def loans(archive: Archive, tasks: Iterable[Task], open_: ExitStack, failures: list[str]) -> Loans:
    """The logs of those tasks that are to be read from the archive, until the stack closes.

    All of one place lie in one folder, for they may share files. What the archive cannot give back is told in
    `failures`, and does not keep the rest from being read.
    """
    by_origin: dict[int, list[Task]] = {}
    for task in tasks:
        if task.found is None:
            by_origin.setdefault(task.origin, []).append(task)
    return {
        (origin, path): found
        for origin, group in by_origin.items()
        for path, found in _lent(archive, group, open_, failures).items()
    }


def from_archive(archive: Archive, task: Task, prices: PriceTable, failures: list[str]) -> Rows | None:
    """The rows of one session, read from the archive alone; None where they cannot be."""
    common = Sessions(task.format, archive.kept(task.origin).values()).common
    task = task._replace(found=None, common=common)
    with ExitStack() as open_:
        job = task.job(prices, loans(archive, [task], open_, failures))
        rows = "" if job is None else extract(job)
    return None if isinstance(rows, str) else rows


def _lent(archive: Archive, tasks: Sequence[Task], open_: ExitStack, failures: list[str]) -> dict[str, Found]:
    origin, format_ = tasks[0].origin, tasks[0].format
    paths = dict.fromkeys(path for task in tasks for path in (*task.files, *task.common))
    kept = [one for one in (archive.last(origin, path) for path in paths) if one is not None]
    sessions = Sessions(format_, kept)
    files = {one.path: one for task in tasks for one in sessions.needed(task.path)}
    root = open_.enter_context(lent(archive, files.values(), failures))
    return {_inside(found.path, root): found for found in format_.discover(root)}


def _inside(path: str, root: Path) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")
