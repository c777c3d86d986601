"""Kiro CLI: lines of messages and a small file beside them, below `sessions/cli/`. Only `agents` imports it."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

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
)
from unspool.agents.lines import PlainParser
from unspool.agents.log_files import LogFileAgent
from unspool.agents.records import Detail, FoundLog
from unspool.agents.values import add_cost, items, mapping, moment, read_small_json, text
from unspool.model import Block, Event, Image, Json, Part, Place, Result, Text, Unknown

_ROLES = {
    "shell": "shell", "execute_bash": "shell", "execute_cmd": "shell", "read": "read", "fs_read": "read",
    "grep": "search", "glob": "search", "code": "search", "knowledge": "search", "write": "write", "fs_write": "write",
    "web_search": "web", "web_fetch": "web", "todo": "todos", "todo_list": "todos", "subagent": "agent",
    "use_subagent": "agent", "delegate": "agent",
}  # fmt: skip
_NOTICES = {"Compaction": "compaction", "Clear": "info", "ResetTo": "rewind", "Rewind": "rewind"}
_STATUS = re.compile(r"exit status: (\d+)")


class Kiro(LogFileAgent):
    id = "kiro"
    name = "Kiro CLI"
    logs_tokens = False
    places = ("sessions/cli/*.jsonl", "cli/*.jsonl", "*.jsonl", "*/*.jsonl")
    head = re.compile(rb'\{"version":\s*"v\d+",\s*"kind":\s*"')
    log_name = re.compile(r"(?:^|/)([0-9A-Za-z_-]{1,80})\.jsonl?$")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        named = environment.get("KIRO_HOME")
        return [Path(named).expanduser() if named else home / ".kiro"]

    def home(self, root: Path) -> Path | None:
        return root if (root / "sessions" / "cli").is_dir() else None

    def is_log(self, path: str) -> bool:
        return path.endswith(".jsonl") and super().is_log(path)

    def companions_beside(self, found: FoundLog) -> Iterable[Path]:
        return (Path(found.path).with_suffix(".json"),)

    def recognises(self, data: dict[str, Json]) -> bool:
        return text(data.get("version")).startswith("v") and "message_id" in mapping(data.get("data"))

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        parser = _Parser()
        if found is not None:
            parser.facts.session = found.session_id
            parser.learn(read_small_json(Path(found.path).with_suffix(".json")) or {})
        return parser


class _Parser(PlainParser):
    def __init__(self) -> None:
        super().__init__()
        self._model = ""

    def learn(self, beside: dict[str, Any]) -> None:
        """What stands in the file beside the log."""
        facts = self.facts
        facts.cwd, facts.generated_title = text(beside.get("cwd")), text(beside.get("title"))
        state = mapping(mapping(beside.get("session_state")).get("rts_model_state"))
        self._model = text(mapping(state.get("model_info")).get("model_id"))
        turns = mapping(mapping(beside.get("session_state")).get("conversation_metadata")).get("user_turn_metadatas")
        spent = ""
        for turn in map(mapping, items(turns)):
            for used in map(mapping, items(turn.get("metering_usage"))):
                spent = add_cost(spent, used.get("value")) if used.get("unit") == "credit" else spent
        facts.reported_credits = f"{float(spent):.4g} credits" if spent else ""
        for name in ("created_at", "updated_at"):
            self.note_time(moment(beside.get(name)))

    def line(self, data: dict[str, Json], place: Place) -> Event:
        kind, given = text(data.get("kind")), mapping(data.get("data"))
        name = text(given.get("message_id")) or f"{self.facts.session}/{place.offset}"
        event = Event("notice", place, name, link=True, time=moment(mapping(given.get("meta")).get("timestamp")))
        self.note_time(event.time)
        blocks = [self._block(event, mapping(one)) for one in items(given.get("content"))]
        if kind == "Prompt":
            words = "\n\n".join(one.text for one in blocks if isinstance(one, Text)).strip()
            as_prompt(event, words, tuple(one for one in blocks if isinstance(one, Image)))
            event.blocks = tuple(one for one in blocks if not isinstance(one, Text | Image))
            return event
        if kind == "AssistantMessage":
            shown = [one for one in blocks if not isinstance(one, Result)]
            spoken = [one for one in shown if not isinstance(one, Text) or one.text]
            return as_message(event, Part(name, "", self._model, None), spoken)
        if kind == "ToolResults":
            event.kind, event.turn, event.blocks = "result", True, tuple(blocks)
            return event
        if kind in _NOTICES:
            return as_notice(event, _NOTICES[kind], text(given.get("summary")), given)
        return as_unknown(event, kind, data)

    def _block(self, event: Event, one: dict[str, Any]) -> Block | Result:
        inner = mapping(one.get("data"))
        match one.get("kind"):
            case "text":
                return said(event, event.id, text(one.get("data")))
            case "thinking" | "reasoning":
                return thought(event, event.id, text(one.get("data")) or text(inner.get("text")))
            case "toolUse":
                name, given = text(inner.get("name")), inner.get("input")
                edits = mapping(given).get("command") in ("str_replace", "strReplace", "insert", "append")
                role = "edit" if edits and _ROLES.get(name) == "write" else _ROLES.get(name, "")
                return called(event, event.id, text(inner.get("toolUseId")), name, given, role)
            case "toolResult":
                return _result(event, inner)
            case "image":
                return image_of(event, inner)
            case kind:
                return Unknown(event.place, text(kind) or "block", one, event.id, event.id, event.time)


def _result(event: Event, inner: dict[str, Any]) -> Result:
    """What a tool answered: texts, or what a command printed and how it ended."""
    words, failed = [], inner.get("status") == "error"
    detail: Json = None
    for one in map(mapping, items(inner.get("content"))):
        told = one.get("data")
        printed = mapping(told)
        status = _STATUS.match(text(printed.get("exit_status")))
        failed = failed or (status is not None and status[1].strip("0") != "")
        parts = [text(told), *(text(printed.get(name)) for name in ("stdout", "stderr", "content", "text"))]
        words += [part for part in parts if part]
        detail = printed or detail
    found = answered(event, text(inner.get("toolUseId")), "\n".join(words), error=failed)
    return replace(found, detail=detail)
