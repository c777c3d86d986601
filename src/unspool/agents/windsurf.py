"""Windsurf: transcripts that its hooks write, as JSON lines; its own files are encrypted. Only `agents` imports it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from unspool.agents.events import answered, as_message, as_prompt, as_result, as_unknown, called, said
from unspool.agents.log_files import LogFileAgent
from unspool.agents.records import Detail, FoundLog
from unspool.agents.values import mapping, text
from unspool.agents.whole_logs import Chain, WholeLogParser
from unspool.model import Entry, Event, Json, Part

_ROLES = {
    "run_command": "shell", "command_status": "shell", "view_file": "read", "view_content_chunk": "read",
    "code_action": "edit", "list_directory": "search", "find": "search", "grep_search": "search",
    "codebase_search": "search", "search_web": "web", "read_url_content": "web", "todo_list": "todos",
    "mcp_tool": "", "list_resources": "", "read_resource": "",
}  # fmt: skip
"""Kinds of lines that are a tool, with what it is for."""
_ANSWERS = ("output", "content", "result", "error")
"""The fields of such a line that it was not given."""


class Windsurf(LogFileAgent):
    id = "windsurf"
    name = "Windsurf"
    logs_tokens = False
    reads_whole = True
    places = ("transcripts/*.jsonl", "*.jsonl")
    head = re.compile(rb'"(?:user_input|planner_response)":\s*\{\s*"(?:user_response|response)":')
    head_size = 4000
    log_name = re.compile(r"(?:^|/)([0-9A-Za-z_-]{1,80})\.jsonl$")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return [home / ".windsurf"]

    def home(self, root: Path) -> Path | None:
        return root if (root / "transcripts").is_dir() else None

    def recognises(self, data: dict[str, Json]) -> bool:
        kind = data.get("type")
        return kind in ("user_input", "planner_response") and isinstance(data.get(str(kind)), dict)

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        parser = _Parser()
        parser.facts.session = found.session_id if found is not None else ""
        return parser


class _Parser(WholeLogParser):
    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        follow = Chain().follow
        for entry in entries:
            data = entry.data or {}
            kind = text(data.get("type"))
            event = Event("notice", entry.place, f"{self.facts.session}/{entry.place.offset}")
            inner = mapping(data.get(kind))
            self.facts.cwd = self.facts.cwd or text(inner.get("cwd"))
            if kind == "user_input" and text(inner.get("user_response")):
                yield follow(as_prompt(event, text(inner.get("user_response")).strip()))
            elif kind == "planner_response" and text(inner.get("response")):
                words = said(event, event.id, text(inner.get("response")))
                yield follow(as_message(event, Part(event.id, "", "", None), [words]))
            elif kind in _ROLES:
                yield from map(follow, _tool(event, kind, inner, text(data.get("status"))))
            else:
                yield follow(as_unknown(event, kind, data))


def _tool(event: Event, kind: str, inner: dict[str, Any], status: str) -> Iterator[Event]:
    """A line that holds a call and its answer."""
    given = {name: _path(value) for name, value in inner.items() if name not in _ANSWERS}
    role = "write" if kind == "code_action" and "original_content" not in inner else _ROLES[kind]
    block = called(event, event.id, event.id, kind, given, role)
    yield as_message(event, Part(event.id, "", "", None), [block])
    if status in ("done", "error", "cancelled", "canceled"):
        after = Event("notice", event.place, f"{event.id}=")
        code = inner.get("exit_code")
        words = next((words for name in _ANSWERS if (words := text(inner.get(name)))), "")
        rejected = text(inner.get("acknowledgement_type")).endswith("_REJECT")
        denial = "user-rejected" if inner.get("user_rejected") is True or rejected else ""
        denial = denial or ("cancelled" if status.startswith("cancel") else "")
        failed = status == "error" or (type(code) is int and code != 0)
        yield as_result(after, replace(answered(after, event.id, words, error=failed), denial=denial))


def _path(value: Json) -> Json:
    return unquote(urlsplit(value).path) if isinstance(value, str) and value.startswith("file://") else value
