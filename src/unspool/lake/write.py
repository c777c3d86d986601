"""Brings a lake up to date: reads what changed, settles what that means for others, and swaps the manifest at the end.

Until then the lake is as it was. What a write that died left behind is removed by the next one.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from itertools import groupby
from typing import NamedTuple

import msgspec

from unspool.agents import FoundLog
from unspool.errors import Exists, UnspoolError, UsageProblem
from unspool.lake.group import GroupResult, GroupTask, LogTask, ReadingTerms, session_state, write_group
from unspool.lake.manifest import (
    KNOWN,
    RUNS,
    TABLE_VERSIONS,
    LakeManifest,
    LakePart,
    has_strangers,
    leftovers,
    load_manifest,
    part_path,
    save_manifest,
)
from unspool.lake.parquet import RowFiles, arrow_schema, join_files, sessions_in
from unspool.lake.settle import LakeKey, RememberedSessions, Settlement, known_schema
from unspool.lake.storage import LakeStorage, WriterLock
from unspool.lake.tables import BY_NAME, SESSIONS
from unspool.store.library import Library
from unspool.workers import without_interrupts, worker_pool

_GROUP = 64 * 1024 * 1024
"""Bytes of logs that are read as one unit of work."""
_WORTH_A_POOL = 32 * 1024 * 1024
_SMALL = 8 * 1024 * 1024
_MANY = 8
"""Files below that size, of which a folder may hold so many before they are joined."""
_LARGE = 256 * 1024 * 1024
"""Bytes that a file of joined ones is to have at most."""
PATIENCE = 600.0
"""Seconds that a writer waits for another one."""


class LakeReport(msgspec.Struct, frozen=True):
    """What a write did."""

    written: int
    """Sessions that were read."""
    unchanged: int
    again: int
    """Sessions that were read once more, because of what others told of them."""
    removed: int
    size: int
    """Bytes of the logs that were read."""
    failures: list[str]
    parts: int
    """Files of the lake, and their bytes."""
    bytes: int


Progress = Callable[[int, int], None]
"""Hears how many bytes were read, and of how many."""


def _unheard(_: int, __: int) -> None:
    pass


class WriteRequest(NamedTuple):
    """What is to be written, and how."""

    terms: ReadingTerms
    since: float | None = None
    """Only sessions whose logs were written to since then, in seconds of the epoch."""
    prune: bool = False
    """Whether sessions that the sources hold no more leave the lake."""
    jobs: int | None = None
    patience: float = PATIENCE
    progress: Progress = _unheard


def write_lake(storage: LakeStorage, library: Library, request: WriteRequest) -> LakeReport:
    """Write the sessions of a library to a lake: those that changed since they were last written."""
    with storage.sole_writer(request.patience) as lock:
        stored = load_manifest(storage)
        before = _checked(storage, stored, request.terms)
        _sweep(storage, stored or before)
        done: LakeReport | None = None
        try:
            done = _LakeWrite(storage, library, request, before, lock).run()
        finally:
            if done is None:
                with suppress(UnspoolError, OSError):  # the next write would do so too
                    lock.check()
                    _sweep(storage, load_manifest(storage) or before)
        return done


def _checked(storage: LakeStorage, manifest: LakeManifest | None, terms: ReadingTerms) -> LakeManifest:
    """The lake as it stands; one of other tables counts as none, and is written anew."""
    made = LakeManifest(tables=TABLE_VERSIONS, results=terms.results, redacted=terms.policy is not None)
    if manifest is None:
        if has_strangers(storage):
            raise Exists(f"{storage.url} holds files that are no lake; name an empty folder.")
        return made
    if (manifest.results, manifest.redacted) != (made.results, made.redacted):
        was = f"{'with' if manifest.results else 'without'} results, {'' if manifest.redacted else 'not '}redacted"
        raise UsageProblem(f"The lake in {storage.url} was written {was}; name another folder for another kind.")
    return manifest if manifest.tables == TABLE_VERSIONS else made


def _sweep(storage: LakeStorage, manifest: LakeManifest) -> None:
    """Remove what is no part of the lake."""
    for path in leftovers(storage, manifest):
        storage.delete(path)


class _LakeWrite:
    """One write."""

    def __init__(
        self,
        storage: LakeStorage,
        library: Library,
        request: WriteRequest,
        before: LakeManifest,
        lock: WriterLock,
    ) -> None:
        self._storage, self._library, self._request = storage, library, request
        self._before, self._lock = before, lock
        self._terms, self._salt = request.terms, request.terms.salt
        self._known = RememberedSessions.load(storage, [part.path for part in before.known])
        self._done: list[GroupResult] = []

    def run(self) -> LakeReport:
        every = {(log.agent_id, log.session_id): log for log in self._logs()}
        wanted = [
            key for key, log in every.items() if self._request.since is None or log.modified >= self._request.since
        ]
        changed = [key for key in wanted if self._has_changed(key, every[key])]
        gone = {key for key in self._known.keys if key not in every} if self._request.prune else set[LakeKey]()
        if not changed and not gone:
            if load_manifest(self._storage) is None:
                save_manifest(self._storage, self._before)  # a lake of nothing is one too
            return self._report(self._before, (0, 0, 0), len(wanted))
        first = self._read([LogTask(every[key]) for key in changed], self._request.progress)
        fresh = RememberedSessions.load(self._storage, [part.path for result in first for part in result.known])
        replaced = {*changed, *fresh.keys, *gone}
        known = self._known.replaced(replaced, fresh)
        touched = {*self._known.around(replaced), *known.around(set(fresh.keys))}
        settled = known.settle(touched, self._terms.prices)
        told = {key: facts for key, facts in settled.shared.items() if key in every}
        second = self._read([LogTask(every[key], facts) for key, facts in told.items()])
        parts = [
            *self._old_parts({*replaced, *told}, {*replaced, *settled.sessions}),
            *(_Piece(part, _names(told, part.agent)) for result in first for part in (*result.parts, *result.known)),
            *(_Piece(part) for result in second for part in (*result.parts, *result.known)),
            *(_Piece(part) for part in self._sessions(settled, known)),
        ]
        manifest = self._commit(self._joined(parts))
        return self._report(manifest, (len(changed), len(told), len(gone)), len(wanted) - len(changed))

    def _has_changed(self, key: LakeKey, log: FoundLog) -> bool:
        state = self._known.told(key, "state")
        return not state or state != session_state(log, self._salt, self._known.told(key, "slug"))

    def _logs(self) -> Iterator[FoundLog]:
        """Every log, with those of its other versions that hold something that it does not."""
        for log in (*self._library.logs(), *self._library.ghosts()):
            yield msgspec.structs.replace(log, versions=self._library.versions(log)) if log.versions else log

    def _read(self, tasks: Sequence[LogTask], progress: Progress = _unheard) -> list[GroupResult]:
        """Have sessions read, elsewhere where there is enough to do."""
        total = sum(task.found.total_size for task in tasks)
        workers = self._request.jobs or os.cpu_count() or 1
        pooled = workers > 1 and total >= _WORTH_A_POOL
        most = min(_GROUP, max(total // (workers * 4), _GROUP // 8)) if pooled else _GROUP
        groups = [GroupTask(some, self._terms, self._storage.url) for some in _grouped(tasks, most)]
        done: list[GroupResult] = []
        for result in _in_processes(groups, workers) if pooled and groups else map(write_group, groups):
            done.append(result)
            self._lock.keep()
            progress(result.size, total)
        self._done += done
        return done

    def _old_parts(self, gone: Collection[LakeKey], unlisted: Collection[LakeKey]) -> Iterator["_Piece"]:
        """The files of the lake, each with the sessions whose rows are to leave it; `unlisted` leave the table of
        sessions."""
        months = {(key[0], self._known.told(key, "month")) for key in {*gone, *unlisted}}
        for part in (*self._before.parts, *self._before.known):
            names = _names(unlisted if part.table == SESSIONS.name else gone, part.agent)
            if names and (part.table == KNOWN or (part.agent, part.month) in months):
                names &= sessions_in(self._storage, part.path)
            else:
                names = set()
            yield _Piece(part, names)

    def _sessions(self, settled: Settlement, known: RememberedSessions) -> list[LakePart]:
        with RowFiles(self._storage, f"{RUNS}/{SESSIONS.name}") as files:
            for key, row in sorted(settled.sessions.items()):
                files.add(SESSIONS, (key[0], known.told(key, "month")), row)
            return files.finish()

    def _joined(self, pieces: Iterable["_Piece"]) -> list[LakePart]:
        """The files that the lake will have. Those that rows leave are written anew, and many small ones as one."""

        def place(piece: _Piece) -> tuple[str, str, str]:
            return piece.part.table, piece.part.agent, piece.part.month

        found: list[LakePart] = []
        for (table, agent, month), group in groupby(sorted(pieces, key=place), key=place):
            here = list(group)
            join = [piece for piece in here if piece.gone]
            small = [piece for piece in here if not piece.gone and piece.part.size < _SMALL]
            if len(small) + bool(join) > _MANY:
                join += small
            found += [piece.part for piece in here if piece not in join]
            schema = known_schema() if table == KNOWN else arrow_schema(BY_NAME[table])
            for number, some in enumerate(_bounded(join)):
                target = f"{RUNS}/joined/{table}-{agent}-{month}-{number}.parquet"
                made = join_files(self._storage, ((one.part.path, one.gone) for one in some), target, schema)
                found += [LakePart(table, agent, month, *made)] if made is not None else []
            self._lock.keep()
        return found

    def _commit(self, parts: Iterable[LakePart]) -> LakeManifest:
        """Put new files in their places, then the manifest, then remove what is no more in it."""
        placed: list[LakePart] = []
        for part in parts:
            path = part.path
            if path.startswith(RUNS):
                path = part_path(part.table, part.agent, part.month, part.digest)
                self._storage.move(part.path, path)
            placed.append(msgspec.structs.replace(part, path=path))
        manifest = msgspec.structs.replace(
            self._before,
            made_with=LakeManifest().made_with,
            parts=tuple(sorted(part for part in placed if part.table != KNOWN)),
            known=tuple(sorted(part for part in placed if part.table == KNOWN)),
        )
        self._lock.check()
        save_manifest(self._storage, manifest)
        _sweep(self._storage, manifest)
        return manifest

    def _report(self, manifest: LakeManifest, counts: tuple[int, int, int], unchanged: int) -> LakeReport:
        written, again, removed = counts
        parts = manifest.parts
        failures = list(dict.fromkeys(failure for result in self._done for failure in result.failures))
        read = sum(result.size for result in self._done)
        return LakeReport(
            written, unchanged, again, removed, read, failures, len(parts), sum(part.size for part in parts)
        )


class _Piece(NamedTuple):
    """A file, and the sessions whose rows are to leave it."""

    part: LakePart
    gone: Collection[str] = ()


def _names(keys: Iterable[LakeKey], agent: str) -> set[str]:
    return {session for of, session in keys if of == agent}


def _bounded(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    """Pieces put together until they are enough for one file."""
    waiting: list[_Piece] = []
    for piece in pieces:
        waiting.append(piece)
        if sum(one.part.size for one in waiting) >= _LARGE:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _grouped(tasks: Iterable[LogTask], most: int) -> Iterator[tuple[LogTask, ...]]:
    """Tasks put together until there is enough to do: those of one agent and time, whose rows go to the same files."""
    waiting: list[LogTask] = []
    size = 0
    for task in sorted(tasks, key=lambda one: (one.found.agent_id, one.found.modified, one.found.path)):
        waiting.append(task)
        size += task.found.total_size
        if size >= most:
            yield tuple(waiting)
            waiting, size = [], 0
    if waiting:
        yield tuple(waiting)


def _in_processes(groups: Sequence[GroupTask], workers: int) -> Iterator[GroupResult]:
    """The results of all groups; where the process that had one died, it is done here."""
    pool = worker_pool(min(workers, len(groups)), fresh=True)
    try:
        with without_interrupts():
            waiting = [pool.submit(write_group, group) for group in groups]
        for group, future in zip(groups, waiting, strict=True):
            try:
                yield future.result()
            except BrokenProcessPool:
                yield write_group(group)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
