"""What an agent leaves around its logs: files it will clean up, prompts it remembers, sessions that run."""

from datetime import datetime
from typing import NamedTuple

import msgspec


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


class Belonging(msgspec.Struct, frozen=True):
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


class Remembered(msgspec.Struct, frozen=True):
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


class Naming(NamedTuple):
    """What a line of the list of prompts names."""

    sessions: frozenset[str] = frozenset()
    """One; several where lines ran together, none where the version told none."""
    files: frozenset[str] = frozenset()
    """Files below the agent's folder that hold what was pasted."""
    whole: bool = True
    """Whether it is all there: of a line that is still being written nobody can tell whose it is."""


class Leaving(msgspec.Struct, frozen=True):
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


class Running(msgspec.Struct, frozen=True):
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


class Sighting(msgspec.Struct):
    """Something in logs that this version does not know: how often, and where for example."""

    count: int
    version: str
    """The agent's version that wrote the first."""
    line: int


class Survey(msgspec.Struct):
    """What a quick look at all lines of a log tells."""

    unknown: dict[str, Sighting] = {}
    """By the name of a line's type, or of a type and a field."""
    reported_cost: float | None = None
    """What the agent says that the session cost so far, subagents included."""
    unbilled: tuple[str, ...] = ()
    """Purposes of requests that the log keeps without what they used."""
