"""Records of Cursor to events: bubbles of its editor, messages of its command line, lines of transcripts."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from unspool.agents.content_blocks import answer_event, blocks_of, user_event
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
from unspool.agents.whole_logs import Chain, Record, WholeLogParser, last_states, with_abandoned
from unspool.model import Block, Entry, Event, Json, Notice, Part, Place, Usage

ROLES = {
    "run_terminal_cmd": "shell", "run_terminal_command_v2": "shell", "Shell": "shell", "Bash": "shell",
    "read_file": "read", "read_file_v2": "read", "Read": "read", "read_lints": "read", "ReadLints": "read",
    "list_dir": "search", "list_dir_v2": "search", "LS": "search", "grep": "search", "grep_search": "search",
    "ripgrep_raw_search": "search", "Grep": "search", "codebase_search": "search", "semantic_search_full": "search",
    "SemanticSearch": "search", "file_search": "search", "glob_file_search": "search", "Glob": "search",
    "search_replace": "edit", "edit_file": "edit", "edit_file_v2": "edit", "StrReplace": "edit", "Edit": "edit",
    "MultiEdit": "edit", "apply_patch": "edit", "ApplyPatch": "edit", "write": "write", "Write": "write",
    "web_search": "web", "web_fetch": "web", "WebSearch": "web", "WebFetch": "web", "todo_write": "todos",
    "TodoWrite": "todos", "task": "agent", "task_v2": "agent", "Task": "agent", "ask_question": "question",
    "AskQuestion": "question", "create_plan": "plan",
}  # fmt: skip
_LOSSY = (
    "Only a transcript of this session is left: it holds no answers of tools, no thoughts, no models and no times, "
    "and none of Cursor's databases has the session."
)
_HIDDEN = "[REDACTED]"
_TYPED = ("<user_query>", "</user_query>")
_INJECTED = re.compile(
    r"\s*<(?:user_info|attached_files|system_reminder|git_status|project_layout|rules|agent_skills|timestamp"
    r"|open_and_recently_viewed_files|additional_data|agent_transcripts|mcp_\w+|terminal_files_information)\b"
)
_SPEAKER = re.compile(r"^(user|assistant):\s*$", re.MULTILINE)
_PIECE = re.compile(r"^\[(Thinking|Tool call|Tool result)\][ \t]*(.*)$", re.MULTILINE)
_ARGUMENT = re.compile(r"^\s+([\w.-]+):[ \t]?(.*)$")


class CursorParser(WholeLogParser):
    def __init__(self, session: str) -> None:
        super().__init__()
        self.facts.session = session
        self._follow = Chain().follow
        self._model = ""

    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        kinds: dict[str, list[Record]] = {}
        for record in last_states(entries):
            kinds.setdefault(record.kind, []).append(record)
        for record in kinds.pop("place", ()):
            yield from self._place(record)
        if "composer" in kinds or "bubble" in kinds:
            yield from self._editor(kinds.pop("composer", []), kinds.pop("bubble", []))
        for record in kinds.pop("tab", ()):
            yield from self._tab(mapping(record.data), record.entry.place)
        if "meta" in kinds or "blob" in kinds:
            yield from self._chat(kinds)
        yield from self._transcript(kinds, entries)

    def _transcript(self, kinds: dict[str, list[Record]], entries: Sequence[Entry]) -> Iterator[Event]:
        """What is left: a transcript, and records of kinds that nobody knows."""
        for kind, records in kinds.items():
            for record in records:
                place = record.entry.place
                if kind == "text":
                    yield from self._text(place, text(record.data))
                elif kind == "line":
                    yield from self._line(mapping(record.data), place)
                elif kind != "store":
                    event = self._event(f"{kind}/{record.id}", place)
                    yield self._follow(as_unknown(event, kind, record.data))
        for entry in entries:
            data = entry.data or {}
            if not isinstance(data.get("kind"), str):
                yield from self._line(data, entry.place)

    def _event(self, name: str, place: Place, time: datetime | None = None) -> Event:
        self.note_time(time)
        return Event("notice", place, f"{self.facts.session}/{name}", time=time)

    def _place(self, record: Record) -> Iterator[Event]:
        data = mapping(record.data)
        self.facts.session = record.id
        self.facts.cwd = text(data.get("folder"))
        self.note_time(moment(data.get("modified")))
        if data.get("lossy") is True:
            yield self._follow(as_notice(self._event("place", record.entry.place), "lossy-source", _LOSSY))
        elif problem := text(data.get("problem")):
            yield self._follow(as_notice(self._event("place", record.entry.place), "info", problem))

    # the editor

    def _editor(self, composers: list[Record], bubbles: list[Record]) -> Iterator[Event]:
        """Bubbles in the order of the headers; what no header names was edited or tried again, and is a branch."""
        head = mapping(composers[-1].data) if composers else {}
        self._composer(composers[-1].id if composers else "", head)
        found: dict[str, tuple[str, dict[str, Any], Place]] = {}
        for number, one in enumerate(map(mapping, items(head.get("conversation")))):
            name = text(one.get("bubbleId")) or str(number)
            found[name] = (name, one, composers[-1].entry.place)
        found |= {one.id: (one.id, mapping(one.data), one.entry.place) for one in bubbles if one.data is not None}
        names = {text(one[1].get("bubbleId")): name for name, one in found.items()}
        listed = [text(mapping(one).get("bubbleId")) for one in items(head.get("fullConversationHeadersOnly"))]
        live = [found.pop(name if name in found else names.get(name, name), None) for name in listed]
        shown = [one for one in live if one is not None] or [found.pop(name) for name in list(found)]
        last = max((number for number, one in enumerate(shown) if one[1].get("type") == 1), default=0)
        for bubble, removed in with_abandoned(shown, list(found.values()), lambda one: _time(one[1]), last):
            yield from (self._follow(event, removed=removed) for event in self._bubble(*bubble))

    def _composer(self, name: str, head: dict[str, Any]) -> None:
        facts = self.facts
        facts.session = facts.session or name
        facts.generated_title = text(head.get("name"))
        branch = head.get("activeBranch") or head.get("createdOnBranch")
        facts.branch = text(branch) or text(mapping(branch).get("branchName"))
        self._model = text(mapping(head.get("modelConfig")).get("modelName"))
        for one in ("createdAt", "lastUpdatedAt"):
            self.note_time(moment(head.get(one)))

    def _bubble(self, name: str, data: dict[str, Any], place: Place) -> Iterator[Event]:
        event = self._event(name, place, _time(data))
        if data.get("type") == 1:
            yield _typed(event, text(data.get("text")))
        elif data.get("type") == 2:
            yield from self._answer(event, data)
        else:
            yield as_unknown(event, text(data.get("type")) or "bubble", data)

    def _answer(self, event: Event, data: dict[str, Any]) -> Iterator[Event]:
        model = text(mapping(data.get("modelInfo")).get("modelName")) or self._model
        counted = mapping(data.get("tokenCount"))
        used = Usage(whole(counted.get("inputTokens")), whole(counted.get("outputTokens")))
        part = Part(event.id, "", model, used if used.total else None, "end")
        thinking, tool = mapping(data.get("thinking")), mapping(data.get("toolFormerData"))
        blocks: list[Block] = []
        if thinking:
            blocks.append(thought(event, event.id, text(thinking.get("text")), text(thinking.get("signature"))))
        if text(data.get("text")):
            blocks.append(said(event, event.id, text(data.get("text"))))
        if not tool:
            yield as_message(event, part, blocks)
            return
        call, tool_name = text(tool.get("toolCallId")) or f"{event.id}?", text(tool.get("name"))
        given = decode_object(tool.get("params")) or decode_object(tool.get("rawArgs"))
        blocks.append(called(event, event.id, call, tool_name, given, ROLES.get(tool_name, "")))
        yield as_message(event, part, blocks)
        if tool.get("status") != "loading" and (tool.get("result") is not None or tool.get("status")):
            yield _result(Event("notice", event.place, f"{event.id}=", time=event.time), call, tool)

    def _tab(self, data: dict[str, Any], place: Place) -> Iterator[Event]:
        """A chat of the first versions: what was asked and answered, and which model answered."""
        self.facts.generated_title = text(data.get("chatTitle")) or text(data.get("title"))
        for name in ("createdAt", "lastSendTime"):
            self.note_time(moment(data.get(name)))
        for number, one in enumerate(map(mapping, items(data.get("bubbles")))):
            event, words = self._event(str(number), place), text(one.get("text")) or text(one.get("rawText"))
            if one.get("type") == "user":
                yield self._follow(_typed(event, words))
            elif one.get("type") in ("ai", "assistant"):
                part = Part(event.id, "", text(one.get("modelType")), None, "end")
                yield self._follow(as_message(event, part, [said(event, event.id, words)] if words else []))
            else:
                yield self._follow(as_unknown(event, text(one.get("type")) or "bubble", one))

    # the command line

    def _chat(self, kinds: dict[str, list[Record]]) -> Iterator[Event]:
        for record in kinds.pop("meta", ()):
            head = mapping(record.data)
            self.facts.session = self.facts.session or text(head.get("agentId"))
            self.facts.generated_title = text(head.get("name")) or self.facts.generated_title
            self._model = text(head.get("lastUsedModel")) or self._model
            self.note_time(moment(head.get("createdAt")))
        blobs = {record.id: record for record in kinds.pop("blob", ())}
        orders = [items(mapping(record.data).get("order")) for record in kinds.pop("order", ())]
        order = [name for name in (orders[-1] if orders else blobs) if isinstance(name, str) and name in blobs]
        told = [self._said(mapping(blobs[name].data), name, blobs[name].entry.place) for name in order]
        first = next((number for number, event in enumerate(told) if event.prompt is not None), 0)
        yield from map(self._follow, told[:first])
        named = {*order}
        for name, record in blobs.items():
            if name not in named:  # said before, and taken back
                yield self._follow(self._said(mapping(record.data), name, record.entry.place), removed=True)
        yield from map(self._follow, told[first:])

    def _said(self, data: dict[str, Any], name: str, place: Place) -> Event:
        event, content = self._event(name[:20], place), [_usual(one) for one in blocks_of(data.get("content"))]
        match data.get("role"):
            case "user":
                return _user(event, content)
            case "assistant":
                return _spoken(event, self._model, content)
            case "tool":
                return user_event(event, content)
            case "system":
                return as_notice(event, "system-prompt", "\n".join(text(one.get("text")) for one in content))
            case role:
                return as_unknown(event, text(role) or "blob", data)

    # transcripts

    def _line(self, data: dict[str, Any], place: Place) -> Iterator[Event]:
        event = self._event(str(place.offset), place, moment(data.get("timestamp")))
        content, role = mapping(data.get("message")).get("content"), data.get("role")
        if role not in ("user", "assistant"):
            kind = text(data.get("type"))
            ended = kind == "turn_ended"
            yield self._follow(as_notice(event, "ended", "", data) if ended else as_unknown(event, kind, data))
            return
        blocks = blocks_of(content)
        for number, block in enumerate(blocks):
            if block.get("type") == "tool_use" and not block.get("id"):
                blocks[number] = {**block, "id": f"{event.id}:{number}"}
        yield self._follow(_user(event, blocks) if role == "user" else _spoken(event, self._model, blocks))

    def _text(self, place: Place, words: str) -> Iterator[Event]:
        """The oldest transcripts: texts below `user:` and `assistant:`."""
        pieces = _SPEAKER.split(words)
        for number in range(1, len(pieces) - 1, 2):
            event = self._event(f"text/{number}", place)
            if pieces[number] == "user":
                yield self._follow(_user(event, blocks_of(pieces[number + 1].strip())))
                continue
            parts = _PIECE.split(pieces[number + 1])
            blocks: list[Block] = [said(event, event.id, parts[0].strip())] if parts[0].strip() else []
            results: list[tuple[str, str]] = []
            calls: dict[str, str] = {}
            for at in range(1, len(parts) - 2, 3):
                kind, name, body = parts[at], parts[at + 1].strip(), parts[at + 2]
                if kind == "Thinking":
                    blocks.append(thought(event, event.id, f"{name}\n{body}".strip()))
                elif kind == "Tool call":
                    calls[name] = f"{event.id}:{at}"
                    given, rest = _arguments(body)
                    blocks.append(called(event, event.id, calls[name], name, given, ROLES.get(name, "")))
                    blocks += [said(event, event.id, rest)] if rest else []
                else:
                    results.append((calls.pop(name, f"{event.id}:{at}"), body.strip()))
            yield self._follow(as_message(event, Part(event.id, "", "", None), blocks))
            for at, (call, answer) in enumerate(results):
                after = self._event(f"text/{number}={at}", place)
                yield self._follow(as_result(after, answered(after, call, answer)))


def _arguments(body: str) -> tuple[dict[str, Json], str]:
    """The indented fields behind a call, and the words that follow them."""
    given: dict[str, Json] = {}
    lines = body.strip("\n").split("\n")
    while lines and (found := _ARGUMENT.match(lines[0])) is not None:
        given[found[1]] = found[2]
        lines.pop(0)
    return given, "\n".join(lines).strip()


def _time(bubble: dict[str, Any]) -> datetime | None:
    timing = mapping(bubble.get("timingInfo"))
    told = (bubble.get("createdAt"), *(timing.get(f"client{name}Time") for name in ("RpcSend", "Settle", "End")))
    return next((time for one in told if one and (time := moment(one)) is not None), None)


def _typed(event: Event, words: str) -> Event:
    return as_prompt(event, words.strip()) if words.strip() else as_notice(event, "info")


def _user(event: Event, blocks: list[dict[str, Any]]) -> Event:
    """What was typed, out of the marks around it; what the agent put in, as reminders."""
    found, beside = [], []
    for block in blocks:
        words = text(block.get("text"))
        if block.get("type") != "text":
            found.append(block)
        elif _TYPED[0] in words:
            before, _, rest = words.partition(_TYPED[0])
            typed, _, after = rest.rpartition(_TYPED[1]) if _TYPED[1] in rest else (rest, "", "")
            found += [{"type": "text", "text": typed.strip()}] if typed.strip() else []
            beside += [one.strip() for one in (before, after) if one.strip()]
        elif _INJECTED.match(words):
            beside.append(words)
        elif words.strip():
            found.append(block)
    made = user_event(event, found)
    notes = tuple(Notice(event.place, "reminder", one, {}, event.id, event.time) for one in beside)
    made.blocks = (*made.blocks, *notes) if found else notes or made.blocks
    return made


def _spoken(event: Event, model: str, blocks: list[dict[str, Any]]) -> Event:
    """An answer; thoughts that were kept from it are marked in its words."""
    shown: list[dict[str, Any]] = []
    for block in blocks:
        words = text(block.get("text"))
        if block.get("type") == "text" and words.rstrip().endswith(_HIDDEN):
            words = words.rstrip().removesuffix(_HIDDEN).rstrip()
            shown += [{"type": "text", "text": words}] if words else []
            shown.append({"type": "redacted_thinking"})
        elif block.get("type") != "text" or words:
            shown.append(block)
    return answer_event(event, Part(event.id, "", model, None), shown, lambda name: ROLES.get(name, ""))


def _usual(block: dict[str, Any]) -> dict[str, Any]:
    """A block of the command line under the names that most agents use."""
    match block.get("type"):
        case "tool-call":
            name, given = block.get("toolName"), block.get("args", block.get("input"))
            return {"type": "tool_use", "id": block.get("toolCallId"), "name": name, "input": given}
        case "tool-result":
            told = block.get("result", block.get("output"))
            content = told if isinstance(told, str | list) else _words(mapping(told))
            failed = block.get("isError") is True
            return {
                "type": "tool_result",
                "tool_use_id": block.get("toolCallId"),
                "content": content,
                "is_error": failed,
            }
        case "redacted-reasoning":
            return {"type": "redacted_thinking"}
    return block


def _words(result: dict[str, Any]) -> str:
    names = ("output", "contents", "content", "text", "stdout", "error", "value")
    return next((words for name in names if (words := text(result.get(name)))), "")


def _result(event: Event, call: str, tool: dict[str, Any]) -> Event:
    told = decode_object(tool.get("result"))
    inner, failed = mapping(told), decode_object(tool.get("error"))
    wrong = text(failed) or _words(mapping(failed)) or text(mapping(failed).get("clientVisibleErrorMessage"))
    codes = (inner.get(name) for name in ("exitCodeV2", "exitCode"))
    code = next((one for one in codes if isinstance(one, int)), 0)
    refused = tool.get("userDecision") == "rejected" or inner.get("rejected") is True
    denial = "user-rejected" if refused else "cancelled" if tool.get("status") == "cancelled" else ""
    words = _words(inner) or (told if isinstance(told, str) else "") or wrong
    result = answered(event, call, words, error=tool.get("status") == "error" or bool(wrong) or code != 0)
    return as_result(event, replace(result, denial=denial, detail=told if inner else None))
