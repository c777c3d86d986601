"""Codex CLI: rollouts of JSON lines below `sessions/`. Reads what is said, done and used; only `agents` imports it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from unspool.agents.base import CodingAgent
from unspool.agents.lines import PlainParser
from unspool.agents.records import Detail, FoundLog
from unspool.agents.values import decode_object, first_bytes, items, mapping, moment, text, whole
from unspool.model import (
    Block,
    Event,
    Image,
    Json,
    Notice,
    Part,
    Place,
    Prompt,
    Result,
    SideLine,
    Text,
    Thinking,
    ToolCall,
    Unknown,
    Usage,
)

if TYPE_CHECKING:
    from unspool.agents.handed import SessionTaker

_ROLES = {"exec_command": "shell", "shell": "shell", "apply_patch": "edit", "view_image": "read"}
_RECORDS = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
_DAY = "[0-9][0-9][0-9][0-9]/[0-9][0-9]/[0-9][0-9]/"
_PLACES = ("", _DAY, f"sessions/{_DAY}", "archived_sessions/")
"""Where rollouts lie below a source; nowhere else is looked, for a source may be a large folder."""
_EXIT = re.compile(r"(?:Process exited with code|Exit code:) (\d+)")


class Codex(CodingAgent):
    id = "codex"
    name = "Codex"
    log_name = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl(?:\.zst)?$")

    @property
    def taker(self) -> "SessionTaker":
        from unspool.agents.codex import take_over

        return take_over

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return [Path(environment["CODEX_HOME"]).expanduser() if environment.get("CODEX_HOME") else home / ".codex"]

    def home(self, root: Path) -> Path | None:
        return root if any(root.glob("sessions/[0-9][0-9][0-9][0-9]")) else None

    def discover(self, root: Path) -> Iterator[FoundLog]:
        alone = [path for path in root.glob("*.jsonl") if b'"session_meta"' in first_bytes(path)]
        for path in sorted({*alone, *(path for place in _PLACES for path in root.glob(f"{place}rollout-*.jsonl*"))}):
            if path.is_file() and self.is_log(path.name):
                state, session = path.stat(), self.session_of(path.name)
                yield FoundLog(str(path), session, self.id, state.st_size, state.st_mtime, root=str(root))

    def recognises(self, data: dict[str, Json]) -> bool:
        return data.get("type") in _RECORDS and isinstance(data.get("payload"), dict)

    def role(self, tool: str) -> str:
        return _ROLES.get(tool, "")

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        return _Parser()


class _Parser(PlainParser):
    def __init__(self) -> None:
        super().__init__()
        self._model, self._message, self._request = "", "", 0
        self._total: Json = None

    def line(self, data: dict[str, Json], place: Place) -> Event:
        payload, record = data.get("payload"), text(data.get("type"))
        event = Event(
            "notice", place, f"{self.facts.session}/{place.offset}", link=True, time=moment(data.get("timestamp"))
        )
        self.note_time(event.time)
        self._message = f"{self.facts.session}/{self._request}"
        if not isinstance(payload, dict) or record not in _RECORDS:
            event.blocks = (Unknown(place, record or "line", data),)
        elif record == "response_item":
            self._item(event, payload)
        elif not self._happened(event, record, payload):
            return Event("side", place, side=SideLine(place, text(payload.get("type")) or record, data))
        return event

    def _happened(self, event: Event, record: str, payload: dict[str, Any]) -> bool:
        """Take in what is no item; False where it only says again what items say, or is beside the conversation."""
        kind, facts = payload.get("type"), self.facts
        if record in ("session_meta", "turn_context"):
            facts.session = facts.session or text(payload.get("id"))
            facts.cwd = facts.cwd or text(payload.get("cwd"))
            facts.branch = facts.branch or text(mapping(payload.get("git")).get("branch"))
            facts.versions |= {version: None} if (version := text(payload.get("cli_version"))) else {}
            self._model = text(payload.get("model")) or self._model
        elif kind == "thread_name_updated":
            facts.custom_title = text(payload.get("thread_name"))
        elif kind == "user_message":
            event.kind, event.turn = "prompt", True
            words, stamp = text(payload.get("message")).strip(), (event.id, event.time)
            images = tuple(Image(event.place, "image/png", url=text(one)) for one in items(payload.get("images")))
            event.prompt = Prompt(event.place, "text", words, *stamp, images=images)
        elif kind == "turn_aborted" or record == "compacted":
            name = "compaction" if record == "compacted" else "interruption"
            event.blocks = (Notice(event.place, name, text(payload.get("message")), payload, event.id, event.time),)
        elif kind == "token_count":
            return self._used(event, mapping(payload.get("info")))
        return kind in ("user_message", "turn_aborted") or record == "compacted"

    def _used(self, event: Event, info: dict[str, Any]) -> bool:
        """Usage of the request whose items came before; a total that did not change is told once more."""
        used, total = mapping(info.get("last_token_usage")), mapping(info.get("total_token_usage")).get("total_tokens")
        if not used or total == self._total:
            return False
        names = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")
        sent, output, read, written = (whole(used.get(name)) for name in names)
        self._total = total
        self._say(event, (), Usage(max(0, sent - read - written), output, read, written))
        self._request += 1
        return True

    def _say(self, event: Event, blocks: tuple[Block, ...], usage: Usage | None = None) -> None:
        event.kind, event.turn, event.blocks = "message", True, blocks
        event.part = Part(self._message, "", self._model, usage, "end" if usage else "")

    def _item(self, event: Event, item: dict[str, Any]) -> None:
        kind, place, stamp = text(item.get("type")), event.place, (self._message, event.id, event.time)
        if kind == "message" and item.get("role") == "assistant":
            self._say(event, (Text(place, _words(item.get("content")), *stamp),))
        elif kind == "message":
            event.blocks = (Notice(place, "environment", _words(item.get("content")), {}, event.id, event.time),)
        elif kind == "reasoning":
            words = _words(item.get("summary")) or _words(item.get("content"))
            self._say(event, (Thinking(place, words, *stamp, redacted=not words),))
        elif kind in ("function_call", "custom_tool_call"):
            given, name = decode_object(item.get("arguments", item.get("input"))), text(item.get("name"))
            call = ToolCall(place, text(item.get("call_id")), name, given, "unanswered", _ROLES.get(name, ""))
            self._say(event, (replace(call, message=self._message, id=event.id, time=event.time),))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            words = _words(item.get("output"))
            code = _EXIT.search(words[:400]) or re.search(r'"exit_code":\s*(\d+)', words[-400:])
            event.kind, event.turn, failed = "result", True, code is not None and code[1] != "0"
            event.blocks = (Result(place, text(item.get("call_id")), words, failed, id=event.id, time=event.time),)
        else:
            self._say(event, (Unknown(place, kind or "item", item, *stamp),))


def _words(value: Json) -> str:
    return text(value) or "\n".join(text(mapping(one).get("text")) for one in items(value))
