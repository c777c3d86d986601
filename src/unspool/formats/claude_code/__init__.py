"""Claude Code: where its logs lie, what each line says, and what its tools mean."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from unspool.formats.claude_code import discover as places
from unspool.formats.claude_code.beside import Beside, agent_source
from unspool.formats.claude_code.meaning import ClaudeCode
from unspool.formats.claude_code.parse import Parser
from unspool.formats.claude_code.project import project
from unspool.formats.claude_code.skim import Skimmer
from unspool.formats.found import Companion, Found, FoundAgent
from unspool.model import AgentSource, Facts, Json, Transcript


class ClaudeCodeFormat:
    """The format, as FORMATS lists it."""

    id = places.ID
    name = "Claude Code"

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return places.roots(environment, home)

    def discover(self, root: Path) -> Iterator[Found]:
        return places.discover(root)

    def companions(self, found: Found, slug: str) -> list[Companion]:
        return places.companions(found, slug)

    def parser(self, found: Found | None) -> Parser:
        return Parser(Beside(found).spill)

    def skimmer(self, whole: frozenset[str] = frozenset()) -> Skimmer:
        return Skimmer(whole)

    def dialect(self, found: Found | None, facts: Facts) -> ClaudeCode:
        return ClaudeCode(Beside(found), facts)

    def agent(self, found: FoundAgent, transcript: Transcript) -> AgentSource:
        return agent_source(found, transcript)

    def project(self, facts: Facts, folder: str) -> str:
        return project(facts, folder)

    def sniff(self, data: dict[str, Json]) -> bool:
        return "sessionId" in data or "session_id" in data or "parentUuid" in data or "leafUuid" in data
