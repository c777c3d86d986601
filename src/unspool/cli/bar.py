"""A bar for work that is measured in bytes: how far, how fast, how long still.

It has no thread of its own, because the work forks; it is drawn when something is done.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A function that hears how many bytes are done, and of how many."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task(what, total=None)

        def advance(done: int, total: int) -> None:
            progress.update(task, advance=done, total=total)
            progress.refresh()

        yield advance
