"""Records of OpenCode to events: rows, small files or an export; a message and its parts in their order."""

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

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
from unspool.agents.values import add_cost, items, mapping, moment, text, whole
from unspool.agents.whole_logs import Chain, Record, WholeLogParser, document_entries, last_states
from unspool.model import Block, Entry, Event, Image, Json, Part, Place, Unknown, Usage

ROLES = {
    "bash": "shell", "shell": "shell", "read": "read", "list": "search", "glob": "search", "grep": "search",
    "codesearch": "search", "lsp": "search", "edit": "edit", "multiedit": "edit", "patch": "edit",
    "apply_patch": "edit", "write": "write", "webfetch": "web", "websearch": "web", "todowrite": "todos",
    "todoread": "todos", "task": "agent", "question": "question",
}  # fmt: skip
_QUIET = ("step-start", "step-finish", "snapshot", "patch")
"""Parts that say nothing that other records do not say better; they stay beside the conversation."""
_NEW = ("New session - ", "Child session - ")


class _Stored:
    """A message or a part: its fields, wherever it comes from, and the place that it stands at."""

    def __init__(self, name: str, data: dict[str, Any], place: Place, *, removed: bool = False) -> None:
        self.name, self.data, self.place, self.removed = name, data, place, removed
        self.parts: list[_Stored] = []


class OpenCodeParser(WholeLogParser):
    def __init__(self) -> None:
        super().__init__()
        self._follow = Chain().follow
        self._revert = ""
        """The message from which on all was taken back."""

    def entries(self, data: bytes, start: Cursor) -> "Sequence[Entry]":
        exported = None if data.startswith(b'{"kind"') else document_entries(data, "messages")
        return exported if exported is not None else list(super().entries(data, start))

    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        messages, newer, unknown = self._gather(entries)
        for record in unknown:
            event = self._event(record.id, _Stored(record.id, {}, record.entry.place), None)
            yield self._follow(as_unknown(event, record.kind, record.data))
        messages.sort(key=lambda one: (whole(mapping(one.data.get("time")).get("created")), one.name))
        undone = False
        for message in messages:
            undone = undone or (bool(self._revert) and message.name >= self._revert)
            message.removed = message.removed or undone
            yield from self._message(message)
        for one in sorted(newer, key=lambda one: whole(one.data.get("seq"))):
            yield from self._newer(one)
        if undone:
            told = self._event("revert", messages[-1], None)
            told.rewinds = True
            yield self._follow(as_notice(told, "rewind", "What follows the prompt before was taken back.", {}))

    def _gather(self, entries: Sequence[Entry]) -> tuple[list[_Stored], list[_Stored], list[Record]]:
        """Messages with their parts, messages of the next generation, and records of kinds that nobody knows."""
        messages = [_exported(entry) for entry in entries if "parts" in (entry.data or {})]
        newer, unknown = [], []
        for entry in entries:
            head = entry.data or {}
            if "info" in head and "parts" not in head:
                self._session(mapping(head.get("info")))
        by_name: dict[str, _Stored] = {}
        for record in last_states(entries):
            data = _fields(record.data)
            one = _Stored(record.id, data, record.entry.place, removed=record.removed)
            match record.kind:
                case "session" if not record.removed:
                    self._session(data)
                case "message":
                    messages.append(by_name.setdefault(record.id, one))
                case "part":
                    name = _name(data, "message")
                    if name not in by_name:  # a part by itself, as a search finds it
                        messages.append(by_name.setdefault(name, _Stored(name, {"role": "assistant"}, one.place)))
                    by_name[name].parts.append(one)
                case "session_message":
                    newer.append(one)
                case kind if kind not in ("store", "session", "todo"):
                    unknown.append(record)
        return messages, newer, unknown

    def _session(self, info: dict[str, Any]) -> None:
        facts, times = self.facts, mapping(info.get("time"))
        facts.session = text(info.get("id")) or facts.session
        facts.cwd = text(info.get("directory")) or facts.cwd
        facts.slug = text(info.get("slug")) or facts.slug
        title = text(info.get("title"))
        facts.generated_title = "" if title.startswith(_NEW) else title
        facts.versions |= {version: None} if (version := text(info.get("version"))) else {}
        for name in ("created", "updated"):
            self.note_time(moment(times.get(name, info.get(f"time_{name}"))))
        self._revert = text(mapping(info.get("revert")).get("messageID"))

    def _event(self, name: str, at: _Stored, time: Json) -> Event:
        event = Event("notice", at.place, name, time=moment(time))
        self.note_time(event.time)
        return event

    def _message(self, message: _Stored) -> Iterator[Event]:
        data, removed = message.data, message.removed
        created = mapping(data.get("time")).get("created")
        if data.get("role") != "assistant":
            words = "\n".join(text(part.data.get("text")) for part in message.parts)
            key = f"user {created}:{zlib.crc32(words.encode(errors='replace')):08x}"
            for event in self._prompt(message, key, created):
                yield self._follow(event, removed=removed)
            return
        used, model = mapping(data.get("tokens")), text(data.get("modelID"))
        self.facts.reported_cost = add_cost(self.facts.reported_cost, data.get("cost"))
        key = f"{created}:{model}:{whole(used.get('input'))}:{whole(used.get('output'))}"
        part = Part(
            key,
            "",
            model,
            _usage(used),
            text(data.get("finish")) or ("end" if used else ""),
            effort=text(data.get("variant")),
        )
        yield self._follow(as_message(self._event(key, message, created), part, ()), removed=removed)
        for number, one in enumerate(message.parts):
            for event in self._piece(one, f"{key}/{number}", replace(part, usage=None), created, data):
                yield self._follow(event, removed=removed)
        if failed := mapping(data.get("error")):
            kind = "interruption" if failed.get("name") == "MessageAbortedError" else "api-error"
            words = text(mapping(failed.get("data")).get("message")) or text(failed.get("name"))
            yield self._follow(
                as_notice(self._event(f"{key}/error", message, created), kind, words, failed), removed=removed
            )

    def _prompt(self, message: _Stored, key: str, created: Json) -> Iterator[Event]:
        """What was typed, with its pictures; what the agent put in, apart."""
        typed = [one for one in message.parts if one.data.get("type") == "text" and not one.data.get("synthetic")]
        rest = [one for one in message.parts if one not in typed]
        if typed:
            event = self._event(key, typed[0], created)
            images = tuple(image for one in rest if (image := _image(event, one.data)) is not None)
            yield as_prompt(event, "\n\n".join(text(one.data.get("text")) for one in typed).strip(), images)
        for number, one in enumerate(rest):
            event, kind = self._event(f"{key}/{number}", one, created), text(one.data.get("type"))
            if kind == "compaction":
                yield as_notice(event, "compaction", "", one.data)
            elif kind in ("text", "file", "agent", "subtask"):
                words = text(one.data.get("text")) or text(one.data.get("prompt")) or text(one.data.get("filename"))
                yield as_notice(event, {"text": "meta", "file": "attachment"}.get(kind, kind), words, _brief(one.data))
            elif kind not in _QUIET:
                yield as_unknown(event, kind or "part", one.data)

    def _piece(self, one: _Stored, key: str, part: Part, created: Json, message: dict[str, Any]) -> Iterator[Event]:
        data, times = one.data, mapping(one.data.get("time"))
        event = self._event(key, one, times.get("start", created))
        match data.get("type"):
            case "text" if message.get("summary") is True:
                yield as_notice(event, "summary", text(data.get("text")))
            case "text":
                yield as_message(event, part, [said(event, part.message, text(data.get("text")))])
            case "reasoning":
                yield as_message(event, part, [thought(event, part.message, text(data.get("text")))])
            case "tool":
                yield from self._tool(event, part, data)
            case "retry":
                failed = mapping(mapping(data.get("error")).get("data"))
                yield as_notice(event, "retry", text(failed.get("message")), data)
            case "file":
                shown = _image(event, data)
                blocks: list[Block] = [shown] if shown is not None else []
                yield as_message(event, part, blocks or [Unknown(one.place, "file", data, part.message)])
            case kind if kind not in _QUIET:
                yield as_message(event, part, [Unknown(one.place, text(kind) or "part", data, part.message)])

    def _tool(self, event: Event, part: Part, data: dict[str, Any]) -> Iterator[Event]:
        name, state = text(data.get("tool")), mapping(data.get("state"))
        times, detail = mapping(state.get("time")), mapping(state.get("metadata"))
        event.time = moment(times.get("start")) or event.time
        call = text(data.get("callID")) or event.id
        yield as_message(
            event, part, [called(event, part.message, call, name, state.get("input"), ROLES.get(name, ""))]
        )
        if state.get("status") not in ("completed", "error"):
            return
        after = Event("notice", event.place, f"{event.id}=", time=moment(times.get("end")) or event.time)
        self.note_time(after.time)
        code = detail.get("exit")
        failed = state.get("status") == "error" or name == "invalid" or (isinstance(code, int) and code != 0)
        words = text(state.get("output")) or text(state.get("error"))
        images = (_image(after, mapping(file)) for file in items(state.get("attachments")))
        shown = tuple(image for image in images if image is not None)
        yield as_result(after, replace(answered(after, call, words, error=failed), detail=detail, images=shown))

    def _newer(self, one: _Stored) -> Iterator[Event]:
        """A message of the next generation of the database, which holds its parts itself."""
        data = _fields(one.data.get("data"))
        event, key = self._event(one.name, one, one.data.get("time_created")), one.name
        match one.data.get("type"):
            case "user":
                yield self._follow(as_prompt(event, text(data.get("text")).strip()), removed=one.removed)
            case "synthetic" | "system":
                yield self._follow(as_notice(event, "meta", text(data.get("text"))), removed=one.removed)
            case "shell":
                as_prompt(event, text(data.get("command")), kind="bash")
                yield self._follow(as_notice(event, "bash-output", text(data.get("output"))), removed=one.removed)
            case "compaction":
                yield self._follow(as_notice(event, "compaction", text(data.get("summary")), data), removed=one.removed)
            case "assistant":
                model, used = mapping(data.get("model")), mapping(data.get("tokens"))
                self.facts.reported_cost = add_cost(self.facts.reported_cost, data.get("cost"))
                part = Part(key, "", text(model.get("id")), _usage(used), text(data.get("finish")))
                yield self._follow(as_message(event, part, ()), removed=one.removed)
                for number, block in enumerate(map(mapping, items(data.get("content")))):
                    inner = _Stored(key, {**block, "tool": block.get("name"), "callID": block.get("id")}, one.place)
                    part = replace(part, usage=None)
                    for piece in self._piece(inner, f"{key}/{number}", part, one.data.get("time_created"), data):
                        yield self._follow(piece, removed=one.removed)
            case "agent-switched" | "model-switched":
                yield self._follow(as_notice(event, "model-switch", "", data), removed=one.removed)
            case kind:
                yield self._follow(as_unknown(event, text(kind), one.data), removed=one.removed)


def _exported(entry: Entry) -> _Stored:
    info = mapping((entry.data or {}).get("info"))
    message = _Stored(text(info.get("id")), info, entry.place)
    for part in map(mapping, items((entry.data or {}).get("parts"))):
        message.parts.append(_Stored(text(part.get("id")), part, entry.place))
    return message


def _fields(value: Json) -> dict[str, Any]:
    """The fields of a record: those of its JSON and those of its row together."""
    row = mapping(value)
    inner = row.get("data")
    return {**row, **inner} if isinstance(inner, dict) else row


def _name(data: dict[str, Any], what: str) -> str:
    return text(data.get(f"{what}_id")) or text(data.get(f"{what}ID"))


def _usage(used: dict[str, Any]) -> Usage | None:
    if not used:
        return None
    cache = mapping(used.get("cache"))
    output = whole(used.get("output")) + whole(used.get("reasoning"))
    sent, read, written = whole(used.get("input")), whole(cache.get("read")), whole(cache.get("write"))
    return Usage(sent, output, read, written, reasoning=whole(used.get("reasoning")))


def _image(event: Event, data: dict[str, Any]) -> Image | None:
    kind, url = text(data.get("mime")), text(data.get("url"))
    if not kind.startswith("image/") or not url.startswith("data:"):
        return None
    return picture(event, kind, url=url, label=text(data.get("filename")))


def _brief(data: dict[str, Any]) -> dict[str, Any]:
    """The facts of a part without what its words or pictures hold already."""
    left = ("text", "prompt", "id", "sessionID", "messageID", "session_id", "message_id", "data")
    return {name: value for name, value in data.items() if name not in left and not str(value).startswith("data:")}
