"""The files of a session as the archive's list tells them, checked out to be read."""

import hashlib
import os
import posixpath
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from unspool.agents import AGENTS, CodingAgent, by_id, is_known, split_session_name
from unspool.errors import Unreadable, UnspoolError
from unspool.files import scratch_folder
from unspool.store.archive import ArchiveDatabase, KeptFile
from unspool.store.archive.forget import SessionFile, find_session_files
from unspool.store.index.write import DIGEST


@contextmanager
def checkout(archive: ArchiveDatabase, files: Iterable[KeptFile], failures: list[str] | None = None) -> Iterator[Path]:
    """A private folder that holds the files at their paths, with their times; gone when the `with` ends.

    What cannot be given back is told in `failures` and left out; without that list it is an error.
    """
    with scratch_folder() as root:
        for one in files:
            try:
                _put(archive, one, root)
            except UnspoolError as error:
                if failures is None:
                    raise
                failures.append(str(error))
        yield root


def _put(archive: ArchiveDatabase, one: KeptFile, root: Path) -> None:
    path = root / one.path
    if not path.resolve().is_relative_to(root.resolve()):
        return  # a merged archive may come from anyone
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as stream:
            for chunk in archive.stream(one.generation):
                stream.write(chunk)
        os.utime(path, ns=(one.modified, one.modified))
    except OSError as error:
        path.unlink(missing_ok=True)
        raise Unreadable(f"Cannot check {one.path} out to {root}: {error.strerror or error}.") from None
    except UnspoolError:
        path.unlink(missing_ok=True)
        raise


class SessionFiles:
    """The sessions of one place, as the archive's list of files tells."""

    def __init__(self, agent: CodingAgent, kept: Iterable[KeptFile]) -> None:
        self._agent = agent
        self._files: dict[str, list[KeptFile]] = {}
        self._beside: dict[str, list[KeptFile]] = {}
        self._common: dict[str, KeptFile] = {}
        self.paths: dict[str, str] = {}
        """The session of each log, by path."""
        for one in kept:
            session = agent.session_of(one.path)
            if agent.is_shared(one.path):
                self._common[one.path] = one
            if session:
                self._files.setdefault(session, []).append(one)
            if agent.is_log(one.path):
                self.paths[one.path] = session
            elif agent.is_stray_agent(one.path):
                self._beside.setdefault(posixpath.dirname(one.path), []).append(one)

    @cached_property
    def common(self) -> tuple[str, ...]:
        """Files that are no single session's, by path."""
        return tuple(self._common)

    @property
    def beside(self) -> Iterator[str]:
        """Subagents' logs that lie among sessions, by path."""
        return (one.path for group in self._beside.values() for one in group)

    def files(self, path: str) -> list[KeptFile]:
        """All files of the session whose log that is, the log among them, by path."""
        session = self.paths.get(path, "")
        folder = posixpath.dirname(path)
        own = [one for one in self._files.get(session, ()) if _of(one.path, path, folder)]
        return sorted([*own, *self._beside.get(folder, ())])

    def needed(self, path: str) -> list[KeptFile]:
        """The files that reading the session takes: those around its log, and what logs may name, pictures too."""
        folder = posixpath.dirname(path)
        return [
            *(one for one in self.files(path) if one.path.startswith(f"{folder}/" * bool(folder))
              or self._agent.is_shown(one.path)),
            *self._common.values(),
        ]  # fmt: skip

    def state(self, path: str, salt: str, named: Iterable[str] = ()) -> bytes:
        """Equal as long as nothing that the rows of a session are derived from changed; `named` are files of several
        sessions that it depends on too.

        Its end, from DIGEST on, tells of what is no log alone: while that is equal, rows of lines that were read
        before are the same again.
        """
        files = [*self.files(path), *(self._common[name] for name in named if name in self._common)]
        rest = [one for one in files if not self._agent.is_conversation(one.path)]
        modified = next((one.modified for one in files if one.path == path), 0)
        return _digest(f"{salt} {modified}", files) + _digest("", rest)


def _digest(salt: str, files: Iterable[KeptFile]) -> bytes:
    told = "\n".join(f"{one.path}\t{one.generation}\t{one.size}" for one in files)
    return hashlib.sha256(f"{salt}\n{told}".encode(errors="surrogateescape")).digest()[:DIGEST]


def _of(path: str, log: str, folder: str) -> bool:
    """Whether a file that bears a session's id is of the log in this folder: ids recur where logs were copied."""
    top = log.partition("/")[0]  # the folder of all logs; beside it an id is enough
    return path == log or not folder or not path.startswith(f"{top}/") or path.startswith(f"{folder}/")


_BEGINNING = 4096
"""Bytes of a log in which it names its session."""


def session_of_path(agent_id: str, path: str) -> str:
    """The session that a path of an agent is of; empty where it is no single session's."""
    return by_id(agent_id).session_of(path) if is_known(agent_id) else ""


def files_of_session(archive: ArchiveDatabase, name: str) -> tuple[str, list[SessionFile]]:
    """A session by its id or how that begins, and all its files, subagents' logs that lie elsewhere among them."""
    key, files = find_session_files(archive, name, session_of_path)
    _, session = split_session_name(key)
    places = {one.origin: one.place for one in files}
    beside = [
        SessionFile(origin, place, kept)
        for origin, place in places.items()
        for path, kept in archive.kept(origin).items()
        if any(agent.is_stray_agent(path) for agent in AGENTS)
        and f'"{session}"'.encode() in archive.read(kept.generation, 0, _BEGINNING)
    ]
    return key, [*files, *beside]
