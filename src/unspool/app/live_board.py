"""The sessions that are active now, and what each is doing."""

import threading
import time
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

import msgspec

from unspool import human
from unspool.agents import FORMATS, FoundLog, by_id
from unspool.agents.base import RunningSession
from unspool.agents.lines import Cursor, Lines
from unspool.app.context import AppContext, is_inside_source
from unspool.app.list_rows import DisplayTime, display_time
from unspool.app.open_session import indexed_overview
from unspool.config.settings import current_settings
from unspool.model import Event, Text, ToolCall
from unspool.site import summaries
from unspool.store.library.library import discover_logs, usual_roots
from unspool.store.library.neighbours import log_head
from unspool.tools import describe

_EVERY = 30.0
"""Seconds after which all folders are gone through again, whatever they look like."""
_JUST_NOW = 2_000_000_000
"""Nanoseconds."""
_HELD: "WeakKeyDictionary[AppContext, LogWatcher]" = WeakKeyDictionary()
_LOCK = threading.Lock()


def current_logs(desk: AppContext) -> list[FoundLog]:
    """The logs of the sources, which lie in them and are no links to elsewhere."""
    with _LOCK:
        held = _HELD.setdefault(desk, LogWatcher())
    return held.logs(desk.here)


class LogWatcher:
    """What was found the last time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._logs: list[FoundLog] = []
        self._folders: dict[Path, int] = {}
        self._until = 0.0

    def logs(self, roots: Iterable[Path]) -> list[FoundLog]:
        """The logs as they are now."""
        with self._lock:
            if time.monotonic() > self._until or any(
                _changed(folder) != mark for folder, mark in self._folders.items()
            ):
                self._look(tuple(roots))
            else:
                self._logs = [grown for log in self._logs if (grown := _grown(log)) is not None]
            return self._logs

    def _look(self, roots: tuple[Path, ...]) -> None:
        self._logs = [log for log in discover_logs(roots) if is_inside_source(log)]
        places = [path for root in roots or usual_roots() for path in (root, *_lively(root))]
        folders = {*places, *(Path(log.path).parent for log in self._logs)}
        self._folders = {folder: _mark(folder) for folder in folders}
        self._until = time.monotonic() + _EVERY


def _lively(root: Path) -> list[Path]:
    return [path for format_ in FORMATS for path in format_.lively(root)]


def _mark(folder: Path) -> int:
    """When a folder changed; what no folder has where that was just now, for more may have come since it was read."""
    changed = _changed(folder)
    return -1 if time.time_ns() - changed < _JUST_NOW else changed


def _changed(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def _grown(log: FoundLog) -> FoundLog | None:
    """The log as it is now; None where it is gone."""
    try:
        status = Path(log.path).stat()
    except OSError:
        return None
    if (status.st_mtime, status.st_size) == (log.modified, log.size):
        return log
    return msgspec.structs.replace(log, modified=status.st_mtime, size=status.st_size)


_TAIL = 64 * 1024
"""Bytes at the end of a log that are looked at."""
_WORDS = 140


def doing(log: FoundLog) -> str:
    """The last thing that was said or done; empty where the end of the log tells nothing."""
    parser = by_id(log.format).parser(None)
    try:
        with Path(log.path).open("rb") as stream:
            stream.seek(max(0, log.size - _TAIL))
            data = stream.read(_TAIL)
    except OSError:
        return ""
    entries = Lines(msgspec.json.Decoder()).entries(BytesIO(data), Cursor())
    said = [words for entry in entries if (words := _words(parser.event(entry)))]
    return said[-1] if said else ""


def _words(event: Event) -> str:
    if event.prompt is not None and not event.sidechain:
        return f"You: {summaries.prompt_line(event.prompt, _WORDS)}"
    for block in reversed(event.blocks):
        if isinstance(block, Text) and block.text.strip():
            return summaries.plain_excerpt(block.text, _WORDS)
        if isinstance(block, ToolCall):
            return summaries.shorten_line(describe(block).summary, _WORDS)
    return ""


RECENT = 10 * 60
"""Seconds after its last line in which a session counts as active."""
_BUSY = 30


class LiveSession(NamedTuple):
    """A session on the board."""

    key: str
    title: str
    project: str
    state: str
    """`busy`, `waiting` or `open`."""
    last: DisplayTime | None
    doing: str
    """What it said or did last, in short."""
    size: str


def live_sessions(desk: AppContext) -> tuple[LiveSession, ...]:
    """Every active session, the last written first."""
    logs = current_logs(desk)
    processes = {one.session_id: one for one in _running(logs) if one.alive}
    now = time.time()
    active = [log for log in logs if now - log.modified < RECENT or log.session_id in processes]
    active.sort(key=lambda log: (-log.modified, log.path))
    return tuple(_row(desk, log, processes.get(log.session_id), now) for log in active)


def _running(logs: list[FoundLog]) -> Iterator[RunningSession]:
    for root in {log.root for log in logs if log.root}:
        for format_ in FORMATS:
            home = format_.home(Path(root))
            yield from format_.running(home) if home is not None else ()


def _row(desk: AppContext, log: FoundLog, process: RunningSession | None, now: float) -> LiveSession:
    known = indexed_overview(desk, log.session_id)
    begun = None if known is not None and known.titles.best else log_head(log)
    title = known.title if known is not None and known.titles.best else begun.prompt if begun is not None else ""
    state = "busy" if now - log.modified < _BUSY or (process and process.status == "busy") else "waiting"
    return LiveSession(
        log.session_id,
        summaries.shorten_line(title, 140) or log.session_id,
        (known.project if known is not None else "") or log.folder,
        state,
        display_time(log.modified, current_settings().zone),
        doing(log),
        human.size(log.size),
    )
