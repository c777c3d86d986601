"""What the validator knows of a line: small, so that a log of any size fits, whatever its lines hold."""

import re
from typing import Literal, NamedTuple

import msgspec
from msgspec import Raw

from unspool.formats.claude_code.lint.pictures import flaw_of_picture
from unspool.formats.claude_code.lint.shape import Block, Detail, Message, Shape

CHAIN = frozenset({"user", "assistant", "system", "attachment", "progress"})
"""Types of lines that have a place in the conversation's tree."""
SPOKEN = frozenset({"user", "assistant"})

_BLANK = re.compile(rb'"(?:[ \t]|\\[nrt])*"\s*\Z')
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_KIND = re.compile(r"[a-z][a-z0-9_]*")
_PARTS = msgspec.json.Decoder(list[Block])
_PART = msgspec.json.Decoder(Block)
_DETAIL = msgspec.json.Decoder(Detail)
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


Grade = Literal["error", "odd", "warn"]


class Flaw(NamedTuple):
    """What is wrong with a block by itself, and how bad that is."""

    rule: str
    message: str
    grade: Grade = "error"
    """odd: the agent itself leaves it out, so that only a copy of ours must not have it; warn: nor is it there."""


class Piece(NamedTuple):
    """A content block, without its contents."""

    kind: str
    id: str = ""
    """The id of the call that it is, or answers."""
    flaws: tuple[Flaw, ...] = ()

    @property
    def is_thought(self) -> bool:
        return self.kind in _THOUGHTS


class Line(NamedTuple):
    """A line of the conversation's tree, or beside it."""

    number: int
    id: str
    parent: str
    shape: Shape
    """Without its message and the tool's record, which are as large as the line."""
    role: str
    message: str
    """The id of the message it is a part of; its own where it has none."""
    model: str
    pieces: tuple[Piece, ...]
    flaws: tuple[Flaw, ...]
    digest: int

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


def line_of(number: int, shape: Shape, digest: int) -> Line:
    """The facts of a decoded line; nothing of it keeps the line's bytes in memory."""
    message = shape.message
    pieces, flaws = _content(message) if shape.type in SPOKEN else ((), ())
    flaws += _record(shape) if message is not None else ()
    shape.message = None
    shape.tool_use_result = Raw(b"1" if shape.tool_use_result else b"")
    said = message or Message()
    return Line(
        number, shape.uuid or "", shape.parent_uuid or "", shape,
        said.role or "", said.id or shape.uuid or "", said.model or "", pieces, flaws, digest,
    )  # fmt: skip


def _content(message: Message | None) -> tuple[tuple[Piece, ...], tuple[Flaw, ...]]:
    if message is None:
        return (), (Flaw("empty-content", "The line has no message.", "odd"),)
    content = message.content
    if isinstance(content, str):
        if content.strip():
            return (Piece("text"),), ()
        return (Piece("text", "", (Flaw("empty-content", "The message is empty."),)),), ()
    if not content:
        return (), (Flaw("empty-content", "The line has no content.", "odd"),)
    assistant = message.role == "assistant"
    return tuple(_piece(block, assistant) for block in content), ()


def piece_of(raw: bytes, *, assistant: bool) -> Piece:
    """The facts of one block, given as JSON."""
    try:
        return _piece(_PART.decode(raw), assistant)
    except msgspec.DecodeError:
        return Piece("", "", (Flaw("bad-json-type", "A content block cannot be understood."),))


def _piece(block: Block, assistant: bool) -> Piece:
    match block.type:
        case "text":
            return Piece("text", "", _flaws_of_text(block, assistant))
        case "tool_use":
            return Piece("tool_use", block.id or "", _flaws_of_call(block))
        case "tool_result":
            return Piece("tool_result", block.tool_use_id or "", _flaws_of_result(block))
        case "thinking":
            return Piece("thinking", "", _flaws_of_thought(block))
        case "image" | "document":
            flaw = flaw_of_picture(block)
            return Piece(block.type, "", (Flaw(*flaw),) if flaw else ())
        case None:
            return Piece("", "", (Flaw("bad-json-type", "A content block does not say what it is."),))
        case other if _KIND.fullmatch(other):
            return Piece(other)
        case other:
            return Piece(other, "", (Flaw("bad-json-type", "A content block is of a kind that there is none of."),))


def _flaws_of_text(block: Block, assistant: bool) -> tuple[Flaw, ...]:
    raw = memoryview(block.text)
    if not raw:
        return (Flaw("empty-content", "A text block has no text."),)
    if raw[0] != 34:
        return (Flaw("bad-json-type", "The text of a text block is no text."),)
    if _BLANK.match(raw):
        return (Flaw("empty-content", "A text block is empty.", "odd" if assistant and len(raw) > 2 else "error"),)
    return ()


def _flaws_of_call(block: Block) -> tuple[Flaw, ...]:
    if not block.id:
        return (Flaw("bad-json-type", "A tool call has no id."),)
    found = (Flaw("bad-call-id", "The id of a tool call holds more than letters, digits, - and _."),)
    flaws = () if _ID.fullmatch(block.id) else found
    if bytes(memoryview(block.input)[:1]) == b"{":
        return flaws
    grade: Grade = "warn" if _holds_object(block.input) else "error"  # a text is how some versions wrote an object
    return (*flaws, Flaw("bad-json-type", f"The input of the tool call {block.id} is no object.", grade))


def _holds_object(raw: Raw) -> bool:
    try:
        return isinstance(msgspec.json.decode(msgspec.json.decode(raw, type=str)), dict)
    except (msgspec.DecodeError, RecursionError):
        return False


def _flaws_of_result(block: Block) -> tuple[Flaw, ...]:
    if not block.tool_use_id:
        return (Flaw("bad-json-type", "A tool result does not say which call it answers."),)
    if not _ID.fullmatch(block.tool_use_id):
        return (Flaw("bad-call-id", "The id that a tool result names holds more than letters, digits, - and _."),)
    raw = memoryview(block.content)
    if bytes(raw[:1]) in (b"", b'"', b"n"):
        return ()
    try:
        inner = _PARTS.decode(block.content)
    except msgspec.DecodeError:
        return (Flaw("bad-json-type", f"The content of the result of {block.tool_use_id} is no list of blocks."),)
    found = [flaw for part in inner for flaw in _piece(part, True).flaws]
    return tuple(flaw._replace(grade="warn") if flaw.rule == "empty-content" else flaw for flaw in found)


def _flaws_of_thought(block: Block) -> tuple[Flaw, ...]:
    if _BLANK.match(memoryview(block.signature)) or bytes(memoryview(block.signature)[:1]) != b'"':
        return (Flaw("bad-thinking", "Reasoning without the signature that proves it."),)
    if bytes(memoryview(block.thinking)[:1]) != b'"':
        return (Flaw("bad-thinking", "Reasoning that is no text."),)
    return ()


def _record(shape: Shape) -> tuple[Flaw, ...]:
    """Where the tool's own record of a result tells something else than the result that the model sees."""
    content = shape.message.content if shape.message is not None else None
    results = [block for block in content if block.type == "tool_result"] if isinstance(content, list) else []
    record = memoryview(shape.tool_use_result)
    if len(results) != 1 or not record or record[0] != 123:
        return ()
    shown = memoryview(results[0].content)
    if bytes(shown[1:18]) == b"<persisted-output"[:17]:
        return ()  # the whole is in a file of the session
    if bytes(shown[:1]) != b'"' or len(record) < 8 * len(shown) or len(record) < 2000:
        return ()
    try:
        printed = len(memoryview(_DETAIL.decode(shape.tool_use_result).stdout))
    except msgspec.DecodeError:
        return ()
    if printed > 2 * len(shown) + 200:
        return (
            Flaw("result-mismatch", "The tool's own record holds more than the result that the model sees.", "odd"),
        )
    return ()
