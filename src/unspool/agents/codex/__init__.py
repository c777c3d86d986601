"""Codex: rollouts of JSON lines below `sessions/`, a file a thread. Only `agents` imports it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from unspool.agents.base import CodingAgent, ResumeCommand
from unspool.agents.codex import discover
from unspool.agents.codex.items import ROLES
from unspool.agents.codex.meanings import CodexDialect
from unspool.agents.codex.parse import CodexParser
from unspool.agents.context_files import ContextFiles, patterns
from unspool.agents.records import AgentFile, Detail, FoundAgent, FoundLog
from unspool.agents.values import text
from unspool.model import AgentSource, Facts, Json, Notice, Transcript

if TYPE_CHECKING:
    from unspool.agents.codex.writing import CodexWriter  # which few commands need
    from unspool.agents.handed import SessionTaker

_RECORDS = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})

_CONTEXT_FILES = ContextFiles(
    home=patterns(
        instructions="AGENTS.md AGENTS.override.md", settings="config.toml *.config.toml rules/*.rules",
        memory="memories/**/*.md", skill="skills/**", agent="agents/*.toml", command="prompts/*.md",
    ),
    project=patterns(
        instructions="AGENTS.md AGENTS.override.md", settings=".codex/config.toml",
        skill=".agents/skills/** .codex/skills/**", agent=".codex/agents/*.toml",
    ),
)  # fmt: skip


class Codex(CodingAgent):
    id = discover.ID
    name = "Codex"
    context_files = _CONTEXT_FILES
    log_name = discover.LOG_NAME
    prompt_list = discover.CodexPrompts()
    resuming = ResumeCommand("codex resume {id}")
    hub_traces = True

    @property
    def writer(self) -> "CodexWriter":
        from unspool.agents.codex.writing import CodexWriter

        return CodexWriter()

    @property
    def taker(self) -> "SessionTaker":
        from unspool.agents.codex import take_over

        return take_over

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return [Path(environment["CODEX_HOME"]).expanduser() if environment.get("CODEX_HOME") else home / ".codex"]

    def home(self, root: Path) -> Path | None:
        return root if any(root.glob("sessions/[0-9][0-9][0-9][0-9]")) else None

    def discover(self, root: Path) -> Iterator[FoundLog]:
        return discover.discover(root)

    def recognises(self, data: dict[str, Json]) -> bool:
        if "payload" in data:
            return data.get("type") in _RECORDS and isinstance(data["payload"], dict)
        header = "instructions" in data and isinstance(data.get("git", {}), dict | None) and "type" not in data
        return header and isinstance(data.get("id"), str) and isinstance(data.get("timestamp"), str)

    def role(self, tool: str) -> str:
        return ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> CodexParser:
        if found is None:
            return CodexParser(detail=detail)
        return CodexParser(found.session_id, discover.thread_name(found), detail)

    def dialect(self, found: FoundLog | None, facts: Facts) -> CodexDialect:
        return CodexDialect(self.id)

    def subagent(self, found: FoundAgent, transcript: Transcript) -> AgentSource:
        blocks = (block for event in transcript.events for block in event.blocks)
        told = next((block.facts for block in blocks if isinstance(block, Notice)), {})
        role, task, name, parent = (text(told.get(key)) for key in ("role", "task", "name", "parent"))
        return AgentSource(found.id, transcript, role, task, parent=parent, name=name)

    def kept_files(self, root: Path) -> Iterator[AgentFile]:
        for found in self.discover(root):
            yield AgentFile(found.path, "log", found.session_id, found.size, found.modified, swept=False)
            for agent in found.agents:
                status = Path(agent.path).stat()
                yield AgentFile(agent.path, "log", agent.id, status.st_size, status.st_mtime, swept=False)
        for path, state in discover.list_files(root):
            kind = "history" if path.endswith(discover.PROMPTS) else "other"
            yield AgentFile(path, kind, "", state.st_size, state.st_mtime, swept=False)

    def session_folders(self, found: FoundLog) -> tuple[Path, ...]:
        return (Path(found.path).parent,)
