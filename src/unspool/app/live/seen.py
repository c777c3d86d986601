"""The logs of a desk as they are now, for whoever looks again and again.

To look for them in every folder takes long; to see whether those that are known have grown does not. So the folders
are gone through only when one of them has changed, which a new log does to its folder, and now and then.
"""

import threading
import time
from collections.abc import Iterable
from pathlib import Path
from weakref import WeakKeyDictionary

import msgspec

from unspool.app.desk import Desk, inside
from unspool.formats import FORMATS, Found
from unspool.library.sources import discovered, usual_roots

_EVERY = 30.0
"""Seconds after which all folders are gone through again, whatever they look like."""
_JUST_NOW = 2_000_000_000
"""Nanoseconds."""
_HELD: "WeakKeyDictionary[Desk, Seen]" = WeakKeyDictionary()
_LOCK = threading.Lock()


def seen(desk: Desk) -> list[Found]:
    """The logs of the sources, which lie in them and are no links to elsewhere."""
    with _LOCK:
        held = _HELD.setdefault(desk, Seen())
    return held.logs(desk.here)


class Seen:
    """What was found the last time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._logs: list[Found] = []
        self._folders: dict[Path, int] = {}
        self._until = 0.0

    def logs(self, roots: Iterable[Path]) -> list[Found]:
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
        self._logs = [log for log in discovered(roots) if inside(log)]
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


def _grown(log: Found) -> Found | None:
    """The log as it is now; None where it is gone."""
    try:
        status = Path(log.path).stat()
    except OSError:
        return None
    if (status.st_mtime, status.st_size) == (log.modified, log.size):
        return log
    return msgspec.structs.replace(log, modified=status.st_mtime, size=status.st_size)
