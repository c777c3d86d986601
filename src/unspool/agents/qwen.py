"""Qwen Code: trees of records as JSON lines, a folder a project, below `projects/`. Only `agents` imports it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unspool.agents.base import ResumeCommand
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
from unspool.agents.gemini import parts_images, parts_text
from unspool.agents.lines import PlainParser
from unspool.agents.log_files import LogFileAgent
from unspool.agents.records import Detail, FoundLog
from unspool.agents.values import items, mapping, moment, text, whole
from unspool.model import Block, Event, Json, Part, Place, Usage

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
    filed_by_project = True
    places = ("projects/*/chats/*.jsonl", "*/chats/*.jsonl", "chats/*.jsonl", "*.jsonl", "tmp/*/chats/*.jsonl")
    head = re.compile(rb'"sessionId":\s*"[^"]+"[^\n]*"(?:parts|systemPayload|subtype)"')
    head_size = 4096
    log_name = re.compile(r"(?:^|/)([0-9A-Za-z-]{8,64})(?:\.runtime)?\.jsonl?$")
    resuming = ResumeCommand("qwen --resume {id}", "--yolo")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        named = environment.get("QWEN_RUNTIME_DIR") or environment.get("QWEN_HOME")
        return [Path(named).expanduser() if named else home / ".qwen"]

    def home(self, root: Path) -> Path | None:
        return root if any(root.glob("projects/*/chats")) else None

    def discover(self, root: Path) -> Iterator[FoundLog]:
        for found in super().discover(root):
            folder = Path(found.path).parent
            name = folder.parent.name if folder.name == "chats" else ""
            yield FoundLog(found.path, found.session_id, self.id, found.size, found.modified, name, found.root)

    def is_log(self, path: str) -> bool:
        return path.endswith(".jsonl") and super().is_log(path)

    def recognises(self, data: dict[str, Json]) -> bool:
        inner = mapping(data.get("message"))
        return "uuid" in data and "sessionId" in data and ("parts" in inner or "systemPayload" in data)

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        return _Parser()


class _Parser(PlainParser):
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
        if kind == "mid_turn_user_message":
            return as_prompt(event, (text(facts.get("text")) or text(told)).strip(), kind="queued")
        return as_notice(event, _NOTICES.get(kind, kind or "info"), text(told), facts)


def _usage(used: dict[str, Any]) -> Usage | None:
    if not used:
        return None
    cached = whole(used.get("cachedContentTokenCount"))
    thoughts = whole(used.get("thoughtsTokenCount"))
    output = whole(used.get("candidatesTokenCount")) + thoughts
    return Usage(max(0, whole(used.get("promptTokenCount")) - cached), output, cached, reasoning=thoughts)
