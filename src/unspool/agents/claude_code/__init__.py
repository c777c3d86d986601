"""Claude Code: where its logs lie, what each line says, what its tools mean. Imports what `agents` has for all; only
`agents` imports it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, BinaryIO

from unspool.agents.base import AgentFiles, CodingAgent, PromptList
from unspool.agents.claude_code import agent_files, discover, history, known, messages, settings
from unspool.agents.claude_code.agent_files import Companions
from unspool.agents.claude_code.billed import billed_calls
from unspool.agents.claude_code.parse import ClaudeParser
from unspool.agents.claude_code.requests import ClaudeRequests
from unspool.agents.claude_code.tool_meanings import ClaudeCodeDialect
from unspool.agents.context_files import ContextFiles, patterns
from unspool.agents.records import AgentFile, Detail, FoundAgent, FoundLog, Retention, Survey, TypedPrompt
from unspool.model import AgentSource, Call, Entry, Facts, Json, Transcript

if TYPE_CHECKING:
    from unspool.agents.claude_code.telemetry import ClaudeTelemetry
    from unspool.agents.claude_code.writing import ClaudeWriter  # which few commands need
    from unspool.agents.handed import SessionTaker


class _Files(AgentFiles):
    companions = staticmethod(discover.companions)
    spilled = staticmethod(discover.spilled)
    checkpoints = staticmethod(agent_files.checkpoints)
    leftovers = staticmethod(agent_files.leftover_files)
    running = staticmethod(agent_files.running_sessions)

    def picture(self, found: FoundLog, path: str) -> tuple[str, bytes] | None:
        return Companions(found).picture(path)

    def retention(self, home: Path) -> Retention:
        return settings.retention(home, folders=history.History(home).folders())


class _PromptList(PromptList):
    name = history.NAME
    mentions = staticmethod(history.mention_in_line)

    def prompts(self, home: Path) -> Iterator[TypedPrompt]:
        return history.History(home).prompts()

    def prompts_in(
        self, lines: Iterable[bytes], pasted: Callable[[str], bytes | None], known: Collection[str] = ()
    ) -> Iterator[TypedPrompt]:
        return history.prompts_of_lines(lines, history.PromptLines(pasted, known))


class _Hooks:
    commands = staticmethod(settings.hook_commands)
    edit = staticmethod(settings.hook_edit)


class _Asking:
    ask = staticmethod(settings.print_mode_command)


class _Resuming:
    def resume(self, session_id: str, cwd: str, *, unasked: bool = False) -> str:
        command = f"claude{' --dangerously-skip-permissions' if unasked else ''} --resume {quote(session_id)}"
        return f"cd {quote(cwd)} && {command}" if cwd else command


_DEFINED = {"skill": "skills/**", "agent": "agents/**/*.md", "command": "commands/**/*.md"}
_CONTEXT_FILES = ContextFiles(
    kept=patterns(plan="plans/*.md", memory="projects/*/memory/**"),
    by_slug="plans",
    home=patterns(
        instructions="CLAUDE.md rules/**/*.md output-styles/*.md", settings="settings.json settings.local.json",
        memory="agent-memory/**", **_DEFINED,
    ),
    project=patterns(
        instructions="CLAUDE.md CLAUDE.local.md .claude/CLAUDE.md .claude/rules/**/*.md .claude/output-styles/*.md",
        settings=".claude/settings.json .claude/settings.local.json .mcp.json",
        memory=".claude/agent-memory/** .claude/agent-memory-local/**",
        **{kind: f".claude/{place}" for kind, place in _DEFINED.items()},
    ),
)  # fmt: skip


class ClaudeCode(CodingAgent):
    id = discover.ID
    name = "Claude Code"
    filed_by_project = True
    files = _Files()
    context_files = _CONTEXT_FILES
    prompt_list = _PromptList()
    hooks = _Hooks()
    resuming = _Resuming()
    asking = _Asking()
    hub_traces = True
    plan_tools = tuple(tool for tool, role in messages.ROLES.items() if role == "plan")

    @property
    def telemetry(self) -> "ClaudeTelemetry":
        from unspool.agents.claude_code.telemetry import ClaudeTelemetry

        return ClaudeTelemetry()

    @property
    def writer(self) -> "ClaudeWriter":
        from unspool.agents.claude_code.writing import ClaudeWriter

        return ClaudeWriter()

    def requests(self, entries: Iterable[Entry]) -> ClaudeRequests:
        return ClaudeRequests(entries)

    def survey(self, lines: Iterable[bytes]) -> Survey:
        return known.survey(lines)

    @property
    def taker(self) -> "SessionTaker":
        from unspool.agents.claude_code import take_over

        return take_over

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return discover.roots(environment, home)

    def discover(self, root: Path) -> Iterator[FoundLog]:
        return discover.discover(root)

    def recognises(self, data: dict[str, Json]) -> bool:
        own = "sessionId" in data or "session_id" in data or "parentUuid" in data or "leafUuid" in data
        session = data.get("sessionId")
        # others took the format over, with ids or messages of their own
        other = isinstance(session, str) and session.startswith("session-")
        other = other or "systemPayload" in data or "parts" in (data.get("message") or ())
        return own and not other and isinstance(data.get("type"), str)

    def parser(self, found: FoundLog | None, detail: Detail) -> ClaudeParser:
        beside = Companions(found)
        return ClaudeParser(beside.spill, detail, beside.picture)

    def session_of(self, path: str) -> str:
        return discover.session_of_file(path)

    def is_log(self, path: str) -> bool:
        return discover.is_session(path)

    def dialect(self, found: FoundLog | None, facts: Facts) -> ClaudeCodeDialect:
        return ClaudeCodeDialect(Companions(found), facts)

    def subagent(self, found: FoundAgent, transcript: Transcript) -> AgentSource:
        return agent_files.agent_source(found, transcript)

    def project(self, facts: Facts, folder: str) -> str:
        return discover.project_path(facts, folder)

    def role(self, tool: str) -> str:
        return messages.tool_role(tool)

    def home(self, root: Path) -> Path | None:
        return agent_files.agent_home(root)

    def kept_files(self, root: Path) -> Iterator[AgentFile]:
        return agent_files.agent_files(root)

    def is_whole(self, source: Path) -> bool:
        home = agent_files.agent_home(source)
        return home is None or source in (home, home / "projects")

    def is_shared(self, path: str) -> bool:
        return path.startswith("plans/")

    def is_shown(self, path: str) -> bool:
        return path.startswith(discover.PICTURES)

    def is_conversation(self, path: str) -> bool:
        return path.endswith((".jsonl", ".jsonl.gz", ".jsonl.zst", ".meta.json"))

    def watched_paths(self, root: Path) -> list[Path]:
        return agent_files.watched_paths(root)

    def session_folders(self, found: FoundLog) -> tuple[Path, ...]:
        return found.home / "subagents", found.home

    def is_stray_agent(self, path: str) -> bool:
        return discover.is_agent_beside(path)

    def owner(self, lines: Iterable[bytes]) -> str:
        return discover.owner(lines)

    def billed_calls(
        self, stream: BinaryIO, logged: Collection[str] = (), found: FoundLog | None = None
    ) -> Iterator[Call]:
        usual = super().billed_calls
        return billed_calls(stream, lambda lines: usual(lines, logged), logged)
