"""Chats of VS Code to events: turns, what was answered in them, and what their requests used."""

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from unspool.agents.copilot import CopilotParser
from unspool.agents.events import (
    answered,
    as_message,
    as_notice,
    as_prompt,
    as_result,
    as_unknown,
    called,
    said,
    thought,
)
from unspool.agents.values import decode_object, items, mapping, moment, text, whole
from unspool.agents.vscode_copilot.replay import Replay
from unspool.agents.whole_logs import Chain, WholeLogParser, last_states, with_abandoned
from unspool.model import (
    Block,
    Call,
    Entry,
    Event,
    Json,
    Notice,
    Part,
    Place,
    Result,
    Text,
    Thinking,
    ToolCall,
    Unknown,
    Usage,
)

ROLES = {
    "run_in_terminal": "shell", "copilot_runInTerminal": "shell", "runCommands": "shell", "runInTerminal": "shell",
    "run_task": "shell", "read_file": "read", "copilot_readFile": "read", "list_dir": "search",
    "copilot_listDirectory": "search", "file_search": "search", "copilot_findFiles": "search", "grep_search": "search",
    "copilot_findTextInFiles": "search", "semantic_search": "search", "copilot_searchCodebase": "search",
    "list_code_usages": "search", "replace_string_in_file": "edit", "copilot_replaceString": "edit",
    "multi_replace_string_in_file": "edit", "copilot_multiReplaceString": "edit", "insert_edit_into_file": "edit",
    "copilot_insertEdit": "edit", "apply_patch": "edit", "copilot_applyPatch": "edit", "create_file": "write",
    "copilot_createFile": "write", "fetch_webpage": "web", "copilot_fetchWebPage": "web", "github_repo": "web",
    "manage_todo_list": "todos", "manageTodoList": "todos", "runSubagent": "agent", "search_subagent": "agent",
    "vscode_askQuestions": "question", "ask_questions": "question",
}  # fmt: skip
_QUIET = ("prepareToolInvocation", "codeblockUri", "undoStop", "mcpServersStarting", "textEditGroup", "workspaceEdit")
_NOTES = ("progressMessage", "progressTaskSerialized", "progressTask", "confirmation", "command", "elicitation",
          "elicitationSerialized", "warning", "extensions", "pullRequest", "questionCarousel", "hook")  # fmt: skip
_FAILED = re.compile(r"ERROR while calling tool|(?:The )?[Cc]ommand exited with code [1-9]")


class _Request:
    """A turn of a chat, at the place that tells of it."""

    def __init__(self, value: Json, place: Place, name: str) -> None:
        self.data, self.place = mapping(value), place
        self.name = text(self.data.get("requestId")) or name
        self.time = moment(self.data.get("timestamp"))
        self.calls: list[Call] = []
        """The requests to models that were traced in this turn."""


class ChatParser(WholeLogParser):
    def __init__(self, session: str) -> None:
        super().__init__()
        self.facts.session = session
        self._follow = Chain().follow
        self._transcript = CopilotParser(ROLES)

    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        live: list[_Request] = []
        gone: list[_Request] = []
        spans: list[tuple[Place, Call]] = []
        yield from self._raw(entries, live, gone)
        for record in last_states(entries):
            data, place = mapping(record.data), record.entry.place
            match record.kind:
                case "place":
                    self._place(record.id, data)
                case "session":
                    self._head(data)
                case "gone" | "request":
                    kept = live if record.kind == "request" and not record.removed else gone
                    kept.append(_Request(data, place, record.id))
                case "event":
                    yield self._transcript.line(data, place)
                case "span":
                    spans.append((place, _span(record.id, data)))
                case kind if kind != "store":
                    yield self._follow(as_unknown(self._event(f"{kind}/{record.id}", place), kind, record.data))
        self._learn()
        yield from self._turns(live, gone, spans)

    def _raw(self, entries: Sequence[Entry], live: list[_Request], gone: list[_Request]) -> Iterator[Event]:
        """The agent's own files: a document, a log of changes, or a transcript."""
        replay, first = Replay(), Place(1, 0, 0)
        for entry in entries:
            data = entry.data or {}
            if isinstance(data.get("kind"), str):
                continue
            if "type" in data:
                yield self._transcript.line(data, entry.place)
                continue
            first = first if first.size else entry.place
            replay.apply({"kind": 0, "v": data} if "requests" in data else data, entry.place)
        self._head(replay.head)
        for requests, found in ((replay.live, live), (replay.gone, gone)):
            for one in requests:
                name = f"{self.facts.session}/{len(live) + len(gone)}"
                found.append(_Request(one, replay.places.get(id(one), first), name))

    def _turns(self, live: list[_Request], gone: list[_Request], spans: list[tuple[Place, Call]]) -> Iterator[Event]:
        begun = sorted((one for one in (*live, *gone) if one.time is not None), key=lambda one: str(one.time))
        starts = [str(one.time) for one in begun]
        for place, call in spans:
            if begun:
                begun[max(0, bisect_right(starts, str(call.time)) - 1)].calls.append(call)
                continue
            event = self._event(f"span/{call.key}", place, call.time)
            event.part = Part(call.key.removesuffix(":"), "", call.model, call.usage, "end")
            yield self._follow(as_notice(event, "usage"))
        for request, removed in with_abandoned(live, gone, lambda one: one.time):
            yield from (self._follow(event, removed=removed) for event in self._turn(request))
        undone = next((one for one in live if one.data.get("shouldBeRemovedOnSend")), None)
        if undone is not None:
            words = f"A checkpoint was restored: the next prompt takes away all from “{_words(undone.data)[:80]}” on."
            yield self._follow(as_notice(self._event("restored", undone.place), "rewind", words))

    def _learn(self) -> None:
        """What a transcript says of the whole session."""
        other, facts = self._transcript.facts, self.facts
        facts.session, facts.cwd = facts.session or other.session, facts.cwd or other.cwd
        facts.versions = {**facts.versions, **other.versions}
        self.note_time(other.started)
        self.note_time(other.ended)

    def _place(self, session: str, data: dict[str, Any]) -> None:
        self.facts.session = session
        self.facts.cwd = text(data.get("folder"))
        self.facts.generated_title = text(data.get("title")) or self.facts.generated_title

    def _head(self, head: dict[str, Any]) -> None:
        facts = self.facts
        facts.session = text(head.get("sessionId")) or facts.session
        facts.generated_title = text(head.get("customTitle")) or facts.generated_title
        for name in ("creationDate", "lastMessageDate"):
            self.note_time(moment(head.get(name)))

    def _event(self, name: str, place: Place, time: datetime | None = None) -> Event:
        self.note_time(time)
        return Event("notice", place, f"{self.facts.session}/{name}", time=time)

    def _turn(self, request: _Request) -> Iterator[Event]:
        data, result = request.data, mapping(request.data.get("result"))
        version = text(mapping(data.get("agent")).get("extensionVersion"))
        self.facts.versions |= {version: None} if version else {}
        event = Event("notice", request.place, request.name, time=request.time)
        self.note_time(request.time)
        yield _prompt(event, data)
        part = _billed(request, result)
        for number, (blocks, answer) in enumerate(_pieces(event, data, mapping(result.get("metadata")))):
            own = Event("notice", request.place, f"{request.name}/{number}", time=request.time)
            message = part.message if number == 0 else own.id
            yield as_message(own, replace(part, message=message), [_moved(one, own.id, message) for one in blocks])
            part = replace(part, usage=None, advice=())
            if answer is not None:
                after = Event("notice", request.place, f"{own.id}=", time=request.time)
                yield as_result(after, replace(answer, id=after.id))
        if part.usage is not None:
            yield as_message(Event("notice", request.place, f"{request.name}/used", time=request.time), part, ())
        failed, stopped = mapping(result.get("errorDetails")), data.get("isCanceled") is True
        if failed or stopped:
            last = Event("notice", request.place, f"{request.name}/end", time=request.time)
            yield as_notice(last, "interruption" if stopped else "api-error", text(failed.get("message")), failed)


def _span(name: str, row: dict[str, Any]) -> Call:
    """A request as it was traced; its input holds what came from the cache."""
    cached, time = whole(row.get("cached_tokens")), moment(row.get("start_time_ms"))
    used = Usage(max(0, whole(row.get("input_tokens")) - cached), whole(row.get("output_tokens")), cached)
    return Call(f"{name}:", text(row.get("response_model")) or text(row.get("request_model")), used, time)


def _billed(request: _Request, result: dict[str, Any]) -> Part:
    """The model of a turn and what its requests used: as traced, else as the last of them says."""
    details = mapping(result.get("metadata"))
    model = text(details.get("resolvedModel")) or text(request.data.get("modelId")).removeprefix("copilot/")
    if request.calls:
        first, *others = request.calls
        name = first.key.removesuffix(":")
        return Part(name, "", first.model or model, first.usage, "end", advice=tuple(others))
    told = mapping(result.get("usage")) or details
    sent = whole(told.get("promptTokens"))
    output = whole(told.get("completionTokens")) or whole(told.get("outputTokens"))
    used = Usage(sent, output) if sent or output else None
    alone = len(items(details.get("toolCallRounds"))) <= 1
    return Part(f"{request.name}/answer", "", model, used, "end" if alone else "")


def _words(request: dict[str, Any]) -> str:
    message = request.get("message")
    return (text(message) or text(mapping(message).get("text"))).strip()


def _prompt(event: Event, data: dict[str, Any]) -> Event:
    if not (words := _words(data)):
        return as_unknown(event, text(data.get("kind")) or "request", data)
    as_prompt(event, words)
    named = (mapping(one) for one in items(mapping(data.get("variableData")).get("variables")))
    names = [text(one.get("name")) for one in named]
    if any(names):
        note = Notice(event.place, "attachment", ", ".join(filter(None, names)), {}, event.id, event.time)
        event.blocks = (*event.blocks, note)
    return event


_Piece = tuple[list[Block], Result | None]


def _pieces(event: Event, data: dict[str, Any], details: dict[str, Any]) -> Iterator[_Piece]:
    """What was answered: words and thoughts up to a call and with it, and what the tool answered."""
    rounds = _Rounds(details)
    blocks: list[Block] = []
    for item in items(data.get("response")):
        one = mapping(item) if not isinstance(item, str) else {"value": item}
        if one.get("kind") not in ("toolInvocation", "toolInvocationSerialized"):
            _add(blocks, event, one)
        elif not text(one.get("toolId")).endswith("_internal"):
            call, answer = rounds.invocation(event, one)
            yield [*blocks, call], answer
            blocks = []
    for call, answer in rounds.left(event):
        yield [call], answer
    if blocks:
        yield blocks, None


def _add(blocks: list[Block], event: Event, one: dict[str, Any]) -> None:
    kind, value = one.get("kind"), one.get("value")
    words = text(value) or text(mapping(value).get("value")) or "\n".join(map(text, items(value)))
    if kind == "inlineReference":
        place = mapping(one.get("inlineReference"))
        place = mapping(place.get("location")) or place
        path = text(place.get("fsPath")) or text(place.get("path")) or text(mapping(place.get("uri")).get("path"))
        kind, words = None, f"`{text(one.get('name')) or posixpath.basename(path)}`"
    if kind is None or kind == "markdownContent":
        words = words or text(mapping(one.get("content")).get("value"))
        last = blocks[-1] if blocks else None
        if set(words.strip()) == {"`"}:
            return  # the fence of an edit that another item holds
        if isinstance(last, Text):
            blocks[-1] = replace(last, text=last.text + words)
        elif words:
            blocks.append(said(event, "", words))
    elif kind == "thinking":
        blocks.extend([thought(event, "", words)] if words else [])
    elif kind in _NOTES:
        words = words or text(one.get("content")) or _message(one.get("content")) or text(one.get("title"))
        blocks.append(Notice(event.place, "info", words, {"kind": kind}, event.id, event.time))
    elif kind not in _QUIET:
        blocks.append(Unknown(event.place, text(kind) or "item", one, "", event.id, event.time))


class _Rounds:
    """The calls as the model made them: the chat itself shows only that they were made."""

    def __init__(self, details: dict[str, Any]) -> None:
        rounds = (mapping(one) for one in items(details.get("toolCallRounds")))
        calls = [mapping(call) for one in rounds for call in items(one.get("toolCalls"))]
        self._calls = {text(call.get("id")) or str(number): call for number, call in enumerate(calls)}
        self._named = {key.partition("__vscode")[0]: key for key in self._calls}
        self._answers = mapping(details.get("toolCallResults"))

    def invocation(self, event: Event, one: dict[str, Any]) -> tuple[ToolCall, Result | None]:
        """A call that the chat shows, by its id or as the next one of its kind."""
        name, tool = text(one.get("toolCallId")), text(one.get("toolId"))
        same = (key for key, call in self._calls.items() if _role(text(call.get("name"))) == _role(tool) != "")
        key = self._named.get(name, "") if self._named.get(name, "") in self._calls else next(same, "")
        if key:
            call, answer = self._made(event, key, self._calls.pop(key))
        else:
            call, answer = _shown(event, one, name or tool, tool)
        if one.get("isComplete") is False and answer is None:
            return call, None
        answer = answer or answered(event, call.call_id, _message(one.get("pastTenseMessage")))
        return call, replace(answer, **_ended(one, answer))

    def left(self, event: Event) -> Iterator[tuple[ToolCall, Result | None]]:
        """The calls that the chat does not show."""
        yield from (self._made(event, key, call) for key, call in self._calls.items())

    def _made(self, event: Event, key: str, made: dict[str, Any]) -> tuple[ToolCall, Result | None]:
        name = text(made.get("name"))
        call = called(event, "", key, name, decode_object(made.get("arguments")), _role(name))
        if key not in self._answers:
            return call, None
        words = "\n".join(
            _texts(mapping(one).get("value")) for one in items(mapping(self._answers[key]).get("content"))
        )
        return call, answered(event, key, words, error=_FAILED.match(words) is not None)


def _role(tool: str) -> str:
    return ROLES.get(tool, "")


def _shown(event: Event, one: dict[str, Any], name: str, tool: str) -> tuple[ToolCall, Result | None]:
    """A call by what the chat shows of it."""
    special, details = mapping(one.get("toolSpecificData")), mapping(one.get("resultDetails"))
    command = text(mapping(special.get("commandLine")).get("original")) or text(special.get("command"))
    given = {"command": command} if command else decode_object(details.get("input") or special.get("rawInput"))
    call = called(event, "", name, tool, given or {"message": _message(one.get("invocationMessage"))}, _role(tool))
    told = details.get("output")
    words = text(told) or "\n".join(text(mapping(part).get("value")) for part in items(told))
    return call, answered(event, name, words) if words else None


def _ended(one: dict[str, Any], answer: Result) -> dict[str, Any]:
    """How the chat says that a call ended."""
    agreed, state = one.get("isConfirmed"), mapping(mapping(one.get("toolSpecificData")).get("terminalCommandState"))
    code = state.get("exitCode")
    failed = mapping(one.get("resultDetails")).get("isError") is True or (type(code) is int and code != 0)
    refused = agreed is False or mapping(agreed).get("type") == 0
    return {"error": answer.error or failed, "denial": "user-rejected" if refused else ""}


def _message(value: Json) -> str:
    return text(value) or text(mapping(value).get("value"))


def _texts(value: Json) -> str:
    """A text, or those of a tree of elements, in order."""
    if isinstance(value, str):
        return value
    found, waiting = [], [mapping(value).get("node", value)]
    while waiting:
        one = mapping(waiting.pop())
        if words := text(one.get("text")):
            found.append(words)
        waiting += reversed(items(one.get("children")))
    return "".join(found)


def _moved(block: Block, name: str, message: str) -> Block:
    if isinstance(block, Text | Thinking | ToolCall | Unknown):
        return replace(block, id=name, message=message)
    return replace(block, id=name)
