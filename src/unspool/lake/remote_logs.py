"""Logs that lie elsewhere: in an object store, laid out as agents keep them, or in a hub that they were pushed to.

Those in a store are found by the names of the objects and the first bytes of each, by the same search as in folders.
Whoever reads a session fetches its files to a private folder that is gone afterwards.
"""

import os
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from unspool.agents import AGENTS, CodingAgent, FoundLog, by_id, is_known
from unspool.files import scratch_folder
from unspool.hub.sessions.process_push import SENT
from unspool.hub.sessions.session_store import assemble_session
from unspool.hub.store.connect import Store, StorePlace, open_store
from unspool.hub_client.prepare import PushedLibrary
from unspool.lake.group import LentLog, LogTask
from unspool.lake.storage import ObjectStorage, StoredFile, in_threads
from unspool.store.library.discover import logs_below
from unspool.store.library.library import shown_logs

_HEAD = 16 * 1024
"""Bytes of a log by which it is known whose it is."""
_DATABASES = (".db", ".sqlite", ".sqlite3", ".vscdb")
"""Ends of names of files that sessions are found in only when they are whole."""
_DEEP = 2
"""Folders of people and of machines above those of agents."""


class BucketFiles(NamedTuple):
    """The files of a session in a bucket."""

    bucket: str
    """The address that they lie below."""
    log: StoredFile
    files: tuple[StoredFile, ...]
    """All that reading it takes, the log among them."""
    common: tuple[StoredFile, ...] = ()
    """Files that several sessions may name; fetched where the log does."""

    @property
    def size(self) -> int:
        return sum(one.size for one in self.files if one.path.endswith(PurePosixPath(self.log.path).suffix))

    @property
    def state(self) -> str:
        files = sorted((*self.files, *self.common))
        return "\n".join(f"{self.bucket} {one.path} {one.size} {one.stamp or one.modified}" for one in files)

    @contextmanager
    def lent(self, found: FoundLog) -> Iterator[LentLog]:
        """The log in a scratch folder, with what lies around it."""
        with scratch_folder() as folder:
            for one in self.files:
                self._fetch(one, folder)
            for one in self._named(folder):
                self._fetch(one, folder)
            lent = LentLog(found, f"{folder}{os.sep}", _address(self.bucket))
            yield lent._replace(log=_moved(found, lent.address, lent.folder))

    def _fetch(self, file: StoredFile, folder: Path) -> None:
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        _bucket(self.bucket).fetch(file.path, target)
        os.utime(target, (file.modified, file.modified))

    def _named(self, folder: Path) -> list[StoredFile]:
        """Those of the common files whose names stand in the log."""
        names = {posixpath.basename(one.path).encode(): one for one in self.common}
        if not names:
            return []
        ends = b"|".join(sorted({re.escape(posixpath.splitext(name)[1]) for name in names}))
        with (folder / self.log.path).open("rb") as lines:
            said = {name for line in lines for name in re.findall(rb"[\w.-]+(?:" + ends + rb")", line)}
        return [one for name, one in sorted(names.items()) if name in said]


@lru_cache(maxsize=8)
def _bucket(address: str) -> ObjectStorage:
    return ObjectStorage(address)


def _address(bucket: str) -> str:
    """What stands before the paths of its files."""
    return f"{bucket.partition('?')[0].rstrip('/')}/"


def _moved(found: FoundLog, before: str, after: str) -> FoundLog:
    """A log whose files lie below another folder."""

    def moved(path: str) -> str:
        return after + path.removeprefix(before) if path.startswith(before) else path

    agents = tuple(
        msgspec.structs.replace(one, path=moved(one.path), sidecar=moved(one.sidecar)) for one in found.agents
    )
    root = moved(f"{found.root}/").rstrip("/") if found.root else ""
    return msgspec.structs.replace(found, path=moved(found.path), root=root, agents=agents, versions=())


class BucketLogs:
    """The sessions below some addresses; only those of some agents, where any is named."""

    def __init__(self, addresses: Sequence[str], agents: Collection[str] = ()) -> None:
        self._addresses, self._agents = addresses, agents
        self.strange: list[str] = []
        """Sentences about objects that cannot be files of anybody."""

    def tasks(self) -> Iterator[LogTask]:
        files: dict[str, BucketFiles] = {}
        found: list[FoundLog] = []
        for address in self._addresses:
            for log, its in _sessions(address, list(self._listed(address))):
                if log.path not in files and (not self._agents or log.agent_id in self._agents):
                    files[log.path] = its
                    found.append(log)
        for log in shown_logs(found):
            yield LogTask(log, remote=tuple(files[one.path] for one in (log, *log.versions)))

    def _listed(self, address: str) -> Iterator[StoredFile]:
        for one in _bucket(address).files():
            parts = one.path.split("/")
            if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
                self.strange.append(f"{_address(address)}{one.path} cannot be a file, and is not read.")
            else:
                yield one


def _sessions(address: str, objects: Sequence[StoredFile]) -> Iterator[tuple[FoundLog, BucketFiles]]:
    """The sessions below an address, each with its files."""
    with scratch_folder() as mirror:
        _lay_out(_bucket(address), objects, mirror)
        before, homes = f"{mirror}{os.sep}", dict[tuple[str, str], _HomeFiles]()
        for place in _places(mirror):
            below = "" if place == mirror else f"{place.relative_to(mirror).as_posix()}/"
            for log in logs_below(place):
                agent = by_id(log.agent_id)
                key = log.agent_id, below
                if key not in homes:
                    homes[key] = _HomeFiles(agent, below, objects)
                moved = _moved(log, before, _address(address))
                yield moved, homes[key].of(moved, log.path.removeprefix(before), address)


def _lay_out(bucket: ObjectStorage, objects: Sequence[StoredFile], mirror: Path) -> None:
    """Files with the names, sizes and times of objects, that hold only how these begin."""

    def lay(one: StoredFile) -> None:
        target = mirror / one.path
        target.parent.mkdir(parents=True, exist_ok=True)
        if one.path.endswith(_DATABASES):
            bucket.fetch(one.path, target)
        else:
            target.write_bytes(bucket.beginning(one.path, _HEAD))
            os.truncate(target, one.size)
        os.utime(target, (one.modified, one.modified))

    for _ in in_threads(lay, objects):
        pass


def _places(mirror: Path) -> list[Path]:
    """The folders that agents would call theirs, below those of people and machines; else the one above all."""
    found: list[Path] = []
    looked = [mirror]
    for _ in range(_DEEP + 1):
        found += [folder for folder in looked if _is_home(folder)]
        looked = [
            child for folder in looked if folder not in found for child in sorted(folder.iterdir()) if child.is_dir()
        ]
    return found or [mirror]


def _is_home(folder: Path) -> bool:
    return any(agent.home(folder) == folder for agent in AGENTS)


class _HomeFiles:
    """The objects of one agent's folder, by the session that each is of."""

    def __init__(self, agent: CodingAgent, below: str, objects: Iterable[StoredFile]) -> None:
        inside = [one for one in objects if one.path.startswith(below)]
        self._by_path = {one.path: one for one in inside}
        self._of: dict[str, list[StoredFile]] = {}
        for one in inside:
            self._of.setdefault(agent.session_of(one.path.removeprefix(below)), []).append(one)
        self._common = tuple(one for one in inside if agent.is_shared(one.path.removeprefix(below)))

    def of(self, found: FoundLog, path: str, address: str) -> BucketFiles:
        """The files of a session whose log lies at a path."""
        start, around = _address(address), f"{posixpath.dirname(path)}/{found.session_id}/"
        named = {
            path,
            *(one.removeprefix(start) for agent in found.agents for one in (agent.path, agent.sidecar) if one),
        }
        own = self._of.get(found.session_id, []) if found.session_id else []
        logs = [self._by_path[one] for one in named if one in self._by_path]
        rest = [one for one in own if one.path.startswith(around) or not one.path.startswith(_top(path))]
        return BucketFiles(address, self._by_path[path], tuple(sorted({*logs, *rest})), self._common)


def _top(path: str) -> str:
    """The folder of the folder of a log, which holds logs of others too."""
    return f"{posixpath.dirname(posixpath.dirname(path))}/"


class HubFiles(NamedTuple):
    """The files of a session that was pushed to a hub."""

    place: StorePlace
    session: str
    """Its id in the hub."""
    size: int
    state: str

    @contextmanager
    def lent(self, found: FoundLog) -> Iterator[LentLog]:
        """The log in a scratch folder, with what was pushed beside it."""
        with scratch_folder() as folder:
            assemble_session(_hub(self.place), self.session, folder)
            log = PushedLibrary(folder / SENT, found.session_id).pushed()
            yield LentLog(log, f"{folder / SENT}{os.sep}", f"{posixpath.dirname(found.path)}/")


_open: dict[StorePlace, Store] = {}
"""The hub that was read last: opening one takes longer than reading a session."""


def _hub(place: StorePlace) -> Store:
    if place not in _open:
        close_hub()
        _open[place] = open_store(place, new=False)
    return _open[place]


def close_hub() -> None:
    """Let go of the hub that was read last."""
    while _open:
        _open.popitem()[1].db.close()


class HubLogs:
    """The sessions of a hub, read from its database and its objects."""

    def __init__(self, place: StorePlace, agents: Collection[str] = ()) -> None:
        self._place, self._agents = place, agents
        self.strange: list[str] = []
        """Sessions that cannot be read here, a sentence each."""

    def tasks(self) -> Iterator[LogTask]:
        self.strange.clear()
        files: dict[str, HubFiles] = {}
        found: list[FoundLog] = []
        query = "SELECT id, project, person, key, agent, size, state, updated FROM session ORDER BY id"
        for session, project, person, key, agent, size, state, updated in _hub(self._place).db.rows(query):
            if not is_known(agent):
                self.strange.append(f"Session {key} is of {agent}, an agent that is not known here; it is left out.")
            elif not self._agents or agent in self._agents:
                path = f"hub:/{project}/{person}/{key}.jsonl"
                files[path] = HubFiles(self._place, session, size, f"{session} {state}")
                found.append(FoundLog(path, key, agent, size, updated / 1000, root=f"hub:/{project}/{person}"))
        for log in shown_logs(found):
            yield LogTask(log, remote=tuple(files[one.path] for one in (log, *log.versions)))
