"""Things to do: lists written whole, and tasks made, changed and looked at one by one."""

from typing import Final, Literal

from unspool.doc import Check, Checklist, Node
from unspool.model import Json, Todo, Todos, ToolCall
from unspool.tools import data, reply, words
from unspool.tools.given import Given
from unspool.tools.shown import Shown

_WRITE, _CREATE, _UPDATE, _LIST, _GET = "TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"
NAMES: tuple[str, ...] = (_WRITE, _CREATE, _UPDATE, _LIST, _GET)

_STATES: Final[dict[str, Literal["open", "active", "done", "dropped"]]] = {
    "completed": "done",
    "in_progress": "active",
    "deleted": "dropped",
    "cancelled": "dropped",
}


def describe(call: ToolCall) -> Shown:
    given, detail = Given(call.input), reply.detail(call)
    summary, items = _ABOUT[call.name](given, detail)
    if isinstance(call.meaning, Todos):
        items = call.meaning.items
    shown = checklist(items)
    nodes = (*given.rest(), *(shown or reply.printed(reply.text(call))))
    return Shown(f"{call.name} {summary}", progress(items), nodes)


def checklist(items: tuple[Todo, ...]) -> tuple[Node, ...]:
    """The things to do as a list to tick."""
    return (Checklist(tuple(_check(todo) for todo in items)),) if items else ()


def progress(items: tuple[Todo, ...]) -> str:
    """`2 of 5 done`."""
    kept = [todo for todo in items if _state(todo) != "dropped"]
    return f"{sum(_state(todo) == 'done' for todo in kept)} of {len(kept)} done" if kept else ""


def _check(todo: Todo) -> Check:
    number = f"#{todo.id} " if todo.id and todo.task else ""
    waits = f"after {', '.join('#' + other for other in todo.blocked_by)}" if todo.blocked_by else ""
    return Check(number + todo.text, _state(todo), words.joined((todo.owner, todo.priority, waits)))


def _state(todo: Todo) -> Literal["open", "active", "done", "dropped"]:
    return _STATES.get(todo.status, "open")


_About = tuple[str, tuple[Todo, ...]]


def _written(given: Given, detail: Given) -> _About:
    items = tuple(_todo(entry, "content") for entry in given.items("todos"))
    active = next((todo.active or todo.text for todo in items if _state(todo) == "active"), "")
    return active or words.count(len(items), "item"), items


def _created(given: Given, detail: Given) -> _About:
    number = data.text(detail.within("task").take("id") or "")
    return f"#{number} {given.text('subject')}" if number else given.text("subject"), ()


def _updated(given: Given, detail: Given) -> _About:
    number, status = _number(given), given.text("status")
    other = "" if status else ", ".join(given.names())
    return f"#{number} → {status or other}", ()


def _listed(given: Given, detail: Given) -> _About:
    items = tuple(_todo(entry, "subject") for entry in detail.items("tasks"))
    return words.count(len(items), "task") if items else "", items


def _got(given: Given, detail: Given) -> _About:
    task = detail.take("task")
    items = (_todo(task, "subject"),) if task is not None else ()
    return " ".join((f"#{_number(given)}", *(todo.text for todo in items))), items


def _number(given: Given) -> str:
    return data.text(given.take("taskId") or "").removeprefix("#")


def _todo(entry: Json, key: str) -> Todo:
    fields = Given(entry)
    blockers = tuple(data.text(other) for other in fields.items("blockedBy"))
    return Todo(
        fields.need(key),
        fields.text("status"),
        data.text(fields.take("id") or ""),
        fields.text("activeForm"),
        fields.text("owner"),
        blockers,
        priority=fields.text("priority"),
        task=key == "subject",
    )


_ABOUT = {_WRITE: _written, _CREATE: _created, _UPDATE: _updated, _LIST: _listed, _GET: _got}
