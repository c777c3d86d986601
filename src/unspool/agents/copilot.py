"""GitHub Copilot CLI: lines of events, a folder a session, below `session-state/`. Only `agents` imports it."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from unspool.agents.base import AgentFiles, CodingAgent, ResumeCommand
from unspool.agents.context_files import ContextFiles, patterns
from unspool.agents.dialect import PlainDialect
from unspool.agents.events import (
    answered,
    as_message,
    as_notice,
    as_prompt,
    as_result,
    as_unknown,
    beside,
    called,
    said,
    thought,
)
from unspool.agents.lines import PlainParser
from unspool.agents.records import AgentFile, Companion, Detail, FoundLog
from unspool.agents.values import add_cost, decode_object, first_bytes, items, mapping, moment, text, whole
from unspool.files import plain_files
from unspool.model import (
    AgentDetails,
    Block,
    Call,
    Event,
    Facts,
    Json,
    Part,
    Place,
    Plan,
    Questionnaire,
    ToolCall,
    Usage,
)

_ROLES = {
    "bash": "shell", "powershell": "shell", "view": "read", "str_replace_editor": "edit", "edit": "edit",
    "str_replace": "edit", "apply_patch": "edit", "create": "write", "glob": "search", "grep": "search", "rg": "search",
    "web_fetch": "web", "web_search": "web", "update_todo": "todos", "task": "agent", "ask_user": "question",
    "exit_plan_mode": "plan",
}  # fmt: skip
_NOTICES = {
    "session.resume": "resumed", "session.model_change": "model-switch", "session.auto_mode_resolved": "model-switch",
    "session.context_changed": "environment", "session.mode_changed": "mode", "session.info": "info",
    "session.warning": "info", "session.error": "api-error", "session.truncation": "micro-compaction",
    "session.context_cleared": "info", "session.handoff": "info", "session.task_complete": "recap",
    "abort": "interruption",
    "system.notification": "task-notification", "hook.start": "hook", "hook.end": "hook", "skill.invoked": "skill",
    "subagent.started": "agent", "subagent.completed": "agent", "subagent.failed": "agent",
    "session.compaction_complete": "compaction", "system.message": "system-prompt",
    "permission.requested": "permission", "permission.completed": "permission",
    "session.binary_asset": "attachment", "session.shutdown": "ended",
}  # fmt: skip
_SIDE = (
    "session.start", "session.usage_checkpoint", "session.plan_changed", "session.workspace_file_changed",
    "session.permissions_changed", "session.todos_changed", "session.compaction_start", "assistant.turn_start",
    "assistant.turn_end", "tool.execution_start",
)  # fmt: skip
_WORDS = ("message", "content", "summary", "summaryContent", "reason", "errorReason", "agentDescription", "error")
_EXIT = re.compile(r" with exit code (-?\d{1,9})>\s*$")
_LOG = re.compile(r"(?:^|/)session-state/([0-9A-Za-z_-]{8,64})(?:\.jsonl$|/)")


class _Files(AgentFiles):
    def companions(self, found: FoundLog, slug: str) -> list[Companion]:
        folder = Path(found.path).parent
        if folder.name != found.session_id:
            return []
        files = (path for path in plain_files(folder) if path.name != "events.jsonl")
        return [Companion(_kind(path), str(path), path.stat().st_size) for path in sorted(files)]


REPOSITORY_FILES = patterns(
    instructions=".github/copilot-instructions.md .github/instructions/**/*.md AGENTS.md",
    skill=".github/skills/**",
    agent=".github/agents/*.md",
    command=".github/prompts/*.md",
)
"""What is told in a repository to whatever its maker offers."""
_CONTEXT_FILES = ContextFiles(
    kept=patterns(plan="session-state/*/plan.md"),
    home=patterns(
        instructions="copilot-instructions.md instructions/**/*.md",
        settings="settings.json mcp-config.json",
        skill="skills/**",
        agent="agents/*.md",
    ),
    project=REPOSITORY_FILES,
)


class Copilot(CodingAgent):
    id = "copilot"
    name = "Copilot CLI"
    files = _Files()
    context_files = _CONTEXT_FILES
    log_name = re.compile(r"(?:^|/)(?:session-state/)?([0-9A-Za-z_-]{8,64})(?:/events)?\.jsonl$")
    resuming = ResumeCommand("copilot --resume={id}", "--allow-all-tools")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        named = environment.get("COPILOT_HOME")
        return [Path(named).expanduser() if named else home / ".copilot"]

    def home(self, root: Path) -> Path | None:
        return root if (root / "session-state").is_dir() else None

    def discover(self, root: Path) -> Iterator[FoundLog]:
        seen = set()
        for pattern in (
            "session-state/*/events.jsonl",
            "*/events.jsonl",
            "events.jsonl",
            "session-state/*.jsonl",
            "*.jsonl",
        ):
            for path in sorted(root.glob(pattern)):
                session = path.parent.name if path.name == "events.jsonl" else path.stem
                if session not in seen and path.is_file() and b'"session.start"' in first_bytes(path, 400):
                    seen.add(session)  # the folder wins over the flat file that it was made from
                    state = path.stat()
                    yield FoundLog(str(path), session, self.id, state.st_size, state.st_mtime, root=str(root))

    def recognises(self, data: dict[str, Json]) -> bool:
        return data.get("type") == "session.start" and "sessionId" in mapping(data.get("data"))

    def session_of(self, path: str) -> str:
        named = _LOG.search(path)
        return named[1] if named is not None else super().session_of(path)

    def is_log(self, path: str) -> bool:
        return path.endswith("/events.jsonl") or (path.endswith(".jsonl") and path.count("/") <= 1)

    def kept_files(self, root: Path) -> Iterator[AgentFile]:
        for found in self.discover(root):
            yield AgentFile(found.path, "log", found.session_id, found.size, found.modified, swept=False)
            for one in self.files.companions(found, ""):
                time = Path(one.path).stat().st_mtime
                yield AgentFile(one.path, one.kind, found.session_id, one.size, time, swept=False)

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "CopilotParser":
        return CopilotParser()

    def dialect(self, found: FoundLog | None, facts: Facts) -> "_Dialect":
        return _Dialect(self.id)


def _kind(path: Path) -> str:
    return "plan" if path.name == "plan.md" else "checkpoint" if path.parent.name == "checkpoints" else "file"


class _Dialect(PlainDialect):
    def questions(self, call: ToolCall) -> Questionnaire | None:
        given = mapping(call.input)
        options = [{"label": one} for one in items(given.get("choices")) if isinstance(one, str)]
        asked = {"questions": [{"question": given.get("question"), "options": options}]}
        words = call.result.text if call.result is not None and not call.result.error else ""
        return self.asked(replace(call, input=asked), [words] if words else None)

    def plan(self, call: ToolCall) -> Plan | None:
        words = text(mapping(call.input).get("summary"))
        if not words:
            return None
        agreed = call.result is not None and not call.result.error
        status = "approved" if agreed else "pending" if call.result is None else "rejected"
        return Plan(words.partition("\n")[0][:120], words, status)  # type: ignore[arg-type]

    def agent_details(self, call: ToolCall) -> AgentDetails:
        given = mapping(call.input)
        return AgentDetails(text(given.get("agent_type")), text(given.get("description")))


class CopilotParser(PlainParser):
    """Understands the events of Copilot CLI, and of others that write as it does and have tools of their own."""

    def __init__(self, roles: Mapping[str, str] = _ROLES) -> None:
        super().__init__()
        self._roles = roles
        self._model, self._request = "", 0
        self._reported: dict[str, tuple[int, ...]] = {}
        """By model, what the last report at an end says was used since the beginning."""
        self._told: dict[str, tuple[int, ...]] = {}
        """By model, what records and messages told since that report."""
        self._recorded: set[str] = set()
        """Requests that have a record of what they used."""

    def line(self, data: dict[str, Json], place: Place) -> Event:
        kind, given = text(data.get("type")), mapping(data.get("data"))
        event = Event("notice", place, text(data.get("id")) or f"{self.facts.session}/{place.offset}", link=True)
        event.time = moment(data.get("timestamp"))
        self.note_time(event.time)
        if agent := text(data.get("agentId")):
            event.sidechain, event.agent, event.spawner = True, agent, agent
        self._learn(kind, given, event.time)
        if kind == "user.message":
            return self._prompt(event, given)
        if kind in ("assistant.message", "assistant.reasoning"):
            return self._answer(event, kind, given)
        if kind == "tool.user_requested":
            command = text(mapping(decode_object(given.get("arguments"))).get("command"))
            return as_prompt(event, command or text(given.get("toolName")), kind="bash")
        if kind == "tool.execution_complete":
            return self._result(event, given)
        if kind == "session.usage_record":
            return self._record(event, mapping(given.get("usage")))
        if kind in _NOTICES:
            if kind == "session.shutdown":
                event.part = self._ended(event, given)
            words = next((words for name in _WORDS if (words := text(given.get(name)))), "")
            return as_notice(
                event, _NOTICES[kind], words, {name: value for name, value in given.items() if value != words}
            )
        if kind in _SIDE:
            return beside(place, kind, data)
        return as_unknown(event, kind, data)

    def _learn(self, kind: str, given: dict[str, Any], time: datetime | None) -> None:
        facts, context = self.facts, mapping(given.get("context"))
        if kind == "session.start":
            facts.session = facts.session or text(given.get("sessionId"))
            facts.versions |= {version: None} if (version := text(given.get("copilotVersion"))) else {}
        if kind in ("session.start", "session.resume", "session.context_changed"):
            context = context or given
            facts.cwd = facts.cwd or text(context.get("cwd"))
            facts.branch = text(context.get("branch")) or facts.branch
        facts.window = whole(given.get("tokenLimit")) or facts.window
        if kind == "skill.invoked":
            facts.note_loaded(text(given.get("path")), text(given.get("content")), time)
        for name in ("selectedModel", "newModel", "chosenModel"):
            if (model := text(given.get(name))) and model != "auto":
                self._model = model

    def _prompt(self, event: Event, given: dict[str, Any]) -> Event:
        words, source = text(given.get("content")).strip(), text(given.get("source"))
        if given.get("isAutopilotContinuation") or source.startswith("skill-"):
            return as_notice(event, "meta", words, {"source": source})
        return as_prompt(event, words)

    def _answer(self, event: Event, kind: str, given: dict[str, Any]) -> Event:
        request = text(given.get("apiCallId"))
        recorded = request in self._recorded
        message = request if recorded else text(given.get("messageId")) or request or event.id
        if kind == "assistant.reasoning":
            return as_message(
                event, Part(event.id, "", self._model, None), [thought(event, event.id, text(given.get("content")))]
            )
        model = text(given.get("model")) or self._model
        output = whole(given.get("outputTokens"))
        blocks: list[Block] = []
        words, opaque = text(given.get("reasoningText")), text(given.get("reasoningOpaque"))
        if words or opaque:
            blocks.append(thought(event, message, words))
        if text(given.get("content")):
            blocks.append(said(event, message, text(given.get("content"))))
        for call in map(mapping, items(given.get("toolRequests"))):
            name, identity = text(call.get("name")), text(call.get("toolCallId"))
            blocks.append(
                called(event, message, identity, name, decode_object(call.get("arguments")), self._roles.get(name, ""))
            )
        usage = Usage(output=output) if output and not recorded else None
        if usage is not None:
            self._tell(model, (0, output, 0, 0, 0))
        return as_message(event, Part(message, "", model, usage, "end" if usage else ""), blocks)

    def _record(self, event: Event, used: dict[str, Any]) -> Event:
        """What one request used, written before the message that it brought."""
        model, figures = text(used.get("model")) or self._model, _figures({"usage": used})
        request = text(used.get("apiCallId")) or event.id
        self._recorded.add(request)
        self._tell(model, figures)
        sent, output, read, written, thought = figures
        usage = Usage(sent, output, read, written, reasoning=min(output, thought))
        as_message(event, Part(request, "", model, usage, "end"), [])
        event.turn = False  # nobody says anything in it
        return event

    def _tell(self, model: str, figures: tuple[int, ...]) -> None:
        before = self._told.get(model, (0,) * len(figures))
        self._told[model] = tuple(one + other for one, other in zip(figures, before, strict=True))

    def _result(self, event: Event, given: dict[str, Any]) -> Event:
        result, failed = mapping(given.get("result")), mapping(given.get("error"))
        words = text(result.get("content")) or text(result.get("detailedContent")) or text(failed.get("message"))
        ended = _EXIT.search(words)
        code = mapping(given.get("shellExecution")).get("exitCode", ended and int(ended[1]))
        error = given.get("success") is False or code not in (None, 0)  # a command that fails is a call that succeeds
        found = answered(event, text(given.get("toolCallId")), words, error=error)
        code = text(failed.get("code"))
        denial = "user-rejected" if code in ("rejected", "denied") else ""
        return as_result(event, replace(found, denial=denial, detail=given.get("toolTelemetry")))

    def _ended(self, event: Event, given: dict[str, Any]) -> Part | None:
        """What requests used since the last report beyond what records and messages told, by model. A report is of
        everything since the beginning; a smaller one begins anew."""
        asked, units = add_cost("", given.get("totalPremiumRequests")), add_cost("", given.get("totalNanoAiu"))
        said = [f"{float(asked):,.10g} premium requests"] if asked else []
        said += [f"{float(units) / 1e9:,.4g} AI units"] if units else []
        self.facts.reported_credits = " · ".join(said) or self.facts.reported_credits
        used: dict[str, Usage] = {}
        for model, metrics in mapping(given.get("modelMetrics")).items():
            now = _figures(mapping(metrics))
            before = self._reported.get(model, (0,) * len(now))
            if any(one < other for one, other in zip(now, before, strict=True)):
                before = (0,) * len(now)
            self._reported[model] = now
            told = self._told.pop(model, (0,) * len(now))
            new = [max(0, one - old - heard) for one, old, heard in zip(now, before, told, strict=True)]
            thought = min(now[1] - before[1], new[4])
            used[model] = Usage(new[0], new[1], new[2], new[3], reasoning=thought)
        billed = [(model, one) for model, one in used.items() if one.total]
        if not billed:
            return None
        (model, first), *others = billed
        advice = tuple(Call(f"{event.id}:{name}", name, one, event.time) for name, one in others)
        return Part(event.id, "", model, first, "end", advice=advice)


def _figures(metrics: dict[str, Any]) -> tuple[int, ...]:
    """Input without cache, output, read from the cache, written to it, and of the output what was thought."""
    used, details = mapping(metrics.get("usage")), mapping(metrics.get("tokenDetails"))
    thought = whole(used.get("reasoningTokens"))
    if details:
        counts = {name: mapping(details.get(name)).get("tokenCount", details.get(name)) for name in details}
        names = ("input", "output", "cache_read", "cache_write")
        sent, output, read, written = (whole(counts.get(name)) for name in names)
        return sent, output, read, written, thought
    read, written = whole(used.get("cacheReadTokens")), whole(used.get("cacheWriteTokens"))
    sent = max(0, whole(used.get("inputTokens")) - read - written)
    return sent, whole(used.get("outputTokens")), read, written, thought
