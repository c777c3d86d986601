"""Agents that keep sessions in databases, or in many small files: each session is written out as a log of its own,
in the user's cache, and from there on read, kept, sent and followed like any other log.

Such a log is only ever added to: a record that changed is written again, one that is gone is said to be gone. So it
still holds what the agent has deleted, and an archive keeps it like one that grows.
"""

import base64
import hashlib
import os
import shutil
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from unspool.agents.base import CodingAgent
from unspool.agents.records import FoundAgent, FoundLog
from unspool.agents.values import first_bytes, mapping
from unspool.files import cache_folder, locked, scratch_folder, write_atomically
from unspool.model import Json

if TYPE_CHECKING:
    import sqlite3  # which only these agents need

    Database = sqlite3.Connection

AGENTS_FOLDER = "agents"
"""Where the logs of a session's subagents lie, below the folder that is called as the session."""
_STATE, _LOCK = "state.json", "lock"
_HEAD = b'{"kind":"store","id":"'
"""How such a log begins: its first record tells whose it is."""
_PATIENCE = 30.0
"""Seconds that one process waits for another to have written the same logs out."""
_TRIES = 3
_LARGEST_COPY = 1 << 28
"""Bytes of a database that is still copied before it is read."""


class StoredSession(NamedTuple):
    """A session as a store lists it."""

    id: str
    state: str
    """Changes whenever anything of the session does."""
    modified: float
    parent: str = ""
    """The session whose subagent it is."""


class StoredRecord(NamedTuple):
    """A row or a small file of a session."""

    kind: str
    id: str
    data: bytes
    """JSON, on one line."""


GetRecords = Callable[[], Iterable[StoredRecord]]


class _State(msgspec.Struct):
    """What was written out of a source, and what could not be."""

    fingerprint: str = ""
    sessions: dict[str, str] = {}
    problems: list[str] = []


class StoreAgent(CodingAgent):
    """An agent that keeps no log a session. What it adds is what is abstract here."""

    reads_whole = True

    @abstractmethod
    def fingerprint(self, root: Path) -> str:
        """What changes whenever anything below a source does, told from the outside of its files; empty where there is
        no store."""

    @abstractmethod
    def stored(self, root: Path, problems: list[str]) -> Iterator[tuple[StoredSession, GetRecords]]:
        """The sessions of a source and what gives the records of each, in a lasting order; one that two stores hold,
        once. What cannot be read is told in `problems`, a sentence each, and does not keep the rest from being read."""

    def recognises(self, data: dict[str, Json]) -> bool:
        return data.get("kind") == "store" and mapping(data.get("data")).get("agent") == self.id

    def home(self, root: Path) -> Path | None:
        return root if self.fingerprint(root) else None

    def log_root(self, source: Path) -> Path:
        return self._folder(source) if self.fingerprint(source) else source

    def problems(self, source: Path) -> list[str]:
        return _read_state(self._folder(source)).problems

    def discover(self, root: Path) -> Iterator[FoundLog]:
        fingerprint = self.fingerprint(root)
        if fingerprint:
            with suppress(OSError):  # a cache that is full or may not be written: what is there is still read
                self._write_out(root, fingerprint)
            yield from self._logs(self._folder(root))
        yield from self._logs(root)

    def session_of(self, path: str) -> str:
        name = path.replace(os.sep, "/").split("/")[0]
        return name.removesuffix(".jsonl")

    def is_log(self, path: str) -> bool:
        return path.endswith(".jsonl") and "/" not in path.replace(os.sep, "/")

    def _folder(self, source: Path) -> Path:
        name = hashlib.sha256(os.fsencode(os.path.realpath(source))).hexdigest()[:16]
        return cache_folder("stores") / self.id / name

    def _logs(self, folder: Path) -> Iterator[FoundLog]:
        """The logs that were written out to a folder, here or wherever it was copied from."""
        head = _HEAD[: _HEAD.index(b",")]
        mark = b'"agent":"%s"' % self.id.encode()
        for path in sorted(folder.glob("*.jsonl")):
            first = first_bytes(path, 400)
            if not first.startswith(head) or mark not in first:
                continue
            try:
                state = path.stat()
            except OSError:
                continue  # gone this very moment
            below = sorted((folder / path.stem / AGENTS_FOLDER).glob("*.jsonl"))
            agents = tuple(FoundAgent(str(one), one.stem) for one in below)
            yield FoundLog(
                str(path), path.stem, self.id, state.st_size, state.st_mtime, root=str(folder), agents=agents
            )

    def _files(self, root: Path, pattern: str, session: Callable[[Path], str]) -> Iterator[FoundLog]:
        """Sessions that lie in a folder as files of their own, which are logs as they are; `session` gives the id of
        one, or nothing."""
        for path in sorted(root.glob(pattern)):
            if path.is_file() and (name := session(path)):
                state = path.stat()
                yield FoundLog(str(path), name, self.id, state.st_size, state.st_mtime, root=str(root))

    def _write_out(self, root: Path, fingerprint: str) -> None:
        """Bring the logs of a source up to date with its stores."""
        folder = self._folder(root)
        if _read_state(folder).fingerprint == fingerprint:
            return
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(folder):
            was = _read_state(folder)
            if was.fingerprint == fingerprint:
                return
            now = _State(fingerprint)
            listed: dict[Path, None] = {}
            for session, records in self.stored(root, now.problems):
                path = _log_path(folder, session)
                if path is None:
                    now.problems.append(
                        f"A session of {self.name} in {root} has an id that is no name: {session.id!r}."
                    )
                    continue
                listed[path] = None
                now.sessions[session.id] = session.state
                if was.sessions.get(session.id) != session.state or not path.exists():
                    head = {"agent": self.id, "source": str(root), "parent": session.parent}
                    first = StoredRecord("store", session.id, msgspec.json.encode(head))
                    _bring_up_to_date(path, first, records())
                    os.utime(path, (session.modified, session.modified))
            for path in (*folder.glob("*.jsonl"), *folder.glob(f"*/{AGENTS_FOLDER}/*.jsonl")):
                if path not in listed and not now.problems:
                    path.unlink()  # the agent has deleted the session, as others delete a log
            write_atomically(folder / _STATE, [msgspec.json.encode(now)])


def _log_path(folder: Path, session: StoredSession) -> Path | None:
    """Where a session's log lies; None where its id, or its parent's, cannot be a file's name."""
    for name in (session.id, session.parent or session.id):
        if (
            not name
            or name.startswith(".")
            or len(name) > 200
            or not all(one.isalnum() or one in "-_.=" for one in name)
        ):
            return None
    if session.parent:
        return folder / session.parent / AGENTS_FOLDER / f"{session.id}.jsonl"
    return folder / f"{session.id}.jsonl"


def _bring_up_to_date(path: Path, first: StoredRecord, records: Iterable[StoredRecord]) -> None:
    """Add to a log what its records say that it does not say yet."""
    held: dict[tuple[str, str], bytes] = {}
    with suppress(FileNotFoundError), path.open("r+b") as stream:
        whole = 0
        for line in stream:
            if not line.endswith(b"\n"):
                break  # whoever wrote it was ended on the way
            try:
                known = msgspec.json.decode(line, type=_Line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                break  # damaged: what follows is written anew
            whole += len(line)
            held[known.kind, known.id] = line
        stream.truncate(whole)
    added, missing = [], dict.fromkeys(held)
    for record in (first, *records):
        line = b'{"kind":%s,"id":%s,"data":%s}\n' % (*map(msgspec.json.encode, record[:2]), record.data)
        missing.pop((record.kind, record.id), None)
        if held.get((record.kind, record.id)) != line:
            added.append(line)
    for kind, name in missing:
        line = b'{"kind":%s,"id":%s,"removed":true}\n' % (msgspec.json.encode(kind), msgspec.json.encode(name))
        if held[kind, name] != line:
            added.append(line)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as stream:  # noqa: PTH123
        stream.writelines(added)


class _Line(msgspec.Struct):
    kind: str
    id: str


def _read_state(folder: Path) -> _State:
    try:
        return msgspec.json.decode((folder / _STATE).read_bytes(), type=_State)
    except (OSError, msgspec.DecodeError):
        return _State()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Only one process writes into a folder at a time."""
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        end = time.monotonic() + _PATIENCE
        with suppress(OSError):  # without locks the last one wins
            while not locked(descriptor) and time.monotonic() < end:
                time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


def topmost(name: str, parents: Mapping[str, str | None]) -> str:
    """The session that a subagent's was begun by, however many subagents lie between; empty for any other."""
    seen, above = {name}, parents.get(name)
    found = ""
    while above and above in parents and above not in seen:
        seen.add(above)
        found, above = above, parents.get(above)
    return found


def file_states(paths: Iterable[Path]) -> str:
    """Sizes and times of those of the files that are there; empty where none is."""
    found = []
    for path in paths:
        with suppress(OSError):
            state = path.stat()
            found.append(f"{path.name} {state.st_size} {state.st_mtime_ns}")
    return "\n".join(found)


def database_files(path: Path) -> tuple[Path, Path]:
    """A database and the file of what was last written to it."""
    return path, path.with_name(f"{path.name}-wal")


@contextmanager
def database_snapshot(path: Path) -> "Iterator[sqlite3.Connection]":
    """A database as it stands at this moment, to be read. The agent that has it open is never kept waiting: it is a
    copy that is read, but for one so large that copying it would take longer than any question to it. sqlite3.Error or
    OSError where it cannot be."""
    import sqlite3

    if path.stat().st_size > _LARGEST_COPY:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            yield _to_be_read(db)
        return
    with scratch_folder() as folder:
        for _ in range(_TRIES):
            before = file_states(database_files(path))
            for one in database_files(path):
                (folder / one.name).unlink(missing_ok=True)
                with suppress(FileNotFoundError):
                    shutil.copyfile(one, folder / one.name)
            if file_states(database_files(path)) == before:
                break
        else:  # written all the time: let SQLite itself copy it page by page
            for one in database_files(path):
                (folder / one.name).unlink(missing_ok=True)
            with (
                closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as live,
                closing(sqlite3.connect(folder / path.name)) as copy,
            ):
                live.backup(copy, pages=1000)
        with closing(sqlite3.connect(folder / path.name)) as db:
            yield _to_be_read(db)


def _to_be_read(db: "sqlite3.Connection") -> "sqlite3.Connection":
    import sqlite3

    db.row_factory = sqlite3.Row
    db.text_factory = lambda raw: raw.decode(errors="replace")
    db.execute("PRAGMA query_only = ON")
    return db


def database_errors() -> tuple[type[Exception], ...]:
    """What reading a database may raise."""
    import sqlite3

    return sqlite3.Error, OSError


def columns(db: "sqlite3.Connection", table: str) -> frozenset[str]:
    """The columns of a table; none where there is no such table."""
    return frozenset(row["name"] for row in db.execute(f"PRAGMA table_info({table})"))


def as_json(value: object) -> bytes:
    """A value of a database as JSON on one line: a text that is JSON as it stands, bytes that are none in base64."""
    raw = value.encode(errors="replace") if isinstance(value, str) else value
    if not isinstance(raw, bytes):
        return msgspec.json.encode(raw)
    try:
        return msgspec.json.format(raw, indent=-1)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return msgspec.json.encode(raw.decode())
    except UnicodeDecodeError:
        return msgspec.json.encode({"base64": base64.b64encode(raw).decode()})


def row_as_json(row: "sqlite3.Row", parsed: Iterable[str] = ()) -> bytes:
    """A row as an object; those of its columns that hold JSON as what they hold."""
    inner = frozenset(parsed)
    values = {
        name: msgspec.Raw(as_json(row[name]))
        if isinstance(row[name], bytes) or (name in inner and row[name] is not None)
        else row[name]
        for name in row.keys()  # noqa: SIM118  a row is no mapping
    }
    return msgspec.json.encode(values)
