"""Goose: sessions in a database, before that a file of lines each. Only `agents` imports it."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from unspool.agents.base import ResumeCommand
from unspool.agents.content_blocks import image_of
from unspool.agents.events import (
    answered,
    as_message,
    as_notice,
    as_prompt,
    as_unknown,
    called,
    said,
    thought,
    words_of,
)
from unspool.agents.places import config_folder
from unspool.agents.records import Detail, FoundLog
from unspool.agents.stores import (
    GetRecords,
    StoreAgent,
    StoredRecord,
    StoredSession,
    as_json,
    columns,
    database_errors,
    database_files,
    database_snapshot,
    file_states,
    row_as_json,
)
from unspool.agents.values import add_cost, decode_object, first_bytes, items, mapping, moment, plain_bytes, text, whole
from unspool.agents.whole_logs import Chain, WholeLogParser, last_states
from unspool.model import Block, Call, Entry, Event, Image, Json, Notice, Part, Result, Text, Unknown, Usage

if TYPE_CHECKING:
    from unspool.agents.stores import Database

_ROLES = {
    "shell": "shell", "bash": "shell", "text_editor": "edit", "str_replace": "edit", "edit": "edit", "write": "write",
    "write_file": "write", "read_file": "read", "view": "read", "read_module": "read", "tree": "search",
    "analyze": "search", "search": "search", "rg": "search", "glob": "search", "web_scrape": "web", "fetch": "web",
    "web_search": "web", "todo_write": "todos", "todo__write": "todos", "delegate": "agent",
    "dynamic_task__create_task": "agent", "subagent__execute_task": "agent", "subagent": "agent",
}  # fmt: skip
_PLACES = ("", "sessions/", "data/sessions/")
_TABLES = {
    "messages": ("content_json", "metadata_json"),
    "usage_ledger": (),
}
"""The tables beside `sessions`, with those of their columns that are JSON."""
_HEAD = re.compile(rb'\s*\{[^\n]*"(?:working_dir|message_count)"\s*:')


class Goose(StoreAgent):
    id = "goose"
    name = "Goose"
    resuming = ResumeCommand("goose session --resume --session-id {id}")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        if named := environment.get("GOOSE_PATH_ROOT"):
            return [Path(named).expanduser() / "data" / "sessions"]
        data = environment.get("XDG_DATA_HOME")
        usual = (Path(data).expanduser() if data else home / ".local" / "share") / "goose" / "sessions"
        windows = config_folder(environment, home, "win32") / "Block" / "goose" / "data" / "sessions"
        return [usual, *([windows] if windows.is_dir() else [])]

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "") or _ROLES.get(tool.rpartition("__")[2], "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        return _Parser(found.session_id if found is not None else "")

    def recognises(self, data: dict[str, Json]) -> bool:
        return super().recognises(data) or ("working_dir" in data and "message_count" in data)

    def fingerprint(self, root: Path) -> str:
        databases = [file for path in _databases(root) for file in database_files(path)]
        return file_states((*databases, *(old for path in _databases(root) for old in path.parent.glob("*.jsonl"))))

    def discover(self, root: Path) -> Iterator[FoundLog]:
        yield from super().discover(root)
        for place in _PLACES:
            if not _databases(root):
                yield from self._files(root, f"{place}*.jsonl", _old)

    def stored(self, root: Path, problems: list[str]) -> Iterator[tuple[StoredSession, GetRecords]]:
        for path in _databases(root):
            imported = set()
            try:
                with database_snapshot(path) as db:
                    for session, records in _in_database(db):
                        imported.add(session.id)
                        yield session, records
            except database_errors() as error:
                problems.append(f"Cannot read {path}: {error}.")
            for old in sorted(path.parent.glob("*.jsonl")):
                if old.stem not in imported and _old(old):
                    session = StoredSession(old.stem, file_states([old]), old.stat().st_mtime)
                    yield session, lambda old=old: _in_file(old)  # type: ignore[misc]


def _databases(root: Path) -> list[Path]:
    return [path for place in _PLACES if (path := root / place / "sessions.db").is_file()]


def _old(path: Path) -> str:
    return path.stem if _HEAD.match(first_bytes(path, 2000)) else ""


def _in_file(path: Path) -> Iterator[StoredRecord]:
    try:
        lines = plain_bytes(path).splitlines()
    except OSError:
        return  # deleted this very moment
    for number, line in enumerate(lines):
        if line.strip():
            yield StoredRecord("messages" if number else "session", str(number) if number else path.stem, as_json(line))


def _in_database(db: "Database") -> Iterator[tuple[StoredSession, GetRecords]]:
    tables = [table for table in _TABLES if "session_id" in columns(db, table)]
    states: dict[str, list[object]] = {}
    for table in tables:
        for name, *state in db.execute(f"SELECT session_id, max(rowid), count(*) FROM {table} GROUP BY 1"):  # noqa: S608
            states.setdefault(name, []).append(state)
    for row in db.execute("SELECT id, * FROM sessions").fetchall():
        name, head = str(row["id"]), row_as_json(row, ("extension_data", "recipe_json", "model_config_json"))
        time = moment(row["updated_at"] if "updated_at" in row.keys() else None)  # noqa: SIM118  a row is no mapping
        modified = time.timestamp() if time is not None else 0.0
        session = StoredSession(name, f"{hashlib.sha256(head).hexdigest()} {states.get(row['id'])}", modified)
        yield session, lambda name=name, head=head: _records(db, tables, name, head)  # type: ignore[misc]


def _records(db: "Database", tables: Sequence[str], session: str, head: bytes) -> Iterator[StoredRecord]:
    yield StoredRecord("session", session, head)
    for table in tables:
        query = f"SELECT rowid AS place, * FROM {table} WHERE session_id = ? ORDER BY rowid"  # noqa: S608
        for row in db.execute(query, (session,)).fetchall():
            yield StoredRecord(table, str(row["place"]), row_as_json(row, _TABLES[table]))


class _Parser(WholeLogParser):
    def __init__(self, session: str) -> None:
        super().__init__()
        self.facts.session = session
        self._follow = Chain().follow
        self._model = ""
        self._totals: dict[str, Any] = {}
        self._calls: list[Call] = []

    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        records = [(one.kind, one.id, one.data, one.entry.place, one.removed) for one in last_states(entries)]
        for entry in entries:  # a file of the first versions
            data = entry.data or {}
            if not isinstance(data.get("kind"), str):
                kind = "messages" if "role" in data else "session" if "working_dir" in data else "line"
                records.append((kind, str(entry.place.offset), data, entry.place, False))
        paid = ""
        for kind, name, value, _, _ in records:
            if kind == "session":
                self._head(name, mapping(value))
            elif kind == "usage_ledger":
                self._calls.append(_ledger(f"{self.facts.session}/{name}", mapping(value)))
                paid = add_cost(paid, mapping(value).get("cost"))
        self.facts.reported_cost = self.facts.reported_cost or paid
        last: Event | None = None
        for kind, name, value, place, removed in records:
            event = Event("notice", place, f"{self.facts.session}/{name}")
            if kind == "messages":
                last = self._follow(self._message(event, mapping(value)), removed=removed)
                yield last
            elif kind not in ("store", "session", *_TABLES):
                yield self._follow(as_unknown(event, kind, value))
        if last is not None:
            yield from map(self._follow, self._used(last))

    def _head(self, name: str, data: dict[str, Any]) -> None:
        facts = self.facts
        facts.session = facts.session or name
        facts.cwd = text(data.get("working_dir"))
        facts.custom_title = text(data.get("name")) if data.get("user_set_name") else ""
        facts.generated_title = text(data.get("description")) or text(data.get("name"))
        facts.headless = data.get("session_type") == "scheduled"
        self._model = text(mapping(data.get("model_config_json")).get("model_name"))
        self._totals = data
        facts.reported_cost = add_cost("", data.get("accumulated_cost"))
        for one in ("created_at", "updated_at"):
            self.note_time(moment(data.get(one)))

    def _used(self, last: Event) -> Iterator[Event]:
        """What the requests used: by request in newer versions, else all of them together."""
        calls = self._calls
        sent, output = (whole(self._totals.get(f"accumulated_{name}_tokens")) for name in ("input", "output"))
        if not calls and (sent or output):
            calls = [Call(f"{self.facts.session}/all:", self._model, Usage(sent, output), last.time)]
        if calls:
            event = Event("notice", last.place, f"{self.facts.session}/used", time=last.time)
            first, *others = calls
            name = first.key.removesuffix(":")
            event.part = Part(name, "", first.model or self._model, first.usage, "end", advice=tuple(others))
            yield as_notice(event, "usage")

    def _message(self, event: Event, data: dict[str, Any]) -> Event:
        event.time = moment(data.get("created_timestamp", data.get("created")))
        self.note_time(event.time)
        visible = mapping(data.get("metadata_json", data.get("metadata")))
        blocks: list[Block | Result] = []
        for one in map(mapping, items(data.get("content_json", data.get("content")))):
            blocks += self._block(event, one)
        if data.get("role") == "assistant":
            part = Part(event.id, "", self._model, None, "end")
            results = [one for one in blocks if isinstance(one, Result)]
            as_message(event, part, [one for one in blocks if not isinstance(one, Result)])
            event.blocks = (*event.blocks, *results)
            return event
        if data.get("role") != "user":
            return as_unknown(event, text(data.get("role")) or "message", data)
        words = "\n\n".join(one.text for one in blocks if isinstance(one, Text)).strip()
        rest = tuple(one for one in blocks if not isinstance(one, Text | Image))
        if visible.get("userVisible") is False and words:
            return as_notice(event, "summary" if not rest else "meta", words)
        if words:
            as_prompt(event, words, tuple(one for one in blocks if isinstance(one, Image)))
        elif any(isinstance(one, Result) for one in rest):
            event.kind, event.turn = "result", True
        event.blocks = rest
        return event

    def _block(self, event: Event, one: dict[str, Any]) -> list[Block | Result]:
        match one.get("type"):
            case "text":
                return [said(event, event.id, text(one.get("text")))]
            case "thinking":
                return [thought(event, event.id, text(one.get("thinking")), text(one.get("signature")))]
            case "redactedThinking":
                return [thought(event, event.id, "")]
            case "image":
                return [image_of(event, one)]
            case "toolRequest" | "frontendToolRequest":
                made = mapping(mapping(one.get("toolCall")).get("value"))
                name = text(made.get("name"))
                given = decode_object(made.get("arguments"))
                return [called(event, event.id, text(one.get("id")), name, given, _role(name, given))]
            case "toolResponse":
                return [_result(event, one)]
            case "systemNotification":
                return [Notice(event.place, "info", text(one.get("msg")), one, event.id, event.time)]
            case "toolConfirmationRequest" | "actionRequired":
                return [Notice(event.place, "permission", text(one.get("toolName")), one, event.id, event.time)]
            case kind:
                return [Unknown(event.place, text(kind) or "block", one, event.id, event.id, event.time)]


def _role(tool: str, given: Json) -> str:
    """What a call is for; one tool reads, writes and edits."""
    role, command = Goose().role(tool), mapping(given).get("command")
    if tool.rpartition("__")[2] == "text_editor":
        return {"view": "read", "write": "write"}.get(text(command), "edit")
    return role


def _result(event: Event, one: dict[str, Any]) -> Result:
    told = mapping(one.get("toolResult"))
    value = told.get("value")
    inner = mapping(value)
    content = inner.get("content", value)
    failed = told.get("status") == "error" or inner.get("isError") is True
    words = words_of(content) or text(told.get("error"))
    denial = "user-rejected" if failed and "declined" in words[:200] else ""
    images = tuple(image_of(event, part) for part in map(mapping, items(content)) if part.get("type") == "image")
    return replace(answered(event, text(one.get("id")), words, error=failed), denial=denial, images=images)


def _ledger(name: str, row: dict[str, Any]) -> Call:
    """A request as the ledger has it; its input holds what came from the cache and went there."""
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    sent, output, read, written = (whole(row.get(one)) for one in names)
    time = moment(row.get("created_at", row.get("timestamp")))
    sent -= read + written if sent >= read + written else 0
    return Call(f"{name}:", text(row.get("model")), Usage(sent, output, read, written), time)
