"""What discovery finds: logs with their companions, by path, nothing read yet but where a name must be known."""

from pathlib import Path

import msgspec


class FoundAgent(msgspec.Struct, frozen=True):
    """A subagent's log."""

    path: str
    id: str
    sidecar: str = ""
    """The file beside it that describes it, if there is one."""


class Companion(msgspec.Struct, frozen=True):
    """A file that belongs to a session but is no log: spilled output, a plan, a todo list, ..."""

    kind: str
    path: str
    size: int


class Found(msgspec.Struct, frozen=True):
    """A session's log in a source."""

    path: str
    session_id: str
    format: str
    size: int
    modified: float
    folder: str = ""
    """The name of the project folder it lies in."""
    root: str = ""
    """The agent's own folder, above the projects; empty where the log was named by itself."""
    agents: tuple[FoundAgent, ...] = ()
    origin: int = 0
    """The archive's number of the place it came from, where only the archive has it; else 0."""
    owner: str = ""
    """The session whose subagent this is, where that session's own log is missing."""

    @property
    def home(self) -> Path:
        """The folder of the session's own companions."""
        path = Path(self.path)
        return path.parent / self.session_id

    @property
    def total_size(self) -> int:
        return self.size + sum(_size(agent.path) for agent in self.agents)


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
