"""A session as session-share's document; notices, usage and subagents' conversations are left out."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from unspool.figures import figures
from unspool.model import (
    Agent,
    Block,
    Image,
    Json,
    Notice,
    Plan,
    Prompt,
    Questionnaire,
    Result,
    Session,
    Text,
    Thinking,
    Todos,
    ToolCall,
)
from unspool.model.tool_input import usual_input
from unspool.prices import PriceTable
from unspool.render import sessionshare_schema as out
from unspool.render.json import encode_json
from unspool.render.sessionshare_schema import SessionShareDocument
from unspool.render.view import View, follow_branch, is_shown
from unspool.tools.summary import shorten_path

_SUMMARIES = ("compaction", "summary")
_SAID: dict[str, Literal["user", "system"]] = {
    "interruption": "user",
    "command-output": "system",
    "api-error": "system",
    "refusal": "system",
}
"""Notices that are part of what was said, and by whom."""


def sessionshare_document(session: Session, view: View) -> out.SessionShareDocument:
    """The session as the view asks for it."""
    models = (message.model for message in session.messages if message.model and not message.synthetic)
    where = out.SessionEnvironment(session.cwd, _repository(session), session.branch)
    meta = out.SessionMeta(
        session.id or "unknown",
        session.titles.best,
        _moment(session.started),
        tuple(dict.fromkeys(models)),
        where if where != out.SessionEnvironment() else None,
    )
    agent = out.WritingAgent(session.agent.replace("-", " ").title(), session.versions[-1] if session.versions else "")
    return out.SessionShareDocument(out.VERSION, agent, meta, tuple(_entries(session, view)))


def _repository(session: Session) -> str:
    """The repository's page, where the log tells that it was pushed to GitHub."""
    pushes = (*session.recorded, *figures(session, PriceTable.load()).pushes)
    hosted = (push.repository for push in pushes if push.repository and "github.com" in push.url)
    return next((f"https://github.com/{repository}" for repository in hosted), "")


def _entries(session: Session, view: View) -> list[out.Entry]:
    """Entries with their times, and their place in the order: an id stands once, and names its predecessor.

    Tasks of one kind that follow one another are one entry.
    """
    entries: list[out.Entry] = []
    previous, seen = "", set[str]()
    for entry, own, time in _shown_entries(session, view):
        fresh = bool(own) and own not in seen
        parent = previous if fresh or not own else own
        if fresh:
            seen.add(own)
            previous = own
        last = entries[-1] if entries else None
        if isinstance(entry, out.TaskEntry) and isinstance(last, out.TaskEntry) and last.name == entry.name:
            joined = {name: getattr(last, name) + getattr(entry, name) for name in ("content", "tool_calls")}
            entries[-1] = msgspec.structs.replace(last, **joined)
        else:
            known = {"id": own if fresh else "", "parent_id": parent, "created_at": _moment(time)}
            entries.append(msgspec.structs.replace(entry, **known))
    return entries


def _shown_entries(session: Session, view: View) -> Iterator[tuple[out.Entry, str, datetime | None]]:
    """What the view shows, with the id of its line and its time."""
    turns, _ = follow_branch(session, view.branch)
    models = {message.id: message.model for message in session.messages}
    agents = {agent.id: agent for agent in session.agents}
    hidden = view.hidden
    for link in session.links:
        if link.relation == "source" and link.prompt:
            yield out.MessageEntry(role="user", content=(link.prompt,)), "", None
    for turn in turns:
        if not view.has_turn(turn.number):
            continue
        if turn.prompt is not None:
            yield from ((entry, turn.prompt.id, turn.prompt.time) for entry in _prompt(turn.prompt))
        for block in turn.blocks:
            if _is_entry(block, view, hidden):
                if isinstance(block, ToolCall):
                    made = call_entries(block, session.cwd, agents)
                else:
                    made = _words(block, models)
                yield from ((entry, block.id, block.time) for entry in made)


def _is_entry(block: Block, view: View, hidden: frozenset[str]) -> bool:
    if isinstance(block, Notice):
        return block.kind in _SUMMARIES or (view.notices and block.kind in _SAID)
    return is_shown(block, hidden) and not (isinstance(block, Thinking) and not block.text)


def _prompt(prompt: Prompt) -> Iterator[out.Entry]:
    if prompt.plan is not None:
        yield from meaning_entries(prompt.plan)
    elif prompt.kind == "bash":
        yield out.ToolCallEntry(name="shell", input={"command": prompt.text}, issued_by="user")
    else:
        typed = f"{prompt.command} {prompt.arguments}".strip() if prompt.kind == "command" else ""
        unseen = (picture_name(image) for image in prompt.images if not entry_pictures((image,)))
        words = tuple(filter(None, (typed or prompt.text, *unseen)))
        yield out.MessageEntry(role="user", content=words, images=entry_pictures(prompt.images))
        return
    yield from (picture_message(image, "user") for image in prompt.images)


def _words(block: Block, models: Mapping[str, str]) -> Iterator[out.Entry]:
    match block:
        case Text():
            yield out.MessageEntry(role="assistant", content=(block.text,), meta=_by(block.message, models))
        case Thinking():
            yield out.ThinkingEntry(content=(block.text,), meta=_by(block.message, models))
        case Image():
            yield picture_message(block, "system")
        case Notice() if block.kind in _SUMMARIES:
            yield out.SummaryEntry(content=block.text or "Conversation compacted")
        case Notice():
            yield out.MessageEntry(
                role=_SAID[block.kind], content=(block.text or block.kind,), images=entry_pictures(block.images)
            )
        case ToolCall():
            return
        case _:
            data = msgspec.json.encode(block.data).decode()
            yield out.MessageEntry(role="system", content=(f"{block.what}: {data}",))


def _by(message: str, models: Mapping[str, str]) -> out.EntryAuthor | None:
    model = models.get(message, "")
    return out.EntryAuthor(model) if model else None


def _moment(time: datetime | None) -> str:
    return "" if time is None else time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class SessionShareWriter(msgspec.Struct, frozen=True):
    """One JSON object; `indent` 0 writes it on one line."""

    indent: int = 0

    name: ClassVar[str] = "session-share"
    suffixes: ClassVar[tuple[str, ...]] = (".session-share.json",)
    description: ClassVar[str] = "the conversation as session-share's viewers read it"
    binary: ClassVar[bool] = False

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        return encode_json(session.id, lambda: sessionshare_document(session, view), self.indent)


def sessionshare_schema() -> dict[str, Any]:
    """The JSON Schema of what is written."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(SessionShareDocument)}


_PATHS = ("file_path", "path")
_STATES: dict[str, Literal["in_progress", "completed"]] = {"in_progress": "in_progress", "completed": "completed"}


def call_entries(call: ToolCall, cwd: str, agents: Mapping[str, Agent]) -> Iterator[out.Entry]:
    """What a reader is shown of the call, its pictures included."""
    if call.meaning is not None:
        yield from meaning_entries(call.meaning)
    elif call.role == "agent":
        yield _task(call, agents)
    else:
        yield from tuple(_files(call, cwd)) or (_call(call),)
    for image in call.result.images if call.result else ():
        yield picture_message(image, "system")


def meaning_entries(meaning: Plan | Todos | Questionnaire) -> Iterator[out.Entry]:
    """What a call or a prompt means beyond its text."""
    match meaning:
        case Plan():
            yield out.PlanEntry(
                status=meaning.status, title=meaning.title, content=meaning.text, feedback=meaning.feedback
            )
        case Todos():
            items = (out.TodoItem(todo.text, _STATES.get(todo.status, "pending")) for todo in meaning.items)
            yield out.TodoListEntry(todos=tuple(items))
        case Questionnaire():
            asked = (out.AnsweredQuestion(question.text, question.answer) for question in meaning.questions)
            yield out.QuestionnaireEntry(questions=tuple(asked))


def picture_message(image: Image, role: Literal["user", "assistant", "system"]) -> out.MessageEntry:
    """The picture by itself, or its name in words where there is no data to show."""
    shown = entry_pictures((image,))
    return out.MessageEntry(role=role, content=() if shown else (picture_name(image),), images=shown)


def entry_pictures(images: tuple[Image, ...]) -> tuple[out.EntryPicture, ...]:
    """Those that a viewer can show."""
    shown = (image for image in images if image.data and image.media_type.startswith("image/"))
    return tuple(out.EntryPicture(image.data, image.media_type, image.label or image.path) for image in shown)


def picture_name(image: Image) -> str:
    """A picture that cannot be shown, in words."""
    name = image.label or image.path or image.url
    return f"[Image: {name}]" if name else "[Image]"


def _task(call: ToolCall, agents: Mapping[str, Agent]) -> out.TaskEntry:
    given = usual_input(call)
    given = given if isinstance(given, dict) else {}
    started = next((agents[name] for name in call.agents if name in agents), None)
    kind = _text(given, "subagent_type") or (started.kind if started else "")
    prompt = _text(given, "prompt").strip().partition("\n")[0]
    words = _text(given, "description") or (started.description if started else "") or prompt
    return out.TaskEntry(name=kind.lower() or "task", content=(words or "subagent",), tool_calls=(_call(call),))


def _files(call: ToolCall, cwd: str) -> Iterator[out.Entry]:
    """The files a call changed; nothing where it did not, or where its input is of another shape."""
    given = usual_input(call)
    given = given if isinstance(given, dict) else {}
    path = next((given[key] for key in _PATHS if isinstance(given.get(key), str)), "")
    if call.state != "ok" or not path or call.role not in ("write", "edit"):
        return
    shown = shorten_path(path, cwd)
    if call.role == "write" and isinstance(given.get("content"), str):
        yield out.WriteFileEntry(path=shown, content=given["content"])
    elif call.role == "edit":
        listed = given.get("edits")
        pieces = listed if isinstance(listed, list) else [given]
        if all(isinstance(piece, dict) and isinstance(piece.get("new_string"), str) for piece in pieces):
            for piece in pieces:
                yield out.EditFileEntry(
                    path=shown, old_content=_text(piece, "old_string"), new_content=piece["new_string"]
                )


def _call(call: ToolCall) -> out.ToolCallEntry:
    given = call.input if isinstance(call.input, dict) else {}
    return out.ToolCallEntry(
        name=call.name or "Tool",
        input=None if call.state == "orphan" else call.input,
        description=_text(given, "description"),
        result=_output(call.result, call) if call.result else None,
        issued_by="assistant",
    )


def _output(result: Result, call: ToolCall) -> out.TextResult | out.JsonResult | out.ErrorResult:
    if result.error or call.state not in ("ok", "orphan", "running", "unanswered"):
        return out.ErrorResult(result.text or result.denial or call.state)
    structured = result.detail if result.detail is not None else list(result.parts) or None
    return out.JsonResult(structured) if not result.text and structured is not None else out.TextResult(result.text)


def _text(given: dict[str, Json], key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""
