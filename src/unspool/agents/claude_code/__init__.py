"""Claude Code: where its logs lie, what each line says, what its tools mean. Imports `agents.base` and
`agents.lines`; only `agents` imports it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, BinaryIO

from unspool.agents.base import (
    AgentFile,
    Checkpoint,
    Companion,
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
from unspool.agents.claude_code import agent_files, discover, history, known, messages, settings
from unspool.agents.claude_code import discover as places
from unspool.agents.claude_code import settings as asking
from unspool.agents.claude_code import settings as hooks
from unspool.agents.claude_code.agent_files import Companions, agent_source
from unspool.agents.claude_code.billed import LightDecoder, billed_calls
from unspool.agents.claude_code.discover import project_path
from unspool.agents.claude_code.parse import ClaudeParser
from unspool.agents.claude_code.requests import ClaudeRequests
from unspool.agents.claude_code.tool_meanings import ClaudeCodeDialect
from unspool.model import AgentSource, Call, Entry, Facts, Json, SideLine, Transcript

if TYPE_CHECKING:
    from unspool.agents.claude_code.writing import ClaudeWriter  # which few commands need


class ClaudeCodeFormat:
    """The format, as FORMATS lists it."""

    id = places.ID
    name = "Claude Code"
    prompts = history.NAME

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return places.roots(environment, home)

    def discover(self, root: Path) -> Iterator[FoundLog]:
        return places.discover(root)

    def companions(self, found: FoundLog, slug: str) -> list[Companion]:
        return places.companions(found, slug)

    def checkpoints(self, side: Iterable[SideLine], cwd: str) -> Iterator[Checkpoint]:
        return agent_files.checkpoints(side, cwd)

    def parser(self, found: FoundLog | None) -> ClaudeParser:
        return ClaudeParser(Companions(found).spill)

    def skimmer(self, whole: frozenset[str] = frozenset()) -> LightDecoder:
        return LightDecoder(whole)

    def requests(self, entries: Iterable[Entry]) -> ClaudeRequests:
        return ClaudeRequests(entries)

    def survey(self, lines: Iterable[bytes]) -> Survey:
        return known.survey(lines)

    def dialect(self, found: FoundLog | None, facts: Facts) -> ClaudeCodeDialect:
        return ClaudeCodeDialect(Companions(found), facts)

    def agent(self, found: FoundAgent, transcript: Transcript) -> AgentSource:
        return agent_source(found, transcript)

    def project(self, facts: Facts, folder: str) -> str:
        return project_path(facts, folder)

    def billed(self, stream: BinaryIO) -> Iterator[Call]:
        return billed_calls(stream)

    def sniff(self, data: dict[str, Json]) -> bool:
        return "sessionId" in data or "session_id" in data or "parentUuid" in data or "leafUuid" in data

    def home(self, root: Path) -> Path | None:
        return agent_files.agent_home(root)

    def retention(self, home: Path) -> Retention:
        return settings.retention(home, folders=history.History(home).folders())

    def hooks(self, home: Path) -> tuple[str, ...]:
        return settings.hook_commands(home)

    def belongings(self, root: Path) -> Iterator[AgentFile]:
        return agent_files.agent_files(root)

    def remembered(self, home: Path) -> Iterator[TypedPrompt]:
        return history.History(home).prompts()

    def recalled(
        self, lines: Iterable[bytes], pasted: Callable[[str], bytes | None], known: Collection[str] = ()
    ) -> Iterator[TypedPrompt]:
        return history.prompts_of_lines(lines, history.PromptLines(pasted, known))

    def naming(self, line: bytes) -> PromptMention:
        return history.mention_in_line(line)

    def leavings(self, home: Path) -> Iterator[LeftoverFile]:
        return agent_files.leftover_files(home)

    def running(self, home: Path) -> Iterator[RunningSession]:
        return agent_files.running_sessions(home)

    def hooked(self, home: Path, command: str) -> SettingsEdit:
        return hooks.hook_edit(home, command)

    def lively(self, root: Path) -> list[Path]:
        return agent_files.watched_paths(root)

    def role(self, tool: str) -> str:
        return messages.tool_role(tool)

    def resume(self, session_id: str, cwd: str, *, unasked: bool = False) -> str:
        command = f"claude{' --dangerously-skip-permissions' if unasked else ''} --resume {quote(session_id)}"
        return f"cd {quote(cwd)} && {command}" if cwd else command

    def ask(self, model: str, system: str) -> list[str]:
        return asking.print_mode_command(model, system)

    def belongs(self, path: str) -> str:
        return discover.session_of_file(path)

    def is_session(self, path: str) -> bool:
        return discover.is_session(path)

    def is_agent_beside(self, path: str) -> bool:
        return discover.is_agent_beside(path)

    def owner(self, lines: Iterable[bytes]) -> str:
        return places.owner(lines)

    def writer(self) -> "ClaudeWriter":
        from unspool.agents.claude_code.writing import ClaudeWriter

        return ClaudeWriter()
