"""Brings a lake up to date: reads what changed, settles what that means for others, and swaps the manifest at the end.

Until then the lake is as it was. What a write that died left behind is removed by the next one.
"""

import os
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

import msgspec

from unspool.errors import Exists, UnspoolError, UsageProblem
from unspool.lake.group import GroupResult, GroupTask, LogTask, ReadingTerms, session_state, write_group
from unspool.lake.joining import LakePiece, join_pieces, plan_joins
from unspool.lake.manifest import (
    KNOWN,
    RUNS,
    SHARDS,
    TABLE_VERSIONS,
    LakeManifest,
    LakePart,
    has_strangers,
    leftovers,
    load_manifest,
    part_path,
    save_manifest,
)
from unspool.lake.parquet import RowFiles, sessions_in
from unspool.lake.runners import LocalRunner, TaskRunner
from unspool.lake.settle import LakeKey, RememberedSessions, SharedFacts
from unspool.lake.shards import Shard, finished_groups, save_shard, shard_results, still_true, without_finished
from unspool.lake.storage import LakeStorage, WriterLock, in_threads
from unspool.lake.tables import SESSIONS
from unspool.store.library import Library

_GROUP = 64 * 1024 * 1024
"""Bytes of logs that are read as one unit of work."""
_GROWTH = 4
"""How much larger a unit may become where there would be more than so many of them."""
_MANY_GROUPS = 20_000
_WORTH_A_POOL = 32 * 1024 * 1024
PATIENCE = 600.0
"""Seconds that a writer waits for another one."""


class LogSource(Protocol):
    """Sessions that lie elsewhere than in folders of this machine."""

    def tasks(self) -> Iterable[LogTask]:
        """Every one, with all of its versions."""


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


class WriteRequest(NamedTuple):
    """What is to be written, and how."""

    terms: ReadingTerms
    since: float | None = None
    """Only sessions whose logs were written to since then, in seconds of the epoch."""
    prune: bool = False
    """Whether sessions that the sources hold no more leave the lake."""
    jobs: int | None = None
    """Processes of this machine; one a core where it does not say."""
    runner: TaskRunner | None = None
    """Who reads instead of these."""
    join: int = 0
    """How many shards were written that are to be taken over."""
    patience: float = PATIENCE
    progress: Callable[[int, int], None] = lambda _, __: None
    """Hears how many bytes were read, and of how many."""


def write_lake(storage: LakeStorage, source: Library | LogSource, request: WriteRequest) -> LakeReport:
    """Write the sessions of a source to a lake: those that changed since they were last written."""
    with storage.sole_writer(request.patience) as lock:
        stored = load_manifest(storage)
        before = _checked(storage, stored, request.terms)
        _sweep(storage, stored or before)
        done: LakeReport | None = None
        try:
            done = _LakeWrite(storage, source, request, before, lock).run()
        finally:
            if done is None:
                with suppress(UnspoolError, OSError):  # the next write would do so too
                    lock.check()
                    _sweep(storage, load_manifest(storage) or before)
        return done


def write_shard(storage: LakeStorage, source: Library | LogSource, request: WriteRequest, shard: Shard) -> LakeReport:
    """Read a share of the sessions that changed. What that makes is no part of the lake until all shards are joined;
    other shards may be written meanwhile, wherever, and this one again."""
    before = _checked(storage, load_manifest(storage), request.terms)
    return _LakeWrite(storage, source, request, before, WriterLock()).run_shard(shard)


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
    """Remove what is no part of the lake, but for what the next write can take over."""
    _delete(storage, without_finished(leftovers(storage, manifest)))


def _delete(storage: LakeStorage, paths: Iterable[str]) -> None:
    for _ in in_threads(storage.delete, paths):
        pass


class _Settled(NamedTuple):
    """What sessions told of each other."""

    sessions: set[LakeKey]
    """Those whose rows were written anew, to `parts`."""
    shared: dict[LakeKey, SharedFacts]
    """Those that are to be read again."""
    parts: list[LakePart]


class _LakeWrite:
    """One write."""

    def __init__(
        self,
        storage: LakeStorage,
        source: Library | LogSource,
        request: WriteRequest,
        before: LakeManifest,
        lock: WriterLock,
    ) -> None:
        self._storage, self._source, self._request = storage, source, request
        self._before, self._lock = before, lock
        self._terms, self._salt = request.terms, request.terms.salt
        self._known = RememberedSessions.load(storage, [part.path for part in before.known])
        self._attempt = f"-{secrets.token_hex(4)}"
        self._done: list[GroupResult] = []

    def run(self) -> LakeReport:
        shards = shard_results(self._storage, self._request.join, self._salt) if self._request.join else []
        every = {task.key: task for task in self._tasks()}
        wanted = self._wanted(every.values())
        changed = {task.key: task for task in wanted if self._has_changed(task)}
        gone = {key for key in self._known.keys if key not in every} if self._request.prune else set[LakeKey]()
        if not changed and not gone:
            manifest = self._commit(self._before.parts + self._before.known) if shards else self._before
            if load_manifest(self._storage) is None:
                save_manifest(self._storage, self._before)  # a lake of nothing is one too
            return self._report(manifest, (0, 0, 0), len(wanted))
        first = self._first([*shards, *finished_groups(self._storage)], changed, RUNS)
        fresh = RememberedSessions.load(self._storage, [part.path for result in first for part in result.known])
        replaced = {*changed, *fresh.keys, *gone}
        known = self._known.replaced(replaced, fresh)
        touched = {*self._known.around(replaced), *known.around(set(fresh.keys))}
        settled = self._settled(known, touched)
        told = {key: facts for key, facts in settled.shared.items() if key in every}
        second = self._read([every[key]._replace(shared=facts) for key, facts in told.items()])
        pieces = [
            *self._old_pieces({*replaced, *told}, {*replaced, *settled.sessions}),
            *(piece for result in first for piece in _new_pieces(result, told)),
            *(LakePiece(part) for result in second for part in (*result.parts, *result.known)),
            *(LakePiece(part) for part in settled.parts),
        ]
        manifest = self._commit(self._joined(pieces))
        return self._report(manifest, (len(changed), len(told), len(gone)), len(wanted) - len(changed))

    def run_shard(self, shard: Shard) -> LakeReport:
        wanted = self._wanted(task for task in self._tasks() if shard.holds(task.key))
        changed = {task.key: task for task in wanted if self._has_changed(task)}
        done = self._first(finished_groups(self._storage, shard.folder), changed, shard.folder)
        save_shard(self._storage, shard, self._salt, done)
        return self._report(self._before, (len(changed), 0, 0), len(wanted) - len(changed))

    def _wanted(self, tasks: Iterable[LogTask]) -> list[LogTask]:
        since = self._request.since
        return [task for task in tasks if since is None or task.found.modified >= since]

    def _first(self, offered: Sequence[GroupResult], changed: dict[LakeKey, LogTask], folder: str) -> list[GroupResult]:
        """All that changed, as it is before sessions tell of each other; what was read before is not read again."""
        taken = still_true(self._storage, offered, changed, self._salt)
        self._done += taken
        have = {key for result in taken for key in result.sessions}
        return [*taken, *self._read([task for key, task in changed.items() if key not in have], folder)]

    def _has_changed(self, task: LogTask) -> bool:
        state = self._known.told(task.key, "state")
        return not state or state != session_state(task, self._salt, self._known.told(task.key, "slug"))

    def _tasks(self) -> Iterable[LogTask]:
        """Every session, with those of its other versions that hold something that it does not."""
        if not isinstance(self._source, Library):
            yield from self._source.tasks()
            return
        for log in (*self._source.logs(), *self._source.ghosts()):
            whole = msgspec.structs.replace(log, versions=self._source.versions(log)) if log.versions else log
            yield LogTask(whole)

    def _read(self, tasks: Sequence[LogTask], folder: str = "") -> list[GroupResult]:
        """Have sessions read. With a `folder`, what is finished is noted there, where there is enough to do."""
        total = sum(task.size for task in tasks)
        runner = self._runner(total)
        many = self._request.runner is not None or runner.workers > 1
        most, noted = _group_size(total, runner.workers) if many else _GROUP, bool(folder) and (many or folder != RUNS)
        groups = (
            GroupTask(some, self._terms, self._storage.url, folder or RUNS, self._attempt, noted)
            for some in _grouped(tasks, most)
        )
        done: list[GroupResult] = []
        for result in runner.run(write_group, groups):
            done.append(result)
            self._lock.keep()
            if folder:  # what is read a second time was heard of
                self._request.progress(result.size, total)
        self._done += done
        return done

    def _runner(self, size: int) -> TaskRunner:
        """Who does work on so many bytes."""
        workers = self._request.jobs or os.cpu_count() or 1
        return self._request.runner or LocalRunner(workers if size >= _WORTH_A_POOL else 1)

    def _old_pieces(self, gone: Collection[LakeKey], unlisted: Collection[LakeKey]) -> Iterator[LakePiece]:
        """The files of the lake, each with the sessions whose rows are to leave it; `unlisted` leave the table of
        sessions."""
        months = {(key[0], self._known.told(key, "month")) for key in {*gone, *unlisted}}
        for part in (*self._before.parts, *self._before.known):
            names = _names(unlisted if part.table == SESSIONS.name else gone, part.agent)
            if names and (part.table == KNOWN or (part.agent, part.month) in months):
                names &= sessions_in(self._storage, part.path)
            else:
                names = set()
            yield LakePiece(part, names)

    def _settled(self, known: RememberedSessions, touched: Collection[LakeKey]) -> "_Settled":
        """Write the rows of sessions as they are among all others."""
        keys, shared = set[LakeKey](), dict[LakeKey, SharedFacts]()
        with RowFiles(self._storage, f"{RUNS}/{SESSIONS.name}{self._attempt}") as files:
            for lot in known.settle(touched, self._terms.prices):
                for key, row in sorted(lot.sessions.items()):
                    files.add(SESSIONS, (key[0], known.told(key, "month")), row)
                keys |= lot.sessions.keys()
                shared |= lot.shared
                self._lock.keep()
            return _Settled(keys, shared, files.finish())

    def _joined(self, pieces: Iterable[LakePiece]) -> list[LakePart]:
        """The files that the lake will have."""
        found, tasks = plan_joins(pieces, self._storage.url)
        runner = self._runner(sum(piece.part.size for task in tasks for piece in task.pieces))
        for part in runner.run(join_pieces, tasks):
            found += [part] if part is not None else []
            self._lock.keep()
        return found

    def _commit(self, parts: Iterable[LakePart]) -> LakeManifest:
        """Put new files in their places, then the manifest, then remove what is no more in it."""

        def place(part: LakePart) -> LakePart:
            if not part.path.startswith((f"{RUNS}/", f"{SHARDS}/")):
                return part
            path = part_path(part.table, part.agent, part.month, part.digest)
            self._storage.move(part.path, path)
            return msgspec.structs.replace(part, path=path)

        placed = list(in_threads(place, parts))
        manifest = msgspec.structs.replace(
            self._before,
            made_with=LakeManifest().made_with,
            parts=tuple(sorted(part for part in placed if part.table != KNOWN)),
            known=tuple(sorted(part for part in placed if part.table == KNOWN)),
        )
        self._lock.check()
        save_manifest(self._storage, manifest)
        _delete(self._storage, leftovers(self._storage, manifest, shards=bool(self._request.join)))
        return manifest

    def _report(self, manifest: LakeManifest, counts: tuple[int, int, int], unchanged: int) -> LakeReport:
        written, again, removed = counts
        parts = manifest.parts
        failures = list(dict.fromkeys(failure for result in self._done for failure in result.failures))
        read = sum(result.size for result in self._done)
        return LakeReport(
            written, unchanged, again, removed, read, failures, len(parts), sum(part.size for part in parts)
        )


def _names(keys: Iterable[LakeKey], agent: str) -> set[str]:
    return {session for of, session in keys if of == agent}


def _new_pieces(result: GroupResult, told: Collection[LakeKey]) -> Iterator[LakePiece]:
    """Files of a group, without the sessions that were read again for what others told of them."""
    again = [key for key in result.sessions if key in told]
    return (LakePiece(part, _names(again, part.agent)) for part in (*result.parts, *result.known))


def _group_size(total: int, workers: int) -> int:
    """Bytes of a unit of work: small enough that all workers have some, large enough that there are not too many."""
    fair = min(_GROUP, max(total // (workers * 4), _GROUP // 8))
    return max(fair, min(total // _MANY_GROUPS, _GROUP * _GROWTH))


def _grouped(tasks: Iterable[LogTask], most: int) -> Iterator[tuple[LogTask, ...]]:
    """Tasks put together until there is enough to do: those of one agent and time, whose rows go to the same files."""
    waiting: list[LogTask] = []
    size = 0
    for task in sorted(tasks, key=lambda one: (one.found.agent_id, one.found.modified, one.found.path)):
        waiting.append(task)
        size += task.size
        if size >= most:
            yield tuple(waiting)
            waiting, size = [], 0
    if waiting:
        yield tuple(waiting)
