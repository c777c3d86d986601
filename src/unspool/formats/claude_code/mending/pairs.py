"""Calls and results, each with the other: what is alone goes, or gets an answer that says so."""

from typing import Any, NamedTuple

from unspool.formats.claude_code.mending.rows import Row, Rows, data, new_id

ABSENT = "[no result was recorded]"


def mend(rows: Rows) -> None:
    """Mend the messages that would be sent, one kind of damage after the other."""
    _double_calls(rows)
    _results(rows)
    _unanswered(rows)


class Found(NamedTuple):
    """A call or a result where it stands."""

    row: Row
    at: int
    """Its position in the content of the line."""
    kind: str
    call: str
    message: int
    """The position of its message among those sent."""


def _double_calls(rows: Rows) -> None:
    seen: set[str] = set()
    gone: list[Found] = []
    for one in _found(rows):
        if one.kind == "tool_use":
            if one.call in seen:
                rows.tell("duplicate-call-id", one.row, "The call was made before: this one was taken out.", one.call)
                gone.append(one)
            seen.add(one.call)
    _take(rows, gone)


def _results(rows: Rows) -> None:
    """Results that answer nothing, once more, or too late go; a late one is put where it belongs."""
    calls: dict[str, Found] = {}
    answered: set[str] = set()
    gone: list[Found] = []
    late: list[tuple[Found, dict[str, Any]]] = []
    for one in _found(rows):
        if one.kind == "tool_use":
            calls[one.call] = one
            continue
        rule = _wrong(one, calls, answered)
        answered.add(one.call)
        if rule:
            gone.append(one)
            rows.tell(rule, one.row, _TOLD[rule], one.call)
        if rule == "result-not-next":
            late.append((calls[one.call], data(one.row)["message"]["content"][one.at]))
    _place(rows, late)
    _take(rows, gone)


_TOLD = {
    "orphan-result": "A result of a call that is not there was taken out.",
    "duplicate-result": "A second result of the same call was taken out.",
    "result-not-next": "A result that stood too late was put behind its call.",
}


def _wrong(result: Found, calls: dict[str, Found], answered: set[str]) -> str:
    if result.call not in calls:
        return "orphan-result"
    if result.call in answered:
        return "duplicate-result"
    return "" if calls[result.call].message == result.message - 1 else "result-not-next"


def _unanswered(rows: Rows) -> None:
    found = _found(rows)
    answered = {one.call for one in found if one.kind == "tool_result"}
    alone = [one for one in found if one.kind == "tool_use" and one.call not in answered]
    for one in alone:
        rows.tell("orphan-call", one.row, "A call without a result was given one that says so.", one.call)
    block = {"type": "tool_result", "content": ABSENT, "is_error": True}
    _place(rows, [(one, {"tool_use_id": one.call, **block}) for one in alone])


def _place(rows: Rows, results: list[tuple[Found, dict[str, Any]]]) -> None:
    """New lines for results, right behind the last line of the message that called."""
    if not results:
        return
    members = [[rows.row(line) for line in message.lines] for message in rows.sent()]
    for call, block in results:
        _behind(rows, members[call.message], block)


def _behind(rows: Rows, members: list[Row], block: dict[str, Any]) -> None:
    """Put a result behind the last line of a message, and hang from it what hung from that line."""
    last = members[-1]
    above = data(last)["uuid"]
    made = new_id(block["tool_use_id"], len(rows.rows))
    ours = {data(row)["uuid"] for row in members}
    for line in rows.lines():
        if line.parent == above and line.id not in ours:
            rows.set(rows.row(line), parentUuid=made)
        if line.is_boundary and line.shape.logical_parent_uuid == above:
            rows.set(rows.row(line), logicalParentUuid=made)
    message = {"role": "user", "content": [block]}
    rows.insert(last, {"parentUuid": above, "type": "user", "message": message, "uuid": made})


def _found(rows: Rows) -> list[Found]:
    """Every call and result that would be sent, in order."""
    return [
        Found(rows.row(line), index, piece.kind, piece.id, number)
        for number, message in enumerate(rows.sent())
        for line in message.lines
        for index, piece in enumerate(line.pieces)
        if piece.kind in {"tool_use", "tool_result"}
    ]


def _take(rows: Rows, gone: list[Found]) -> None:
    """Take blocks out of their lines; lines that are empty then go."""
    indexes: dict[int, set[int]] = {}
    for one in gone:
        indexes.setdefault(id(one.row), set()).add(one.at)
    empty = []
    for row in [row for row in rows.rows if id(row) in indexes]:
        value = data(row)
        content = value["message"]["content"]
        left = [block for index, block in enumerate(content) if index not in indexes[id(row)]]
        value["message"]["content"] = left
        value.pop("toolUseResult", None)
        rows.put(row, value)
        if not left:
            empty.append(row)
    rows.drop(empty)
