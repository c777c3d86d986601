"""What an agent's format offers to the rest."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from unspool.formats.found import Companion, Found, FoundAgent
from unspool.formats.hooks import Edit
from unspool.formats.traces import Belonging, Checkpoint, Leaving, Naming, Remembered, Retention, Running, Survey
from unspool.model import AgentSource, Call, Dialect, Entry, Event, Facts, SideLine, Transcript
from unspool.model.request import RecordedRequests

if TYPE_CHECKING:
    from unspool.formats.writing import Writer  # which few commands need


class Decoder(Protocol):
    """Turns the bytes of a line into plain data."""

    def decode(self, raw: bytes, /) -> Any: ...


class Parser(Protocol):
    """Understands the entries of one log, in order."""

    facts: Facts

    def event(self, entry: Entry) -> Event: ...


class Format(Protocol):
    """One agent's logs: where they are and what they say."""

    id: str
    name: str
    prompts: str
    """The file that lists every prompt typed, below the agent's folder."""

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """Where the agent keeps its files."""

    def discover(self, root: Path) -> Iterator[Found]:
        """The sessions below a folder."""

    def companions(self, found: Found, slug: str) -> list[Companion]:
        """Files of a session that are no logs."""

    def checkpoints(self, side: Iterable[SideLine], cwd: str) -> Iterator[Checkpoint]:
        """Files that were put aside before they were changed, as lines beside a conversation tell."""

    def parser(self, found: Found | None) -> Parser:
        """A fresh reader of one log; `found` gives it the log's companions."""

    def skimmer(self, whole: frozenset[str] = frozenset()) -> Decoder:
        """A decoder for passes that only count; answers to the calls named come whole."""

    def requests(self, entries: Iterable[Entry]) -> RecordedRequests:
        """The requests that a log keeps whole; none where the agent does not write them down."""

    def survey(self, lines: Iterable[bytes]) -> Survey:
        """A quick look at all lines of a log: what is new in them, and what the agent says it cost."""

    def dialect(self, found: Found | None, facts: Facts) -> Dialect:
        """What its tools mean, for one session."""

    def agent(self, found: FoundAgent, transcript: Transcript) -> AgentSource:
        """A subagent's log with what its sidecar says."""

    def project(self, facts: Facts, folder: str) -> str:
        """The path of the project a session belongs to."""

    def billed(self, stream: BinaryIO) -> Iterator[Call]:
        """The requests of a log that stands at its start: a call for each line that tells of one."""

    def sniff(self, data: dict[str, Any]) -> bool:
        """Whether an entry is one of this format's."""

    def home(self, root: Path) -> Path | None:
        """The agent's own folder that a source is, or lies in."""

    def retention(self, home: Path) -> Retention:
        """How long the agent keeps its files before it deletes them by itself."""

    def hooks(self, home: Path) -> tuple[str, ...]:
        """The commands that the agent runs at moments of a session, as the user has set."""

    def belongings(self, root: Path) -> Iterator[Belonging]:
        """Every file that the agent keeps of the sessions of a source."""

    def remembered(self, home: Path) -> Iterator[Remembered]:
        """The prompts of the agent's own list of them."""

    def recalled(
        self, lines: Iterable[bytes], pasted: Callable[[str], bytes | None], known: Collection[str] = ()
    ) -> Iterator[Remembered]:
        """The prompts of such a list by its lines; `pasted` gives the content of a file below the agent's folder, and
        is not asked for prompts of `known` sessions."""

    def naming(self, line: bytes) -> Naming:
        """What a line of such a list names."""

    def leavings(self, home: Path) -> Iterator[Leaving]:
        """Files that bear a session's id outside its log."""

    def running(self, home: Path) -> Iterator[Running]:
        """Sessions that a process says it has open."""

    def hooked(self, home: Path, command: str) -> Edit:
        """The edit of its settings that has it run the command whenever a session's log is worth keeping; with an
        empty command, no command of ours any more. Unreadable where the settings cannot be edited safely."""

    def lively(self, root: Path) -> list[Path]:
        """The paths of a source that change while sessions go on, whether they are there yet or not."""

    def role(self, tool: str) -> str:
        """What a tool is for: shell, read, write, edit, ...; empty where nobody knows."""

    def resume(self, session_id: str, cwd: str, *, unasked: bool = False) -> str:
        """The shell command that goes on with a session in the agent; `unasked`, it asks no leave for its tools."""

    def ask(self, model: str, system: str) -> list[str]:
        """The command that reads a prompt from its input and prints a model's answer: no tools, hooks or log. Empty
        where the agent has none; an empty model is its cheapest."""

    def belongs(self, path: str) -> str:
        """The session that a file is of, by its path below the agent's folder; empty where it is no single one's."""

    def is_session(self, path: str) -> bool:
        """Whether a file, by such a path, is a session's own log."""

    def is_agent_beside(self, path: str) -> bool:
        """Whether a file is a subagent's log that lies among sessions, so that only its lines tell whose it is."""

    def owner(self, lines: Iterable[bytes]) -> str:
        """The session that the first lines of such a log name; empty where they name none."""

    def writer(self) -> "Writer":
        """Makes lines of a copy that the agent can resume."""
