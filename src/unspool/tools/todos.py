"""Things to do: lists written whole, and tasks made, changed and looked at one by one."""

from typing import Final, Literal

from unspool import human
from unspool.doc import Check, Checklist, Node
from unspool.model import Json, Todo, Todos, ToolCall
from unspool.tools import fields as data
from unspool.tools import nodes as reply
from unspool.tools import summary as words
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

_WRITE, _CREATE, _UPDATE, _LIST, _GET = "TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"
NAMES: tuple[str, ...] = (_WRITE, _CREATE, _UPDATE, _LIST, _GET)

_State = Literal["open", "active", "done", "dropped"]
_STATES: Final[dict[str, _State]] = {
    "completed": "done", "in_progress": "active", "deleted": "dropped", "cancelled": "dropped",
}  # fmt: skip


def describe(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), reply.result_fields(call)
    if isinstance(call.meaning, Todos) and isinstance(given.see("todos"), str):
        given.take("todos")  # written as lines, which were understood
        summary, items = _said(call.meaning.items)
    else:
        summary, items = _ABOUT.get(call.name, _written)(given, detail)
    if isinstance(call.meaning, Todos):
        items = call.meaning.items
    shown = checklist(items)
    nodes = (*given.rest(), *(shown or reply.answer_nodes(call)))
    return CallDescription(f"{call.name} {summary}", progress(items), nodes)


def checklist(items: tuple[Todo, ...]) -> tuple[Node, ...]:
    """The things to do as a list to tick."""
    return (Checklist(tuple(_check(todo) for todo in items)),) if items else ()


def progress(items: tuple[Todo, ...]) -> str:
    kept = [todo for todo in items if _state(todo) != "dropped"]
    return f"{sum(_state(todo) == 'done' for todo in kept)} of {len(kept)} done" if kept else ""


def _check(todo: Todo) -> Check:
    number = f"#{todo.id} " if todo.id and todo.task else ""
    waits = f"after {', '.join('#' + other for other in todo.blocked_by)}" if todo.blocked_by else ""
    return Check(number + todo.text, _state(todo), words.join_facts(todo.owner, todo.priority, waits))


def _state(todo: Todo) -> _State:
    return _STATES.get(todo.status, "open")


_About = tuple[str, tuple[Todo, ...]]


def _written(given: ToolFields, detail: ToolFields) -> _About:
    return _said(tuple(_todo(entry, "content") for entry in given.items("todos")))


def _said(items: tuple[Todo, ...]) -> _About:
    active = next((todo.active or todo.text for todo in items if _state(todo) == "active"), "")
    return active or human.count(len(items), "item"), items


def _created(given: ToolFields, detail: ToolFields) -> _About:
    number = data.json_text(detail.within("task").take("id") or "")
    return f"#{number} {given.text('subject')}" if number else given.text("subject"), ()


def _updated(given: ToolFields, detail: ToolFields) -> _About:
    number, status = _number(given), given.text("status")
    other = "" if status else ", ".join(given.names())
    return f"#{number} → {status or other}", ()


def _listed(given: ToolFields, detail: ToolFields) -> _About:
    items = tuple(_todo(entry, "subject") for entry in detail.items("tasks"))
    return human.count(len(items), "task") if items else "", items


def _got(given: ToolFields, detail: ToolFields) -> _About:
    task = detail.take("task")
    items = (_todo(task, "subject"),) if task is not None else ()
    return " ".join((f"#{_number(given)}", *(todo.text for todo in items))), items


def _number(given: ToolFields) -> str:
    return data.json_text(given.take("taskId") or "").removeprefix("#")


def _todo(entry: Json, key: str) -> Todo:
    fields = ToolFields(entry)
    blockers = tuple(data.json_text(other) for other in fields.items("blockedBy"))
    text, number = fields.need(key), data.json_text(fields.take("id") or "")
    status, active, owner, priority = map(fields.text, ("status", "activeForm", "owner", "priority"))
    return Todo(text, status, number, active, owner, blockers, priority=priority, task=key == "subject")


_ABOUT = {_WRITE: _written, _CREATE: _created, _UPDATE: _updated, _LIST: _listed, _GET: _got}
