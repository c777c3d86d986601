"""Logs that lie where a few patterns say, each a file of its own."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from unspool.agents.base import CodingAgent
from unspool.agents.records import AgentFile, FoundLog
from unspool.agents.values import first_bytes


class LogFileAgent(CodingAgent):
    """An agent whose logs are found by patterns, and known by how they begin."""

    places: tuple[str, ...]
    """Where logs lie below a source, as patterns; one that a pattern before found is not looked at again."""
    head: re.Pattern[bytes]
    """What stands among the first bytes of a log."""
    head_size = 400

    def discover(self, root: Path) -> Iterator[FoundLog]:
        seen: set[str] = set()
        for place in self.places:
            for path in sorted(root.glob(place)):
                session = self.session_at(path)
                if not session or str(path) in seen:
                    continue
                seen.add(str(path))
                if self.head.search(first_bytes(path, self.head_size)) is not None:
                    state = path.stat()
                    folder = path.parent.name if self.filed_by_project and path.parent != root else ""
                    yield FoundLog(str(path), session, self.id, state.st_size, state.st_mtime, folder, str(root))

    def session_at(self, path: Path) -> str:
        """The session whose own log a file would be, by its path; empty where it would be none's."""
        return self.session_of(path.name)

    def companions_beside(self, found: FoundLog) -> Iterable[Path]:
        """Files that lie beside a log and belong to it."""
        return ()

    def kept_files(self, root: Path) -> Iterator[AgentFile]:
        yield from super().kept_files(root)
        for found in self.discover(root):
            for path in self.companions_beside(found):
                if path.is_file() and not path.is_symlink():
                    state = path.stat()
                    yield AgentFile(str(path), "file", found.session_id, state.st_size, state.st_mtime, swept=False)
