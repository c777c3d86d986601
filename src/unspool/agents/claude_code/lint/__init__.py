"""The validator: what keeps a log from being resumed, and what a copy of ours must never show.

It reads and joins lines by itself, sharing nothing with the product's reader, so that it can prove what that one and
the writer do. Findings are values; nothing in a log raises.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from unspool.agents.claude_code.lint import content_rules, structure_rules
from unspool.agents.claude_code.lint.lines import CHAIN, SPOKEN, Findings, LintLine, line_of
from unspool.agents.claude_code.lint.shapes import LineShape, drop_wrong_types
from unspool.agents.claude_code.lint.tree import LintTree, lines_in_context, lint_messages
from unspool.agents.writing import LintFinding

_BOM = b"\xef\xbb\xbf"
_LONE = re.compile(r"[\ud800-\udfff]")
_UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_DECODER = msgspec.json.Decoder(LineShape)
_SCAN = json.JSONDecoder().raw_decode


def read_lines(lines: Iterable[bytes], notes: Findings) -> Iterator[LintLine]:
    """The lines that the agent can read; what it cannot is noted."""
    raw = b"\n"
    number, readable, end = 0, True, 0
    for number, raw in enumerate(lines, 1):
        body, start, end = raw, end, end + len(raw)
        if not raw.isascii():
            body = _utf8(raw, number, notes)
        shape = _shape(body, number, notes)
        readable = shape is not None
        if shape is None:
            continue
        if b"\\ud" in body:
            _surrogates(body, number, notes)
        _whole(shape, number, notes)
        mentions = _mentions(body) if notes.strict and shape.type not in CHAIN else ()
        yield line_of(number, shape, hash(raw if raw.endswith(b"\n") else raw + b"\n"), mentions, start)
    if readable and not raw.endswith(b"\n"):
        notes.odd("no-newline", number, "The last line has no end: what the agent writes next is glued to it.")


def _mentions(body: bytes) -> tuple[str, ...]:
    return tuple(found.decode() for found in _UUID.findall(body))


def _shape(body: bytes, number: int, notes: Findings) -> LineShape | None:
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return _odd_shape(body, number, notes)


def _utf8(raw: bytes, number: int, notes: Findings) -> bytes:
    if number == 1 and raw.startswith(_BOM):
        notes.odd("byte-order-mark", number, "The log begins with a byte-order mark.")
        raw = raw[len(_BOM) :]
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        notes.odd("not-utf8", number, f"Bytes that are no text, the first at {error.start}: they are read as “�”.")
        return raw.decode(errors="replace").encode()
    return raw


def _odd_shape(body: bytes, number: int, notes: Findings) -> LineShape | None:
    """A line that is no object of the usual shape, as far as it can be used; None where the agent cannot read it."""
    try:
        data = json.loads(body, parse_constant=_refused)
    except (ValueError, RecursionError):
        _unreadable(body, number, notes)
        return None
    if not isinstance(data, dict):
        notes.odd("bad-json-type", number, "The line is no object: the agent skips it.")
        return None
    wrong = drop_wrong_types(data)
    for name in wrong:
        told = f"“{name}” is of a type that it never has: the agent may stumble over it."
        notes.judged(name.startswith("message"), "bad-json-type", number, told)
    return _DECODER.decode(json.dumps(data, ensure_ascii=False).encode(errors="replace"))


def _refused(name: str) -> None:
    """NaN and the like: Python reads them, JSON has none."""
    raise ValueError(name)


def _unreadable(body: bytes, number: int, notes: Findings) -> None:
    bare = body.strip(b" \t\r\n")
    if not bare:
        return
    if b"\0" in bare:
        if bare.strip(b"\0 \t\r\n"):
            notes.error("nul-bytes", number, "NUL bytes: the agent cannot read the line, and what it said is missing.")
        else:
            notes.odd("nul-bytes", number, "Nothing but NUL bytes: the agent skips the line.")
    elif len(json_objects(bare.decode())) > 1:
        told = "Several lines are glued into one: the agent can read none of them, and what they said is missing."
        notes.error("glued-lines", number, told)
    else:
        told = "The line is torn: the agent skips it, before 2.1.121 it refuses the log; what it said is missing."
        notes.error("torn-line", number, told)


def json_objects(text: str) -> list[dict[str, Any]]:
    """The objects that a text is made of, one behind the other; none where anything else is in it."""
    found: list[dict[str, Any]] = []
    at = 0
    while at < len(text):
        try:
            value, at = _SCAN(text, at)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict):
            return []
        found.append(value)
        while at < len(text) and text[at] in " \t\r\n":
            at += 1
    return found


def _surrogates(body: bytes, number: int, notes: Findings) -> None:
    try:
        said = json.loads(body).get("message")
    except (ValueError, RecursionError):
        return
    if said is not None and _LONE.search(json.dumps(said, ensure_ascii=False)):
        told = "Half of a character (a lone surrogate) is in the message: the model's service refuses it."
        notes.error("lone-surrogate", number, told)


def _whole(shape: LineShape, number: int, notes: Findings) -> None:
    if shape.type is None:
        notes.odd("bad-json-type", number, "The line does not say what it is: the agent skips it.")
    elif shape.type in SPOKEN and not shape.uuid:
        notes.odd("bad-json-type", number, "A message without an id of its own: the agent skips it.")


__all__ = ["lint", "rebuilt"]


def lint(lines: Iterable[bytes], *, strict: bool, edited_from: int | None = None) -> list[LintFinding]:
    """What is wrong with a log, by line. Strictly: as a copy of ours, else as the agent left it.

    `edited_from` is the number of the first line whose words a copy changed or that stands behind words left out.
    """
    notes = Findings(strict=strict)
    found = list(read_lines(lines, notes))
    tree = LintTree(found)
    live = lines_in_context(tree, tree.leaf)
    structure_rules.check_chain(tree, live, notes)
    content_rules.check_messages(lint_messages(live), notes)
    structure_rules.check_references(found, tree, notes)
    if strict:
        _copied(found, tree, live, notes)
    if edited_from is not None:
        content_rules.check_bound(found, edited_from, notes)
    return notes.sorted()


def _copied(found: list[LintLine], tree: LintTree, live: list[LintLine], notes: Findings) -> None:
    """A copy's own rules; what came before a compaction must be as sound as what came behind it."""
    path = {line.id for line in live}
    for boundary in (line for line in tree.lines if line.is_boundary):
        before = lines_in_context(tree, tree.by_id.get(boundary.shape.logical_parent_uuid or ""))
        fresh = [line for line in before if line.id not in path]
        if fresh:
            content_rules.check_messages(lint_messages(before), notes)
        path.update(line.id for line in before)
    content_rules.check_copy(found, tree, path, notes)


def rebuilt(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """The messages that the agent would send when it resumes a log: role and content blocks, results first."""
    kept = list(lines)
    tree = LintTree(list(read_lines(kept, Findings(strict=False))))
    found = []
    for message in lint_messages(lines_in_context(tree, tree.leaf)):
        blocks = [block for line in message.lines for block in _blocks(kept[line.number - 1])]
        blocks.sort(key=lambda block: message.role == "user" and block.get("type") != "tool_result")
        found.append({"role": message.role, "content": blocks})
    return found


def _blocks(raw: bytes) -> list[dict[str, Any]]:
    message = json.loads(raw.decode("utf-8-sig", "replace")).get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
