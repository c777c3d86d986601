"""What the model's service refuses of a content block by itself, pictures included."""

import binascii
import re
from typing import Any, Literal

import msgspec

from unspool.agents.claude_code.lint.field_types import BlockFields, LineFields, MessageFields
from unspool.agents.pixels import HEAD, KINDS, kind_of, size_of
from unspool.model import Json

LARGEST_BYTES = 5 * 1024 * 1024
"""Of base64, as the service counts."""
LARGEST_SIDE = 8000

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BLANK = re.compile(r"[ \t\r\n]*\Z")
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_KIND = re.compile(r"[a-z][a-z0-9_]*")
_STUB = "[left out: "
"""How a result begins that a copy of ours tells in one line."""

_IN_FILE = "<persisted-output"
"""How a result begins of which the whole is in a file of the session."""
_NOTABLE = 2000
"""Characters of a tool's own record, from which on it is held against the result."""

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
        return self.kind in ("thinking", "redacted_thinking")


def lint_content(message: MessageFields | None) -> tuple[tuple[LintBlock, ...], tuple[BlockFlaw, ...]]:
    """The blocks of a message, and what is wrong with it as a whole."""
    if message is None:
        return (), (BlockFlaw("empty-content", "The line has no message.", "odd"),)
    content = message.get("content")
    if isinstance(content, str):
        flaws = () if content.strip() else (BlockFlaw("empty-content", "The message is empty."),)
        return (LintBlock("text", "", flaws),), ()
    if not content:
        return (), (BlockFlaw("empty-content", "The line has no content.", "odd"),)
    assistant = message.get("role") == "assistant"
    return tuple([_lint_block(block, assistant) for block in content]), ()


def lint_block(data: dict[str, Any], *, assistant: bool) -> LintBlock:
    """What is known of one block, given as plain data."""
    try:
        return _lint_block(msgspec.convert(data, BlockFields), assistant)
    except msgspec.ValidationError:
        return LintBlock("", "", (BlockFlaw("bad-json-type", "A content block cannot be understood."),))


def _lint_block(block: BlockFields, assistant: bool) -> LintBlock:
    kind = block.get("type")
    match kind:
        case "text":
            return LintBlock("text", "", _flaws_of_text(block, assistant))
        case "tool_use":
            return LintBlock("tool_use", block.get("id") or "", _flaws_of_call(block))
        case "tool_result":
            return LintBlock("tool_result", block.get("tool_use_id") or "", _flaws_of_result(block))
        case "thinking":
            return LintBlock("thinking", "", _flaws_of_thought(block))
        case "image" | "document":
            flaw = flaw_of_picture(block)
            return LintBlock(kind, "", (BlockFlaw(*flaw),) if flaw else ())
        case None:
            return LintBlock("", "", (BlockFlaw("bad-json-type", "A content block does not say what it is."),))
        case other if _KIND.fullmatch(other):
            return LintBlock(other)
        case other:
            flaw_of_kind = BlockFlaw("bad-json-type", "A content block is of a kind that there is none of.")
            return LintBlock(other, "", (flaw_of_kind,))


def _flaws_of_text(block: BlockFields, assistant: bool) -> tuple[BlockFlaw, ...]:
    text = block.get("text")
    if "text" not in block:
        return (BlockFlaw("empty-content", "A text block has no text."),)
    if not isinstance(text, str):
        return (BlockFlaw("bad-json-type", "The text of a text block is no text."),)
    if _BLANK.match(text):
        return (BlockFlaw("empty-content", "A text block is empty.", "odd" if assistant and text else "error"),)
    return ()


def _flaws_of_call(block: BlockFields) -> tuple[BlockFlaw, ...]:
    call, given = block.get("id"), block.get("input")
    if not call:
        return (BlockFlaw("bad-json-type", "A tool call has no id."),)
    bad_id = BlockFlaw("bad-call-id", "The id of a tool call holds more than letters, digits, - and _.")
    flaws = () if _ID.fullmatch(call) else (bad_id,)
    if isinstance(given, dict):
        return flaws
    grade: Grade = "warn" if _holds_object(given) else "error"  # a text is how some versions wrote an object
    return (*flaws, BlockFlaw("bad-json-type", f"The input of the tool call {call} is no object.", grade))


def _holds_object(value: Json) -> bool:
    try:
        return isinstance(value, str) and isinstance(msgspec.json.decode(value), dict)
    except (msgspec.DecodeError, RecursionError):
        return False


def _flaws_of_result(block: BlockFields) -> tuple[BlockFlaw, ...]:
    call, content = block.get("tool_use_id"), block.get("content")
    if not call:
        return (BlockFlaw("bad-json-type", "A tool result does not say which call it answers."),)
    if not _ID.fullmatch(call):
        return (BlockFlaw("bad-call-id", "The id that a tool result names holds more than letters, digits, - and _."),)
    if content is None or isinstance(content, str):
        return ()
    try:
        inner = msgspec.convert(content, list[BlockFields])
    except msgspec.ValidationError:
        return (BlockFlaw("bad-json-type", f"The content of the result of {call} is no list of blocks."),)
    found = [flaw for part in inner for flaw in _lint_block(part, True).flaws]
    return tuple(
        msgspec.structs.replace(flaw, grade="warn") if flaw.rule == "empty-content" else flaw for flaw in found
    )


def _flaws_of_thought(block: BlockFields) -> tuple[BlockFlaw, ...]:
    signature = block.get("signature")
    if not isinstance(signature, str) or _BLANK.match(signature):
        return (BlockFlaw("bad-thinking", "Reasoning without the signature that proves it."),)
    if not isinstance(block.get("thinking"), str):
        return (BlockFlaw("bad-thinking", "Reasoning that is no text."),)
    return ()


def flaw_of_picture(block: BlockFields) -> tuple[str, str] | None:
    """(rule, sentence) where an image or document block would be refused."""
    source, is_image = block.get("source") or {}, block.get("type") == "image"
    if source.get("type") is None:
        return ("bad-image", "A picture has no source.") if is_image else None
    if source["type"] != "base64":
        return None
    given = source.get("data")
    if not given or not isinstance(given, str):
        return "bad-image", "A picture has no data."
    data = given.encode(errors="replace")
    if data.rstrip(b"=").translate(None, _ALPHABET) or len(data) % 4 == 1:
        return "bad-image", "The data of a picture is no base64."
    return _flaw_of_image(data, source.get("media_type") or "") if is_image else None


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


def flaws_of_record(line: LineFields) -> tuple[BlockFlaw, ...]:
    """Where the tool's own record of a result tells something else than the result that the model sees."""
    record, content = line.get("toolUseResult"), (line.get("message") or {}).get("content")
    if not record or not isinstance(content, list):
        return ()
    results = [block.get("content") for block in content if block.get("type") == "tool_result"]
    if any(isinstance(shown, str) and shown.startswith(_STUB) for shown in results):
        told = "A result was left out, and the tool's own record still holds it."
        return (BlockFlaw("result-mismatch", told, "odd"),)
    shown = results[0] if len(results) == 1 else None
    printed = record.get("stdout") if isinstance(record, dict) else None
    if not isinstance(shown, str) or not isinstance(printed, str) or shown.startswith(_IN_FILE):
        return ()
    if len(printed) < max(_NOTABLE, 2 * len(shown) + 200):
        return ()
    told = "The tool's own record holds more than the result that the model sees."
    return (BlockFlaw("result-mismatch", told, "odd"),)
