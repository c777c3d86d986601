"""The interface of an agent: a reader, which every agent has, and capabilities, which it has or lacks."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol

import msgspec

from unspool.agents.dialect import PlainDialect
from unspool.agents.lines import Cursor, LineParser, LogEvents
from unspool.model import AgentSource, Call, Dialect, Entry, Facts, Json, SideLine, Transcript
from unspool.model.events import calls_in
from unspool.model.request import RecordedRequests

if TYPE_CHECKING:
    from unspool.agents.writing import LogWriter  # which few commands need


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


class FoundLog(msgspec.Struct, frozen=True):
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


MARK = "unspool-hook"
"""A word of every such command, by which it is known again."""


class SettingsEdit(NamedTuple):
    """A file as it is and as it would be; nothing is written yet."""

    path: Path
    before: bytes
    """Empty where the file is not there."""
    after: bytes

    @property
    def changes(self) -> bool:
        return self.before != self.after


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


class AgentFiles:
    """Files that an agent keeps of its sessions beside their logs; this one keeps none."""

    def companions(self, found: FoundLog, slug: str) -> list[Companion]:
        """Files of a session that are no logs."""
        return []

    def checkpoints(self, side: Iterable[SideLine], cwd: str) -> Iterator[Checkpoint]:
        """Files that were put aside before they were changed, as lines beside a conversation tell."""
        return iter(())

    def leftovers(self, home: Path) -> Iterator[LeftoverFile]:
        """Files that bear a session's id outside its log."""
        return iter(())

    def running(self, home: Path) -> Iterator[RunningSession]:
        """Sessions that a process says it has open."""
        return iter(())

    def retention(self, home: Path) -> Retention | None:
        """How long the agent keeps its files before it deletes them by itself; None where it never does."""
        return None


class PromptList:
    """The agent's own list of every prompt typed, which outlives the logs; this one is not there."""

    name = ""
    """The file, below the agent's folder; empty where there is none."""

    def prompts(self, home: Path) -> Iterator[TypedPrompt]:
        """The prompts of the list below an agent's folder."""
        return iter(())

    def prompts_in(
        self, lines: Iterable[bytes], pasted: Callable[[str], bytes | None], known: Collection[str] = ()
    ) -> Iterator[TypedPrompt]:
        """The prompts of such a list by its lines; `pasted` gives the content of a file below the agent's folder, and
        is not asked for prompts of `known` sessions."""
        return iter(())

    def mentions(self, line: bytes) -> PromptMention:
        """What a line of such a list names."""
        return PromptMention()


class Hooks(Protocol):
    """Commands that the agent runs at moments of a session."""

    def commands(self, home: Path) -> tuple[str, ...]:
        """Those that the user has set."""

    def edit(self, home: Path, command: str) -> SettingsEdit:
        """The edit of its settings that has it run the command whenever a session's log is worth keeping; with an
        empty command, no command of ours any more. Unreadable where the settings cannot be edited safely."""


class Resuming(Protocol):
    """Commands that the agent understands."""

    def resume(self, session_id: str, cwd: str, *, unasked: bool = False) -> str:
        """The shell command that goes on with a session; `unasked`, it asks no leave for its tools."""

    def ask(self, model: str, system: str) -> list[str]:
        """The command that reads a prompt from its input and prints a model's answer: no tools, hooks or log. An empty
        model is its cheapest."""


class CodingAgent(ABC):
    """One coding agent. What is abstract here is its reader; what it can do beyond that, it says by its attributes."""

    id: str
    name: str
    files: AgentFiles = AgentFiles()
    prompt_list: PromptList = PromptList()
    log_name = re.compile("$^()")
    """The path of a session's own log; what it groups is the session's id."""
    hooks: Hooks | None = None
    resuming: Resuming | None = None

    @property
    def writer(self) -> "LogWriter | None":
        """Makes lines of a copy that the agent can resume; None where its logs are only read."""
        return None

    def requests(self, entries: Iterable[Entry]) -> RecordedRequests | None:
        """The requests that a log keeps whole; None for an agent that does not write them down."""
        return None

    def survey(self, lines: Iterable[bytes]) -> Survey:
        """A quick look at all lines of a log: what is new in them, and what the agent says it cost."""
        return Survey()

    @abstractmethod
    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """Where the agent keeps its files, whether anything is there or not."""

    @abstractmethod
    def discover(self, root: Path) -> Iterator[FoundLog]:
        """The sessions below a folder."""

    @abstractmethod
    def recognises(self, data: dict[str, Json]) -> bool:
        """Whether a line is one of this agent's."""

    @abstractmethod
    def parser(self, found: FoundLog | None, detail: Detail) -> LineParser:
        """What understands the lines of one log; `found` gives access to the log's companions."""

    def session_of(self, path: str) -> str:
        """The session that a file is of, by its path below the agent's folder; empty where it is no single one's."""
        named = self.log_name.search(path)
        return named[1] if named is not None else ""

    def is_log(self, path: str) -> bool:
        """Whether a file, by such a path, is a session's own log."""
        return self.log_name.search(path) is not None

    def events(
        self, stream: BinaryIO, found: FoundLog | None = None, start: Cursor | None = None, detail: Detail = Detail.ALL
    ) -> LogEvents:
        """The events of a log whose stream stands at `start`; an agent that keeps no lines reads it in its own way."""
        return LogEvents(self.parser(found, detail), stream, start)

    def dialect(self, found: FoundLog | None, facts: Facts) -> Dialect:
        """What its tools mean, for one session."""
        return PlainDialect(self.id)

    def subagent(self, found: FoundAgent, transcript: Transcript) -> AgentSource:
        """A subagent's log with what is known of it."""
        return AgentSource(found.id, transcript)

    def project(self, facts: Facts, folder: str) -> str:
        """The path of the project a session belongs to."""
        return facts.cwd or folder

    def role(self, tool: str) -> str:
        """What a tool is for: shell, read, write, edit, ...; empty where nobody knows."""
        return ""

    def home(self, root: Path) -> Path | None:
        """The agent's own folder that a source is, or lies in; None where it is neither."""
        return None

    def kept_files(self, root: Path) -> Iterator[AgentFile]:
        """Every file that the agent keeps of the sessions of a source."""
        for found in self.discover(root):
            yield AgentFile(found.path, "log", found.session_id, found.size, found.modified, swept=False)

    def is_whole(self, source: Path) -> bool:
        """Whether a source holds all that the agent keeps, and not only a part of it."""
        return True

    def is_shared(self, path: str) -> bool:
        """Whether a file, by its path below the agent's folder, is one that the logs of several sessions may name."""
        return False

    def is_shown(self, path: str) -> bool:
        """Whether a file, by such a path, is a picture that the log of its session may name."""
        return False

    def is_conversation(self, path: str) -> bool:
        """Whether a file is a log, a subagent's too, or what tells of one."""
        return self.is_log(path)

    def watched_paths(self, root: Path) -> list[Path]:
        """The paths of a source that change while sessions go on, whether they are there yet or not."""
        return [root]

    def is_stray_agent(self, path: str) -> bool:
        """Whether a file is a subagent's log that lies among sessions, so that only its lines tell whose it is."""
        return False

    def owner(self, lines: Iterable[bytes]) -> str:
        """The session that the first lines of such a log name; empty where they name none."""
        return ""

    def billed_calls(self, stream: BinaryIO, logged: Collection[str] = ()) -> Iterator[Call]:
        """The requests of a log that stands at its start: a call for each line that tells of one. `logged` are the
        subagents that have a log of their own, which tells of theirs."""
        return calls_in(self.events(stream, detail=Detail.FIGURES), logged)
