"""Codex CLI: rollouts of JSON lines below `sessions/`. Reads what is said, done and used; only `agents` imports it."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from unspool.agents.base import CodingAgent, Detail, FoundLog
from unspool.agents.lines import Cursor, LogEvents
from unspool.model import (
    Block,
    Entry,
    Event,
    Facts,
    Image,
    Json,
    Notice,
    Part,
    Place,
    Problem,
    Prompt,
    Result,
    SideLine,
    Text,
    Thinking,
    ToolCall,
    Unknown,
    Usage,
)

_ROLES = {"exec_command": "shell", "shell": "shell", "apply_patch": "edit", "view_image": "read"}
_RECORDS = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
_EXIT = re.compile(r"(?:Process exited with code|Exit code:) (\d+)")
_NAME = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl(?:\.zst)?$")


class Codex(CodingAgent):
    id = "codex"
    name = "Codex"

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return [Path(environment["CODEX_HOME"]).expanduser() if environment.get("CODEX_HOME") else home / ".codex"]

    def home(self, root: Path) -> Path | None:
        return next((one for one in (root, root.parent) if any(one.glob("sessions/*/*/*/rollout-*"))), None)

    def discover(self, root: Path) -> Iterator[FoundLog]:
        for path in sorted([*root.glob("*.jsonl"), *root.rglob("rollout-*.jsonl*")]):
            if self.is_log(path.name) and path.is_file():
                state = path.stat()
                named = _NAME.search(path.name)
                yield FoundLog(
                    str(path), named[1] if named else "", self.id, state.st_size, state.st_mtime, root=str(root)
                )

    def recognises(self, data: dict[str, Json]) -> bool:
        return data.get("type") in _RECORDS and isinstance(data.get("payload"), dict)

    def session_of(self, path: str) -> str:
        named = _NAME.search(path)
        return named[1] if named else ""

    def is_log(self, path: str) -> bool:
        return _NAME.search(path) is not None

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def events(
        self, stream: BinaryIO, found: FoundLog | None = None, start: Cursor | None = None, detail: Detail = Detail.ALL
    ) -> LogEvents:
        return LogEvents(_Parser(), stream, start)


class _Parser:
    def __init__(self) -> None:
        self.facts = Facts()
        self._model, self._total, self._request = "", 0, 0

    def usual(self, raw: bytes, place: Place) -> Event | None:
        return None

    def event(self, entry: Entry) -> Event:
        data, place = entry.data, entry.place
        if data is None:
            return Event("problem", place, problem=Problem(place, entry.problem, entry.raw))
        payload = data.get("payload")
        time = _time(data.get("timestamp"))
        event = Event("notice", place, f"line-{place.offset}", link=True, time=time)
        if time is not None:
            self.facts.started = min(self.facts.started or time, time)
            self.facts.ended = max(self.facts.ended or time, time)
        if not isinstance(payload, dict) or data.get("type") not in _RECORDS:
            event.blocks = (Unknown(place, str(data.get("type", "line")), data),)
        elif data["type"] == "response_item":
            self._item(event, payload)
        elif not self._happened(event, str(data["type"]), payload):
            event = Event("side", place, side=SideLine(place, str(payload.get("type") or data["type"]), data))
        if entry.problem:
            event.problem = Problem(place, entry.problem, entry.raw, mended=True)
        return event

    def _happened(self, event: Event, record: str, payload: dict[str, Any]) -> bool:
        """Take in what is no item; False where it only says again what items say, or is beside the conversation."""
        kind, facts = payload.get("type"), self.facts
        if record in ("session_meta", "turn_context"):
            facts.session = facts.session or _text(payload.get("id"))
            facts.cwd = facts.cwd or _text(payload.get("cwd"))
            facts.branch = facts.branch or _text((payload.get("git") or {}).get("branch"))
            facts.versions |= {version: None} if (version := _text(payload.get("cli_version"))) else {}
            self._model = _text(payload.get("model")) or self._model
        elif kind == "thread_name_updated":
            facts.custom_title = _text(payload.get("thread_name"))
        elif kind == "user_message":
            event.kind, event.turn = "prompt", True
            words, stamp = _text(payload.get("message")).strip(), (event.id, event.time)
            images = tuple(Image(event.place, "image/png", url=_text(one)) for one in payload.get("images") or ())
            event.prompt = Prompt(event.place, "text", words, *stamp, images=images)
        elif kind == "turn_aborted" or record == "compacted":
            name = "compaction" if record == "compacted" else "interruption"
            event.blocks = (Notice(event.place, name, _text(payload.get("message")), payload, event.id, event.time),)
        elif kind == "token_count":
            return self._used(event, payload.get("info") or {})
        return kind in ("user_message", "turn_aborted") or record == "compacted"

    def _used(self, event: Event, info: dict[str, Any]) -> bool:
        """Usage of the request whose items came before; a total that did not change is told once more."""
        used, total = info.get("last_token_usage") or {}, (info.get("total_token_usage") or {}).get("total_tokens", 0)
        if not used or total == self._total:
            return False
        count = {name: value if isinstance(value, int) else 0 for name, value in used.items()}
        read, written = count.get("cached_input_tokens", 0), count.get("cache_write_input_tokens", 0)
        sent = max(0, count.get("input_tokens", 0) - read - written)
        self._total = total
        self._say(event, (), Usage(sent, count.get("output_tokens", 0), read, written))
        self._request += 1
        return True

    def _say(self, event: Event, blocks: tuple[Block, ...], usage: Usage | None = None) -> None:
        event.kind, event.turn, event.blocks = "message", True, blocks
        event.part = Part(f"request-{self._request}", "", self._model, usage, "end" if usage else "")

    def _item(self, event: Event, item: dict[str, Any]) -> None:
        kind, place, stamp = _text(item.get("type")), event.place, ("", event.id, event.time)
        if kind == "message" and item.get("role") == "assistant":
            self._say(event, (Text(place, _words(item.get("content")), *stamp),))
        elif kind == "message":
            event.blocks = (Notice(place, "environment", _words(item.get("content")), {}, event.id, event.time),)
        elif kind == "reasoning":
            words = _words(item.get("summary")) or _words(item.get("content"))
            self._say(event, (Thinking(place, words, *stamp, redacted=not words),))
        elif kind in ("function_call", "custom_tool_call"):
            given, name = item.get("arguments", item.get("input")), _text(item.get("name"))
            call = ToolCall(
                place, _text(item.get("call_id")), name, _decoded(given), "unanswered", _ROLES.get(name, "")
            )
            self._say(event, (call,))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            words = _words(item.get("output"))
            code = _EXIT.search(words[:400]) or re.search(r'"exit_code":\s*(\d+)', words[-400:])
            failed = code is not None and code[1] != "0"
            event.kind, event.turn = "result", True
            event.blocks = (Result(place, _text(item.get("call_id")), words, failed, id=event.id, time=event.time),)
        else:
            self._say(event, (Unknown(place, kind or "item", item, *stamp),))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _words(value: Json) -> str:
    if isinstance(value, list):
        return "\n".join(_text(one.get("text")) for one in value if isinstance(one, dict))
    return _text(value)


def _decoded(given: Json) -> Json:
    try:
        value = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return given
    return value if isinstance(value, dict) else given


def _time(value: Json) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
