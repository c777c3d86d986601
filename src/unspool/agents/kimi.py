"""Kimi CLI and Kimi Code: lines of what happened, a folder a session, below `sessions/`. Only `agents` imports it."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from unspool.agents.base import ResumeCommand
from unspool.agents.events import (
    answered,
    as_message,
    as_notice,
    as_prompt,
    as_result,
    as_unknown,
    beside,
    called,
    picture,
    said,
    thought,
    words_of,
)
from unspool.agents.lines import PlainParser
from unspool.agents.log_files import LogFileAgent
from unspool.agents.records import Detail, FoundAgent, FoundLog
from unspool.agents.values import decode_object, items, mapping, moment, read_small_json, text, whole
from unspool.model import Block, Event, Json, Part, Place, Unknown, Usage

_ROLES = {
    "Shell": "shell", "Bash": "shell", "CMD": "shell", "ReadFile": "read", "Read": "read", "ReadMediaFile": "read",
    "Glob": "search", "Grep": "search", "StrReplaceFile": "edit", "Edit": "edit", "PatchFile": "edit",
    "WriteFile": "write", "Write": "write", "SearchWeb": "web", "WebSearch": "web", "FetchURL": "web",
    "SetTodoList": "todos", "TodoList": "todos", "Task": "agent", "Agent": "agent", "AskUserQuestion": "question",
    "ExitPlanMode": "plan",
}  # fmt: skip
_NOTICES = {
    "StepRetry": "retry", "StepInterrupted": "interruption", "CompactionEnd": "compaction", "Notification": "info",
    "HookTriggered": "hook", "HookResolved": "hook", "ApprovalRequest": "permission", "ApprovalResponse": "permission",
    "ApprovalRequestResolved": "permission", "BtwBegin": "info", "BtwEnd": "info", "MCPLoadingEnd": "info",
    "PlanDisplay": "plan", "step.retrying": "retry", "step.interrupted": "interruption", "turn.cancel": "interruption",
    "context.apply_compaction": "compaction", "full_compaction.complete": "compaction", "permission.set_mode": "mode",
    "context.clear": "info",
}  # fmt: skip
_SIDE = (
    "metadata", "TurnEnd", "CompactionBegin", "ToolCallPart", "QuestionRequest", "ToolCallRequest", "MCPLoadingBegin",
    "MCPStatusSnapshot", "config.update", "tools.update_store", "llm.request", "llm.tools_snapshot",
    "tools.set_active_tools", "full_compaction.begin", "context.append_message", "_usage", "_checkpoint",
)  # fmt: skip
_WORDS = ("message", "content", "summary", "body", "error", "reason", "description", "text")
_BELOW = re.compile(r"(?:^|/)([0-9A-Za-z_-]{2,80})/(?:sub)?agents/[^/]+/[^/]+$")


class Kimi(LogFileAgent):
    id = "kimi"
    name = "Kimi"
    places = ("sessions/*/*/wire.jsonl", "sessions/*/*/agents/main/wire.jsonl", "sessions/*/*/context.jsonl",
              "sessions/*/*.jsonl", "*/wire.jsonl", "*/agents/main/wire.jsonl", "wire.jsonl", "*.jsonl")  # fmt: skip
    head = re.compile(rb'\{"type":\s*"metadata",\s*"protocol_version"|^\s*\{"role":\s*"(?:_?system|user|_checkpoint)')
    log_name = re.compile(r"(?:^|/)([0-9A-Za-z_-]{2,80})/(?:agents/main/)?(?:wire|context)\.jsonl$")
    resuming = ResumeCommand("kimi --session {id}", "--yolo")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        names = (("KIMI_SHARE_DIR", ".kimi"), ("KIMI_CODE_HOME", ".kimi-code"))
        given = ((environment.get(variable), usual) for variable, usual in names)
        return [Path(named).expanduser() if named else home / usual for named, usual in given]

    def home(self, root: Path) -> Path | None:
        return root if (root / "kimi.json").is_file() or any(root.glob("sessions/wd_*")) else None

    def session_of(self, path: str) -> str:
        named = _BELOW.search(path) or self.log_name.search(path)
        return named[1] if named is not None else ""

    def is_conversation(self, path: str) -> bool:
        return self.is_log(path) or (path.endswith(".jsonl") and bool(self.session_of(path)))

    def session_at(self, path: Path) -> str:
        if path.name == "context.jsonl" and path.with_name("wire.jsonl").is_file():
            return ""  # what the model saw last: the other file tells all that happened
        flat = path.name not in ("wire.jsonl", "context.jsonl")
        return path.stem if flat else self.session_of(path.as_posix())

    def discover(self, root: Path) -> Iterator[FoundLog]:
        for found in super().discover(root):
            logs = [path for path in self.companions_beside(found) if path.name == "wire.jsonl"]
            yield replace(found, agents=tuple(FoundAgent(str(path), path.parent.name) for path in logs))

    def companions_beside(self, found: FoundLog) -> Iterable[Path]:
        folder = _session_folder(Path(found.path))
        if folder is None:
            return ()
        below = (*folder.glob("subagents/*/wire.jsonl"), *folder.glob("agents/*/wire.jsonl"))
        others = (folder / "state.json", folder / "context.jsonl", *sorted(below))
        return (path for path in others if path.is_file() and str(path) != found.path)

    def recognises(self, data: dict[str, Json]) -> bool:
        return data.get("type") == "metadata" and "protocol_version" in data

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        parser = _Parser()
        if found is not None:
            parser.facts.session = found.session_id
            folder = _session_folder(Path(found.path))
            state = read_small_json(folder / "state.json") if folder is not None else None
            parser.facts.custom_title = text((state or {}).get("custom_title")) or text((state or {}).get("title"))
            parser.facts.cwd = _work_folder(Path(found.root), folder or Path(found.path))
        return parser


def _session_folder(log: Path) -> Path | None:
    """The folder of a session's own files; None where its log lies alone."""
    if log.name not in ("wire.jsonl", "context.jsonl"):
        return None
    return log.parent.parent.parent if log.parent.parent.name in ("agents", "subagents") else log.parent


def _work_folder(root: Path, session: Path) -> str:
    """Where a session worked: folders of sessions are called by the hash of that path."""
    listed = items((read_small_json(root / "kimi.json") or {}).get("work_dirs"))
    for path in (text(mapping(one).get("path")) for one in listed):
        if session.parent.name.endswith(hashlib.md5(path.encode(), usedforsecurity=False).hexdigest()):
            return path
    return ""


class _Parser(PlainParser):
    def __init__(self) -> None:
        super().__init__()
        self._turn, self._step, self._model = 0, "0", ""
        self._below: dict[str, _Parser] = {}
        """By subagent, what understands the lines that its caller's log repeats."""

    def line(self, data: dict[str, Json], place: Place) -> Event:
        time = moment(data.get("timestamp")) or moment(data.get("time"))
        self.note_time(time)
        event = Event("notice", place, f"{self.facts.session}/{place.offset}", link=True, time=time)
        message, loop = mapping(data.get("message")), mapping(data.get("event"))
        if loop:
            return self._happened(event, text(loop.get("type")), loop, data)
        if isinstance(message.get("type"), str):
            return self._happened(event, message["type"], mapping(message.get("payload")), data)
        if isinstance(data.get("role"), str):
            return self._context(event, data)
        return self._happened(event, text(data.get("type")), data, data)

    def _happened(self, event: Event, kind: str, given: dict[str, Any], data: dict[str, Json]) -> Event:
        match kind:
            case "TurnBegin" | "SteerInput" | "turn.prompt" | "turn.steer":
                return self._prompt(event, given)
            case "StepBegin" | "step.begin":
                self._step = str(given.get("step", given.get("n")))
                return beside(event.place, kind, data)
            case "ContentPart" | "content.part":
                block = self._part(event, mapping(given.get("part")) or given)
                return as_message(event, self._message, [block])
            case "ToolCall" | "tool.call":
                return as_message(event, self._message, [self._call(event, given)])
            case "ToolResult" | "tool.result":
                return _result(event, given)
            case "StatusUpdate" | "step.end" | "usage.record":
                self._model = text(given.get("model")) or self._model
                used = _usage(given.get("token_usage") or given.get("usage"))
                stop = text(given.get("finishReason")) or "end"
                part = replace(self._message, usage=used, stop=stop)
                return as_message(event, part, ()) if used is not None else beside(event.place, kind, data)
            case "SubagentEvent":
                return self._repeated(event, given, data)
        self._learn(kind, given)
        if kind in _NOTICES:
            words = next((words for name in _WORDS if (words := text(given.get(name)))), "")
            return as_notice(event, _NOTICES[kind], words, {name: one for name, one in given.items() if one != words})
        return beside(event.place, kind, data) if kind in _SIDE else as_unknown(event, kind, data)

    def _learn(self, kind: str, given: dict[str, Any]) -> None:
        if kind in ("config.update", "llm.request"):
            self.facts.cwd = text(given.get("cwd")) or self.facts.cwd
            self._model = text(given.get("model")) or text(given.get("modelAlias")) or self._model

    @property
    def _message(self) -> Part:
        """The answer that a step makes: all its pieces are one."""
        return Part(f"{self.facts.session}/{self._turn}.{self._step}", "", self._model, None)

    def _prompt(self, event: Event, given: dict[str, Any]) -> Event:
        self._turn, self._step = self._turn + 1, "0"
        typed = given.get("user_input", given.get("input"))
        words = words_of(typed).strip()
        if text(mapping(given.get("origin")).get("kind")) not in ("", "user"):
            return as_notice(event, "meta", words, mapping(given.get("origin")))
        urls = (mapping(mapping(one).get("image_url", mapping(one).get("imageUrl"))) for one in items(typed))
        images = tuple(picture(event, "", url=text(url.get("url"))) for url in urls if text(url.get("url")))
        return as_prompt(event, words, images)

    def _part(self, event: Event, part: dict[str, Any]) -> Block:
        message = self._message.message
        match part.get("type"):
            case "text":
                return said(event, message, text(part.get("text")))
            case "think":
                return thought(event, message, text(part.get("think")))
            case "image_url":
                return picture(event, "", url=text(mapping(part.get("image_url")).get("url")))
            case kind:
                return Unknown(event.place, text(kind) or "part", part, message, event.id, event.time)

    def _call(self, event: Event, given: dict[str, Any]) -> Block:
        function = mapping(given.get("function"))
        name = text(function.get("name")) or text(given.get("name"))
        call = text(given.get("toolCallId")) or text(given.get("id"))
        arguments = decode_object(function.get("arguments", given.get("args")))
        return called(event, self._message.message, call, name, arguments, _ROLES.get(name, ""))

    def _repeated(self, event: Event, given: dict[str, Any], data: dict[str, Json]) -> Event:
        """A line of a subagent in its caller's log."""
        call, inner = text(given.get("parent_tool_call_id")), mapping(given.get("event"))
        agent = text(given.get("agent_id")) or call
        if not agent:
            return as_unknown(event, "SubagentEvent", data)
        below = self._below.setdefault(agent, _Parser())
        below.facts.session = agent
        nested = below.line({"timestamp": data.get("timestamp"), "message": inner}, event.place)
        nested.sidechain, nested.agent, nested.spawner = True, agent, call
        if nested.side is not None:
            return beside(event.place, "SubagentEvent", data)
        event.nested = nested
        return event

    def _context(self, event: Event, data: dict[str, Json]) -> Event:
        """A line of what the model saw, which is all that the first versions kept."""
        role, content = text(data.get("role")), data.get("content")
        if role == "user":
            return self._prompt(event, {"input": content})
        if role == "assistant":
            self._step = str(event.place.offset)
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
            blocks = [self._part(event, mapping(part)) for part in parts if part]
            blocks += [self._call(event, call) for call in map(mapping, items(data.get("tool_calls")))]
            return as_message(event, self._message, blocks)
        if role == "tool":
            return _result(event, {"tool_call_id": data.get("tool_call_id"), "return_value": {"output": content}})
        if role in ("system", "_system_prompt"):
            return as_notice(event, "system-prompt", words_of(content))
        return beside(event.place, role, data) if role in _SIDE else as_unknown(event, role, data)


def _result(event: Event, given: dict[str, Any]) -> Event:
    told = mapping(given.get("return_value")) or mapping(given.get("result"))
    call = text(given.get("tool_call_id")) or text(given.get("toolCallId"))
    words = words_of(told.get("output")) or words_of(told.get("value")) or text(told.get("message"))
    failed = told.get("is_error") is True or told.get("isError") is True
    denial = "user-rejected" if failed and words.startswith("The tool call is rejected by the user") else ""
    return as_result(event, replace(answered(event, call, words, error=failed), detail=told, denial=denial))


def _usage(value: Json) -> Usage | None:
    used = mapping(value)
    names = (
        ("input_other", "inputOther"),
        ("output", "output"),
        ("input_cache_read", "inputCacheRead"),
        ("input_cache_creation", "inputCacheCreation"),
    )
    sent, output, read, written = (whole(used.get(one)) or whole(used.get(other)) for one, other in names)
    return Usage(sent, output, read, written) if sent or output or read or written else None
