"""Todo lists: one list, whether it was written whole or built task by task."""

from unspool.formats.claude_code.values import items, mapping, text
from unspool.model import Json, Todo, Todos, ToolCall

_WRITTEN = "written:"
"""Key prefix of items that were written as a whole list and have no lasting id."""


def todos(call: ToolCall, before: dict[str, Todo]) -> Todos | None:
    """The list after a call, which `before` is brought up to; None where the call changed nothing."""
    given = mapping(call.input)
    failed = call.result is not None and call.result.error
    if failed:
        return None
    if isinstance(given.get("todos"), list):
        _write(given["todos"], before)
    elif text(given.get("subject")) and not given.get("taskId"):
        _create(call, given, before)
    elif given.get("taskId") is not None and len(given) > 1:
        _update(given, before)
    else:
        return None
    return Todos(tuple(before.values()))


def _write(listed: list[Json], before: dict[str, Todo]) -> None:
    for key in [key for key in before if key.startswith(_WRITTEN)]:
        del before[key]
    for number, item in enumerate(listed):
        if isinstance(item, dict):
            before[f"{_WRITTEN}{number}"] = Todo(
                text(item.get("content")),
                text(item.get("status")) or "pending",
                str(item["id"]) if item.get("id") is not None else "",
                text(item.get("activeForm")),
                priority=text(item.get("priority")),
            )


def _create(call: ToolCall, given: dict[str, Json], before: dict[str, Todo]) -> None:
    """The id of a new task is only known from the result."""
    detail = mapping(mapping(call.result.detail).get("task")) if call.result else {}
    identity = str(detail["id"]) if detail.get("id") is not None else f"?{call.call_id}"
    status = text(given.get("status")) or "pending"
    before[identity] = Todo(text(given["subject"]), status, identity, text(given.get("activeForm")), task=True)


def _update(given: dict[str, Json], before: dict[str, Todo]) -> None:
    identity = str(given["taskId"])
    status = text(given.get("status"))
    if status == "deleted":
        before.pop(identity, None)
        return
    was = before.get(identity) or Todo("", "pending", identity, task=True)
    before[identity] = Todo(
        text(given.get("subject")) or was.text,
        status or was.status,
        identity,
        text(given.get("activeForm")) or was.active,
        text(given.get("owner")) or was.owner,
        _more(was.blocked_by, given.get("addBlockedBy")),
        _more(was.blocks, given.get("addBlocks")),
        was.priority,
        task=True,
    )


def _more(before: tuple[str, ...], added: Json) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *(str(item) for item in items(added)))))
