"""Gemini CLI: documents and logs that are replayed, a folder a project, below `tmp/`. Only `agents` imports it."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from unspool.agents.base import AgentFiles, CodingAgent
from unspool.agents.context_files import ContextFiles, ContextPattern, patterns
from unspool.agents.dialect import PlainDialect
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
from unspool.agents.lines import Cursor
from unspool.agents.records import Detail, FoundAgent, FoundLog, Retention
from unspool.agents.values import first_bytes, items, mapping, moment, plain_bytes, read_small_json, text, whole
from unspool.agents.whole_logs import Chain, WholeLogParser, document_entries
from unspool.model import AgentDetails, Block, Entry, Event, Facts, Image, Json, Part, Place, ToolCall, Usage

_ROLES = {
    "run_shell_command": "shell", "read_file": "read", "read_many_files": "read", "list_directory": "search",
    "glob": "search", "search_file_content": "search", "grep_search": "search", "codebase_investigator": "agent",
    "replace": "edit", "edit": "edit", "write_file": "write", "web_fetch": "web", "google_web_search": "web",
    "write_todos": "todos", "delegate_to_agent": "agent", "ask_user": "question",
}  # fmt: skip
_NAME = re.compile(r"(?:^|/)session-[^/]*?([0-9a-f]{8})\.jsonl?$")
_BELOW = re.compile(r"(?:^|/)chats/([0-9a-f]{8})[0-9a-f-]*/[^/]+\.jsonl?$")
_INJECTED = ("<session_context>", "<hook_context>", "This is the Gemini CLI. We are setting up the context")
_WORKSPACE = re.compile(r"Workspace Directories:\*\*\s*- ([^\n]+)|current working directory(?: is)?: ?([^\n]+)", re.I)
_DAYS = 30
"""How long sessions are kept unless the settings say otherwise."""
_UNITS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30}


class _Files(AgentFiles):
    def retention(self, home: Path) -> Retention | None:
        settings = home / "settings.json"
        told = mapping(mapping((read_small_json(settings) or {}).get("general")).get("sessionRetention"))
        if told.get("enabled") is False:
            return None
        age = re.fullmatch(r"(\d{1,6})([hdwm])", text(told.get("maxAge")))
        days = _DAYS if age is None else max(1, round(int(age[1]) * _UNITS[age[2]]))
        remedy = 'Set general.sessionRetention.enabled to false in settings.json, or "maxAge" to a longer time.'
        return Retention(days, str(settings) if age is not None else "", remedy=remedy)


class _Resuming:
    def resume(self, session_id: str, cwd: str, *, unasked: bool = False) -> str:
        """Files are named by the first characters of an id, and the agent wants all of it: its file tells."""
        roots = Gemini().roots(os.environ, Path.home()) if re.fullmatch("[0-9a-f]{8}", session_id) else []
        files = (path for root in roots for path in root.glob(f"tmp/*/chats/session-*{session_id}.json*"))
        whole_id = next((found for path in files if (found := _session_id(path))), session_id)
        command = f"gemini --resume {shlex.quote(whole_id)}{' --yolo' if unasked else ''}"
        return f"cd {shlex.quote(cwd)} && {command}" if cwd else command


def context_places(folder: str, instructions: str, more: Sequence[ContextPattern] = ()) -> ContextFiles:
    """What sessions run under, of this agent and of those that were made from it: the name of its folder in a project,
    and the file of instructions."""
    defined = {"skill": "skills/**", "agent": "agents/**/*.md", "command": "commands/**"}
    inside = {kind: f"{folder}/{place}" for kind, place in defined.items()}
    return ContextFiles(
        home=patterns(instructions=instructions, settings="settings.json", plan="tmp/*/*/plans/*.md", **defined),
        project=(
            *patterns(
                instructions=f"{instructions} {folder}/{instructions}", settings=f"{folder}/settings.json", **inside
            ),
            *more,
        ),
    )


class Gemini(CodingAgent):
    id = "gemini"
    name = "Gemini CLI"
    files = _Files()
    context_files = context_places(".gemini", "GEMINI.md", patterns(skill=".agents/skills/**"))
    reads_whole = True
    sweeps = True
    filed_by_project = True
    log_name = _NAME
    resuming = _Resuming()

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        named = environment.get("GEMINI_CLI_HOME")
        return [(Path(named).expanduser() if named else home) / ".gemini"]

    def home(self, root: Path) -> Path | None:
        return root if any(root.glob("tmp/*/chats")) else None

    def discover(self, root: Path) -> Iterator[FoundLog]:
        for place in ("tmp/*/chats/", "*/chats/", "chats/", ""):
            for path in sorted(root.glob(f"{place}session-*.json*")):
                session = self.session_of(path.name)
                twin = path.suffix == ".json" and path.with_suffix(".jsonl").exists()
                if not session or twin or not path.is_file() or b'"sessionId"' not in first_bytes(path):
                    continue
                state, below = path.stat(), sorted(path.parent.glob(f"{session}*/*.jsonl"))
                agents = tuple(FoundAgent(str(one), one.stem) for one in below)
                folder = path.parent.parent.name if place else ""
                yield FoundLog(str(path), session, self.id, state.st_size, state.st_mtime, folder, str(root), agents)

    def session_of(self, path: str) -> str:
        named = _NAME.search(path) or _BELOW.search(path)
        return named[1] if named is not None else ""

    def is_conversation(self, path: str) -> bool:
        return bool(self.session_of(path))

    def recognises(self, data: dict[str, Json]) -> bool:
        return "sessionId" in data and "projectHash" in data

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        return _Parser(found)

    def dialect(self, found: FoundLog | None, facts: Facts) -> "_Dialect":
        return _Dialect(self.id)


def _session_id(path: Path) -> str:
    found = re.search(rb'"sessionId"\s*:\s*"([0-9A-Za-z-]+)"', first_bytes(path, 400))
    return found[1].decode() if found is not None else ""


class _Dialect(PlainDialect):
    def agent_ids(self, call: ToolCall) -> tuple[str, ...]:
        named = text(mapping(call.result.detail).get("agentId")) if call.result is not None else ""
        return (named,) if named else ()

    def agent_details(self, call: ToolCall) -> AgentDetails:
        given = mapping(call.input)
        return AgentDetails(text(given.get("agent_name")), text(given.get("objective")))


class _Told:
    """A message as its last line has it, at the place of that line."""

    def __init__(self, data: dict[str, Any], place: Place, *, context: bool) -> None:
        self.data, self.place, self.context = data, place, context
        """`context`: it was put in by the agent, at the beginning or when it shortened the conversation."""
        self.removed = False


class _Replay:
    """The messages as they stand after some lines."""

    def __init__(self) -> None:
        self.steps: list[_Told | Event] = []
        self._known: dict[str, _Told] = {}
        self._live: dict[str, _Told] = {}

    def put(self, data: dict[str, Any], place: Place, *, context: bool = False) -> None:
        """A message, or its next state; what a shortened conversation begins with changes none."""
        name = text(data.get("id")) or f"{place.offset}/{len(self._known)}"
        told = self._known.get(name)
        if told is None:
            told = self._known[name] = _Told(data, place, context=context)
            self.steps.append(told)
        elif not context:
            told.data, told.place = data, place
        self._live[name] = told

    def rewind(self, name: Json) -> None:
        """Take a message and all after it back; all of them, where there is no such message."""
        live = list(self._live)
        for gone in live[live.index(name) if name in live else 0 :]:
            self._live.pop(gone).removed = True

    def begin_anew(self, messages: list[Json], event: Event) -> None:
        new = [
            one for one in map(mapping, messages) if text(one.get("id")) not in self._known and not _is_injected(one)
        ]
        if self._known and new:  # a session that is resumed begins anew with what it holds
            self.steps.append(as_notice(event, "compaction", "", {"messages": len(messages)}))
        self._live.clear()
        for one in messages:
            self.put(mapping(one), event.place, context=True)


class _Parser(WholeLogParser):
    def __init__(self, found: FoundLog | None) -> None:
        super().__init__()
        self._found = found
        self._follow = Chain().follow

    def entries(self, data: bytes, start: Cursor) -> "Sequence[Entry]":
        whole_document = document_entries(data, "messages")
        return whole_document if whole_document is not None else list(super().entries(data, start))

    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        steps = self._replay(entries)
        if not self.facts.cwd and self._found is not None:
            self.facts.cwd = _project_root(Path(self._found.path))
        for step in steps:
            if isinstance(step, _Told):
                for event in self._message(step):
                    yield self._follow(event, removed=step.removed)
            else:
                yield self._follow(step)

    def _replay(self, entries: Sequence[Entry]) -> list[_Told | Event]:
        """What the lines come to, in order: each message once, and what happened to several."""
        told = _Replay()
        for entry in entries:
            data, place = entry.data or {}, entry.place
            event = Event("notice", place, f"{self.facts.session}/{place.offset}")
            if "$rewindTo" in data:
                told.rewind(data["$rewindTo"])
                event.rewinds = True
                told.steps.append(as_notice(event, "rewind", "", data))
            elif isinstance(data.get("id"), str):
                told.put(data, place)
            elif isinstance(changed := data.get("$set"), dict):
                self._head(changed)
                if "messages" in changed:
                    told.begin_anew(items(changed["messages"]), event)
            elif "sessionId" in data or "projectHash" in data:
                self._head(data)
                for one in items(data.get("messages")):
                    told.put(mapping(one), place)
            else:
                told.steps.append(as_unknown(event, text(data.get("type")) or "line", data))
        return told.steps

    def _head(self, data: dict[str, Any]) -> None:
        facts = self.facts
        facts.session = text(data.get("sessionId")) or facts.session
        facts.generated_title = text(data.get("summary")) or facts.generated_title
        folders = [one for one in items(data.get("directories")) if isinstance(one, str)]
        facts.cwd = facts.cwd or next(iter(folders), "")
        for name in ("startTime", "lastUpdated"):
            self.note_time(moment(data.get(name)))

    def _message(self, told: _Told) -> Iterator[Event]:
        data, place = told.data, told.place
        event = Event("notice", place, text(data.get("id")) or f"{place.offset}", time=moment(data.get("timestamp")))
        self.note_time(event.time)
        words = parts_text(data.get("displayContent")) or parts_text(data.get("content"))
        match data.get("type"):
            case "gemini":
                yield from self._answer(event, data)
            case "user" if _is_answer(data.get("content")):
                return  # the results, which the calls hold themselves
            case "user" if told.context or _is_injected(data):
                where = _WORKSPACE.search(words)
                self.facts.cwd = self.facts.cwd or ((where[1] or where[2]).strip() if where is not None else "")
                yield as_notice(event, "environment", words)
            case "user" if words.startswith(("/", "?")):
                yield as_notice(event, "command", words)
            case "user":
                yield as_prompt(event, words.strip(), parts_images(event, data.get("content")))
            case "info" | "warning":
                yield as_notice(event, "info", words)
            case "error":
                yield as_notice(event, "api-error", words)
            case kind:
                yield as_unknown(event, text(kind) or "message", data)

    def _answer(self, event: Event, data: dict[str, Any]) -> Iterator[Event]:
        message, used = event.id, mapping(data.get("tokens"))
        part = Part(message, "", text(data.get("model")), _usage(used), "end" if used else "")
        blocks: list[Block] = []
        for one in map(mapping, items(data.get("thoughts"))):
            title, words = text(one.get("subject")), text(one.get("description"))
            blocks.append(thought(event, message, f"{title}\n\n{words.strip()}" if title else words))
        if words := parts_text(data.get("content")):
            blocks.append(said(event, message, words))
        calls = [mapping(one) for one in items(data.get("toolCalls"))]
        for call in calls:
            name = text(call.get("name"))
            given = called(event, message, text(call.get("id")), name, call.get("args"), _ROLES.get(name, ""))
            blocks.append(replace(given, time=moment(call.get("timestamp")) or event.time))
        yield as_message(event, part, blocks)
        for number, call in enumerate(calls):
            if (result := self._result(event, number, call)) is not None:
                yield result

    def _result(self, event: Event, number: int, call: dict[str, Any]) -> Event | None:
        state = text(call.get("status"))
        if state not in ("success", "error", "cancelled"):
            return None
        after = Event("notice", event.place, f"{event.id}={number}", time=moment(call.get("timestamp")) or event.time)
        parts = [mapping(one) for one in items(call.get("result"))]
        responses = [mapping(mapping(part.get("functionResponse")).get("response")) for part in parts]
        words = "\n".join(
            text(one.get("output")) or text(one.get("error")) or ("" if not one else str(one))
            for one in responses
            if one
        )
        shown = call.get("resultDisplay")
        words = words or text(shown)
        failed = state == "error" or any(one.get("error") for one in responses) or _exit_code(words) not in ("", "0")
        found = answered(after, text(call.get("id")), words, error=failed)
        detail = {
            **(shown if isinstance(shown, dict) else {}),
            **({"agentId": call["agentId"]} if "agentId" in call else {}),
        }
        denial = "cancelled" if state == "cancelled" else ""
        images = parts_images(after, call.get("result"))
        return as_result(after, replace(found, detail=detail or None, denial=denial, images=images))


def _exit_code(words: str) -> str:
    found = re.search(r"^Exit Code: (\d+)", words, re.MULTILINE)
    return found[1] if found is not None else ""


def _usage(used: dict[str, Any]) -> Usage | None:
    if not used:
        return None
    sent, output, cached, thoughts, tool = (
        whole(used.get(name)) for name in ("input", "output", "cached", "thoughts", "tool")
    )
    return Usage(max(0, sent - cached) + tool, output + thoughts, cached, reasoning=thoughts)


def parts_text(content: Json) -> str:
    """The words of a content: a text, a part or a list of parts; thoughts are none."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    words = (one if isinstance(one, str) else text(mapping(one).get("text")) for one in parts if not _is_thought(one))
    return "\n".join(filter(None, words))


def _is_thought(part: Json) -> bool:
    return mapping(part).get("thought") is True


def parts_images(event: Event, content: Json) -> tuple[Image, ...]:
    held = (mapping(mapping(one).get("inlineData")) for one in items(content))
    return tuple(picture(event, text(one.get("mimeType")), text(one.get("data"))) for one in held if one)


def _is_injected(message: dict[str, Any]) -> bool:
    """Whether the agent put a message in at the beginning."""
    return (parts_text(message.get("displayContent")) or parts_text(message.get("content"))).startswith(_INJECTED)


def _is_answer(content: Json) -> bool:
    parts = items(content)
    return bool(parts) and all("functionResponse" in mapping(one) for one in parts)


def _project_root(path: Path) -> str:
    """The folder that a project's chats are of: as the file beside them says, or the agent's list of projects, which
    are filed under a short name or a digest of their path."""
    project = path.parent.parent
    try:
        return plain_bytes(project / ".project_root", 4096).decode(errors="replace").strip()
    except OSError:
        known = mapping((read_small_json(project.parent.parent / "projects.json") or {}).get("projects"))
    for folder, name in known.items():
        if project.name in (name, sha256(folder.encode(errors="replace")).hexdigest()):
            return folder
    return ""
