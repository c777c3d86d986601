"""Repairs of contents, links and pairs of calls and results."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from unspool.agents.claude_code.lint.block_rules import BlockFlaw, LintBlock, lint_block
from unspool.agents.claude_code.lint.content_rules import flaw_of_result
from unspool.agents.claude_code.lint.lines import LintChain, LintLine
from unspool.agents.claude_code.mending.rows import RepairRow, RepairRows, new_id, row_data

_OTHER = re.compile(r"[^a-zA-Z0-9_-]")
_PICTURES = frozenset({"image", "document"})
_TOLD = {
    "empty-content": "Empty content was taken out.",
    "bad-thinking": "Reasoning without a valid signature was taken out.",
    "bad-json-type": "A block that could not be understood was taken out.",
    "bad-call-id": "The id of a call was made one that is taken.",
    "oversized-image": "A picture that is too large was replaced by words.",
    "bad-image": "A picture that the model does not take was replaced by words.",
    "orphan-result": "A result of a call that is not there was taken out.",
    "duplicate-result": "A second result of the same call was taken out.",
    "result-not-next": "A result that stood too late was put behind its call.",
}
LOST = "[what was said before is lost]"
PLACEHOLDER = "[a picture was here that could not be sent]"


def repair_contents(rows: RepairRows) -> None:
    """Mend every line of the messages that would be sent; lines that say nothing any more go."""
    flawed = [line for message in rows.sent() for line in message.lines if _is_flawed(line)]
    rows.drop([rows.row(line) for line in flawed if not _mended(rows, line)])
    _last_thoughts(rows)
    _beginning(rows)


def _last_thoughts(rows: RepairRows) -> None:
    """No answer ends in reasoning."""
    empty: list[RepairRow] = []
    for message in rows.sent():
        if message.role == "assistant" and message.blocks and message.blocks[-1][1].is_thought:
            line = message.blocks[-1][0]
            row = rows.row(line)
            rows.tell("bad-thinking", row, "Reasoning that nothing followed was taken out.", line.id)
            value = row_data(row)
            value["message"]["content"] = value["message"]["content"][:-1]
            rows.put(row, value)
            empty += [] if value["message"]["content"] else [row]
    rows.drop(empty)


def _beginning(rows: RepairRows) -> None:
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


def _is_flawed(line: LintLine) -> bool:
    if line.role and line.role != line.type:
        return True
    flaws = [*line.flaws, *(flaw for block in line.blocks for flaw in block.flaws)]
    return any(map(_counts, flaws))


def _counts(flaw: BlockFlaw) -> bool:
    return flaw.grade == "error" or (flaw.grade == "odd" and flaw.rule in _TOLD)


def _mended(rows: RepairRows, line: LintLine) -> bool:
    """Mend a line; whether it still says something."""
    row = rows.row(line)
    before = row.raw
    value = row_data(row)
    message = value.get("message")
    if isinstance(message, dict):
        if message.get("role") != line.type:
            rows.tell("role-order", row, "The role of the message was set to the line's.", line.id)
            message["role"] = line.type
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        kept = [one for block in blocks for one in _kept(rows, row, block, line.type == "assistant")]
        if kept:
            message["content"] = kept if isinstance(content, list) else content
            rows.put(row, value)
            return True
    rows.tell("empty-content", row, "Nothing was left of the line, and it was taken out.", line.id, before)
    return False


def _kept(rows: RepairRows, row: RepairRow, block: Any, assistant: bool) -> list[dict[str, Any]]:
    piece = lint_block(block, assistant=assistant)
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
    return bool(_errors(lint_block(block, assistant=True)))


def _errors(piece: LintBlock) -> list[BlockFlaw]:
    return [flaw for flaw in piece.flaws if _counts(flaw)]


Elsewhere = Callable[[], Mapping[str, str]]
"""Gives the parents of lines in other logs, by id."""


def repair_links(rows: RepairRows, elsewhere: Elsewhere) -> None:
    """Every line its own id, every parent there, no circle."""
    _ids(rows)
    _parents(rows, elsewhere)
    _cycles(rows)


def _ids(rows: RepairRows) -> None:
    """Of two lines with one id the later goes if it says the same, else it gets an id of its own."""
    first: dict[str, LintLine] = {}
    renamed: dict[str, str] = {}
    gone: list[RepairRow] = []
    for line in rows.lines():
        row = rows.row(line)
        if line.parent in renamed and line.in_chain:
            rows.set(row, parentUuid=renamed[line.parent])
        if not line.in_chain:
            continue
        other = first.setdefault(line.id, line)
        if other is line:
            continue
        if other.digest == line.digest:
            rows.tell("duplicate-uuid", row, f"The same as line {rows.row(other).number}: taken out.", line.id, row.raw)
            gone.append(row)
        else:
            renamed[line.id] = new_id(line.id, row.number)
            rows.tell(
                "duplicate-uuid", row, "It had the id of another line: it and what follows it have a new one.", line.id
            )
            rows.set(row, uuid=renamed[line.id])
    rows.rows = [row for row in rows.rows if not any(row is one for one in gone)]


def _parents(rows: RepairRows, elsewhere: Elsewhere) -> None:
    chain = LintChain(rows.lines())
    last: LintLine | None = None
    for line in chain.lines:
        if line.event.sidechain:
            continue
        if line.parent and line.parent not in chain.by_id:
            parent = _above(line.parent, elsewhere(), chain) or (last.id if last is not None else "")
            what = "it was tied to the line before" if parent else "it begins the conversation now"
            rows.tell("missing-parent", rows.row(line), f"The line it followed is not there: {what}.", line.id)
            rows.set(rows.row(line), parentUuid=parent or None)
        last = line


def _above(parent: str, elsewhere: Mapping[str, str], chain: LintChain) -> str:
    """The nearest line of the log above one that lies in a subagent's."""
    seen: set[str] = set()
    while parent in elsewhere and parent not in seen:
        seen.add(parent)
        parent = elsewhere[parent]
    return parent if parent in chain.by_id else ""


def _cycles(rows: RepairRows) -> None:
    """Each circle is cut above its first line, which is tied to the line before the circle."""
    chain = LintChain(rows.lines())
    for ring in chain.cycles():
        first = min(ring, key=lambda line: line.number)
        before = next((one for one in reversed(chain.lines) if one.number < first.number and one.is_main), None)
        above = {line.id for line in chain.path(before)}
        parent = before.id if before is not None and above.isdisjoint(line.id for line in ring) else None
        rows.tell("cycle", rows.row(first), "Lines followed one another in a circle, which was cut here.", first.id)
        rows.set(rows.row(first), parentUuid=parent)


def repair_leaf(rows: RepairRows) -> None:
    """Where the agent would go on from elsewhere, the last words of the log are made the end."""
    chain = LintChain(rows.lines())
    live = {line.id for line in chain.in_context(chain.leaf)}
    last = chain.last_words
    if last is None or chain.leaf is None or (last.id in live and not chain.leaf.event.sidechain):
        return
    said = [line for line in chain.lines if line.event.turn and line.is_main and line is not last]
    below = [line for line in said if any(one.id == last.id for one in chain.path(line))]
    if below:
        end = max(below, key=lambda line: len(chain.path(line)))
        row = rows.row(end)
        rows.rows.remove(row)
        rows.rows.append(row)
        rows.tell("wrong-leaf", row, "The conversation's end stood before its last lines: it was moved behind them.")
        return
    for line in chain.lines:
        if line.parent == last.id:
            rows.set(rows.row(line), parentUuid=last.parent or None)
    told = "The agent would have gone on from elsewhere: what hung below the last words hangs beside them now."
    rows.tell("wrong-leaf", rows.row(last), told, last.id)


ABSENT = "[no result was recorded]"


def repair_pairs(rows: RepairRows) -> None:
    """Mend the messages that would be sent, one kind of damage after the other."""
    _double_calls(rows)
    _results(rows)
    _unanswered(rows)


class PairedBlock(NamedTuple):
    """A call or a result where it stands."""

    row: RepairRow
    at: int
    """Its position in the content of the line."""
    kind: str
    call: str
    message: int
    """The position of its message among those sent."""


def _double_calls(rows: RepairRows) -> None:
    seen: set[str] = set()
    gone: list[PairedBlock] = []
    for one in _found(rows):
        if one.kind == "tool_use":
            if one.call in seen:
                rows.tell("duplicate-call-id", one.row, "The call was made before: this one was taken out.", one.call)
                gone.append(one)
            seen.add(one.call)
    _take(rows, gone)


def _results(rows: RepairRows) -> None:
    """Results that answer nothing, once more, or too late go; a late one is put where it belongs."""
    calls: dict[str, PairedBlock] = {}
    messages: dict[str, int] = {}
    answered: set[str] = set()
    gone: list[PairedBlock] = []
    late: list[tuple[PairedBlock, dict[str, Any]]] = []
    for one in _found(rows):
        if one.kind == "tool_use":
            calls[one.call], messages[one.call] = one, one.message
            continue
        wrong = flaw_of_result(one.call, one.message, messages, answered)
        answered.add(one.call)
        if wrong is not None:
            gone.append(one)
            rows.tell(wrong[0], one.row, _TOLD[wrong[0]], one.call)
            if wrong[0] == "result-not-next":
                late.append((calls[one.call], row_data(one.row)["message"]["content"][one.at]))
    _place(rows, late)
    _take(rows, gone)


def _unanswered(rows: RepairRows) -> None:
    found = _found(rows)
    answered = {one.call for one in found if one.kind == "tool_result"}
    alone = [one for one in found if one.kind == "tool_use" and one.call not in answered]
    for one in alone:
        rows.tell("orphan-call", one.row, "A call without a result was given one that says so.", one.call)
    block = {"type": "tool_result", "content": ABSENT, "is_error": True}
    _place(rows, [(one, {"tool_use_id": one.call, **block}) for one in alone])


def _place(rows: RepairRows, results: list[tuple[PairedBlock, dict[str, Any]]]) -> None:
    """New lines for results, right behind the last line of the message that called."""
    if not results:
        return
    members = [[rows.row(line) for line in message.lines] for message in rows.sent()]
    for call, block in results:
        _behind(rows, members[call.message], block)


def _behind(rows: RepairRows, members: list[RepairRow], block: dict[str, Any]) -> None:
    """Put a result behind the last line of a message, and hang from it what hung from that line."""
    last = members[-1]
    above = row_data(last)["uuid"]
    made = new_id(block["tool_use_id"], len(rows.rows))
    ours = {row_data(row)["uuid"] for row in members}
    for line in rows.lines():
        if line.parent == above and line.id not in ours:
            rows.set(rows.row(line), parentUuid=made)
        if line.event.boundary and line.event.logical == above:
            rows.set(rows.row(line), logicalParentUuid=made)
    message = {"role": "user", "content": [block]}
    rows.insert(last, {"parentUuid": above, "type": "user", "message": message, "uuid": made})


def _found(rows: RepairRows) -> list[PairedBlock]:
    """Every call and result that would be sent, in order."""
    return [
        PairedBlock(rows.row(line), index, piece.kind, piece.id, number)
        for number, message in enumerate(rows.sent())
        for line in message.lines
        for index, piece in enumerate(line.blocks)
        if piece.kind in {"tool_use", "tool_result"}
    ]


def _take(rows: RepairRows, gone: list[PairedBlock]) -> None:
    """Take blocks out of their lines; lines that are empty then go."""
    indexes: dict[int, set[int]] = {}
    for one in gone:
        indexes.setdefault(id(one.row), set()).add(one.at)
    empty = []
    for row in [row for row in rows.rows if id(row) in indexes]:
        value = row_data(row)
        content = value["message"]["content"]
        left = [block for index, block in enumerate(content) if index not in indexes[id(row)]]
        value["message"]["content"] = left
        value.pop("toolUseResult", None)
        rows.put(row, value)
        if not left:
            empty.append(row)
    rows.drop(empty)
