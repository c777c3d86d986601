"""A tool call in session-share's words: a plan, questions, a list, files, a task, or just a call."""

from collections.abc import Iterator, Mapping
from typing import Literal

from unspool.export.sessionshare import entries as out
from unspool.model import Agent, Image, Json, Plan, Question, Questionnaire, Result, Todo, Todos, ToolCall
from unspool.tools import shorten

_PATHS = ("file_path", "path")
_STATES: dict[str, Literal["in_progress", "completed"]] = {"in_progress": "in_progress", "completed": "completed"}


def call_entries(call: ToolCall, cwd: str, agents: Mapping[str, Agent]) -> Iterator[out.Entry]:
    """What a reader is shown of the call, its pictures included."""
    if call.meaning is not None:
        yield from meant(call.meaning)
    elif call.role == "agent":
        yield _task(call, agents)
    else:
        yield from tuple(_files(call, cwd)) or (_call(call),)
    result = call.result
    yield from (shown for image in (result.images if result else ()) for shown in [picture_message(image, "system")])


def meant(meaning: Plan | Todos | Questionnaire) -> Iterator[out.Entry]:
    """What a call or a prompt means beyond its text."""
    match meaning:
        case Plan():
            yield out.Plan(status=meaning.status, title=meaning.title, content=meaning.text, feedback=meaning.feedback)
        case Todos():
            yield out.TodoList(todos=tuple(map(_item, meaning.items)))
        case Questionnaire():
            yield out.Questionnaire(questions=tuple(map(_answered, meaning.questions)))


def picture_message(image: Image, role: Literal["user", "assistant", "system"]) -> out.Message:
    """The picture by itself, or its name in words where there is no data to show."""
    shown = pictures((image,))
    return out.Message(role=role, content=() if shown else (named(image),), images=shown)


def pictures(images: tuple[Image, ...]) -> tuple[out.Picture, ...]:
    """Those that a viewer can show."""
    shown = (image for image in images if image.data and image.media_type.startswith("image/"))
    return tuple(out.Picture(image.data, image.media_type, image.label or image.path) for image in shown)


def named(image: Image) -> str:
    """A picture that cannot be shown, in words."""
    name = image.label or image.path or image.url
    return f"[Image: {name}]" if name else "[Image]"


def joined(first: out.Task, second: out.Task) -> out.Task:
    """Two tasks of one kind as one."""
    return out.Task(
        name=first.name,
        content=(*first.content, *second.content),
        tool_calls=(*first.tool_calls, *second.tool_calls),
        id=first.id,
        created_at=first.created_at,
        parent_id=first.parent_id,
    )


def _item(todo: Todo) -> out.Item:
    return out.Item(todo.text, _STATES.get(todo.status, "pending"))


def _answered(question: Question) -> out.Answered:
    return out.Answered(question.text, question.answer)


def _task(call: ToolCall, agents: Mapping[str, Agent]) -> out.Task:
    given = call.input if isinstance(call.input, dict) else {}
    started = next((agents[name] for name in call.agents if name in agents), None)
    kind = _text(given, "subagent_type") or (started.kind if started else "")
    prompt = _text(given, "prompt").strip().partition("\n")[0]
    words = _text(given, "description") or (started.description if started else "") or prompt
    return out.Task(name=kind.lower() or "task", content=(words or "subagent",), tool_calls=(_call(call),))


def _files(call: ToolCall, cwd: str) -> Iterator[out.Entry]:
    """The files a call changed; nothing where it did not, or where its input is of another shape."""
    given = call.input if isinstance(call.input, dict) else {}
    path = next((given[key] for key in _PATHS if isinstance(given.get(key), str)), "")
    if call.state != "ok" or not path or call.role not in ("write", "edit"):
        return
    shown = shorten(path, cwd)
    if call.role == "write" and isinstance(given.get("content"), str):
        yield out.WriteFile(path=shown, content=given["content"])
    elif call.role == "edit":
        listed = given.get("edits")
        pieces = listed if isinstance(listed, list) else [given]
        if all(isinstance(piece, dict) and isinstance(piece.get("new_string"), str) for piece in pieces):
            for piece in pieces:
                yield out.EditFile(path=shown, old_content=_text(piece, "old_string"), new_content=piece["new_string"])


def _call(call: ToolCall) -> out.ToolCall:
    given = call.input if isinstance(call.input, dict) else {}
    return out.ToolCall(
        name=call.name or "Tool",
        input=None if call.state == "orphan" else call.input,
        description=_text(given, "description"),
        result=_output(call.result, call) if call.result else None,
        issued_by="assistant",
    )


def _output(result: Result, call: ToolCall) -> out.Said | out.Data | out.Failed:
    if result.error or call.state not in ("ok", "orphan", "running", "unanswered"):
        return out.Failed(result.text or result.denial or call.state)
    structured = result.detail if result.detail is not None else list(result.parts) or None
    return out.Data(structured) if not result.text and structured is not None else out.Said(result.text)


def _text(given: dict[str, Json], key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""
