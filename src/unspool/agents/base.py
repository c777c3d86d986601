"""The interface of an agent: a reader, which every agent has, and capabilities, which it has or lacks."""

import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from unspool.agents.context_files import ContextFiles
from unspool.agents.dialect import PlainDialect
from unspool.agents.lines import Cursor, LineParser, LogEvents
from unspool.agents.records import (
    AgentFile,
    Checkpoint,
    Companion,
    Detail,
    FoundAgent,
    FoundLog,
    LeftoverFile,
    PromptMention,
    Retention,
    RunningSession,
    SettingsEdit,
    Survey,
    TypedPrompt,
)
from unspool.agents.whole_logs import WholeLogEvents, WholeLogParser
from unspool.model import AgentSource, Call, Dialect, Entry, Facts, Json, SideLine, Transcript
from unspool.model.events import calls_in
from unspool.model.request import RecordedRequests

if TYPE_CHECKING:
    from unspool.agents.handed import SessionTaker
    from unspool.agents.telemetry import TelemetryNames
    from unspool.agents.writing import LogWriter  # which few commands need


MARK = "unspool-hook"
"""A word of every such command, by which it is known again."""


class AgentFiles:
    """Files that an agent keeps of its sessions beside their logs; this one keeps none."""

    def companions(self, found: FoundLog, slug: str) -> list[Companion]:
        """Files of a session that are no logs."""
        return []

    def spilled(self, found: FoundLog) -> Iterator[Path]:
        """Answers of tools in files of their own, below the folder of the session's companions; no links."""
        return iter(())

    def picture(self, found: FoundLog, path: str) -> tuple[str, bytes] | None:
        """Media type and bytes of a picture that the log of a session names by its path; None of any but those that
        the agent itself keeps of this session: a log that somebody else wrote may name whatever he would like to see.
        """
        return None

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
    """How sessions are gone on with."""

    def resume(self, session_id: str, cwd: str, *, unasked: bool = False) -> str:
        """The shell command that goes on with a session; `unasked`, it asks no leave for its tools."""


class ResumeCommand:
    """A command with `{id}` in it, to be run in the session's own folder; `unasked` is what has it ask no leave."""

    def __init__(self, command: str, unasked: str = "") -> None:
        self._command, self._unasked = command, unasked

    def resume(self, session_id: str, cwd: str, *, unasked: bool = False) -> str:
        command = self._command.replace("{id}", shlex.quote(session_id))
        command = f"{command} {self._unasked}" if unasked and self._unasked else command
        return f"cd {shlex.quote(cwd)} && {command}" if cwd else command


class Asking(Protocol):
    """How a model is asked through the agent."""

    def ask(self, model: str, system: str) -> list[str]:
        """The command that reads a prompt from its input and prints a model's answer: no tools, hooks or log. An empty
        model is its cheapest."""


class CodingAgent(ABC):
    """One coding agent. What is abstract here is its reader; what it can do beyond that, it says by its attributes."""

    id: str
    name: str
    files: AgentFiles = AgentFiles()
    context_files: ContextFiles = ContextFiles()
    """What its sessions run under: instructions, settings, skills, ..."""
    prompt_list: PromptList = PromptList()
    log_name = re.compile("$^()")
    """The path of a session's own log; what it groups is the session's id."""
    speaker = ""
    """Who answers, as pages name it; the first word of the agent's name where that is enough."""
    sweeps = False
    """Whether its cleanup deletes logs once they are old enough."""
    filed_by_project = False
    """Whether logs that lie in one folder are of one project."""
    reads_whole = False
    """Whether its logs are understood only when they were read to their end, so that none can be read on."""
    logs_tokens = True
    """Whether it logs what its requests used."""
    plan_tools: tuple[str, ...] = ()
    """The tools by which plans are put forward, one of which every log that holds a plan names; none where that is not
    so."""
    hooks: Hooks | None = None
    resuming: Resuming | None = None
    asking: Asking | None = None
    hub_traces = False
    """Whether the viewer of traces on the Hugging Face Hub knows its logs as they are."""

    @property
    def telemetry(self) -> "TelemetryNames | None":
        """The names under which it tells observers of its work itself; None where it does not."""
        return None

    @property
    def writer(self) -> "LogWriter | None":
        """Makes lines of a copy that the agent can resume; None where its logs are only read."""
        return None

    @property
    def taker(self) -> "SessionTaker | None":
        """Takes sessions of other agents over; None where it cannot."""
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
    def parser(self, found: FoundLog | None, detail: Detail) -> LineParser | WholeLogParser:
        """What understands one log, line by line or as a whole; `found` gives access to the log's companions."""

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
        """The events of a log whose stream stands at `start`."""
        parser = self.parser(found, detail)
        if isinstance(parser, WholeLogParser):
            return WholeLogEvents(parser, stream, start)
        return LogEvents(parser, stream, start)

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

    def log_root(self, source: Path) -> Path:
        """The folder that the logs of a source lie below: its own, or one of ours where they are written out from what
        the agent keeps."""
        return self.home(source) or source

    def problems(self, source: Path) -> list[str]:
        """What could not be read of a source when it was last looked through, a sentence each."""
        return []

    def kept_files(self, root: Path) -> Iterator[AgentFile]:
        """Every file that the agent keeps of the sessions of a source."""
        for found in self.discover(root):
            swept = self.sweeps
            yield AgentFile(found.path, "log", found.session_id, found.size, found.modified, swept=swept)
            for path in filter(None, (path for one in found.agents for path in (one.path, one.sidecar))):
                with suppress(OSError):  # deleted this very moment
                    state = Path(path).stat()
                    yield AgentFile(path, "agent", found.session_id, state.st_size, state.st_mtime, swept=swept)

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

    def session_folders(self, found: FoundLog) -> tuple[Path, ...]:
        """The folders where logs of new subagents of a session appear."""
        return ()

    def is_stray_agent(self, path: str) -> bool:
        """Whether a file is a subagent's log that lies among sessions, so that only its lines tell whose it is."""
        return False

    def owner(self, lines: Iterable[bytes]) -> str:
        """The session that the first lines of such a log name; empty where they name none."""
        return ""

    def billed_calls(
        self, stream: BinaryIO, logged: Collection[str] = (), found: FoundLog | None = None
    ) -> Iterator[Call]:
        """The requests of a log that stands at its start: a call for each line that tells of one. `logged` are the
        subagents that have a log of their own, which tells of theirs."""
        return calls_in(self.events(stream, found, detail=Detail.FIGURES), logged)
