"""Cline and Roo Code: a folder of small files a task, in VS Code or at home. Only `agents` imports it."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from unspool.agents.content_blocks import answer_event, blocks_of, result_of, usage_of, user_event
from unspool.agents.events import answered, as_notice, as_unknown, words_of
from unspool.agents.places import editor_folders
from unspool.agents.records import Detail, FoundLog
from unspool.agents.stores import GetRecords, StoreAgent, StoredRecord, StoredSession, file_states, topmost
from unspool.agents.values import (
    add_cost,
    decode_object,
    first_bytes,
    items,
    mapping,
    moment,
    plain_bytes,
    read_small_json,
    text,
    whole,
)
from unspool.agents.whole_logs import Chain, Record, WholeLogParser, last_states
from unspool.model import Entry, Event, Json, Notice, Part, Result, Usage

_ROLES = {
    "execute_command": "shell", "run_commands": "shell", "bash": "shell", "read_file": "read", "read_files": "read",
    "list_files": "search", "search_files": "search", "search_codebase": "search", "codebase_search": "search",
    "list_code_definition_names": "search", "replace_in_file": "edit", "apply_diff": "edit", "edit_file": "edit",
    "insert_content": "edit", "search_and_replace": "edit", "search_replace": "edit", "apply_patch": "edit",
    "editor": "edit", "write_to_file": "write", "write_file": "write", "web_fetch": "web", "fetch_web_content": "web",
    "web_search": "web", "browser_action": "web", "update_todo_list": "todos", "new_task": "agent",
    "use_subagents": "agent", "ask_followup_question": "question", "ask_question": "question",
}  # fmt: skip
_MARKED = (
    "execute_command", "read_file", "write_to_file", "replace_in_file", "apply_diff", "insert_content",
    "search_and_replace", "search_files", "list_files", "list_code_definition_names", "codebase_search",
    "browser_action", "use_mcp_tool", "access_mcp_resource", "ask_followup_question", "new_task", "switch_mode",
    "update_todo_list", "fetch_instructions", "web_fetch", "plan_mode_respond", "attempt_completion",
)  # fmt: skip
"""Tools that older versions have the model call by marks in its words."""
_FIELD = re.compile(r"<(\w{1,40})>")
_ANSWER = re.compile(r"\[(\w+)(?: for .*)?\] Result:\s*", re.DOTALL)
_TYPED = ("task", "feedback", "user_message")
_HARNESS = ("[ERROR]", "[TASK RESUMPTION]", "# Reminder", "[Response interrupted", "<explicit_instructions")
_FAILED = re.compile(r"The tool execution failed|Command execution was not successful|Exit code: [1-9]")
_DENIED = "The user denied this operation"
_FOLDER = re.compile(r"# Current (?:Working|Workspace) Directory \(([^)\n]+)\)")
_MODEL = re.compile(r"<model>([^<\n]{1,200})</model>")


class Cline(StoreAgent):
    id = "cline"
    name = "Cline"
    extension = "saoudrizwan.claude-dev"

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        kept = [user / "globalStorage" / self.extension for user in editor_folders(environment, home)]
        data, above = environment.get("CLINE_DATA_DIR"), environment.get("CLINE_DIR")
        moved = Path(data or f"{above}/data").expanduser() if data or above else home / ".cline" / "data"
        apart = environment.get("CLINE_SESSION_DATA_DIR")
        return [*kept, moved, *([Path(apart).expanduser()] if apart else [])]

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "TaskParser":
        return TaskParser()

    def fingerprint(self, root: Path) -> str:
        return file_states(file for task in self._tasks(root) for file in _files(task))

    def stored(self, root: Path, problems: list[str]) -> Iterator[tuple[StoredSession, GetRecords]]:
        listed = {text(mapping(one).get("id")): mapping(one) for one in _listed(root / "state" / "taskHistory.json")}
        tasks = {task.name: task for task in self._tasks(root)}
        known = {
            name: read_small_json(task / "history_item.json") or listed.get(name, {}) for name, task in tasks.items()
        }
        parents = {name: text(item.get("parentTaskId")) or None for name, item in known.items()}
        for name, task in tasks.items():
            files = _files(task)
            if not files:
                continue
            state = f"{file_states(files)} {_hash(known[name])}"
            session = StoredSession(name, state, max(file.stat().st_mtime for file in files), topmost(name, parents))
            yield session, lambda task=task, item=known[name]: _records(task, item, problems)  # type: ignore[misc]

    def _tasks(self, root: Path) -> list[Path]:
        """The folders of tasks; those of the editor hold the name of its extension, and not that of another."""
        others = {agent.extension for agent in (Cline, RooCode)} - {self.extension}
        if others & {*root.parts[-2:]}:
            return []
        places = ("tasks/*", f"{self.extension}/tasks/*", f"globalStorage/{self.extension}/tasks/*", "sessions/*", "*")
        found = (path for place in places for path in sorted(root.glob(place)))
        return list(dict.fromkeys(path for path in found if path.is_dir() and self.is_task(path)))

    def is_task(self, folder: Path) -> bool:
        """Whether a folder holds a task of this agent."""
        own = (folder / f"{folder.name}.messages.json").is_file()
        return own or ((folder / "ui_messages.json").is_file() and not _is_roo(folder))


class RooCode(Cline):
    id = "roo"
    name = "Roo Code"
    extension = "rooveterinaryinc.roo-cline"

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        users = editor_folders(environment, home)
        found = [user / "globalStorage" / self.extension for user in users]
        for user in users:
            settings = first_bytes(user / "settings.json", 1 << 20)
            named = re.search(rb'"roo-cline\.customStoragePath"\s*:\s*"((?:[^"\\]|\\.){1,400})"', settings)
            if named is not None:
                found.append(Path(os.path.expandvars(named[1].decode(errors="replace").replace("\\\\", "\\"))))
        return found

    def is_task(self, folder: Path) -> bool:
        return (folder / "ui_messages.json").is_file() and _is_roo(folder)


def _is_roo(task: Path) -> bool:
    return (task / "history_item.json").is_file() or RooCode.extension in task.parts


def _hash(value: Json) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()


def _files(task: Path) -> list[Path]:
    names = ("ui_messages.json", "api_conversation_history.json", "task_metadata.json", "history_item.json",
             f"{task.name}.json", f"{task.name}.messages.json")  # fmt: skip
    return [path for name in names if (path := task / name).is_file()]


def _listed(path: Path) -> list[Any]:
    try:
        return items(msgspec.json.decode(plain_bytes(path)))
    except (OSError, ValueError, RecursionError):
        return []


def _records(task: Path, item: dict[str, Any], problems: list[str]) -> Iterator[StoredRecord]:
    yield StoredRecord("task", task.name, msgspec.json.encode(item))
    for path in _files(task):
        if path.name == "history_item.json":
            continue
        try:
            data = msgspec.json.decode(plain_bytes(path))
        except (OSError, ValueError, RecursionError) as error:
            problems.append(f"Cannot read {path}: {error}.")
            continue
        kind = {"ui_messages.json": "ui", "task_metadata.json": "metadata"}.get(path.name, "api")
        if isinstance(data, dict) and isinstance(data.get("messages"), list):
            kind, data = "api", data["messages"]
        elif isinstance(data, dict):
            kind = "metadata"
        for number, one in enumerate(data if isinstance(data, list) else [data]):
            yield StoredRecord(kind, str(number) if kind != "metadata" else path.stem, msgspec.json.encode(one))


class TaskParser(WholeLogParser):
    def __init__(self) -> None:
        super().__init__()
        self._follow = Chain().follow
        self._model = ""
        self._requests: list[tuple[Json, dict[str, Any]]] = []
        """The requests that the screen tells of, with their times, in order."""
        self._marked: list[tuple[str, str]] = []
        """Name and id of calls made by marks that wait for their answers."""

    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        messages: list[Record] = []
        for record in last_states(entries):
            data = mapping(record.data)
            match record.kind:
                case "task":
                    self._task(record.id, data)
                case "metadata":
                    self._metadata(data)
                case "ui":
                    self._shown(data)
                case "api":
                    messages.append(record)
                case kind if kind != "store":
                    event = Event("notice", record.entry.place, f"{kind}/{record.id}")
                    yield self._follow(as_unknown(event, kind, record.data))
        for record in messages:
            yield self._follow(self._message(record), removed=record.removed)
        yield from map(self._follow, self._unanswered(messages))

    def _unanswered(self, messages: list[Record]) -> Iterator[Event]:
        """Requests that were paid, though no answer came of them."""
        for number, (when, told) in enumerate(self._requests if messages else ()):
            if (used := _used(told)) is not None:
                name = f"{self.facts.session}/request {number}"
                event = Event("notice", messages[-1].entry.place, name, time=moment(when))
                event.part = Part(name, "", self._model, used, "end")
                yield as_notice(event, "usage", text(told.get("cancelReason")))

    def _task(self, name: str, item: dict[str, Any]) -> None:
        facts = self.facts
        facts.session = name
        folders = (text(item.get(key)) for key in ("workspace", "cwdOnTaskInitialization", "cwd"))
        facts.cwd = next(filter(None, folders), "")
        self._model = text(item.get("modelId"))

    def _metadata(self, data: dict[str, Any]) -> None:
        folders = (text(data.get(name)) for name in ("cwd", "workspace", "workspaceRoot", "workspacePath"))
        self.facts.cwd = self.facts.cwd or next(filter(None, folders), "")
        self.facts.custom_title = text(data.get("title")) or self.facts.custom_title
        for one in map(mapping, items(data.get("model_usage"))):
            self._model = text(one.get("model_id")) or self._model
        self._model = text(mapping(data.get("modelInfo")).get("id")) or text(data.get("model")) or self._model

    def _shown(self, data: dict[str, Any]) -> None:
        self.note_time(moment(data.get("ts")))
        if data.get("say") == "api_req_started":
            told = mapping(decode_object(data.get("text")))
            self.facts.reported_cost = add_cost(self.facts.reported_cost, told.get("cost"))
            self._requests.append((data.get("ts"), told))

    def _message(self, record: Record) -> Event:
        data, name = mapping(record.data), f"{self.facts.session}/{record.id}"
        event = Event("notice", record.entry.place, name, time=moment(data.get("ts")))
        content = blocks_of(data.get("content"))
        if data.get("role") == "user":
            return self._user(event, content)
        if data.get("role") != "assistant":
            return as_unknown(event, text(data.get("role")) or "message", data)
        when, told = self._requests.pop(0) if self._requests else (None, {})
        event.time = event.time or moment(when)
        self.note_time(event.time)
        info = mapping(data.get("modelInfo"))
        self._model = text(info.get("modelId")) or text(info.get("id")) or self._model
        used = _used(told) or usage_of(data.get("metrics"))
        if not told:
            metrics = mapping(data.get("metrics"))
            self.facts.reported_cost = add_cost(self.facts.reported_cost, metrics.get("cost"))
        part = Part(name, "", self._model, used, "end" if used is not None else "")
        return answer_event(event, part, list(self._unmarked(name, content)), lambda tool: _ROLES.get(tool, ""))

    def _unmarked(self, name: str, content: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The blocks of an answer; calls that its words hold, as blocks of their own."""
        for block in content:
            words, tool = text(block.get("text")), text(block.get("name"))
            if block.get("type") == "tool_use" and tool == "attempt_completion":
                yield {"type": "text", "text": text(mapping(block.get("input")).get("result"))}
            elif block.get("type") != "text" or "</" not in words:
                yield block
            else:
                for number, (tool, held) in enumerate(_marked(words)):
                    if not tool or tool == "attempt_completion":
                        said = held if isinstance(held, str) else text(held.get("result"))
                        yield from [{"type": "text", "text": said.strip()}] if said.strip() else []
                    else:
                        call = f"{name}:{number}"
                        self._marked.append((tool, call))
                        yield {"type": "tool_use", "id": call, "name": tool, "input": held}

    def _user(self, event: Event, content: list[dict[str, Any]]) -> Event:
        typed: list[dict[str, Any]] = []
        results: list[Result] = []
        notes: list[str] = []
        waiting = ""
        for block in content:
            words = text(block.get("text"))
            marked = [one for mark in _TYPED for one in _between(words or words_of(block.get("content")), mark)]
            typed += [{"type": "text", "text": one} for one in marked]
            answer = _ANSWER.match(words)
            if block.get("type") in ("tool_result", "tool-result"):
                results.append(_ended(result_of(event, block)))
            elif answer is not None:
                waiting = self._answered(answer[1])
                results.append(_ended(answered(event, waiting, words[answer.end() :])))
            elif waiting and not marked and not words.startswith("<environment_details"):
                results[-1] = _ended(replace(results[-1], text=(results[-1].text + words).strip()))
                waiting = ""
            elif words.startswith((*_HARNESS, "<environment_details")) or (marked and words):
                self._learn(words)
                notes += [words] if not marked else []
            else:
                typed.append(block)
        made = user_event(event, typed)
        blocks = made.blocks if typed else ()
        if results and event.prompt is None:
            event.kind, event.turn = "result", True
        reminders = (Notice(event.place, "reminder", one, {}, event.id, event.time) for one in notes)
        event.blocks = (*results, *blocks, *reminders)
        return event

    def _answered(self, tool: str) -> str:
        """The call that an answer is of: the first of that tool that waits for one."""
        for one in self._marked:
            if one[0] == tool:
                self._marked.remove(one)
                return one[1]
        return ""

    def _learn(self, words: str) -> None:
        if not self.facts.cwd and (folder := _FOLDER.search(words)) is not None:
            self.facts.cwd = folder[1]
        if not self._model and (model := _MODEL.search(words)) is not None:
            self._model = model[1]


def _ended(result: Result) -> Result:
    denied = result.text.startswith(_DENIED)
    failed = result.error or _FAILED.search(result.text[:400]) is not None
    return replace(result, error=failed or denied, denial="user-rejected" if denied else "")


def _used(told: dict[str, Any]) -> Usage | None:
    names = ("tokensIn", "tokensOut", "cacheReads", "cacheWrites")
    sent, output, read, written = (whole(told.get(name)) for name in names)
    return Usage(sent, output, read, written) if sent or output or read or written else None


def _between(words: str, mark: str) -> Iterator[str]:
    """What stands between marks of a kind."""
    start = words.find(f"<{mark}>")
    while start >= 0:
        end = words.find(f"</{mark}>", start)
        if end < 0:
            return
        yield words[start + len(mark) + 2 : end].strip()
        start = words.find(f"<{mark}>", end)


def _marked(words: str) -> Iterator[tuple[str, Any]]:
    """The words of an answer and the calls in it, in order: a tool with its input, or no tool with words."""
    at = 0
    for found in _FIELD.finditer(words):
        if found[1] not in _MARKED or found.start() < at:
            continue
        end = words.find(f"</{found[1]}>", found.end())
        if end < 0:
            continue
        yield "", words[at : found.start()]
        yield found[1], _fields(words[found.end() : end])
        at = end + len(found[1]) + 3
    yield "", words[at:]


def _fields(words: str) -> dict[str, Json]:
    fields: dict[str, Json] = {}
    at = 0
    for found in _FIELD.finditer(words):
        end = words.rfind(f"</{found[1]}>") if found.start() >= at else -1
        if end >= found.end():
            fields[found[1]] = words[found.end() : end].strip("\n")
            at = end
    return fields
