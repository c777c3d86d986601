"""Scans many sessions, each once: what was found in a log that has not changed since is remembered, without a word."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from unspool.agents import FoundLog
from unspool.errors import UnspoolError
from unspool.files import write_atomically
from unspool.reading.ledger import stable_hash
from unspool.scanners import SCANNERS, scan_session
from unspool.scanners.base import Scanner, SessionFlag
from unspool.scanners.unclean_end import GOING_ON
from unspool.store.library.read import process_died, read_session
from unspool.workers import map_in_processes

_WORTH_A_POOL = 8 * 1024 * 1024


class ScannedSession(msgspec.Struct, frozen=True):
    """A session's flags, or why it could not be scanned."""

    session: str
    path: str
    flags: tuple[SessionFlag, ...] = ()
    failure: str = ""


class _Remembered(msgspec.Struct, frozen=True, array_like=True):
    """What is remembered of a log: its state, and which scanners flag it; nothing of what it says."""

    size: int
    modified: float
    flags: list[str]


class _ScanMemory:
    """Which logs were flagged when they were last scanned, in a file of the cache."""

    def __init__(self) -> None:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        self._file = Path(cache) / "unspool" / "scanned.msgpack"
        self._version = " ".join(f"{one.name}={one.version}" for one in SCANNERS)
        self._known: dict[int, _Remembered] = {}
        with suppress(OSError, msgspec.DecodeError):
            found = msgspec.msgpack.decode(self._file.read_bytes(), type=tuple[str, dict[int, _Remembered]])
            self._known = found[1] if found[0] == self._version else {}
        self._new = 0

    def flags(self, log: FoundLog) -> list[str] | None:
        """Which scanners flag a log; None where it has changed, or was never scanned."""
        known = self._known.get(stable_hash(log.path))
        same = known is not None and (known.size, known.modified) == (log.total_size, log.modified)
        return known.flags if known is not None and same else None

    def put(self, log: FoundLog, done: ScannedSession) -> None:
        if done.failure or time.time() - log.modified < GOING_ON.total_seconds():
            return  # how it ends may change without another line
        flags = sorted({flag.scanner for flag in done.flags})
        self._known[stable_hash(log.path)] = _Remembered(log.total_size, log.modified, flags)
        self._new += 1

    def save(self) -> None:
        if self._new:
            with suppress(OSError):
                write_atomically(self._file, [msgspec.msgpack.encode((self._version, self._known))])


def scan_log(found: FoundLog, scanners: tuple[Scanner, ...] = SCANNERS) -> ScannedSession:
    try:
        return ScannedSession(found.session_id, found.path, tuple(scan_session(read_session(found), scanners)))
    except (UnspoolError, OSError) as error:
        return ScannedSession(found.session_id, found.path, failure=str(error))


def _not_scanned(found: FoundLog) -> ScannedSession:
    return ScannedSession(found.session_id, found.path, failure=process_died(found.path))


def scan_logs(
    logs: Sequence[FoundLog], progress: Callable[[int], None], scanners: tuple[Scanner, ...] = SCANNERS
) -> Iterator[ScannedSession]:
    """Scan many sessions, in the order given; `progress` hears the bytes of each that is done."""
    workers = min(os.cpu_count() or 1, len(logs))
    pooled = workers > 1 and scanners is SCANNERS and sum(log.total_size for log in logs) >= _WORTH_A_POOL
    if pooled:
        yield from map_in_processes(scan_log, logs, lambda log: log.total_size, progress, workers, _not_scanned)
        return
    for log in logs:
        yield scan_log(log, scanners)
        progress(log.total_size)


def scan_changed(logs: Sequence[FoundLog], progress: Callable[[int], None]) -> Iterator[ScannedSession]:
    """Scan many sessions; of logs that have not changed since, only those are read again that were flagged then."""
    memory = _ScanMemory()
    quiet = [log for log in logs if memory.flags(log) == []]
    there = {log.path for log in quiet}
    progress(sum(log.total_size for log in quiet))
    yield from (ScannedSession(log.session_id, log.path) for log in quiet)
    waiting = [log for log in logs if log.path not in there]
    for log, done in zip(waiting, scan_logs(waiting, progress), strict=True):
        if memory.flags(log) is None:
            memory.put(log, done)
        yield done
    memory.save()


def flagged_sessions(logs: Sequence[FoundLog], progress: Callable[[int], None]) -> dict[str, frozenset[str]]:
    """The names of the scanners that flag each session, by its agent and id; only logs that changed are read again."""
    memory = _ScanMemory()
    found = {log.name: frozenset(flags) for log in logs if (flags := memory.flags(log)) is not None}
    new = [log for log in logs if log.name not in found]
    progress(sum(log.total_size for log in logs if log.name in found))
    for log, done in zip(new, scan_logs(new, progress), strict=True):
        memory.put(log, done)
        found[log.name] = frozenset(flag.scanner for flag in done.flags)
    memory.save()
    return found
