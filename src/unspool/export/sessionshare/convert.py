"""A session as session-share's document: the conversation that a reader follows, in order, each thing once."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Literal

import msgspec

from unspool.export.sessionshare import entries as out
from unspool.export.sessionshare.calls import call_entries, joined, meant, named, picture_message, pictures
from unspool.figures import figures
from unspool.model import (
    Agent,
    Block,
    Image,
    Notice,
    Plan,
    Prompt,
    Questionnaire,
    Session,
    Text,
    Thinking,
    ToolCall,
    Turn,
)
from unspool.prices import PriceTable
from unspool.transcript import View
from unspool.transcript.branches import follow

_SUMMARIES = ("compaction", "summary")
_SAID: dict[str, Literal["user", "system"]] = {
    "interruption": "user",
    "command-output": "system",
    "api-error": "system",
    "refusal": "system",
}
"""Notices that are part of what was said, and by whom."""


def document(session: Session, view: View) -> out.Document:
    """The session as the view asks for it."""
    name = session.agent.replace("-", " ").title()
    version = session.versions[-1] if session.versions else ""
    return out.Document(out.VERSION, out.Maker(name, version), _meta(session), tuple(_entries(session, view)))


def _meta(session: Session) -> out.Meta:
    models = (message.model for message in session.messages if message.model and not message.synthetic)
    where = out.Environment(session.cwd, _repository(session), session.branch)
    return out.Meta(
        session.id or "unknown",
        session.titles.best,
        _moment(session.started),
        tuple(dict.fromkeys(models)),
        where if where != out.Environment() else None,
    )


def _repository(session: Session) -> str:
    """The repository's page, where the log tells that it was pushed to GitHub."""
    pushes = (*session.recorded, *figures(session, PriceTable.load()).pushes)
    hosted = (push.repository for push in pushes if push.repository and "github.com" in push.url)
    return next((f"https://github.com/{repository}" for repository in hosted), "")


def _entries(session: Session, view: View) -> Iterator[out.Entry]:
    """Every entry; tasks of one kind that follow one another are one."""
    waiting: out.Task | None = None
    for entry in _placed(session, view):
        if isinstance(entry, out.Task):
            if waiting is None or waiting.name != entry.name:
                if waiting is not None:
                    yield waiting
                waiting = entry
            else:
                waiting = joined(waiting, entry)
            continue
        if waiting is not None:
            yield waiting
            waiting = None
        yield entry
    if waiting is not None:
        yield waiting


def _placed(session: Session, view: View) -> Iterator[out.Entry]:
    """Entries with their times, and their place in the order: an id stands once, and names its predecessor."""
    previous, seen = "", set[str]()
    for entry, own, time in _told(session, view):
        fresh = bool(own) and own not in seen
        yield msgspec.structs.replace(
            entry,
            id=own if fresh else "",
            parent_id=previous if fresh or not own else own,
            created_at=_moment(time),
        )
        if fresh:
            seen.add(own)
            previous = own


_Told = tuple[out.Entry, str, datetime | None]


def _told(session: Session, view: View) -> Iterator[_Told]:
    turns, _ = follow(session, view.branch)
    models = {message.id: message.model for message in session.messages}
    agents = {agent.id: agent for agent in session.agents}
    for link in session.links:
        if link.relation == "source" and link.prompt:
            yield out.Message(role="user", content=(link.prompt,)), "", None
    for turn in turns:
        if view.has_turn(turn.number):
            yield from _turn(turn, session.cwd, view, models, agents)


def _turn(turn: Turn, cwd: str, view: View, models: Mapping[str, str], agents: Mapping[str, Agent]) -> Iterator[_Told]:
    if turn.prompt is not None:
        yield from ((entry, turn.prompt.id, turn.prompt.time) for entry in _prompt(turn.prompt))
    for block in turn.blocks:
        if _wanted(block, view):
            made = call_entries(block, cwd, agents) if isinstance(block, ToolCall) else _words(block, models)
            yield from ((entry, block.id, block.time) for entry in made)


def _wanted(block: Block, view: View) -> bool:
    match block:
        case Thinking():
            return view.thinking and bool(block.text)
        case ToolCall():
            return view.tools or isinstance(block.meaning, Plan | Questionnaire)
        case Notice():
            return block.kind in _SUMMARIES or (view.notices and block.kind in _SAID)
        case _:
            return True


def _prompt(prompt: Prompt) -> Iterator[out.Entry]:
    if prompt.plan is not None:
        yield from meant(prompt.plan)
    elif prompt.kind == "bash":
        yield out.ToolCall(name="shell", input={"command": prompt.text}, issued_by="user")
    else:
        typed = f"{prompt.command} {prompt.arguments}".strip() if prompt.kind == "command" else ""
        unseen = (named(image) for image in prompt.images if not pictures((image,)))
        words = tuple(filter(None, (typed or prompt.text, *unseen)))
        yield out.Message(role="user", content=words, images=pictures(prompt.images))
        return
    yield from (picture_message(image, "user") for image in prompt.images)


def _words(block: Block, models: Mapping[str, str]) -> Iterator[out.Entry]:
    match block:
        case Text():
            yield out.Message(role="assistant", content=(block.text,), meta=_by(block.message, models))
        case Thinking():
            yield out.Thinking(content=(block.text,), meta=_by(block.message, models))
        case Image():
            yield picture_message(block, "system")
        case Notice() if block.kind in _SUMMARIES:
            yield out.Summary(content=block.text or "Conversation compacted")
        case Notice():
            yield out.Message(
                role=_SAID[block.kind], content=(block.text or block.kind,), images=pictures(block.images)
            )
        case ToolCall():
            return
        case _:
            data = msgspec.json.encode(block.data).decode()
            yield out.Message(role="system", content=(f"{block.what}: {data}",))


def _by(message: str, models: Mapping[str, str]) -> out.By | None:
    model = models.get(message, "")
    return out.By(model) if model else None


def _moment(time: datetime | None) -> str:
    return "" if time is None else time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
