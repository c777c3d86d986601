"""pi: trees of JSON lines below `sessions/`, a folder a project. Only `agents` imports it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from unspool.agents.records import Detail, FoundLog
from unspool.agents.values import add_cost, items, mapping, moment, text, whole
from unspool.model import Block, Event, Image, Json, Notice, Part, Place, Unknown, Usage

if TYPE_CHECKING:
    from unspool.agents.handed import SessionTaker
    from unspool.agents.pi.writing import PiWriter  # which few commands need

_ROLES = {
    "bash": "shell", "read": "read", "ls": "search", "find": "search", "grep": "search", "multi_grep": "search",
    "edit": "edit", "write": "write", "web_search": "web", "fetch": "web", "todo": "todos", "subagent": "agent",
}  # fmt: skip
_NOTICES = {
    "model_change": "model-switch", "thinking_level_change": "effort", "label": "label", "context_edit": "context-edit",
    "custom": "extension", "branch_summary": "summary", "usage": "usage",
}  # fmt: skip


class Pi(LogFileAgent):
    id = "pi"
    name = "pi"
    filed_by_project = True
    places = ("*.jsonl", "--*--/*.jsonl", "sessions/--*--/*.jsonl", "agent/sessions/--*--/*.jsonl")
    head = re.compile(rb'\{"type":\s*"session"')
    log_name = re.compile(r"(?:^|/)(?:[^/]*_|(?=[0-9a-f]{8}-[0-9a-f]{4}-))([0-9A-Za-z-]{8,64})\.jsonl$")
    resuming = ResumeCommand("pi --session {id}")
    hub_traces = True

    @property
    def writer(self) -> "PiWriter":
        from unspool.agents.pi.writing import PiWriter

        return PiWriter()

    @property
    def taker(self) -> "SessionTaker":
        from unspool.agents.pi import take_over

        return take_over

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        named = environment.get("PI_CODING_AGENT_DIR")
        found = [Path(named).expanduser() if named else home / ".pi" / "agent"]
        apart = environment.get("PI_CODING_AGENT_SESSION_DIR")
        return [*found, Path(apart).expanduser()] if apart else found

    def home(self, root: Path) -> Path | None:
        return root if any(root.glob("sessions/--*--")) else None

    def recognises(self, data: dict[str, Json]) -> bool:
        return data.get("type") == "session" and isinstance(data.get("cwd"), str) and "id" in data

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        return _Parser()


class _Parser(PlainParser):
    def __init__(self) -> None:
        super().__init__()
        self._model = ""
        self._ids: dict[str, str] = {}
        """By the id that a file gives, which another may give as well, one that is the same in copies alone."""
        self._last = ""

    def line(self, data: dict[str, Json], place: Place) -> Event:
        kind, time = text(data.get("type")), moment(data.get("timestamp"))
        self.note_time(time)
        if kind == "session":
            return self._header(data, place)
        given, stamp = text(data.get("id")), text(data.get("timestamp"))
        name = given or f"{place.line - 1:08x}"  # by which a copy calls it that has ids
        own = f"{name}@{stamp}" if given or stamp else f"{self.facts.session}/{place.offset}"
        parent = self._ids.get(text(data.get("parentId")))
        if given:
            self._ids[given] = own
        event = Event("notice", place, own, parent, link=not given or "parentId" not in data, time=time)
        event.rewinds = not event.link and (parent or "") != self._last
        self._last = own
        if kind == "message":
            return self._message(event, mapping(data.get("message")), data)
        if kind == "custom_message":
            return as_notice(event, "meta", words_of(data.get("content")), _without(data, "content"))
        if kind == "session_info":
            self.facts.custom_title = text(data.get("name")).strip() or self.facts.custom_title
            return as_notice(event, "title", text(data.get("name")))
        if kind == "compaction":
            self._use(event, data.get("usage"))
            return as_notice(event, "compaction", text(data.get("summary")), _without(data, "summary"))
        if kind in _NOTICES:
            self._model = text(data.get("modelId")) or self._model
            self._use(event, data.get("usage"), text(data.get("model")))
            return as_notice(event, _NOTICES[kind], text(data.get("summary")), _without(data, "summary"))
        return as_unknown(event, kind, data)

    def _header(self, data: dict[str, Json], place: Place) -> Event:
        facts = self.facts
        facts.session = facts.session or text(data.get("id"))
        facts.cwd = facts.cwd or text(data.get("cwd"))
        self._model = text(data.get("modelId")) or self._model
        parent = text(data.get("parentSession")) or text(data.get("branchedFrom"))
        if (named := Pi.log_name.search(parent.replace("\\", "/"))) is not None:
            facts.forked_from = named[1]
        return beside(place, "session", data)

    def _use(self, event: Event, usage: Json, model: str = "") -> None:
        """A request that is no answer in the conversation: it was paid all the same."""
        used = self._paid(usage)
        if used is not None:
            event.part = Part(event.id, "", model or self._model, used, "end")

    def _paid(self, usage: Json) -> Usage | None:
        """What a request used; what pi says that it cost is added up."""
        said = mapping(mapping(usage).get("cost")).get("total")
        self.facts.reported_cost = add_cost(self.facts.reported_cost, said)
        return _usage(usage)

    def _message(self, event: Event, message: dict[str, Any], data: dict[str, Json]) -> Event:
        match message.get("role"):
            case "user":
                return as_prompt(event, words_of(message.get("content")).strip(), _images(event, message))
            case "assistant":
                return self._answer(event, message)
            case "toolResult":
                words, failed = words_of(message.get("content")), message.get("isError") is True
                result = answered(event, text(message.get("toolCallId")), words, error=failed)
                self._use(event, message.get("usage"))
                return as_result(event, replace(result, detail=message.get("details"), images=_images(event, message)))
            case "bashExecution":
                as_prompt(event, text(message.get("command")), kind="bash")
                facts = _without(message, "output", "command", "role")
                return as_notice(event, "bash-output", text(message.get("output")), facts)
            case "system":
                return as_notice(event, "system-prompt", words_of(message.get("content")), _without(message, "content"))
            case "branchSummary" | "compactionSummary":
                return as_notice(event, "summary", text(message.get("summary")), _without(message, "summary"))
            case "custom" | "hookMessage":
                return as_notice(event, "meta", words_of(message.get("content")), _without(message, "content"))
            case role:
                return as_unknown(event, text(role) or "message", data)

    def _answer(self, event: Event, message: dict[str, Any]) -> Event:
        self._model = model = text(message.get("model")) or self._model
        blocks: list[Block] = []
        for block in map(mapping, items(message.get("content"))):
            match block.get("type"):
                case "text":
                    blocks.append(said(event, event.id, text(block.get("text"))))
                case "thinking":
                    words, sign = text(block.get("thinking")), text(block.get("thinkingSignature"))
                    blocks.append(thought(event, event.id, words, sign))
                case "toolCall":
                    name, call = text(block.get("name")), text(block.get("id"))
                    blocks.append(called(event, event.id, call, name, block.get("arguments"), _ROLES.get(name, "")))
                case kind:
                    blocks.append(Unknown(event.place, text(kind) or "block", block, event.id, event.id, event.time))
        failed = text(message.get("errorMessage"))
        stop = text(message.get("stopReason"))
        if failed:
            kind = "interruption" if stop == "aborted" else "api-error"
            blocks.append(Notice(event.place, kind, failed, {}, event.id, event.time))
        effort = text(message.get("thinkingLevel"))
        part = Part(
            event.id, text(message.get("responseId")), model, self._paid(message.get("usage")), stop,
            aborted=stop == "aborted", effort=effort,
        )  # fmt: skip
        return as_message(event, part, blocks)


def _usage(value: Json) -> Usage | None:
    if not (used := mapping(value)):
        return None
    names = ("input", "output", "cacheRead", "cacheWrite", "cacheWrite1h")
    sent, output, read, written, long = (whole(used.get(name)) for name in names)
    return Usage(sent, output, read, written, long, reasoning=min(output, whole(used.get("reasoning"))))


def _images(event: Event, message: dict[str, Any]) -> tuple[Image, ...]:
    parts = (mapping(part) for part in items(message.get("content")))
    return tuple(
        picture(event, text(part.get("mimeType")), text(part.get("data")))
        for part in parts
        if part.get("type") == "image"
    )


def _without(data: dict[str, Any], *names: str) -> dict[str, Any]:
    """The facts of a record beside its words and what places it."""
    left = {*names, "type", "id", "parentId", "timestamp"}
    return {name: value for name, value in data.items() if name not in left}
