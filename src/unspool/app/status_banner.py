"""What a reader should know of the whole, on whatever page: sources gone, a sync that runs or fails, no room left."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import apsw
from starlette.requests import Request

from unspool import human
from unspool.errors import UnspoolError

if TYPE_CHECKING:
    from unspool.app.background_sync import SyncState
    from unspool.app.context import AppContext

_LITTLE = 64 * 1024 * 1024
"""Bytes on the archive's disk below which it is said."""
_WORTH_A_WORD = 8 * 1024 * 1024
"""Bytes of a sync that is told of though everything older is there."""


class StatusNotice(NamedTuple):
    words: str
    tone: str = ""
    """`warn` or `bad` where something should be done."""
    done: int | None = None
    """Parts of a hundred, of what goes on."""


class AppStatus(NamedTuple):
    notices: tuple[StatusNotice, ...] = ()
    round: int = 0
    """Another number, and there is something new to show."""
    busy: bool = False
    """Whether sessions are missing that will be there soon."""


def app_status(request: Request) -> AppStatus:
    """How it stands now. It costs next to nothing, and never fails."""
    state = request.app.state
    context: AppContext = state.context
    background = state.background
    if background is None or state.own_context is not None:
        return AppStatus((*_missing(context),))
    if state.read_only:
        told = StatusNotice("Started with --read-only: nothing is kept and nothing can be changed.")
        return AppStatus((told, *_missing(context)))
    now: SyncState = background.state
    whole = _complete(context)
    notices = (*_missing(context), *_writing(context.folder), *_syncing(now, whole))
    return AppStatus(notices, now.round, busy=now.state == "syncing" and not whole)


def _missing(context: "AppContext") -> list[StatusNotice]:
    gone = [source for source in context.sources if not source.is_dir()]
    return [StatusNotice(f"{source} is not there. What was kept of it is shown.", "warn") for source in gone]


def _writing(folder: Path) -> list[StatusNotice]:
    """Whether the archive can grow."""
    with suppress(OSError):
        if folder.is_dir() and not os.access(folder, os.W_OK):
            return [
                StatusNotice(f"{folder} cannot be written to: nothing new is kept, and nothing can be marked.", "warn")
            ]
        left = shutil.disk_usage(folder).free
        if left < _LITTLE:
            return [StatusNotice(f"The disk of {folder} is full: {human.size(left)} are left.", "bad")]
    return []


def _syncing(now: "SyncState", whole: bool) -> list[StatusNotice]:
    if now.state == "failed":
        return [StatusNotice(f"The last sync failed: {now.failure}", "bad")]
    if now.state != "syncing" or (whole and now.total < _WORTH_A_WORD):
        return []
    read = f"{human.size(now.done)} of {human.size(now.total)}" if now.total else "looking for logs"
    more = "" if whole else " Sessions that are missing come as they are read."
    return [
        StatusNotice(f"Reading logs: {read}.{more}", done=min(100, 100 * now.done // now.total) if now.total else 0)
    ]


def _complete(context: "AppContext") -> bool:
    """Whether a sync has come to its end since the index was made."""
    try:
        with context.index() as index:
            return bool(index.meta("synced"))
    except (UnspoolError, apsw.Error, OSError):
        return False
