"""Claude Code: where its logs lie, what each line says, and what its tools mean."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, BinaryIO

from unspool.formats.claude_code import (
    asking,
    belongings,
    checkpoints,
    history,
    hooks,
    known,
    layout,
    leavings,
    roles,
    running,
    settings,
    watching,
)
from unspool.formats.claude_code import discover as places
from unspool.formats.claude_code.beside import Beside, agent_source
from unspool.formats.claude_code.billed import billed
from unspool.formats.claude_code.meaning import ClaudeCode
from unspool.formats.claude_code.parse import Parser
from unspool.formats.claude_code.project import project
from unspool.formats.claude_code.requests import Requests
from unspool.formats.claude_code.skim import Skimmer
from unspool.formats.found import Companion, Found, FoundAgent
from unspool.formats.hooks import Edit
from unspool.formats.traces import Belonging, Checkpoint, Leaving, Naming, Remembered, Retention, Running, Survey
from unspool.model import AgentSource, Call, Entry, Facts, Json, SideLine, Transcript

if TYPE_CHECKING:
    from unspool.formats.claude_code.writing import Writer  # which few commands need


class ClaudeCodeFormat:
    """The format, as FORMATS lists it."""

    id = places.ID
    name = "Claude Code"
    prompts = history.NAME

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return places.roots(environment, home)

    def discover(self, root: Path) -> Iterator[Found]:
        return places.discover(root)

    def companions(self, found: Found, slug: str) -> list[Companion]:
        return places.companions(found, slug)

    def checkpoints(self, side: Iterable[SideLine], cwd: str) -> Iterator[Checkpoint]:
        return checkpoints.checkpoints(side, cwd)

    def parser(self, found: Found | None) -> Parser:
        return Parser(Beside(found).spill)

    def skimmer(self, whole: frozenset[str] = frozenset()) -> Skimmer:
        return Skimmer(whole)

    def requests(self, entries: Iterable[Entry]) -> Requests:
        return Requests(entries)

    def survey(self, lines: Iterable[bytes]) -> Survey:
        return known.survey(lines)

    def dialect(self, found: Found | None, facts: Facts) -> ClaudeCode:
        return ClaudeCode(Beside(found), facts)

    def agent(self, found: FoundAgent, transcript: Transcript) -> AgentSource:
        return agent_source(found, transcript)

    def project(self, facts: Facts, folder: str) -> str:
        return project(facts, folder)

    def billed(self, stream: BinaryIO) -> Iterator[Call]:
        return billed(stream)

    def sniff(self, data: dict[str, Json]) -> bool:
        return "sessionId" in data or "session_id" in data or "parentUuid" in data or "leafUuid" in data

    def home(self, root: Path) -> Path | None:
        return belongings.home(root)

    def retention(self, home: Path) -> Retention:
        return settings.retention(home, folders=history.History(home).folders())

    def hooks(self, home: Path) -> tuple[str, ...]:
        return settings.hooks(home)

    def belongings(self, root: Path) -> Iterator[Belonging]:
        return belongings.belongings(root)

    def remembered(self, home: Path) -> Iterator[Remembered]:
        return history.History(home).prompts()

    def recalled(
        self, lines: Iterable[bytes], pasted: Callable[[str], bytes | None], known: Collection[str] = ()
    ) -> Iterator[Remembered]:
        return history.recalled(lines, history.Prompts(pasted, known))

    def naming(self, line: bytes) -> Naming:
        return history.naming(line)

    def leavings(self, home: Path) -> Iterator[Leaving]:
        return leavings.leavings(home)

    def running(self, home: Path) -> Iterator[Running]:
        return running.running(home)

    def hooked(self, home: Path, command: str) -> Edit:
        return hooks.edit(home, command)

    def lively(self, root: Path) -> list[Path]:
        return watching.lively(root)

    def role(self, tool: str) -> str:
        return roles.role(tool)

    def resume(self, session_id: str, cwd: str, *, unasked: bool = False) -> str:
        command = f"claude{' --dangerously-skip-permissions' if unasked else ''} --resume {quote(session_id)}"
        return f"cd {quote(cwd)} && {command}" if cwd else command

    def ask(self, model: str, system: str) -> list[str]:
        return asking.command(model, system)

    def belongs(self, path: str) -> str:
        return layout.belongs(path)

    def is_session(self, path: str) -> bool:
        return layout.is_session(path)

    def is_agent_beside(self, path: str) -> bool:
        return layout.is_agent_beside(path)

    def owner(self, lines: Iterable[bytes]) -> str:
        return places.owner(lines)

    def writer(self) -> "Writer":
        from unspool.formats.claude_code.writing import Writer

        return Writer()
