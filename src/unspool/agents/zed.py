"""Zed: threads of its agent as packed documents in a database. Only `agents` imports it."""

import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from unspool.agents.content_blocks import usage_of
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
)
from unspool.agents.places import data_folder
from unspool.agents.records import Detail, FoundLog
from unspool.agents.stores import (
    GetRecords,
    StoreAgent,
    StoredRecord,
    StoredSession,
    database_errors,
    database_files,
    database_snapshot,
    file_states,
    topmost,
)
from unspool.agents.values import decode_object, items, mapping, moment, text
from unspool.agents.whole_logs import Chain, Record, WholeLogParser, last_states
from unspool.model import Block, Entry, Event, Image, Json, Notice, Part, Unknown, Usage

_ROLES = {
    "terminal": "shell", "read_file": "read", "open": "read", "diagnostics": "read", "find_path": "search",
    "grep": "search", "list_directory": "search", "project_notifications": "search", "edit_file": "edit",
    "streaming_edit_file": "edit", "create_file": "write", "save_file": "write", "fetch": "web", "web_search": "web",
    "update_plan": "todos", "spawn_agent": "agent", "subagent": "agent",
}  # fmt: skip
_PLACES = ("threads/threads.db", "threads.db", "zed/threads/threads.db", "Zed/threads/threads.db")
_LARGEST = 1 << 30
"""Bytes of a thread that is unpacked."""


class Zed(StoreAgent):
    id = "zed"
    name = "Zed"

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        name = "Zed" if sys.platform in ("darwin", "win32") else "zed"
        return [data_folder(environment, home) / name]

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        return _Parser()

    def fingerprint(self, root: Path) -> str:
        return file_states(file for place in _PLACES for file in database_files(root / place))

    def stored(self, root: Path, problems: list[str]) -> Iterator[tuple[StoredSession, GetRecords]]:
        known: set[str] = set()
        for path in (root / place for place in _PLACES):
            if not path.is_file():
                continue
            try:
                with database_snapshot(path) as db:
                    rows = {str(row["id"]): dict(row) for row in db.execute("SELECT id, * FROM threads").fetchall()}
            except database_errors() as error:
                problems.append(f"Cannot read {path}: {error}.")
                continue
            parents = {name: text(row.get("parent_id")) or None for name, row in rows.items()}
            for name, row in rows.items():
                if name not in known:
                    known.add(name)
                    session = StoredSession(name, str(row.get("updated_at")), _time(row), topmost(name, parents))
                    yield session, lambda row=row: _records(row, problems)  # type: ignore[misc]


def _time(row: dict[str, Any]) -> float:
    time = moment(row.get("updated_at"))
    return time.timestamp() if time is not None else 0.0


def _records(row: dict[str, Any], problems: list[str]) -> Iterator[StoredRecord]:
    name = str(row.get("id"))
    place = {key: value for key, value in row.items() if key != "data" and isinstance(value, str | int | float)}
    try:
        thread = mapping(msgspec.json.decode(_unpacked(row.get("data"), text(row.get("data_type")))))
    except (ValueError, RecursionError) as error:
        problems.append(f"Cannot read the thread {name} of Zed: {error}.")
        thread = {}
    head = {key: value for key, value in thread.items() if key != "messages"}
    yield StoredRecord("thread", name, msgspec.json.encode({**head, "row": place}))
    for number, message in enumerate(items(thread.get("messages"))):
        yield StoredRecord("message", str(number), msgspec.json.encode(message))


def _unpacked(data: object, kind: str) -> bytes:
    """The document of a thread; ValueError where it is none."""
    raw = data.encode() if isinstance(data, str) else data if isinstance(data, bytes) else b""
    if kind != "zstd":
        return raw
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(raw)) as stream:
            return stream.read(_LARGEST)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None


class _Parser(WholeLogParser):
    def __init__(self) -> None:
        super().__init__()
        self._follow = Chain().follow
        self._model, self._prompt = "", ""
        self._head: dict[str, Any] = {}
        self._used: dict[str, Usage] = {}
        """By the prompt, what the requests after it used."""

    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        told = Usage()
        last: Event | None = None
        for record in last_states(entries):
            name = f"{self.facts.session}/{record.id}"
            if record.kind == "thread":
                self._thread(record.id, mapping(record.data))
            elif record.kind == "message":
                for last in self._message(record, name):
                    if last.part is not None and last.part.usage is not None:
                        told = told + last.part.usage
                    yield self._follow(last, removed=record.removed)
            elif record.kind != "store":
                yield self._follow(as_unknown(Event("notice", record.entry.place, name), record.kind, record.data))
        if last is not None:
            yield from map(self._follow, self._rest(last, told))

    def _thread(self, name: str, head: dict[str, Any]) -> None:
        facts, row = self.facts, mapping(head.get("row"))
        facts.session, self._head = name, head
        facts.generated_title = text(head.get("title")) or text(row.get("summary"))
        self._model = text(mapping(head.get("model")).get("model"))
        snapshot = mapping(head.get("initial_project_snapshot"))
        trees = [mapping(one) for one in items(snapshot.get("worktree_snapshots"))]
        folders = (text(tree.get("worktree_path")) or text(tree.get("abs_path")) for tree in trees)
        facts.cwd = text(row.get("folder_paths")).partition("\n")[0] or next(filter(None, folders), "")
        branches = (text(mapping(tree.get("git_state")).get("current_branch")) for tree in trees)
        facts.branch = next(filter(None, branches), "")
        facts.versions |= {version: None} if (version := text(head.get("version"))) else {}
        for one in (row.get("created_at"), head.get("updated_at"), row.get("updated_at"), snapshot.get("timestamp")):
            self.note_time(moment(one))
        told = mapping(head.get("request_token_usage"))
        self._used = {key: used for key, value in told.items() if (used := usage_of(value)) is not None}

    def _rest(self, last: Event, told: Usage) -> Iterator[Event]:
        """What all requests used beyond those that a prompt is named for."""
        total = usage_of(self._head.get("cumulative_token_usage"))
        if total is None:
            return
        names = ("input", "output", "cache_read", "cache_write")
        left = [max(0, getattr(total, name) - getattr(told, name)) for name in names]
        if any(left):
            event = Event("notice", last.place, f"{self.facts.session}/used")
            event.part = Part(event.id, "", self._model, Usage(left[0], left[1], left[2], left[3]), "end")
            yield as_notice(event, "usage")

    def _message(self, record: Record, name: str) -> Iterator[Event]:
        place, data = record.entry.place, record.data
        event = Event("notice", place, name)
        kind, inner = next(iter(mapping(data).items()), (text(data), None))
        if kind == "User":
            yield _user(event, mapping(inner))
            self._prompt = text(mapping(inner).get("id"))
        elif kind == "Agent":
            yield from self._answer(event, mapping(inner))
        elif kind == "Resume":
            yield as_notice(event, "resumed")
        elif kind == "Compaction":
            yield as_notice(event, "compaction", text(mapping(inner).get("Summary")))
        else:
            yield as_unknown(event, kind or "message", data)

    def _answer(self, event: Event, data: dict[str, Any]) -> Iterator[Event]:
        part = Part(event.id, "", self._model, self._used.pop(self._prompt, None), "end")
        yield as_message(event, part, [self._block(event, one) for one in items(data.get("content"))])
        for number, (call, value) in enumerate(mapping(data.get("tool_results")).items()):
            after = Event("notice", event.place, f"{event.id}={number}")
            told = mapping(value)
            words = _words(told.get("content")) or text(told.get("output"))
            result = answered(after, text(told.get("tool_use_id")) or call, words, error=told.get("is_error") is True)
            yield as_result(after, replace(result, detail=told.get("output")))

    def _block(self, event: Event, value: Json) -> Block:
        kind, inner = next(iter(mapping(value).items()), ("", value))
        match kind:
            case "Text":
                return said(event, event.id, text(inner))
            case "Thinking":
                told = mapping(inner)
                return thought(event, event.id, text(told.get("text")), text(told.get("signature")))
            case "RedactedThinking":
                return thought(event, event.id, "")
            case "ToolUse":
                made = mapping(inner)
                name, given = text(made.get("name")), decode_object(made.get("input", made.get("raw_input")))
                return called(event, event.id, text(made.get("id")), name, given, _ROLES.get(name, ""))
        return Unknown(event.place, kind or "block", value, event.id, event.id)


def _user(event: Event, data: dict[str, Any]) -> Event:
    typed: list[str] = []
    images: list[Image] = []
    rest: list[Block] = []
    for value in items(data.get("content")):
        kind, inner = next(iter(mapping(value).items()), ("", value))
        if kind == "Text":
            typed.append(text(inner))
        elif kind == "Image":
            images.append(picture(event, "image/png", text(mapping(inner).get("source"))))
        elif kind == "Mention":
            words = text(mapping(inner).get("content"))
            rest.append(Notice(event.place, "attachment", words, {"uri": mapping(inner).get("uri")}, event.id))
        else:
            rest.append(Unknown(event.place, kind or "block", value, id=event.id))
    words = "".join(typed).strip()
    if words or images:
        as_prompt(event, words, tuple(images))
    event.blocks = tuple(rest)
    return event if event.prompt is not None or rest else as_notice(event, "info")


def _words(value: Json) -> str:
    if isinstance(value, list):
        return "\n".join(filter(None, map(_words, value)))
    return text(value) or text(mapping(value).get("Text"))
