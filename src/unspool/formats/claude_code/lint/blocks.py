"""What is wrong with content blocks, each by itself, told without keeping their contents."""

import re
from typing import Literal

import msgspec
from msgspec import Raw

from unspool.formats.claude_code.lint.pictures import flaw_of_picture
from unspool.formats.claude_code.lint.shape import Block, Message

_BLANK = re.compile(rb'"(?:[ \t]|\\[nrt])*"\s*\Z')
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_KIND = re.compile(r"[a-z][a-z0-9_]*")
_PARTS = msgspec.json.Decoder(list[Block])
_PART = msgspec.json.Decoder(Block)
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


Grade = Literal["error", "odd", "warn"]


class Flaw(msgspec.Struct, frozen=True, gc=False):
    """What is wrong with a block by itself, and how bad that is."""

    rule: str
    message: str
    grade: Grade = "error"
    """odd: the agent itself leaves it out, so that only a copy of ours must not have it; warn: nor is it there."""


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A content block, without its contents."""

    kind: str
    id: str = ""
    """The id of the call that it is, or answers."""
    flaws: tuple[Flaw, ...] = ()

    @property
    def is_thought(self) -> bool:
        return self.kind in _THOUGHTS


def content(message: Message | None) -> tuple[tuple[Piece, ...], tuple[Flaw, ...]]:
    """The blocks of a message, and what is wrong with it as a whole."""
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
    return tuple([_piece(block, assistant) for block in content]), ()


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
    return tuple(
        msgspec.structs.replace(flaw, grade="warn") if flaw.rule == "empty-content" else flaw for flaw in found
    )


def _flaws_of_thought(block: Block) -> tuple[Flaw, ...]:
    if _BLANK.match(memoryview(block.signature)) or bytes(memoryview(block.signature)[:1]) != b'"':
        return (Flaw("bad-thinking", "Reasoning without the signature that proves it."),)
    if bytes(memoryview(block.thinking)[:1]) != b'"':
        return (Flaw("bad-thinking", "Reasoning that is no text."),)
    return ()
