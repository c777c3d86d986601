"""Droid, the agent of Factory: lines of messages, a folder a project, below `sessions/`. Only `agents` imports it."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from unspool.agents.base import ResumeCommand
from unspool.agents.content_blocks import answer_event, usage_of, user_event
from unspool.agents.dialect import PlainDialect
from unspool.agents.events import as_notice, as_unknown, beside
from unspool.agents.lines import PlainParser
from unspool.agents.log_files import LogFileAgent
from unspool.agents.records import Detail, FoundLog
from unspool.agents.values import mapping, moment, read_small_json, text
from unspool.model import Event, Facts, Json, Part, Place, Todo, Todos, ToolCall

_ROLES = {
    "Execute": "shell", "Bash": "shell", "Read": "read", "LS": "search", "Glob": "search", "Grep": "search",
    "Edit": "edit", "MultiEdit": "edit", "ApplyPatch": "edit", "Create": "write", "Write": "write",
    "WebSearch": "web", "FetchUrl": "web", "TodoWrite": "todos", "Task": "agent", "AskUser": "question",
}  # fmt: skip
_TODO = re.compile(r"^\s*\d+\.\s*\[(\w+)\]\s*(.+)$", re.MULTILINE)


class Droid(LogFileAgent):
    id = "droid"
    name = "Droid"
    filed_by_project = True
    places = ("sessions/*/*.jsonl", "sessions/*.jsonl", "*/*.jsonl", "*.jsonl")
    head = re.compile(rb'\{"type":\s*"session_start"')
    log_name = re.compile(r"(?:^|/)([0-9A-Za-z-]{8,64})(?:\.jsonl|\.settings\.json)$")
    resuming = ResumeCommand("droid --resume {id}")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return [home / ".factory"]

    def home(self, root: Path) -> Path | None:
        return root if any(root.glob("sessions/*/*.settings.json")) else None

    def is_log(self, path: str) -> bool:
        return path.endswith(".jsonl") and super().is_log(path)

    def companions_beside(self, found: FoundLog) -> Iterable[Path]:
        return (Path(found.path).with_suffix(".settings.json"),)

    def recognises(self, data: dict[str, Json]) -> bool:
        return data.get("type") == "session_start" and isinstance(data.get("cwd"), str)

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        return _Parser(found)

    def dialect(self, found: FoundLog | None, facts: Facts) -> "_Dialect":
        return _Dialect(self.id)


class _Dialect(PlainDialect):
    def todos(self, call: ToolCall, before: dict[str, Todo]) -> Todos | None:
        """A list that may be written as numbered lines."""
        written = mapping(call.input).get("todos")
        if not isinstance(written, str):
            return super().todos(call, before)
        found = tuple(Todo(words.strip(), state) for state, words in _TODO.findall(written))
        before.clear()
        before.update({str(number): one for number, one in enumerate(found)})
        return Todos(found)


class _Parser(PlainParser):
    def __init__(self, found: FoundLog | None) -> None:
        super().__init__()
        settings = Path(found.path).with_suffix(".settings.json") if found is not None else None
        self._settings = (read_small_json(settings) if settings is not None else None) or {}

    def line(self, data: dict[str, Json], place: Place) -> Event:
        kind, facts = text(data.get("type")), self.facts
        event = Event("notice", place, text(data.get("id")) or f"{facts.session}/{place.offset}", link=True)
        event.time = moment(data.get("timestamp"))
        self.note_time(event.time)
        message = mapping(data.get("message"))
        if kind == "session_start":
            return self._start(event, data)
        if kind == "message" and message.get("role") == "assistant":
            return answer_event(event, Part(event.id, "", self._model, None), message.get("content"), Droid().role)
        if kind == "message":
            return user_event(event, message.get("content"))
        if kind == "compaction_state":
            return as_notice(event, "compaction", text(data.get("summary")), data)
        return beside(place, kind, data) if kind == "todo_state" else as_unknown(event, kind, data)

    @property
    def _model(self) -> str:
        return text(self._settings.get("model"))

    def _start(self, event: Event, data: dict[str, Json]) -> Event:
        facts = self.facts
        facts.session = facts.session or text(data.get("id"))
        facts.cwd = facts.cwd or text(data.get("cwd"))
        titles = (text(data.get(name)) for name in ("sessionTitle", "title"))
        facts.generated_title = next((title for title in titles if title and title != "New Session"), "")
        # what all requests used together is told beside the log alone
        used = usage_of(self._settings.get("tokenUsage"))
        event.id = f"{facts.session}/start"
        event.part = Part(event.id, "", self._model, used, "end") if used is not None else None
        return as_notice(event, "usage" if used is not None else "info", "", {**data, **self._settings})
