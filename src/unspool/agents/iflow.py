"""iFlow CLI: trees of messages as JSON lines, a folder a project, below `projects/`. Only `agents` imports it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from unspool.agents.base import ResumeCommand
from unspool.agents.content_blocks import answer_event, usage_of, user_event
from unspool.agents.events import as_unknown
from unspool.agents.lines import PlainParser
from unspool.agents.log_files import LogFileAgent
from unspool.agents.records import Detail, FoundLog
from unspool.agents.values import mapping, moment, text
from unspool.model import Event, Json, Part, Place, Result, ToolCall

_ROLES = {
    "run_shell_command": "shell", "read_file": "read", "read_many_files": "read", "list_directory": "search",
    "glob": "search", "search_file_content": "search", "replace": "edit", "multi_edit": "edit", "write_file": "write",
    "web_fetch": "web", "web_search": "web", "todo_write": "todos", "todo_read": "todos", "task": "agent",
    "ask_user_question": "question",
}  # fmt: skip


class IFlow(LogFileAgent):
    id = "iflow"
    name = "iFlow CLI"
    filed_by_project = True
    places = ("projects/*/session-*.jsonl", "*/session-*.jsonl", "session-*.jsonl")
    head = re.compile(rb'"sessionId":\s*"session-')
    log_name = re.compile(r"(?:^|/)(session-[0-9a-f-]{36})\.jsonl$")
    resuming = ResumeCommand("iflow --resume {id}")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return [home / ".iflow"]

    def home(self, root: Path) -> Path | None:
        return root if any(root.glob("projects/*/session-*.jsonl")) else None

    def recognises(self, data: dict[str, Json]) -> bool:
        return text(data.get("sessionId")).startswith("session-") and "uuid" in data

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        return _Parser()


class _Parser(PlainParser):
    """Lines follow one another: those that answer together name one parent, and repeat each other's calls."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: set[str] = set()

    def line(self, data: dict[str, Json], place: Place) -> Event:
        facts, kind, message = self.facts, data.get("type"), mapping(data.get("message"))
        facts.session = facts.session or text(data.get("sessionId"))
        facts.cwd = facts.cwd or text(data.get("cwd"))
        facts.branch = text(data.get("gitBranch")) or facts.branch
        facts.versions |= {version: None} if (version := text(data.get("version"))) else {}
        event = Event("notice", place, text(data.get("uuid")) or f"{facts.session}/{place.offset}", link=True)
        event.time, event.sidechain = moment(data.get("timestamp")), data.get("isSidechain") is True
        self.note_time(event.time)
        if kind == "assistant":
            model, used = text(message.get("model")), usage_of(message.get("usage"))
            part = Part(text(message.get("id")) or event.id, "", model, used, text(message.get("stop_reason")) or "end")
            return self._new(answer_event(event, part, message.get("content"), IFlow().role))
        if kind == "user":
            return _with_details(user_event(event, _flat(message.get("content"))), data.get("toolUseResult"))
        return as_unknown(event, text(kind), data)

    def _new(self, event: Event) -> Event:
        """An answer without the calls that lines before it held."""
        known = [one for one in event.blocks if isinstance(one, ToolCall) and one.call_id in self._calls]
        event.blocks = tuple(one for one in event.blocks if one not in known)
        self._calls |= {one.call_id for one in event.blocks if isinstance(one, ToolCall) and one.call_id}
        return event


def _flat(content: Json) -> Json:
    """Answers of tools as text: the log wraps them in the words of another interface."""
    if not isinstance(content, list):
        return content
    return [_flat_result(mapping(one)) if isinstance(one, dict) else one for one in content]


def _flat_result(block: dict[str, Any]) -> dict[str, Any]:
    inner = mapping(block.get("content"))
    if block.get("type") != "tool_result" or not inner:
        return block
    parts = mapping(inner.get("responseParts")) or inner
    response = mapping(mapping(parts.get("functionResponse")).get("response"))
    words = text(response.get("output")) or text(response.get("error")) or text(inner.get("resultDisplay"))
    return {**block, "content": words, "is_error": bool(response.get("error")) or block.get("is_error") is True}


def _with_details(event: Event, detail: Json) -> Event:
    results = [one for one in event.blocks if isinstance(one, Result)]
    if len(results) == 1 and isinstance(detail, dict):
        event.blocks = tuple(replace(one, detail=detail) if one is results[0] else one for one in event.blocks)
    return event
