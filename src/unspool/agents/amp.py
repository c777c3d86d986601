"""Amp: a document a thread below `threads/`. Only `agents` imports it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from unspool.agents.base import ResumeCommand
from unspool.agents.content_blocks import answer_event, blocks_of, usage_of, user_event
from unspool.agents.events import answered, as_unknown
from unspool.agents.lines import Cursor
from unspool.agents.log_files import LogFileAgent
from unspool.agents.records import Detail, FoundLog
from unspool.agents.values import items, mapping, moment, text
from unspool.agents.whole_logs import WholeLogParser, document_entries
from unspool.model import Entry, Event, Json, Part, Result

_ROLES = {
    "Bash": "shell", "Read": "read", "list_directory": "search", "glob": "search", "Grep": "search", "finder": "search",
    "codebase_search_agent": "search", "edit_file": "edit", "create_file": "write", "undo_edit": "edit",
    "web_search": "web", "read_web_page": "web", "todo_write": "todos", "todo_read": "todos", "Task": "agent",
    "oracle": "agent",
}  # fmt: skip


class Amp(LogFileAgent):
    id = "amp"
    name = "Amp"
    reads_whole = True
    places = ("threads/T-*.json", "T-*.json")
    head = re.compile(rb'"v"\s*:\s*\d+')
    log_name = re.compile(r"(?:^|/)(T-[0-9A-Za-z-]{8,64})\.json$")
    resuming = ResumeCommand("amp threads continue {id}")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        data = environment.get("XDG_DATA_HOME")
        return [(Path(data).expanduser() if data else home / ".local" / "share") / "amp"]

    def home(self, root: Path) -> Path | None:
        return root if any(root.glob("threads/T-*.json")) else None

    def recognises(self, data: dict[str, Json]) -> bool:
        return text(data.get("id")).startswith("T-") and isinstance(data.get("messages"), list)

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        return _Parser()


class _Parser(WholeLogParser):
    def entries(self, data: bytes, start: Cursor) -> "Sequence[Entry]":
        found = document_entries(data, "messages")
        return found if found is not None else list(super().entries(data, start))

    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        time = None
        for number, entry in enumerate(entries):
            data = entry.data or {}
            if "messages" in data or ("v" in data and "role" not in data):
                self._head(data)
                time = moment(data.get("created"))
                continue
            event = Event("notice", entry.place, f"{self.facts.session}/{data.get('messageId', number)}", link=True)
            used = mapping(data.get("usage"))
            time = event.time = moment(mapping(data.get("meta")).get("sentAt")) or moment(used.get("timestamp")) or time
            self.note_time(time)
            match data.get("role"):
                case "assistant":
                    stop = text(mapping(data.get("state")).get("stopReason"))
                    part = Part(event.id, "", text(used.get("model")), usage_of(used), stop or ("end" if used else ""))
                    yield answer_event(event, part, data.get("content"), Amp().role)
                case "user":
                    yield _user(event, data.get("content"))
                case role:
                    yield as_unknown(event, text(role) or text(data.get("type")) or "message", data)

    def _head(self, data: dict[str, Any]) -> None:
        facts = self.facts
        facts.session = text(data.get("id")) or facts.session
        facts.generated_title = text(data.get("title"))
        self.note_time(moment(data.get("created")))
        start = mapping(mapping(data.get("env")).get("initial"))
        for tree in map(mapping, items(start.get("trees"))):
            facts.cwd = facts.cwd or unquote(urlsplit(text(tree.get("uri"))).path)
            ref = text(mapping(tree.get("repository")).get("ref"))
            facts.branch = facts.branch or ref.removeprefix("refs/heads/")
        version = text(mapping(start.get("platform")).get("clientVersion"))
        facts.versions |= {version: None} if version else {}


def _user(event: Event, content: Json) -> Event:
    """What came from the user's side; answers of tools say how they ended."""
    made = user_event(event, [one for one in blocks_of(content) if one.get("type") != "tool_result"])
    results: list[Result] = []
    for block in blocks_of(content):
        if block.get("type") == "tool_result":
            run = mapping(block.get("run"))
            answer, state = run.get("result"), text(run.get("status"))
            inner, code = mapping(answer), mapping(answer).get("exitCode")
            words = text(answer) or text(inner.get("content")) or text(inner.get("output"))
            words = words or text(mapping(run.get("error")).get("message"))
            found = answered(event, text(block.get("toolUseID")), words)
            failed = state == "error" or (isinstance(code, int) and code != 0)
            denial = "user-rejected" if state.startswith("rejected") else "cancelled" if state == "cancelled" else ""
            results.append(replace(found, error=failed, denial=denial, detail=answer))
    if results:
        event.kind, event.turn = "prompt" if event.prompt else "result", True
        kept = event.blocks if event.prompt else ()
        event.blocks = (*results, *kept)
    return made
