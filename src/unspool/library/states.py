"""What each session's rows in the index depend on: the kept generations of its files."""

import hashlib
import posixpath
from collections.abc import Iterable, Iterator
from functools import cached_property

from unspool.archive import Kept
from unspool.formats import Format
from unspool.index.write import DIGEST

_COMMON = "plans/"
"""Files here are no single session's; a log may name them, and say no more than their name."""

_LOGS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".meta.json")
"""How logs end, and what tells of a log."""


def is_common(path: str) -> bool:
    """Whether a file, by its path below the agent's folder, is one that the logs of several sessions may name."""
    return path.startswith(_COMMON)


class Sessions:
    """The sessions of one place, as the archive's list of files tells."""

    def __init__(self, format_: Format, kept: Iterable[Kept]) -> None:
        self._files: dict[str, list[Kept]] = {}
        self._beside: dict[str, list[Kept]] = {}
        self._common: dict[str, Kept] = {}
        self.paths: dict[str, str] = {}
        """The session of each log, by path."""
        for one in kept:
            session = format_.belongs(one.path)
            if is_common(one.path):
                self._common[one.path] = one
            if session:
                self._files.setdefault(session, []).append(one)
            if format_.is_session(one.path):
                self.paths[one.path] = session
            elif format_.is_agent_beside(one.path):
                self._beside.setdefault(posixpath.dirname(one.path), []).append(one)

    @cached_property
    def common(self) -> tuple[str, ...]:
        """Files that are no single session's, by path."""
        return tuple(self._common)

    @property
    def beside(self) -> Iterator[str]:
        """Subagents' logs that lie among sessions, by path."""
        return (one.path for group in self._beside.values() for one in group)

    def files(self, path: str) -> list[Kept]:
        """All files of the session whose log that is, the log among them, by path."""
        session = self.paths.get(path, "")
        folder = posixpath.dirname(path)
        own = [one for one in self._files.get(session, ()) if _of(one.path, path, folder)]
        return sorted([*own, *self._beside.get(folder, ())])

    def needed(self, path: str) -> list[Kept]:
        """The files that reading the session takes: those around its log, and what logs may name."""
        folder = posixpath.dirname(path)
        return [one for one in self.files(path) if not folder or one.path.startswith(f"{folder}/")] + [
            *self._common.values()
        ]

    def state(self, path: str, salt: str, named: Iterable[str] = ()) -> bytes:
        """Equal as long as nothing that the rows of a session are derived from changed; `named` are files of several
        sessions that it depends on too.

        Its end, from DIGEST on, tells of what is no log alone: while that is equal, rows of lines that were read
        before are the same again.
        """
        files = [*self.files(path), *(self._common[name] for name in named if name in self._common)]
        rest = [one for one in files if not one.path.endswith(_LOGS)]
        modified = next((one.modified for one in files if one.path == path), 0)
        return _digest(f"{salt} {modified}", files) + _digest("", rest)


def _digest(salt: str, files: Iterable[Kept]) -> bytes:
    told = "\n".join(f"{one.path}\t{one.generation}\t{one.size}" for one in files)
    return hashlib.sha256(f"{salt}\n{told}".encode(errors="surrogateescape")).digest()[:DIGEST]


def _of(path: str, log: str, folder: str) -> bool:
    """Whether a file that bears a session's id is of the log in this folder: ids recur where logs were copied."""
    return path == log or not path.startswith("projects/") or path.startswith(f"{folder}/")
