"""Sessions that only the archive still has, checked out to be read."""

import os
import platform
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from unspool.agents import CodingAgent, FoundLog, by_id, is_known
from unspool.agents.records import TypedPrompt
from unspool.errors import NotFound, UnspoolError
from unspool.model import Lines, Notice, Overview, Place, Prompt, Session, Todos, Turn
from unspool.prices import PriceTable
from unspool.reading.ledger import CallLedger
from unspool.store.archive import ArchiveDatabase, FileStatus, KeptFile, Origin
from unspool.store.archive.database import ARCHIVE, INDEX
from unspool.store.archive.line_filter import split_lines
from unspool.store.index.context_files import ContextFileIndex, RanUnder
from unspool.store.index.database import Index
from unspool.store.index.requests import requests_of
from unspool.store.index.schema import index_salt
from unspool.store.library.history import CountedLog
from unspool.store.library.session_files import SessionFiles, checkout

_LARGEST_PASTE = 4 * 1024 * 1024


def kept_prompts(
    archive: ArchiveDatabase, agent: CodingAgent, kept: dict[str, KeptFile], known: Collection[str] = ()
) -> Iterator[TypedPrompt]:
    """The prompts of a place as the archive has them, with what was pasted, but for that of `known` sessions."""
    if agent.prompt_list.name not in kept:
        return iter(())

    def pasted(path: str) -> bytes | None:
        one = kept.get(path)
        return archive.read(one.generation) if one is not None and one.size <= _LARGEST_PASTE else None

    return agent.prompt_list.prompts_in(
        split_lines(archive.stream(kept[agent.prompt_list.name].generation)), pasted, known
    )


GHOST_PATH = "ghost:"
"""What the path of a ghost begins with in the index, where a session has the path of its log."""


def _ghost_session(
    agent: CodingAgent, overview: Overview, prompts: Iterable[TypedPrompt], home: Path | None
) -> Session:
    """A session made of its prompts, with what else is left of it said before them."""
    left = [] if home is None else [one.path for one in agent.files.leftovers(home) if one.session_id == overview.id]
    still = f"\n\nStill there: {', '.join(sorted(left))}" if left else ""
    words = f"its log is gone, and these prompts are from {overview.log.path}.{still}"
    gone = Notice(Place(0, 0, 0), "log-gone", words)
    turns = [Turn(0, None, (gone,))]
    for number, typed in enumerate(prompts, 1):
        prompt = Prompt(Place(0, typed.place, 0), "command" if typed.command else "text", typed.text, time=typed.time)
        turns.append(Turn(number, prompt, (), typed.time, typed.time))
    return Session(
        overview.id, agent.id, "ghost", overview.log, overview.titles, tuple(turns), (), (), (), (), (), Lines(),
        Todos(()), project=overview.project, started=overview.started, ended=overview.ended,
    )  # fmt: skip


_BEGINNING = 2 * 1024 * 1024


_BY_PATH = "SELECT id, overview, ids, prompts FROM session WHERE origin = ? AND path = ?"
_BEFORE = datetime.min.replace(tzinfo=UTC)


def _typed_order(prompt: TypedPrompt) -> tuple[datetime, int]:
    return prompt.time or _BEFORE, prompt.place


class KeptSessions:
    """The sessions of an archive, as far as they are not in their sources any more."""

    def __init__(self, folder: Path, key: str | None = None) -> None:
        self.folder = folder
        self.key = key

    @property
    def there(self) -> bool:
        return (self.folder / ARCHIVE).exists() and (self.folder / INDEX).exists()

    def logs(self, present: set[str]) -> list[FoundLog]:
        """Every session's log that is not among those present, the last written first."""
        found: list[FoundLog] = []
        ended = self._ended()
        with ArchiveDatabase.open(self.folder, key=self.key, readonly=True) as archive:
            for number, origin in archive.origins().items():
                if not is_known(origin.agent):
                    continue
                kept = archive.kept(number)
                sessions = SessionFiles(by_id(origin.agent), kept.values())
                for path, session in {**sessions.paths, **self._strays(number, sessions)}.items():
                    whole = str(Path(origin.root) / path)
                    if os.path.realpath(whole) not in present:
                        filed = "/" in path and by_id(origin.agent).filed_by_project
                        folder, one = path.rsplit("/", 2)[-2] if filed else "", kept[path]
                        active = ended.get((number, path), one.modified / 1e9)
                        found.append(
                            FoundLog(whole, session, origin.agent, one.size, active, folder, origin.root, origin=number)
                        )
        return sorted(found, key=lambda log: (-log.modified, log.path))

    @staticmethod
    def is_ghost(found: FoundLog) -> bool:
        """Whether no log is left, here or in the archive, and what is known comes from traces."""
        return bool(found.origin) and _path_in_origin(found).startswith(GHOST_PATH)

    def ghosts(self) -> list[FoundLog]:
        """Sessions that no log is left of, the last first, by the place that the archive has their traces from."""
        with (
            ArchiveDatabase.open(self.folder, key=self.key, readonly=True) as archive,
            Index.open(self.folder, key=self.key, readonly=True) as index,
        ):
            query = (
                "SELECT origin, path, session_id, coalesce(ended, 0) FROM session"
                " WHERE kind = 'ghost' AND version_of IS NULL ORDER BY 4 DESC, path"
            )
            origins, rows = archive.origins(), index.db.execute(query)
            found: list[Any] = [(origins[number], number, *rest) for number, *rest in rows if number in origins]
        return [
            FoundLog(f"{origin.root}/{path}", name, origin.agent, 0, ended, path, origin.root, origin=number)
            for origin, number, path, name, ended in found
            if is_known(origin.agent)
        ]

    def ghost(self, found: FoundLog) -> Session:
        """What is left of a session without a log: its prompts, and the names of files that bear its id."""
        overview = self.overview(found)
        if overview is None:
            raise NotFound(f"There is no session {found.session_id}.")
        agent, query = by_id(found.agent_id), "SELECT place FROM turn JOIN log ON log.id = turn.log WHERE session = ?"
        with (
            ArchiveDatabase.open(self.folder, key=self.key, readonly=True) as archive,
            Index.open(self.folder, key=self.key, readonly=True) as index,
        ):
            row: Any = index.db.execute(_BY_PATH, (found.origin, _path_in_origin(found))).fetchone()
            places = {place for (place,) in index.db.execute(query, (row[0],))} if overview.turns else set()
            typed = kept_prompts(archive, agent, archive.kept(found.origin))
            prompts = sorted((one for one in typed if one.place in places), key=_typed_order)
            here = archive.origins()[found.origin].machine == platform.node()
        return _ghost_session(agent, overview, prompts, agent.home(Path(found.root)) if here else None)

    def _ended(self) -> dict[tuple[int, str], float]:
        """When the last line of each session was written, by its origin and path."""
        try:
            with Index.open(self.folder, key=self.key, readonly=True) as index:
                rows: Any = index.db.execute("SELECT origin, path, ended FROM session WHERE ended IS NOT NULL")
                return {(origin, path): ended for origin, path, ended in rows}
        except UnspoolError:
            return {}  # made by another version: the files' own times have to do

    def begun_with(self, line: int, logs: Iterable[FoundLog]) -> list[FoundLog]:
        """Those of the logs that begin with a line."""
        try:
            with Index.open(self.folder, key=self.key, readonly=True) as index:
                first = array("Q", [line]).tobytes()
                rows: Any = index.db.execute("SELECT origin, path FROM session WHERE substr(ids, 1, 8) = ?", (first,))
                known = set(rows)
        except UnspoolError:
            return []
        return [log for log in logs if (log.origin, _path_in_origin(log)) in known]

    def _strays(self, origin: int, sessions: SessionFiles) -> dict[str, str]:
        """Subagents' logs that stand for themselves, as the index knows: their ids, by path."""
        beside = set(sessions.beside)
        if not beside:
            return {}
        with Index.open(self.folder, key=self.key, readonly=True) as index:
            rows = index.db.execute("SELECT path, session_id FROM session WHERE origin = ?", (origin,))
            return {path: name for path, name in rows if path in beside}

    def counted(self, logs: list[FoundLog]) -> Iterator[CountedLog]:
        """What the index knows of sessions; those that it does not know are left out."""
        with Index.open(self.folder, key=self.key, readonly=True) as index:
            for found in logs:
                row: Any = index.db.execute(_BY_PATH, (found.origin, _path_in_origin(found))).fetchone()
                if row is not None:
                    read = msgspec.msgpack.decode(row[1], type=Overview)
                    overview = msgspec.structs.replace(read, agent=found.agent_id, kept=read.kind != "ghost")
                    yield CountedLog(found, overview, array("Q", row[2]), array("Q", row[3]), _ledger(index, row[0]))

    def current(self, logs: Sequence[FoundLog], prices: PriceTable) -> dict[str, CountedLog]:
        """Those of the logs that the index knows as they stand, so that they need not be read, by path."""
        found: dict[str, CountedLog] = {}
        try:
            with (
                ArchiveDatabase.open(self.folder, key=self.key, readonly=True) as archive,
                Index.open(self.folder, key=self.key, readonly=True) as index,
            ):
                here = {os.path.realpath(log.path): log for log in logs}
                for number, origin in archive.origins().items():
                    prefix = f"{origin.root}{os.sep}"
                    inside = {
                        path[len(prefix) :]: log
                        for path, log in here.items()
                        if path.startswith(prefix) and log.agent_id == origin.agent
                    }
                    if inside and is_known(origin.agent):
                        place = _KeptPlace(archive, number, origin, index_salt(prices))
                        found |= {one.found.path: one for one in place.current(index, inside)}
        except UnspoolError:
            return {}  # nothing is kept yet, or by another version: the logs tell
        return found

    def ran_under(self, session: str) -> list[RanUnder]:
        """The context files that a session ran under; none where nothing is kept yet, or by another version."""
        try:
            with (
                ArchiveDatabase.open(self.folder, key=self.key, readonly=True) as archive,
                Index.open(self.folder, key=self.key, readonly=True) as index,
            ):
                return ContextFileIndex(index.db, archive.origins()).of_session(session)
        except UnspoolError:
            return []

    def overview(self, found: FoundLog) -> Overview | None:
        """What the index knows of a session."""
        return next((one.overview for one in self.counted([found])), None)

    def beginning(self, found: FoundLog) -> bytes:
        """The first lines of a log."""
        with ArchiveDatabase.open(self.folder, key=self.key, readonly=True) as archive:
            kept = archive.last(found.origin, _path_in_origin(found))
            return b"" if kept is None else archive.read(kept.generation, 0, _BEGINNING)

    def is_part_of(self, log: FoundLog, whole: FoundLog) -> bool:
        """Whether a file that is kept holds nothing that another of its session does not."""
        if not log.origin or log.size > whole.size:
            return False
        with ArchiveDatabase.open(self.folder, key=self.key, readonly=True) as archive, self.located(whole) as here:
            kept = archive.last(log.origin, _path_in_origin(log))
            if kept is None:
                return False
            with Path(here.path).open("rb") as stream:
                return all(stream.read(len(chunk)) == chunk for chunk in archive.stream(kept.generation))

    @contextmanager
    def located(self, found: FoundLog) -> Iterator[FoundLog]:
        """The log where it can be read while the `with` lasts, though only the archive has it."""
        if found.origin:
            with self.lent(found) as here:
                yield here
        else:
            yield found

    @contextmanager
    def lent(self, found: FoundLog) -> Iterator[FoundLog]:
        """The same log where it can be read for a while."""
        with ArchiveDatabase.open(self.folder, key=self.key, readonly=True) as archive:
            agent, path = by_id(found.agent_id), _path_in_origin(found)
            files = SessionFiles(agent, archive.kept(found.origin).values()).needed(path)
            with checkout(archive, files) as root:
                wanted = str(root / path)
                places = (root, Path(wanted).parent)  # what was imported lies where its agent would not look
                here = next((log for one in places for log in agent.discover(one) if log.path == wanted), None)
                if here is None:
                    raise NotFound(f"The archive holds no log of {found.session_id}.")
                yield here


class _KeptPlace:
    """The files of one origin as the archive has them, compared with those that are there."""

    def __init__(self, archive: ArchiveDatabase, number: int, origin: Origin, salt: str) -> None:
        self._number, self._root, self._salt = number, origin.root, salt
        self._kept = archive.kept(number)
        self._sessions = SessionFiles(by_id(origin.agent), self._kept.values())

    def current(self, index: Index, logs: Mapping[str, FoundLog]) -> Iterator[CountedLog]:
        query = (
            "SELECT id, path, state, named, overview, ids, prompts FROM session WHERE origin = ? AND kind <> 'ghost'"
        )
        rows: Any = index.db.execute(query, (self._number,))
        for session, path, state, named, overview, ids, prompts in rows:
            log = logs.get(path)
            if log is not None and self._is_current(path, log, state, named.splitlines()):
                read = msgspec.msgpack.decode(overview, type=Overview)
                read = msgspec.structs.replace(read, log=msgspec.structs.replace(read.log, path=log.path))
                yield CountedLog(log, read, array("Q", ids), array("Q", prompts), _ledger(index, session))

    def _is_current(self, path: str, log: FoundLog, state: bytes, named: list[str]) -> bool:
        """Whether the index has read what the archive holds, and the archive holds what is there."""
        if state != self._sessions.state(path, self._salt, named):
            return False
        files = {one.path: one for one in self._sessions.files(path)}
        files |= {name: self._kept[name] for name in named if name in self._kept}
        logs = (os.path.relpath(os.path.realpath(agent.path), self._root) for agent in log.agents)
        return all(agent.replace(os.sep, "/") in files for agent in logs) and all(map(self._is_there, files.values()))

    def _is_there(self, kept: KeptFile) -> bool:
        try:
            status = FileStatus.of(os.stat(f"{self._root}/{kept.path}"))  # noqa: PTH116  hot
        except OSError:
            return kept.gone is not None
        return kept.gone is None and status == (kept.size, kept.modified, kept.changed, kept.inode)


def _path_in_origin(found: FoundLog) -> str:
    """The path of a log below the place that the archive had it from."""
    return os.path.relpath(found.path, found.root).replace(os.sep, "/")


def _ledger(index: Index, session: int) -> CallLedger:
    ledger = CallLedger()
    for row in requests_of(index.db, session):
        ledger.enter((row.message, row.request), row.usage, row.time, row.terms)
    return ledger
