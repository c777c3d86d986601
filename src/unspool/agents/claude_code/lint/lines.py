"""What the validator knows of a line and its blocks, pictures included."""

import binascii
import re
from typing import Literal

import msgspec
from msgspec import Raw

from unspool.agents.claude_code.lint.shapes import NOTHING, BlockShape, DetailShape, LineShape, MessageShape
from unspool.agents.pixels import HEAD, KINDS, kind_of, size_of
from unspool.agents.writing import LintFinding, Severity

LARGEST_BYTES = 5 * 1024 * 1024
"""Of base64, as the service counts."""
LARGEST_SIDE = 8000

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def flaw_of_picture(block: BlockShape) -> tuple[str, str] | None:
    """(rule, sentence) where an image or document block would be refused."""
    source = block.source
    if source is None or source.type is None:
        return ("bad-image", "A picture has no source.") if block.type == "image" else None
    if source.type != "base64":
        return None
    raw = memoryview(source.data)
    data = bytes(raw[1:-1]).replace(b"\\/", b"/") if bytes(raw[:1]) == b'"' else b""
    if not data:
        return "bad-image", "A picture has no data."
    if data.rstrip(b"=").translate(None, _ALPHABET) or len(data) % 4 == 1:
        return "bad-image", "The data of a picture is no base64."
    return _flaw_of_image(data, source.media_type or "") if block.type == "image" else None


def _flaw_of_image(data: bytes, media: str) -> tuple[str, str] | None:
    if media not in KINDS:
        return "bad-image", f"A picture is of the kind {media[:40] or 'unknown'}, which the model does not take."
    if len(data) > LARGEST_BYTES:
        return "oversized-image", f"A picture has {len(data):,} bytes; the model takes {LARGEST_BYTES:,}."
    head = binascii.a2b_base64(data[: min(HEAD, len(data) - len(data) % 4)])
    real = kind_of(head)
    if real and real != media:
        return "bad-image", f"A picture is called {media} and is {real}."
    width, height = size_of(head)
    if max(width, height) > LARGEST_SIDE:
        return "oversized-image", f"A picture has {width} × {height} pixels; the model takes {LARGEST_SIDE} a side."
    return None


_BLANK = re.compile(rb'"(?:[ \t]|\\[nrt])*"\s*\Z')
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_KIND = re.compile(r"[a-z][a-z0-9_]*")
_PARTS = msgspec.json.Decoder(list[BlockShape])
_PART = msgspec.json.Decoder(BlockShape)
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


Grade = Literal["error", "odd", "warn"]


class BlockFlaw(msgspec.Struct, frozen=True, gc=False):
    """What is wrong with a block by itself, and how bad that is."""

    rule: str
    message: str
    grade: Grade = "error"
    """odd: the agent itself leaves it out, so that only a copy of ours must not have it; warn: nor is it there."""


class LintBlock(msgspec.Struct, frozen=True, gc=False):
    """A content block, without its contents."""

    kind: str
    id: str = ""
    """The id of the call that it is, or answers."""
    flaws: tuple[BlockFlaw, ...] = ()

    @property
    def is_thought(self) -> bool:
        return self.kind in _THOUGHTS


def lint_content(message: MessageShape | None) -> tuple[tuple[LintBlock, ...], tuple[BlockFlaw, ...]]:
    """The blocks of a message, and what is wrong with it as a whole."""
    if message is None:
        return (), (BlockFlaw("empty-content", "The line has no message.", "odd"),)
    content = message.content
    if isinstance(content, str):
        if content.strip():
            return (LintBlock("text"),), ()
        return (LintBlock("text", "", (BlockFlaw("empty-content", "The message is empty."),)),), ()
    if not content:
        return (), (BlockFlaw("empty-content", "The line has no content.", "odd"),)
    assistant = message.role == "assistant"
    return tuple([_piece(block, assistant) for block in content]), ()


def lint_block(raw: bytes, *, assistant: bool) -> LintBlock:
    """The facts of one block, given as JSON."""
    try:
        return _piece(_PART.decode(raw), assistant)
    except msgspec.DecodeError:
        return LintBlock("", "", (BlockFlaw("bad-json-type", "A content block cannot be understood."),))


def _piece(block: BlockShape, assistant: bool) -> LintBlock:
    match block.type:
        case "text":
            return LintBlock("text", "", _flaws_of_text(block, assistant))
        case "tool_use":
            return LintBlock("tool_use", block.id or "", _flaws_of_call(block))
        case "tool_result":
            return LintBlock("tool_result", block.tool_use_id or "", _flaws_of_result(block))
        case "thinking":
            return LintBlock("thinking", "", _flaws_of_thought(block))
        case "image" | "document":
            flaw = flaw_of_picture(block)
            return LintBlock(block.type, "", (BlockFlaw(*flaw),) if flaw else ())
        case None:
            return LintBlock("", "", (BlockFlaw("bad-json-type", "A content block does not say what it is."),))
        case other if _KIND.fullmatch(other):
            return LintBlock(other)
        case other:
            return LintBlock(
                other, "", (BlockFlaw("bad-json-type", "A content block is of a kind that there is none of."),)
            )


def _flaws_of_text(block: BlockShape, assistant: bool) -> tuple[BlockFlaw, ...]:
    raw = memoryview(block.text)
    if not raw:
        return (BlockFlaw("empty-content", "A text block has no text."),)
    if raw[0] != 34:
        return (BlockFlaw("bad-json-type", "The text of a text block is no text."),)
    if _BLANK.match(raw):
        return (BlockFlaw("empty-content", "A text block is empty.", "odd" if assistant and len(raw) > 2 else "error"),)
    return ()


def _flaws_of_call(block: BlockShape) -> tuple[BlockFlaw, ...]:
    if not block.id:
        return (BlockFlaw("bad-json-type", "A tool call has no id."),)
    found = (BlockFlaw("bad-call-id", "The id of a tool call holds more than letters, digits, - and _."),)
    flaws = () if _ID.fullmatch(block.id) else found
    if bytes(memoryview(block.input)[:1]) == b"{":
        return flaws
    grade: Grade = "warn" if _holds_object(block.input) else "error"  # a text is how some versions wrote an object
    return (*flaws, BlockFlaw("bad-json-type", f"The input of the tool call {block.id} is no object.", grade))


def _holds_object(raw: Raw) -> bool:
    try:
        return isinstance(msgspec.json.decode(msgspec.json.decode(raw, type=str)), dict)
    except (msgspec.DecodeError, RecursionError):
        return False


def _flaws_of_result(block: BlockShape) -> tuple[BlockFlaw, ...]:
    if not block.tool_use_id:
        return (BlockFlaw("bad-json-type", "A tool result does not say which call it answers."),)
    if not _ID.fullmatch(block.tool_use_id):
        return (BlockFlaw("bad-call-id", "The id that a tool result names holds more than letters, digits, - and _."),)
    raw = memoryview(block.content)
    if bytes(raw[:1]) in (b"", b'"', b"n"):
        return ()
    try:
        inner = _PARTS.decode(block.content)
    except msgspec.DecodeError:
        return (BlockFlaw("bad-json-type", f"The content of the result of {block.tool_use_id} is no list of blocks."),)
    found = [flaw for part in inner for flaw in _piece(part, True).flaws]
    return tuple(
        msgspec.structs.replace(flaw, grade="warn") if flaw.rule == "empty-content" else flaw for flaw in found
    )


def _flaws_of_thought(block: BlockShape) -> tuple[BlockFlaw, ...]:
    if _BLANK.match(memoryview(block.signature)) or bytes(memoryview(block.signature)[:1]) != b'"':
        return (BlockFlaw("bad-thinking", "Reasoning without the signature that proves it."),)
    if bytes(memoryview(block.thinking)[:1]) != b'"':
        return (BlockFlaw("bad-thinking", "Reasoning that is no text."),)
    return ()


CHAIN = frozenset({"user", "assistant", "system", "attachment", "progress"})
"""Types of lines that have a place in the conversation's tree."""
SPOKEN = frozenset({"user", "assistant"})

_DETAIL = msgspec.json.Decoder(DetailShape)
_OPENING = 60
_STUB = b'"[left out: '
"""How a result begins that a copy of ours tells in one line."""


class LintLine(msgspec.Struct, frozen=True, gc=False, eq=False):
    """A line of the conversation's tree, or beside it."""

    number: int
    id: str
    parent: str
    shape: LineShape
    """Without its message and the tool's record, which are as large as the line."""
    role: str
    message: str
    """The id of the message it is a part of; its own where it has none."""
    model: str
    pieces: tuple[LintBlock, ...]
    flaws: tuple[BlockFlaw, ...]
    digest: int
    mentions: tuple[str, ...] = ()
    """Ids of the common shape that a line beside the conversation holds, where a copy is looked at."""
    opening: str = ""
    """How a message begins that is one text."""
    start: int = 0
    """Where the line begins, in bytes."""

    @property
    def in_chain(self) -> bool:
        return bool(self.id) and self.shape.type in CHAIN

    @property
    def spoken(self) -> bool:
        return self.shape.type in SPOKEN

    @property
    def is_boundary(self) -> bool:
        return self.shape.subtype == "compact_boundary" and self.shape.type == "system"

    @property
    def is_main(self) -> bool:
        """Whether a session may go on from it: neither a subagent's nor a team's nor the agent's own remark."""
        return not (self.shape.is_sidechain or self.shape.team_name or self.shape.is_meta)

    @property
    def calls(self) -> list[str]:
        return [piece.id for piece in self.pieces if piece.kind == "tool_use"]

    @property
    def answers(self) -> list[str]:
        return [piece.id for piece in self.pieces if piece.kind == "tool_result"]


def line_of(number: int, shape: LineShape, digest: int, mentions: tuple[str, ...], start: int) -> LintLine:
    """The facts of a decoded line; nothing of it keeps the line's bytes in memory."""
    message = shape.message
    pieces, flaws = lint_content(message) if shape.type in SPOKEN else ((), ())
    if shape.type == "user" and message is not None:
        flaws += _record(shape, message.content)
    shape.message = None
    shape.tool_use_result = NOTHING
    said = message or MessageShape()
    opening = said.content[:_OPENING] if isinstance(said.content, str) else ""
    return LintLine(
        number, shape.uuid or "", shape.parent_uuid or "", shape,
        said.role or "", said.id or shape.uuid or "", said.model or "", pieces, flaws, digest, mentions, opening, start,
    )  # fmt: skip


def _is_stub(block: BlockShape) -> bool:
    return block.type == "tool_result" and bytes(memoryview(block.content)[: len(_STUB)]) == _STUB


def _record(shape: LineShape, content: list[BlockShape] | str | None) -> tuple[BlockFlaw, ...]:
    """Where the tool's own record of a result tells something else than the result that the model sees."""
    record = memoryview(shape.tool_use_result)
    if len(record) > 2 and isinstance(content, list) and any(map(_is_stub, content)):
        return (
            BlockFlaw("result-mismatch", "A result was left out, and the tool's own record still holds it.", "odd"),
        )
    if len(record) < 2000 or record[0] != 123 or not isinstance(content, list):
        return ()
    results = [block for block in content if block.type == "tool_result"]
    if len(results) != 1:
        return ()
    shown = memoryview(results[0].content)
    if bytes(shown[1:18]) == b"<persisted-output":
        return ()  # the whole is in a file of the session
    if bytes(shown[:1]) != b'"' or len(record) < 2 * len(shown):
        return ()
    try:
        printed = len(memoryview(_DETAIL.decode(shape.tool_use_result).stdout))
    except msgspec.DecodeError:
        return ()
    if printed > 2 * len(shown) + 200:
        return (
            BlockFlaw(
                "result-mismatch", "The tool's own record holds more than the result that the model sees.", "odd"
            ),
        )
    return ()


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
