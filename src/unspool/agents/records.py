"""What an agent's folder holds, as records: logs, files beside them, prompts, settings, running sessions."""

from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import msgspec


class FoundAgent(msgspec.Struct, frozen=True):
    path: str
    id: str
    sidecar: str = ""
    """The file beside it that describes it, if there is one."""


class Companion(msgspec.Struct, frozen=True):
    """A file that belongs to a session but is no log: spilled output, a plan, a todo list, ..."""

    kind: str
    path: str
    size: int


def session_name(agent: str, session_id: str) -> str:
    """A session's id with its agent before it: ids are an agent's own, and two agents may have the same."""
    return f"{agent}:{session_id}"


class FoundLog(msgspec.Struct, frozen=True):
    """A session's log in a source."""

    path: str
    session_id: str
    agent_id: str
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
    versions: "tuple[FoundLog, ...]" = ()
    """Other files of the same session, wherever they lie."""

    @property
    def name(self) -> str:
        """What it is called where another agent may have a session of the same id."""
        return session_name(self.agent_id, self.session_id)

    def is_called(self, name: str) -> bool:
        """Whether a name is its id, with or without its agent before it."""
        return name in (self.session_id, self.name)

    @property
    def home(self) -> Path:
        """The folder of the session's own companions."""
        return Path(self.path).parent / self.session_id

    @property
    def agent_ids(self) -> frozenset[str]:
        return frozenset(agent.id for agent in self.agents)

    @property
    def total_size(self) -> int:
        return self.size + sum(_size(agent.path) for agent in self.agents)


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


class SettingsEdit(NamedTuple):
    """A file as it is and as it would be; nothing is written yet."""

    path: Path
    before: bytes
    """Empty where the file is not there."""
    after: bytes

    @property
    def changes(self) -> bool:
        return self.before != self.after


_LONG = 365
"""Days; what is kept longer counts as kept."""


class Retention(msgspec.Struct, frozen=True):
    """How long an agent keeps its files before it deletes them by itself."""

    days: int
    told_by: str = ""
    """The settings file that says so; empty where it is the agent's default."""
    problems: tuple[str, ...] = ()
    """What is wrong with the settings, a sentence each."""
    harmful: bool = False
    """Whether some versions take the setting to mean that nothing is to be kept at all."""
    remedy: str = ""
    """How to have files kept longer."""
    last: float | None = None
    """When the agent last cleaned up, where it tells."""

    @property
    def deletes(self) -> bool:
        """Whether files go so soon that somebody will miss them."""
        return self.days < _LONG or self.harmful


class AgentFile(msgspec.Struct, frozen=True):
    """One file that an agent keeps of its sessions."""

    path: str
    kind: str
    session_id: str
    """Empty where the file is no single session's."""
    size: int
    modified: float
    swept: bool
    """Whether the agent's cleanup deletes it once it is old enough."""


class Checkpoint(NamedTuple):
    """A file that an agent put aside before it changed it, as it was at that moment."""

    path: str
    """Whole, as far as the log tells where it was."""
    time: datetime
    name: str
    """The name of the companion that holds it; empty where there was no such file then."""


class TypedPrompt(msgspec.Struct, frozen=True):
    """A prompt as the agent's own list of prompts has it, whether its session's log is still there or not."""

    text: str
    """What was typed, and what was pasted into it where that is still known."""
    time: datetime | None
    project: str
    session_id: str
    """Empty where the list does not tell; old versions did not."""
    place: int
    """Byte offset of its line in the list."""
    command: bool = False
    """Whether it only told the agent's own program something, which need not leave a line in a log."""
    log: str = ""
    """Where its session's log would lie below the agent's folder; empty where that cannot be told."""


class PromptMention(NamedTuple):
    """What a line of the list of prompts names."""

    sessions: frozenset[str] = frozenset()
    """One; several where lines ran together, none where the version told none."""
    files: frozenset[str] = frozenset()
    """Files below the agent's folder that hold what was pasted."""
    whole: bool = True
    """Whether it is all there: of a line that is still being written nobody can tell whose it is."""


class LeftoverFile(msgspec.Struct, frozen=True):
    """Files of one kind that a session left outside its log."""

    session_id: str
    kind: str
    path: str
    """Of the file, or of the folder that holds them, below the agent's own folder."""
    files: int
    """How many hold anything."""
    first: float
    last: float
    folder: str = ""
    """The project folder it lies in, where it lies in one."""


class RunningSession(msgspec.Struct, frozen=True):
    """A session that an agent's process says it has open."""

    pid: int
    session_id: str
    cwd: str
    status: str
    started: datetime | None
    active: datetime | None
    """When its status last changed."""
    alive: bool | None
    """Whether the process is there; None where this system cannot tell."""


class UnknownSighting(msgspec.Struct):
    """Something in logs that this version does not know: how often, and where for example."""

    count: int
    version: str
    """The agent's version that wrote the first."""
    line: int


class Survey(msgspec.Struct):
    """What a quick look at all lines of a log tells."""

    unknown: dict[str, UnknownSighting] = {}
    """By the name of a line's type, or of a type and a field."""
    reported_cost: float | None = None
    """What the agent says that the session cost so far, subagents included."""
    unbilled: tuple[str, ...] = ()
    """Purposes of requests that the log keeps without what they used."""


class Detail(Enum):
    """How much of a log is wanted. Ids, kinds, times, usage, prompts and plans always are."""

    ALL = "all"
    TEXTS = "texts"
    """All words, without the structured twins of results."""
    FIGURES = "figures"
    """Neither inputs nor answers of tools."""
