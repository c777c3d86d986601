"""Blocks that the model's service refuses, taken out or told in words."""

import json
import re
from typing import Any

from unspool.formats.claude_code.lint.blocks import Flaw, Piece, piece_of
from unspool.formats.claude_code.lint.facts import Line
from unspool.formats.claude_code.mending.rows import Row, Rows, data, new_id

_OTHER = re.compile(r"[^a-zA-Z0-9_-]")
_PICTURES = frozenset({"image", "document"})
_TOLD = {
    "empty-content": "Empty content was taken out.",
    "bad-thinking": "Reasoning without a valid signature was taken out.",
    "bad-json-type": "A block that could not be understood was taken out.",
    "bad-call-id": "The id of a call was made one that is taken.",
    "oversized-image": "A picture that is too large was replaced by words.",
    "bad-image": "A picture that the model does not take was replaced by words.",
}
LOST = "[what was said before is lost]"
PLACEHOLDER = "[a picture was here that could not be sent]"


def mend(rows: Rows) -> None:
    """Mend every line of the messages that would be sent; lines that say nothing any more go."""
    flawed = [line for message in rows.sent() for line in message.lines if _is_flawed(line)]
    rows.drop([rows.row(line) for line in flawed if not _mended(rows, line)])
    _last_thoughts(rows)
    _beginning(rows)


def _last_thoughts(rows: Rows) -> None:
    """No answer ends in reasoning."""
    empty: list[Row] = []
    for message in rows.sent():
        if message.role == "assistant" and message.pieces and message.pieces[-1][1].is_thought:
            line = message.pieces[-1][0]
            row = rows.row(line)
            rows.tell("bad-thinking", row, "Reasoning that nothing followed was taken out.", line.id)
            value = data(row)
            value["message"]["content"] = value["message"]["content"][:-1]
            rows.put(row, value)
            empty += [] if value["message"]["content"] else [row]
    rows.drop(empty)


def _beginning(rows: Rows) -> None:
    """A conversation begins with words of a person's; where they are lost, that is said."""
    sent = rows.sent()
    if not sent or sent[0].role == "user":
        return
    first = rows.row(sent[0].lines[0])
    made = new_id(sent[0].lines[0].id, first.number)
    message = {"role": "user", "content": LOST}
    value = {"parentUuid": sent[0].lines[0].parent or None, "type": "user", "message": message, "uuid": made}
    rows.insert(first, value, before=True)
    rows.set(first, parentUuid=made)
    rows.tell("role-order", first, "The prompt it answers is lost: a line before it says so now.", sent[0].lines[0].id)


def _is_flawed(line: Line) -> bool:
    if line.role and line.role != line.shape.type:
        return True
    flaws = [*line.flaws, *(flaw for piece in line.pieces for flaw in piece.flaws)]
    return any(map(_counts, flaws))


def _counts(flaw: Flaw) -> bool:
    return flaw.grade == "error" or (flaw.grade == "odd" and flaw.rule in _TOLD)


def _mended(rows: Rows, line: Line) -> bool:
    """Mend a line; whether it still says something."""
    row = rows.row(line)
    before = row.raw
    value = data(row)
    message = value.get("message")
    if isinstance(message, dict):
        if message.get("role") != line.shape.type:
            rows.tell("role-order", row, "The role of the message was set to the line's.", line.id)
            message["role"] = line.shape.type
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        kept = [one for block in blocks for one in _kept(rows, row, block, line.shape.type == "assistant")]
        if kept:
            message["content"] = kept if isinstance(content, list) else content
            rows.put(row, value)
            return True
    rows.tell("empty-content", row, "Nothing was left of the line, and it was taken out.", line.id, before)
    return False


def _kept(rows: Rows, row: Row, block: Any, assistant: bool) -> list[dict[str, Any]]:
    piece = piece_of(json.dumps(block).encode(), assistant=assistant)
    for flaw in _errors(piece):
        rows.tell(flaw.rule, row, _TOLD.get(flaw.rule, flaw.message), piece.id)
    if not _errors(piece):
        return [block]
    if piece.kind in _PICTURES:
        return [{"type": "text", "text": PLACEHOLDER}]
    if piece.kind == "tool_use" and piece.id:
        given = block.get("input")
        return [{**block, "id": _plain_id(piece.id), "input": given if isinstance(given, dict) else {}}]
    if piece.kind == "tool_result" and piece.id:
        return [{**block, "tool_use_id": _plain_id(piece.id), "content": _inner(block.get("content"))}]
    return []


def _plain_id(call: str) -> str:
    return _OTHER.sub("_", call)


def _inner(content: Any) -> Any:
    """The content of a result with its refused pictures in words; words where it cannot be understood."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
        return "[what was recorded cannot be read]"
    return [{"type": "text", "text": PLACEHOLDER} if _refused(one) else one for one in content]


def _refused(block: dict[str, Any]) -> bool:
    return bool(_errors(piece_of(json.dumps(block).encode(), assistant=True)))


def _errors(piece: Piece) -> list[Flaw]:
    return [flaw for flaw in piece.flaws if _counts(flaw)]
