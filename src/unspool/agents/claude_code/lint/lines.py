"""The lines of a log as rules see them: the event of each that the agent can read, its blocks, and its own fields."""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, cast

import msgspec

from unspool.agents.claude_code.line import CONVERSATION, has_place, line_of
from unspool.agents.claude_code.lint.block_rules import BlockFlaw, LintBlock, flaws_of_record, lint_content
from unspool.agents.claude_code.lint.field_types import LineFields, drop_wrong_types
from unspool.agents.claude_code.messages import CallMemory, MessageParser
from unspool.agents.claude_code.notices import parse_system
from unspool.agents.claude_code.parse import chain_event
from unspool.agents.lines import BOM, line_entries
from unspool.agents.records import Detail
from unspool.agents.writing import LintFinding, Severity
from unspool.model import Entry, Event, Place, Result, ToolCall
from unspool.reading.tree import ConversationTree, LivePath

_TURNS = ("user", "assistant")
_OPENING = 60
_LONE = re.compile(r"[\ud800-\udfff]")
_UUID = re.compile(rb'"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"')
_DECODER = msgspec.json.Decoder(LineFields)


class LintLine(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A line that the agent can read. What was said is not kept: a log may be larger than there is memory."""

    number: int
    type: str
    id: str
    event: Event
    fields: LineFields
    """The line's own fields, without its message and the tool's record, which are as large as the line."""
    role: str
    blocks: tuple[LintBlock, ...]
    flaws: tuple[BlockFlaw, ...]
    digest: int
    mentions: tuple[str, ...] = ()
    """Ids of the common shape that a line beside the conversation holds, where a copy is looked at."""
    opening: str = ""
    """How a message begins that is one text."""

    @property
    def parent(self) -> str:
        return self.event.parent or ""

    @property
    def in_chain(self) -> bool:
        return bool(self.id) and self.event.kind != "side"

    @property
    def is_main(self) -> bool:
        """Whether a session may go on from it: neither a subagent's nor a team's nor the agent's own remark."""
        return not (self.event.sidechain or self.event.team or self.event.meta)

    @property
    def message(self) -> str:
        """The id of the answer that it is a part of; its own where that has none."""
        return self.event.part.message if self.event.part is not None else self.id

    @property
    def model(self) -> str:
        return self.event.part.model if self.event.part is not None else ""

    @property
    def answers(self) -> list[str]:
        return [block.id for block in self.blocks if block.kind == "tool_result"]

    @property
    def withdrawn(self) -> list[str]:
        """Lines that are not sent any more because of it."""
        return [*(self.fields.get("retractedMessageUuids") or ()), *(self.fields.get("supersedesUuids") or ())]


class Findings:
    """Findings so far; strictly, what is only odd in an agent's own log is an error in a copy of ours."""

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.findings: list[LintFinding] = []

    def error(self, rule: str, line: LintLine | int, message: str, where: str = "") -> None:
        """Keeps the session, or a part of it, from being resumed."""
        self._add(rule, line, message, "error", where)

    def odd(self, rule: str, line: LintLine | int, message: str, where: str = "") -> None:
        """Harmless where the agent wrote it, and nothing that a copy may have."""
        self._add(rule, line, message, "error" if self.strict else "warning", where)

    def warn(self, rule: str, line: LintLine | int, message: str, where: str = "") -> None:
        """Worth knowing, in a copy too."""
        self._add(rule, line, message, "warning", where)

    def judged(self, severe: bool, rule: str, line: LintLine | int, message: str) -> None:
        """An error where it is severe, else odd."""
        (self.error if severe else self.odd)(rule, line, message)

    def _add(self, rule: str, line: LintLine | int, message: str, severity: Severity, where: str) -> None:
        number = line if isinstance(line, int) else line.number
        place = where or ("" if isinstance(line, int) else line.id)
        self.findings.append(LintFinding(rule, number, message, severity, place))

    def sorted(self) -> list[LintFinding]:
        """By line, the worst of a line first."""
        return sorted(self.findings, key=lambda one: (one.line, one.severity, one.rule))


def read_lines(lines: Iterable[bytes], notes: Findings) -> Iterator[LintLine]:
    """The lines that the agent can read; what it cannot is noted."""
    offset = number = last = 0
    raw = b""
    for number, raw in enumerate(lines, 1):
        entries = tuple(line_entries(raw, number, offset, _decode_fields))
        offset += len(raw)
        if not entries or ((len(entries) > 1 or entries[0].problem) and not _is_readable(entries, notes)):
            continue
        last = number
        yield _line(entries[0], notes)
    if last and last == number and not raw.endswith(b"\n"):
        notes.odd("no-newline", last, "The last line has no end: what the agent writes next is glued to it.")


def _decode_fields(raw: bytes) -> LineFields:
    """The fields that rules are about; a line where one is of a wrong type, or no text, is left to be recovered."""
    if not raw.isascii():
        raw.decode()  # the other fields are skipped as they are
    return _DECODER.decode(raw)


def _is_readable(entries: tuple[Entry, ...], notes: Findings) -> bool:
    """Whether the agent can read a damaged line, of which these entries could be recovered."""
    number, raw = entries[0].place.line, b"".join(entry.raw for entry in entries)
    if number == 1 and raw.startswith(BOM):
        notes.odd("byte-order-mark", number, "The log begins with a byte-order mark.")
    text = raw.decode("utf-8-sig", "replace")
    try:
        raw.removeprefix(BOM).decode()
    except UnicodeDecodeError as error:
        notes.odd("not-utf8", number, f"Bytes that are no text, the first at {error.start}: they are read as “�”.")
    if not text.strip(" \t\r\n"):
        return False
    try:
        data = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        _note_unreadable(entries, raw, notes)
        return False
    if not isinstance(data, dict):
        notes.odd("bad-json-type", number, "The line is no object: the agent skips it.")
        return False
    if "message" in data and _LONE.search(json.dumps(data["message"], ensure_ascii=False)):
        told = "Half of a character (a lone surrogate) is in the message: the model's service refuses it."
        notes.error("lone-surrogate", number, told)
    return True


def _refuse(name: str) -> None:
    """NaN and the like: Python reads them, JSON has none."""
    raise ValueError(name)


def _note_unreadable(entries: tuple[Entry, ...], raw: bytes, notes: Findings) -> None:
    number = entries[0].place.line
    if b"\0" in raw:
        if raw.strip(b"\0 \t\r\n"):
            notes.error("nul-bytes", number, "NUL bytes: the agent cannot read the line, and what it said is missing.")
        else:
            notes.odd("nul-bytes", number, "Nothing but NUL bytes: the agent skips the line.")
    elif len(entries) > 1 and all(entry.data is not None for entry in entries):
        told = "Several lines are glued into one: the agent can read none of them, and what they said is missing."
        notes.error("glued-lines", number, told)
    else:
        told = "The line is torn: the agent skips it, before 2.1.121 it refuses the log; what it said is missing."
        notes.error("torn-line", number, told)


def _line(entry: Entry, notes: Findings) -> LintLine:
    data, raw, number = entry.data or {}, entry.raw, entry.place.line
    if entry.problem:
        _drop_wrong_types(entry, notes)
    fields = cast("LineFields", entry.data)
    kind, message = fields.get("type"), fields.get("message")
    is_turn = kind in _TURNS
    if kind is None:
        notes.odd("bad-json-type", number, "The line does not say what it is: the agent skips it.")
    elif is_turn and not fields.get("uuid"):
        notes.odd("bad-json-type", number, "A message without an id of its own: the agent skips it.")
    blocks, flaws = lint_content(message) if is_turn else ((), ())
    if "toolUseResult" in fields:
        flaws += flaws_of_record(fields) if kind == "user" else ()
        del fields["toolUseResult"]
    event = _event(data, entry.place, blocks)
    if fields.get("timestamp") and event.time is None and event.kind != "side":
        notes.warn("bad-json-type", number, "The time of the line is no date: the agent cannot tell when it was.")
    beside = event.kind == "side"
    if not beside and kind not in CONVERSATION:
        told = f"Lines of the type “{kind}” are not known: it stays as it is, and an agent that does not know it either"
        notes.warn("unknown-type", number, f"{told} forgets what stands above it.")
    said = message or {}
    content = said.pop("content", None)
    return LintLine(
        number,
        kind or "",
        fields.get("uuid") or "",
        event,
        fields,
        said.get("role") or "",
        blocks,
        flaws,
        hash(raw if raw.endswith(b"\n") else raw + b"\n"),
        tuple(one.decode() for one in _UUID.findall(raw)) if notes.strict and beside else (),
        content[:_OPENING] if isinstance(content, str) else "",
    )


def _drop_wrong_types(entry: Entry, notes: Findings) -> None:
    for name in drop_wrong_types(entry.data or {}):
        told = f"“{name}” is of a type that it never has: the agent may stumble over it."
        notes.judged(name.startswith("message"), "bad-json-type", entry.place.line, told)


def _event(data: dict[str, Any], place: Place, blocks: tuple[LintBlock, ...]) -> Event:
    """The event of a line, without what was said."""
    if not has_place(data):
        return Event("side", place)
    kind = data.get("type")
    line = line_of(data)
    event = chain_event(line, place)
    event.link = False  # the agent follows the parents that lines name, and nothing else
    event.turn = kind in _TURNS
    if kind == "system":
        parse_system(event, line, data)
    elif kind == "assistant":
        MessageParser(Detail.FIGURES, CallMemory()).parse(event, line)
    event.blocks = tuple(_light(block, place) for block in blocks if block.kind in ("tool_use", "tool_result"))
    event.prompt = None
    return event


def _light(block: LintBlock, place: Place) -> ToolCall | Result:
    if block.kind == "tool_use":
        return ToolCall(place, block.id, "", None, "running")
    return Result(place, block.id, "")


class LintChain:
    """The lines that have a place in the conversation, and what the agent loads of them."""

    def __init__(self, lines: Iterable[LintLine]) -> None:
        self.lines = [line for line in lines if line.in_chain]
        self.by_id = {line.id: line for line in self.lines}
        """Of two lines with one id the later, as for the agent."""
        self.tree = ConversationTree([line.event for line in self.lines])
        leaf = self.tree.leaf()
        self.leaf = self.lines[leaf] if leaf is not None else None

    @cached_property
    def live(self) -> LivePath:
        return LivePath(self.tree)

    def path(self, leaf: LintLine | None) -> list[LintLine]:
        """From where no parent follows down to a line."""
        if leaf is None:
            return []
        return [self.lines[index] for index in self.tree.path(self.tree.at[leaf.id], self.tree.strict)]

    def in_context(self, leaf: LintLine | None) -> list[LintLine]:
        """The lines that the agent has in mind at a line: since the last compaction, with what that one preserved."""
        if leaf is None:
            return []
        return [self.lines[index] for index in self.live.in_context(self.tree.at[leaf.id])]

    def closed_by(self, boundary: LintLine) -> list[LintLine]:
        """The lines between a compaction and the one before it."""
        end = self.tree.at.get(boundary.event.logical)
        return [self.lines[index] for index in self.live.loaded(end)] if end is not None else []

    def preserves(self, boundary: LintLine) -> bool:
        """Whether the lines that a compaction keeps are there."""
        return bool(self.live.preserved(self.tree.at[boundary.id]))

    @cached_property
    def boundaries(self) -> list[LintLine]:
        """Where the conversation was compacted."""
        return [line for line in self.lines if line.event.boundary]

    @property
    def last_words(self) -> LintLine | None:
        """The last line of the main conversation in the log."""
        return next((line for line in reversed(self.lines) if line.event.turn and line.is_main), None)

    def cycles(self) -> Iterator[list[LintLine]]:
        """Lines that follow one another in a circle; each has one that stands before the line it follows, or at it."""
        seen: dict[str, str] = {}
        for start, event in enumerate(self.tree.events):
            parent = self.tree.at.get(event.parent or "", -1)
            if parent < start:
                continue
            trail: list[str] = []
            at = event.id
            while at in self.by_id and at not in seen:
                seen[at] = event.id
                trail.append(at)
                at = self.by_id[at].parent
            if trail and seen.get(at) == event.id:
                yield [self.by_id[line] for line in trail[trail.index(at) :]]
