"""Qwen Code: trees of records as JSON lines, a folder a project, below `projects/`. Only `agents` imports it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from unspool.agents.base import ResumeCommand
from unspool.agents.context_files import SHARED_INSTRUCTIONS
from unspool.agents.dialect import PlainDialect
from unspool.agents.events import (
    answered,
    as_message,
    as_notice,
    as_prompt,
    as_result,
    as_unknown,
    called,
    said,
    thought,
)
from unspool.agents.gemini import context_places, parts_images, parts_text
from unspool.agents.lines import PlainParser
from unspool.agents.log_files import LogFileAgent
from unspool.agents.records import Detail, FoundAgent, FoundLog
from unspool.agents.values import items, mapping, moment, text, whole
from unspool.model import Block, Event, Facts, Json, Part, Place, ToolCall, Usage

_ROLES = {
    "run_shell_command": "shell", "read_file": "read", "read_many_files": "read", "list_directory": "search",
    "glob": "search", "grep_search": "search", "search_file_content": "search", "lsp": "search", "edit": "edit",
    "replace": "edit", "write_file": "write", "web_fetch": "web", "web_search": "web", "todo_write": "todos",
    "task": "agent", "agent": "agent", "ask_user_question": "question", "exit_plan_mode": "plan",
}  # fmt: skip
_NOTICES = {
    "chat_compression": "compaction", "slash_command": "command", "ui_telemetry": "telemetry", "rewind": "rewind",
    "notification": "task-notification", "session_model": "model-switch", "agent_retry": "retry",
}  # fmt: skip


class Qwen(LogFileAgent):
    id = "qwen"
    name = "Qwen Code"
    context_files = context_places(".qwen", "QWEN.md", SHARED_INSTRUCTIONS)
    filed_by_project = True
    places = ("projects/*/chats/*.jsonl", "*/chats/*.jsonl", "chats/*.jsonl", "*.jsonl", "tmp/*/chats/*.jsonl")
    head = re.compile(rb'"sessionId":\s*"[^"]+"[^\n]*"(?:parts|systemPayload|subtype)"')
    head_size = 4096
    log_name = re.compile(r"(?:^|/)([0-9A-Za-z-]{8,64})(?:\.runtime)?\.jsonl?$")
    resuming = ResumeCommand("qwen --resume {id}", "--yolo")
    _below = re.compile(r"(?:^|/)subagents/([0-9A-Za-z-]{8,64})/agent-[^/]+\.(?:jsonl|meta\.json)$")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        named = environment.get("QWEN_RUNTIME_DIR") or environment.get("QWEN_HOME")
        return [Path(named).expanduser() if named else home / ".qwen"]

    def home(self, root: Path) -> Path | None:
        return root if any(root.glob("projects/*/chats")) else None

    def discover(self, root: Path) -> Iterator[FoundLog]:
        for found in super().discover(root):
            folder = Path(found.path).parent
            name = folder.parent.name if folder.name == "chats" else ""
            logs = sorted(folder.parent.glob(f"subagents/{found.session_id}/agent-*.jsonl")) if name else []
            yield replace(found, folder=name, agents=tuple(map(_subagent, logs)))

    def session_of(self, path: str) -> str:
        named = self._below.search(path) or self.log_name.search(path)
        return named[1] if named is not None else ""

    def is_log(self, path: str) -> bool:
        return path.endswith(".jsonl") and self._below.search(path) is None and super().is_log(path)

    def is_conversation(self, path: str) -> bool:
        return path.endswith(".jsonl") and bool(self.session_of(path))

    def recognises(self, data: dict[str, Json]) -> bool:
        inner = mapping(data.get("message"))
        return "uuid" in data and "sessionId" in data and ("parts" in inner or "systemPayload" in data)

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        return _Parser(found.agent_ids if found is not None else frozenset())

    def dialect(self, found: FoundLog | None, facts: Facts) -> "_Dialect":
        return _Dialect(self.id)


def _subagent(log: Path) -> FoundAgent:
    sidecar = log.with_suffix(".meta.json")
    return FoundAgent(str(log), log.stem.removeprefix("agent-"), str(sidecar) if sidecar.is_file() else "")


class _Dialect(PlainDialect):
    def agent_ids(self, call: ToolCall) -> tuple[str, ...]:
        kind = text(mapping(call.input).get("subagent_type"))
        return (f"{kind}-{call.call_id}",) if kind else ()


class _Parser(PlainParser):
    def __init__(self, logged: frozenset[str]) -> None:
        super().__init__()
        self._logged = logged
        """Subagents that have a log of their own, which tells what they used."""

    def line(self, data: dict[str, Json], place: Place) -> Event:
        facts, kind = self.facts, data.get("type")
        facts.session = facts.session or text(data.get("sessionId"))
        facts.cwd = facts.cwd or text(data.get("cwd"))
        facts.branch = text(data.get("gitBranch")) or facts.branch
        facts.versions |= {version: None} if (version := text(data.get("version"))) else {}
        name, parent = text(data.get("uuid")), text(data.get("parentUuid"))
        event = Event("notice", place, name or f"{facts.session}/{place.offset}", parent or None)
        event.link, event.time = "parentUuid" not in data, moment(data.get("timestamp"))
        self.note_time(event.time)
        if data.get("isSidechain") is True:
            event.sidechain, event.agent = True, text(data.get("agentId"))
        parts = [mapping(one) for one in items(mapping(data.get("message")).get("parts"))]
        if kind == "assistant":
            return self._answer(event, data, parts)
        if kind == "tool_result":
            return self._result(event, data, parts)
        if kind == "user" and data.get("provenance") == "system":
            name = text(data.get("subtype"))
            return as_notice(event, _NOTICES.get(name, name or "meta"), parts_text(parts).strip())
        if kind == "user":
            return as_prompt(event, parts_text(parts).strip(), parts_images(event, parts))
        if kind == "system":
            return self._system(event, data)
        return as_unknown(event, text(kind), data)

    def _answer(self, event: Event, data: dict[str, Any], parts: list[dict[str, Any]]) -> Event:
        used = mapping(data.get("usageMetadata"))
        self.facts.window = whole(data.get("contextWindowSize")) or self.facts.window
        part = Part(event.id, "", text(data.get("model")), _usage(used), "end" if used else "")
        blocks: list[Block] = []
        for one in parts:
            asked = mapping(one.get("functionCall"))
            if asked:
                name, call = text(asked.get("name")), text(asked.get("id"))
                blocks.append(called(event, event.id, call, name, asked.get("args"), _ROLES.get(name, "")))
            elif words := text(one.get("text")):
                blocks.append(thought(event, event.id, words) if one.get("thought") else said(event, event.id, words))
        return as_message(event, part, blocks)

    @staticmethod
    def _result(event: Event, data: dict[str, Any], parts: list[dict[str, Any]]) -> Event:
        told = mapping(data.get("toolCallResult"))
        response = next((mapping(one["functionResponse"]) for one in parts if "functionResponse" in one), {})
        given = mapping(response.get("response"))
        words = text(given.get("output")) or text(given.get("error")) or text(told.get("resultDisplay"))
        failed = told.get("status") == "error" or bool(given.get("error"))
        call = text(told.get("callId")) or text(response.get("id"))
        return as_result(event, answered(event, call, words, error=failed))

    def _system(self, event: Event, data: dict[str, Any]) -> Event:
        kind, told = text(data.get("subtype")), data.get("systemPayload")
        facts = mapping(told)
        if kind == "custom_title":
            self.facts.custom_title = text(facts.get("title")) or text(facts.get("customTitle")) or text(told)
        if kind == "ui_telemetry":
            event.part = self._beside(event, mapping(facts.get("uiEvent")))
        if kind == "mid_turn_user_message":
            return as_prompt(event, (text(facts.get("text")) or text(told)).strip(), kind="queued")
        return as_notice(event, _NOTICES.get(kind, kind or "info"), text(told), facts)

    def _beside(self, event: Event, told: dict[str, Any]) -> Part | None:
        """What a request used that no message of any log tells of, such as one that gathers what to remember."""
        agent = text(told.get("subagent_id"))
        if not agent or agent in self._logged or not text(told.get("event.name")).endswith(".api_response"):
            return None
        names = ("input_token_count", "output_token_count", "cached_content_token_count", "thoughts_token_count")
        sent, output, cached, thoughts = (whole(told.get(name)) for name in names)
        usage = Usage(max(0, sent - cached), output + thoughts, cached, reasoning=thoughts)
        return Part(text(told.get("response_id")) or event.id, "", text(told.get("model")), usage, "end")


def _usage(used: dict[str, Any]) -> Usage | None:
    if not used:
        return None
    cached = whole(used.get("cachedContentTokenCount"))
    thoughts = whole(used.get("thoughtsTokenCount"))
    output = whole(used.get("candidatesTokenCount")) + thoughts
    return Usage(max(0, whole(used.get("promptTokenCount")) - cached), output, cached, reasoning=thoughts)
