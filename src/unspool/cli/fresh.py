"""Brings the archive up to date before a command answers from it, and says once how to keep logs for good."""

import os
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli import options, settings
from unspool.cli.output import WORTH_A_BAR, complain, progress_bar
from unspool.errors import AlreadyRunning, UnspoolError, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unspool.store.sync import SyncReport

_PATIENCE = 1.0
"""Seconds that another sync is waited for before the answer is of what is kept already."""
_TOLD = "told-how-to-keep"
"""The file in the state folder that says that it was said."""

no_sync = click.option("--no-sync", is_flag=True, help="Answer from what is kept, without keeping what is new first.")


def is_synced(archive: Path, *, no_sync: bool) -> bool:
    """Whether commands keep what is new in an archive before they answer: in the usual one, as the settings have it."""
    from unspool.store.archive.database import archive_folder

    which = "never" if no_sync else settings.chosen_sync()
    return which == "any" or (which == "usual" and archive.resolve() == archive_folder().resolve())


def keep_fresh(archive: Path, *, no_sync: bool) -> None:
    """Keep what is new; whatever prevents that is told in one line, and the answer comes all the same."""
    if not is_synced(archive, no_sync=no_sync):
        return
    tell_how_to_keep()
    try:
        key = options.key_of(archive)
    except UnspoolError:
        return  # whoever answers from the archive needs the key too, and says so
    from concurrent.futures import BrokenExecutor

    import apsw

    try:
        report = _kept(archive, key)
    except AlreadyRunning:
        settings.warn_once("another sync goes on, so this is what is kept so far.")
    except (UnspoolError, OSError, apsw.Error, BrokenExecutor) as problem:
        settings.warn_once(f"what is new could not be kept: {problem}")
    else:
        if report is not None and report.failures:
            more = f" ({len(report.failures) - 1:,} more: `unspool sync` names them)" if report.failures[1:] else ""
            settings.warn_once(f"not everything new could be kept: {report.failures[0]}{more}")


def _kept(archive: Path, key: str | None) -> "SyncReport | None":
    """What was kept; None where there is nothing that could be, and no archive is made for it."""
    from unspool.store.archive.database import ARCHIVE
    from unspool.store.library.discover import discover_logs
    from unspool.store.sync import sync

    sources = settings.chosen_sources(())
    if not (archive / ARCHIVE).exists() and not discover_logs(sources):
        return None
    with progress_bar("Keeping sessions", least=WORTH_A_BAR) as progress:
        return sync(archive, sources, progress, key, settings.sync_choices(_PATIENCE))


@contextmanager
def archive_of(sources: Sequence[Path]) -> "Iterator[Path]":
    """An archive with its index that holds what these folders do, and is gone afterwards; where the one folder is an
    archive, that one."""
    from unspool.files import scratch_folder
    from unspool.store.archive.database import ARCHIVE
    from unspool.store.sync import sync

    archives = [place for place in sources if (place / ARCHIVE).is_file()]
    if archives:
        if len(sources) > 1:
            raise UsageProblem("An archive is searched by itself: name it alone.")
        yield archives[0]
        return
    found = settings.chosen_sources(sources)
    with scratch_folder() as place:
        with progress_bar("Reading sessions", least=WORTH_A_BAR) as progress:
            # what lies in folders of this machine now says nothing of logs that are from anywhere
            report = sync(place, found, progress, None, settings.sync_choices()._replace(context_files=False))
        complain(report.failures)
        yield place


def tell_how_to_keep() -> None:
    """Say on a terminal, once ever, that logs are about to be deleted of which nothing is kept."""
    from unspool.store.archive.database import ARCHIVE, archive_folder

    marker = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "unspool" / _TOLD
    if not on_terminal() or (archive_folder() / ARCHIVE).exists() or marker.exists():
        return
    at_risk = next(_deleted_soon(), None)
    if at_risk is None:
        return
    try:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    except OSError:
        return  # it could not be remembered, and would be said each time
    settings.warn_once(f"{at_risk}; `unspool watch --install` keeps them for good, whatever is deleted.")


def on_terminal() -> bool:
    return sys.stderr.isatty()


def _deleted_soon() -> "Iterator[str]":
    """The agents that delete their logs by themselves, and after how many days."""
    from unspool import human
    from unspool.agents import AGENTS, chosen_roots

    for agent in AGENTS:
        for root in settings.wanted_sources() or chosen_roots(agent, os.environ, Path.home()):
            home = agent.home(root)
            retention = agent.files.retention(home) if home is not None else None
            if retention is not None and retention.deletes and next(iter(agent.discover(root)), None) is not None:
                yield f"{agent.name} deletes its logs after {human.count(retention.days, 'day')}"
