"""Continue: a document a session below `sessions/`. Only `agents` imports it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from unspool.agents.events import (
    answered,
    as_message,
    as_notice,
    as_prompt,
    as_result,
    as_unknown,
    called,
    picture,
    said,
    thought,
    words_of,
)
from unspool.agents.lines import Cursor
from unspool.agents.log_files import LogFileAgent
from unspool.agents.records import Detail, FoundLog
from unspool.agents.values import decode_object, items, mapping, moment, plain_bytes, text, whole
from unspool.agents.whole_logs import Chain, WholeLogParser, document_entries
from unspool.model import Block, Entry, Event, Json, Notice, Part, Place, Unknown, Usage

_ROLES = {
    "Bash": "shell", "run_terminal_command": "shell", "builtin_run_terminal_command": "shell", "Read": "read",
    "read_file": "read", "read_file_range": "read", "read_currently_open_file": "read", "List": "search",
    "ls": "search", "Search": "search", "grep_search": "search", "file_glob_search": "search", "codebase": "search",
    "view_diff": "search", "view_repo_map": "search", "view_subdirectory": "search", "Edit": "edit",
    "MultiEdit": "edit", "edit_existing_file": "edit", "single_find_and_replace": "edit", "multi_edit": "edit",
    "Write": "write", "create_new_file": "write", "Fetch": "web", "fetch_url_content": "web", "search_web": "web",
    "Checklist": "todos", "Subagent": "agent", "AskQuestion": "question",
}  # fmt: skip
_FAILED = ("errored", "error")


class Continue(LogFileAgent):
    id = "continue"
    name = "Continue"
    reads_whole = True
    places = ("sessions/*.json", "*.json")
    head = re.compile(rb'"sessionId"[^\[\]]*"workspaceDirectory"|"workspaceDirectory"[^\[\]]*"sessionId"')
    head_size = 4000
    log_name = re.compile(r"(?:^|/)(?!sessions\.json$)([0-9A-Za-z_-]{1,80})\.json$")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        named = environment.get("CONTINUE_GLOBAL_DIR")
        return [Path(named).expanduser() if named else home / ".continue"]

    def home(self, root: Path) -> Path | None:
        return root if (root / "sessions" / "sessions.json").is_file() else None

    def recognises(self, data: dict[str, Json]) -> bool:
        return "workspaceDirectory" in data and isinstance(data.get("history"), list)

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        parser = _Parser()
        if found is not None:
            parser.facts.session = found.session_id
            parser.note_time(_created(Path(found.path).with_name("sessions.json"), found.session_id))
        return parser


def _created(path: Path, session: str) -> Any:
    """When a session began, as the list of all sessions has it: the document itself holds no time."""
    try:
        listed = items(msgspec.json.decode(plain_bytes(path)))
    except (OSError, ValueError, RecursionError):
        return None
    dates = (mapping(one).get("dateCreated") for one in listed if mapping(one).get("sessionId") == session)
    date = next(dates, None)
    return moment(int(date) if isinstance(date, str) and date.isdecimal() and len(date) < 16 else date)


class _Parser(WholeLogParser):
    def __init__(self) -> None:
        super().__init__()
        self._follow = Chain().follow
        self._told: set[str] = set()
        """Calls whose answers stand beside them."""

    def entries(self, data: bytes, start: Cursor) -> "Sequence[Entry]":
        found = document_entries(data, "history")
        return found if found is not None else list(super().entries(data, start))

    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        head: dict[str, Any] = {}
        place = Place(1, 0, 0)
        for number, entry in enumerate(entries):
            data, place = entry.data or {}, entry.place
            if "message" not in data and ("workspaceDirectory" in data or "history" in data):
                head = data
                self._head(data)
                continue
            event = Event("notice", place, f"{self.facts.session}/{number}")
            yield from map(self._follow, self._item(event, data))
        used = _usage(head.get("usage"))
        if used is not None:
            event = Event("notice", place, f"{self.facts.session}/used")
            event.part = Part(event.id, "", text(head.get("chatModelTitle")), used, "end")
            yield self._follow(as_notice(event, "usage", "", mapping(head.get("usage"))))

    def _head(self, data: dict[str, Any]) -> None:
        folder = text(data.get("workspaceDirectory"))
        self.facts.cwd = unquote(urlsplit(folder).path) if folder.startswith("file:") else folder
        title = text(data.get("title"))
        self.facts.generated_title = "" if title in ("New Session", "Untitled Session") else title

    def _item(self, event: Event, data: dict[str, Any]) -> Iterator[Event]:
        message = mapping(data.get("message"))
        content = message.get("content")
        match message.get("role"):
            case "user":
                yield _prompt(event, content, items(data.get("contextItems")))
            case "assistant":
                yield from self._answer(event, message, data)
            case "thinking":
                part = Part(event.id, "", "", None, "end")
                yield as_message(event, part, [thought(event, event.id, words_of(content))])
            case "tool":
                call = text(message.get("toolCallId"))
                if call not in self._told:
                    yield as_result(event, answered(event, call, words_of(content)))
            case "system":
                yield as_notice(event, "system-prompt", words_of(content))
            case role:
                yield as_unknown(event, text(role) or "item", data)

    def _answer(self, event: Event, message: dict[str, Any], data: dict[str, Any]) -> Iterator[Event]:
        blocks: list[Block] = []
        if words := text(mapping(data.get("reasoning")).get("text")):
            blocks.append(thought(event, event.id, words))
        if words := words_of(message.get("content")):
            blocks.append(said(event, event.id, words))
        parts = [mapping(part) for part in items(message.get("content"))]
        others = [part for part in parts if text(part.get("type")) not in ("text", "")]
        blocks += [Unknown(event.place, text(part.get("type")), part, event.id, event.id) for part in others]
        states = {text(one.get("toolCallId")): one for one in map(mapping, items(data.get("toolCallStates")))}
        for call in map(mapping, items(message.get("toolCalls"))):
            made, name = mapping(call.get("function")), text(call.get("id"))
            given = mapping(states.get(name)).get("parsedArgs") or decode_object(made.get("arguments"))
            tool = text(made.get("name"))
            blocks.append(called(event, event.id, name, tool, given, _ROLES.get(tool, "")))
        logs = [mapping(one) for one in items(data.get("promptLogs"))]
        model = next(filter(None, (text(one.get("modelTitle")) for one in logs)), "")
        yield as_message(event, Part(event.id, "", model, None, "end"), blocks)
        for number, (name, state) in enumerate(states.items()):
            after = Event("notice", event.place, f"{event.id}={number}")
            words = "\n".join(text(mapping(one).get("content")) for one in items(state.get("output")))
            status = text(state.get("status"))
            if status in ("done", "canceled", *_FAILED) or words:
                self._told.add(name)
                result = answered(after, name, words, error=status in _FAILED)
                denial = "user-rejected" if status == "canceled" else ""
                yield as_result(after, msgspec.structs.replace(result, denial=denial))


def _prompt(event: Event, content: Json, context: list[Any]) -> Event:
    urls = [mapping(mapping(one).get("imageUrl")) for one in items(content)]
    images = tuple(picture(event, "", url=text(url.get("url"))) for url in urls if text(url.get("url")))
    words = words_of(content).strip()
    if not words and not images:
        return as_notice(event, "info")
    as_prompt(event, words, images)
    given = (mapping(one) for one in context)
    event.blocks = tuple(
        Notice(event.place, "attachment", text(one.get("content")), {"name": one.get("name")}, event.id)
        for one in given
    )
    return event


def _usage(value: Json) -> Usage | None:
    """What all requests used together; input does not hold what the cache does."""
    used = mapping(value)
    details = mapping(used.get("promptTokensDetails"))
    sent, output = whole(used.get("promptTokens")), whole(used.get("completionTokens"))
    read, written = whole(details.get("cachedTokens")), whole(details.get("cacheWriteTokens"))
    return Usage(sent, output, read, written) if sent or output or read or written else None
