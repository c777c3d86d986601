"""Conversations as OpenAI messages with tools, a conversation a line: what unspool exports, and datasets of others.

Only `agents` and the writer of the format import it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from unspool.agents.atif import imported_folder, tool_role
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
from unspool.agents.log_files import LogFileAgent
from unspool.agents.records import Detail, FoundLog
from unspool.agents.values import decode_object, items, mapping, moment, text, whole
from unspool.agents.whole_logs import Chain, WholeLogParser
from unspool.model import Block, Entry, Event, Image, Json, Part, Usage

ROW = "conversation-row"
"""The kind of the line that tells, beside a conversation, all that its row holds but the messages."""
NO_OUTPUT = "[no output recorded]"
"""What stands for the answer of a call that has none: every call is answered in this format."""
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


class OpenAIMessages(LogFileAgent):
    id = "messages"
    name = "OpenAI messages"
    reads_whole = True
    places = ("*.jsonl", "*/*.messages.jsonl")
    head = re.compile(rb'^\s*\{\s*"(?:messages"\s*:\s*\[|role"\s*:\s*")')
    log_name = re.compile(r"(?:^|/)([^/]{1,200}?)(?:\.messages)?\.jsonl$")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return [imported_folder(environment, home)]

    def recognises(self, data: dict[str, Json]) -> bool:
        """A conversation, or one message of it: a file that holds a single conversation is taken apart."""
        messages = items(data.get("messages")) if "messages" in data else [data]
        return any(_is_message(mapping(one)) for one in messages[:8])

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        return _Parser(found.session_id if found is not None else "")


def _is_message(data: dict[str, Any]) -> bool:
    return data.get("role") in _ROLES and ("content" in data or "tool_calls" in data)


class _Parser(WholeLogParser):
    def __init__(self, session: str) -> None:
        super().__init__()
        self.facts.session = session

    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        chain = Chain()
        for number, entry in enumerate(entries):
            row = entry.data or {}
            if "messages" not in row or not isinstance(row["messages"], list):
                if _is_message(row):  # one message a line
                    reader = _RowReader(entry, {}, f"{self.facts.session}/{number}")
                    yield from map(chain.follow, reader.events([row]))
                continue
            about = mapping(row.get("metadata"))
            agent = mapping(about.get("subagent"))
            if not agent:
                self._facts(about)
            follow = Chain().follow if agent else chain.follow
            for event in _RowReader(entry, about, f"{self.facts.session}/{number}").events(row["messages"]):
                event.sidechain, event.agent = bool(agent), text(agent.get("id"))
                event.spawner = text(agent.get("call_id"))
                yield follow(event)
            yield beside(entry.place, ROW, {name: value for name, value in row.items() if name != "messages"})

    def _facts(self, about: dict[str, Any]) -> None:
        facts = self.facts
        facts.session = text(about.get("session")) or facts.session
        facts.cwd = text(about.get("cwd")) or facts.cwd
        facts.custom_title = text(about.get("title")) or facts.custom_title
        facts.versions |= {version: None} if (version := text(about.get("version"))) else {}
        for name in ("started", "ended"):
            self.note_time(moment(about.get(name)))


class _RowReader:
    """Understands one conversation."""

    def __init__(self, entry: Entry, about: dict[str, Any], name: str) -> None:
        self._entry, self._about, self._name = entry, about, name
        self._used = [mapping(one) for one in items(about.get("requests"))]
        self._model = next(filter(None, map(text, items(about.get("models")))), "")
        self._agent = text(about.get("agent"))

    def events(self, messages: list[Any]) -> Iterator[Event]:
        for number, message in enumerate(messages):
            event = self._event(self._new(str(number)), message)
            if event is not None:
                yield event
        for number, used in enumerate(self._used):
            event = self._new(f"used-{number}")
            event.time = moment(used.get("time"))
            part = Part(event.id, "", text(used.get("model")), _usage(used), "" if used.get("floor") is True else "end")
            terms = {name: text(used.get(name)) for name in ("speed", "tier", "geo")}
            yield as_message(event, replace(part, **terms), [])

    def _new(self, name: str) -> Event:
        return Event("notice", self._entry.place, f"{self._name}.{name}")

    def _event(self, event: Event, message: Json) -> Event | None:
        data = mapping(message)
        content = data.get("content")
        match data.get("role"):
            case "user":
                return as_prompt(event, words_of(content), _pictures(event, content))
            case "assistant":
                return self._answer(event, data)
            case "tool" | "function":
                call, words = text(data.get("tool_call_id")) or text(data.get("name")), words_of(content)
                return None if words == NO_OUTPUT else as_result(event, answered(event, call, words))
            case "system" | "developer":
                return as_notice(event, "system-prompt", words_of(content))
            case role:
                return as_unknown(event, text(role) or "message", message)

    def _answer(self, event: Event, data: dict[str, Any]) -> Event:
        blocks: list[Block] = []
        if words := text(data.get("reasoning_content")) or text(data.get("reasoning")) or text(data.get("thinking")):
            blocks.append(thought(event, event.id, words))
        if words := words_of(data.get("content")):
            blocks.append(said(event, event.id, words))
        blocks += _pictures(event, data.get("content"))
        legacy = {"id": text(mapping(data.get("function_call")).get("name")), "function": data.get("function_call")}
        calls = items(data.get("tool_calls")) or ([legacy] if legacy["function"] else [])
        for call in map(mapping, calls):
            made = mapping(call.get("function"))
            name, given = text(made.get("name")), decode_object(made.get("arguments"))
            blocks.append(called(event, event.id, text(call.get("id")), name, given, tool_role(self._agent, name)))
        return as_message(event, Part(event.id, "", self._model, None, "end"), blocks)


def _pictures(event: Event, content: Json) -> tuple[Image, ...]:
    parts = (mapping(mapping(one).get("image_url")) for one in items(content))
    return tuple(picture(event, "", url=url) for one in parts if (url := text(one.get("url"))))


def _usage(given: dict[str, Any]) -> Usage:
    names = (name for name in Usage.__struct_fields__ if name != "floor")
    return replace(Usage(), **{name: whole(given.get(name)) for name in names})
