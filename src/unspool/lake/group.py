"""The unit of work: some logs in, finished files out. It asks nobody else and gives the same for the same logs, so that
it can run in any process, and once more where one died."""

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from unspool.agents import FoundLog, by_id
from unspool.errors import Unreadable, UnspoolError
from unspool.files import scratch_folder
from unspool.hub_client.prepare import PushedLibrary, PushRedaction, prepare_push
from unspool.lake.manifest import KNOWN, RUNS, TABLE_VERSIONS, LakePart
from unspool.lake.parquet import RowFiles, TableFile
from unspool.lake.rows import ConversationFacts, SessionTables, facts_of, unread_row
from unspool.lake.settle import KnownRow, LakeKey, SessionMemo, SharedFacts, known_schema, known_table, memo_of
from unspool.lake.storage import LakeStorage, open_storage
from unspool.lake.tables import BY_NAME
from unspool.model import Overview, Session
from unspool.prices import PriceTable
from unspool.redact.policy import RedactionPolicy
from unspool.scanners import SCANNERS
from unspool.scanners.unclean_end import GOING_ON
from unspool.store.index.schema import index_salt
from unspool.store.library.history import CountedLog, join_versions
from unspool.store.library.kept_sessions import KeptSessions
from unspool.store.library.read import read_counted, reading_failure, relocated
from unspool.workers import GC_PAUSE

_VERSION = 1
"""Another way to make rows, and all are made anew."""
_NO_FACTS = ConversationFacts("", "", "", None)


class ReadingTerms(NamedTuple):
    """How logs become rows: all that these depend on besides the logs."""

    prices: PriceTable
    results: bool = True
    """Whether what tools answered is written."""
    archive: str = ""
    """The folder of the archive that has sessions which are gone from their sources; empty for none."""
    archive_key: str | None = None
    policy: RedactionPolicy | None = None
    """By what logs are redacted before they are read; None: not at all."""
    naming_key: bytes = b""
    """What the names depend on that stand for what was redacted."""

    @property
    def salt(self) -> str:
        scanners = [f"{one.name}={one.version}" for one in SCANNERS]
        policy = f"{self.policy.version} {sha256(self.naming_key).hexdigest()}" if self.policy is not None else ""
        return f"{_VERSION} {index_salt(self.prices)} {TABLE_VERSIONS} {self.results} {policy} {scanners}"

    @property
    def kept(self) -> KeptSessions | None:
        return KeptSessions(Path(self.archive), self.archive_key) if self.archive else None


def session_state(task: "LogTask", salt: str, slug: str) -> str:
    """Equal as long as nothing changed that the rows of a session are made of; `slug` names files that it may have."""
    told, found = [salt, *(one.state for one in task.remote)], task.found
    for log in () if task.remote else (found, *found.versions):
        if log.origin:
            told.append(f"{log.origin} {log.path} {log.size} {log.modified}")
            continue
        beside = (one.path for one in by_id(log.agent_id).files.companions(log, slug))
        agents = (path for one in log.agents for path in (one.path, one.sidecar) if path)
        told += [_stamp(path) for path in (log.path, *agents, *sorted(beside))]
    if time.time() - found.modified < GOING_ON.total_seconds():
        told.append("goes on")  # how it ended is told once that is sure
    return sha256("\n".join(told).encode(errors="replace")).hexdigest()[:32]


def _stamp(path: str) -> str:
    try:
        status = os.stat(path)  # noqa: PTH116  hot
    except OSError:
        return path
    return f"{path} {status.st_size} {status.st_mtime_ns}"


class LentLog(NamedTuple):
    """A log that was fetched: its files lie below a folder for a while, and at home below an address."""

    log: FoundLog
    folder: str
    address: str


class RemoteFiles(Protocol):
    """The files of one log that lie elsewhere; sent to whoever reads it, who fetches them."""

    @property
    def size(self) -> int:
        """Bytes of the log and its subagents' logs."""

    @property
    def state(self) -> str:
        """Equal as long as none of them changed."""

    def lent(self, found: FoundLog) -> AbstractContextManager[LentLog]:
        """The log where it can be read while the `with` lasts."""


class LogTask(NamedTuple):
    """One session to be read, and what others tell of it."""

    found: FoundLog
    shared: SharedFacts = SharedFacts()
    remote: tuple[RemoteFiles, ...] = ()
    """The files of the log and of each of its versions, where they lie elsewhere."""

    @property
    def key(self) -> LakeKey:
        return self.found.agent_id, self.found.session_id

    @property
    def size(self) -> int:
        return sum(one.size for one in self.remote) if self.remote else self.found.total_size


class GroupTask(NamedTuple):
    """Sessions whose rows go to the same files."""

    logs: tuple[LogTask, ...]
    terms: ReadingTerms
    storage: str
    """The address of the lake."""
    folder: str = RUNS
    """The folder in it that files are left in."""
    attempt: str = ""
    """Of two that write the same group at the same time, neither touches the other's files."""
    noted: bool = False
    """Whether a note is left beside the files, so that another write can take them over."""
    lost: bool = False
    """Whether processes died of it, so that its logs are not read but told of."""

    @property
    def size(self) -> int:
        return sum(one.size for one in self.logs)

    @property
    def name(self) -> str:
        told = "\n".join(f"{one.found.path} {one.found.size} {one.shared.digest}" for one in self.logs)
        return sha256(told.encode(errors="replace")).hexdigest()[:16] + self.attempt

    def smaller(self) -> "list[GroupTask]":
        """The same work in two tasks, or told of instead of done: for a task that processes die of."""
        if len(self.logs) == 1:
            return [] if self.lost else [self._replace(lost=True)]
        half = len(self.logs) // 2
        return [self._replace(logs=self.logs[:half]), self._replace(logs=self.logs[half:])]


class GroupResult(msgspec.Struct, frozen=True):
    """Files that were written, none of them in its place yet."""

    parts: list[LakePart]
    known: list[LakePart]
    size: int
    """Bytes of the logs."""
    failures: list[str]
    sessions: list[LakeKey]

    @property
    def paths(self) -> set[str]:
        return {part.path for part in (*self.parts, *self.known)}


NOTE = "finished.json"
"""The GroupResult of the files that it lies beside."""


def write_group(task: GroupTask) -> GroupResult:
    """Read the logs and write their rows. A log that cannot be read is a row of `problems`."""
    storage, folder = open_storage(task.storage), f"{task.folder}/{task.name}"
    known: dict[str, list[KnownRow]] = {}
    with RowFiles(storage, folder) as files:
        reader = _SessionReader(task.terms, files)
        for one in task.logs:
            with GC_PAUSE:
                row = reader.lost(one.found) if task.lost else reader.add(one)
                known.setdefault(one.found.agent_id, []).append(row)
        parts = files.finish()
    told = [_remember(storage, folder, agent, rows) for agent, rows in sorted(known.items())]
    failures = [row.memo.failure for rows in known.values() for row in rows if row.memo.failure]
    done = GroupResult(parts, told, task.size, failures, [one.key for one in task.logs])
    if task.noted:
        storage.put(f"{folder}/{NOTE}", msgspec.json.encode(done))
    return done


def _remember(storage: LakeStorage, folder: str, agent: str, rows: list[KnownRow]) -> LakePart:
    with TableFile(storage, f"{folder}/{KNOWN}-{agent}.parquet", known_schema()) as file:
        file.write(known_table(rows))
        return LakePart(KNOWN, agent, "", *file.finish())


class _SessionReader:
    """Reads sessions, one after the other, into files."""

    def __init__(self, terms: ReadingTerms, files: RowFiles) -> None:
        self._terms, self._files = terms, files
        self._salt, self._price = terms.salt, terms.prices.picodollars

    def add(self, task: LogTask) -> KnownRow:
        """Write the rows of a session; what is to be remembered of it."""
        found, before = task.found, session_state(task, self._salt, "")
        try:
            session, counted = _read(task, self._terms)
        except (UnspoolError, OSError) as error:
            return self._failed(found, reading_failure(found.path, error))
        memo, month = memo_of(session, counted, facts_of(session)), _month(counted.overview)
        marked, divided = task.shared.applied(session, counted)
        tables = SessionTables(marked, divided, self._price, results=self._terms.results)
        for table, row in tables.rows(task.shared.plans):
            self._files.add(BY_NAME[table], (found.agent_id, month), row)
        state = ""  # of a log that grew meanwhile: it is read again
        if session_state(task, self._salt, "") == before:
            state = session_state(task, self._salt, session.slug)
        return KnownRow(found.agent_id, found.session_id, state, task.shared.digest, month, memo)

    def lost(self, found: FoundLog) -> KnownRow:
        """Tell of a log that no process outlives."""
        return self._failed(found, f"Processes that read {found.path} died of it.")

    def _failed(self, found: FoundLog, why: str) -> KnownRow:
        """Tell of a log that could not be read; where nothing may be told of it, only that."""
        found = msgspec.structs.replace(found, agents=(), versions=())
        if self._terms.policy is not None:
            name = sha256(found.session_id.encode(errors="replace")).hexdigest()[:16]
            found, why = _hidden(found, f"{name}.jsonl", name), "The log could not be read or redacted."
        table, row = unread_row(found.session_id, found.path, why)
        self._files.add(BY_NAME[table], (found.agent_id, "unknown"), row)
        memo = SessionMemo(found, None, b"", b"", [], _NO_FACTS, failure=why)
        return KnownRow(found.agent_id, found.session_id, "", "", "unknown", memo)  # without a state it is tried again


def _month(overview: Overview | None) -> str:
    started = overview.started if overview is not None else None
    return "unknown" if started is None else f"{started.year:04d}-{started.month:02d}"


def _read(task: LogTask, terms: ReadingTerms) -> tuple[Session, CountedLog]:
    """A session by that of its files which lists show, counted with what the others hold besides."""
    logs = (task.found, *task.found.versions)
    places = task.remote or (None,) * len(logs)
    files = {log.path: _read_file(log, place, terms) for log, place in zip(logs, places, strict=True)}
    if len(files) == 1:
        return files[task.found.path]
    (shown,) = join_versions(counted for _, counted in files.values())
    return next(session for session, counted in files.values() if counted.found is shown.found), shown


def _read_file(found: FoundLog, place: RemoteFiles | None, terms: ReadingTerms) -> tuple[Session, CountedLog]:
    if place is None:
        return _read_redacted(found, found, terms) if terms.policy is not None else read_counted(found, terms.kept)
    with place.lent(found) as lent:
        if terms.policy is not None:
            return _read_redacted(found, lent.log, terms)
        try:
            session, counted = read_counted(lent.log)
        except UnspoolError as error:
            raise Unreadable(str(error).replace(lent.folder, lent.address)) from None
    session, overview = relocated(session, lent.folder, lent.address), counted.overview
    if overview is not None:
        overview = msgspec.structs.replace(overview, log=session.log)
    return session, counted._replace(found=found, overview=overview)


def _read_redacted(found: FoundLog, lent: FoundLog, terms: ReadingTerms) -> tuple[Session, CountedLog]:
    with _redacted(lent, terms) as (here, folder):
        session, counted = read_counted(here)
    place = _hidden(found, Path(session.log.path).name, found.session_id)
    session = relocated(session, f"{folder}{os.sep}", place.path.rpartition("/")[0] + "/")
    overview = counted.overview
    if overview is not None:
        overview = msgspec.structs.replace(overview, log=session.log, kept=bool(found.origin))
    return session, counted._replace(found=place, overview=overview)


def _hidden(found: FoundLog, name: str, session: str) -> FoundLog:
    """A log without its place on the machine: a digest of its folder keeps sessions together that lie together."""
    beside = sha256(str(Path(found.path).parent).encode(errors="replace")).hexdigest()[:16]
    return FoundLog(f"{beside}/{name}", session, found.agent_id, found.size, found.modified, beside)


@contextmanager
def _redacted(found: FoundLog, terms: ReadingTerms) -> Iterator[tuple[FoundLog, Path]]:
    """A log without what must not leave, and the folder that it lies in."""
    kept, policy = terms.kept, terms.policy or RedactionPolicy()
    with scratch_folder() as folder, kept.located(found) if kept is not None else nullcontext(found) as here:
        prepare_push(here, PushRedaction(policy, terms.naming_key), folder)
        yield PushedLibrary(folder, found.session_id).pushed(), folder
