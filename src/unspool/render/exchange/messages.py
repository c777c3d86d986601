"""A session as training data: OpenAI messages with tools, and ShareGPT; a conversation a line, subagents' on their own.

Held is the live conversation as the model saw it: what was copied from another session, ways that were left, answers
that were taken back or that the agent wrote itself are left out, and counted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from unspool.agents.openai_messages import NO_OUTPUT, ROW
from unspool.agents.values import mapping, text
from unspool.figures import family, figures
from unspool.figures.spending import PricedRequest
from unspool.model import Agent, Image, Json, Notice, Session, ToolCall, Unknown, Usage
from unspool.render.exchange.steps import (
    AnswerStep,
    BesideStep,
    ExchangeStep,
    PromptStep,
    SessionWalk,
    ToolDefinition,
    is_sent,
    json_line,
    prompt_text,
    requests_cost,
    result_text,
    tool_definitions,
)
from unspool.render.sessionshare import picture_name
from unspool.render.view import View

_COMPACTIONS = ("compaction", "summary")
LEFT_OUT = {
    "copied turns": "copied turn",
    "branches": "branch",
    "answers taken back": "answer taken back",
    "answers of no model": "answer of no model",
    "notices": "notice",
    "pictures": "picture",
    "results without a call": "result without a call",
    "unknown records": "unknown record",
}
"""What chats leave out, and what one of it is called."""


class ChatEntry(msgspec.Struct, frozen=True):
    """One message of a chat: what was said, thought and called, or what a tool answered."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    call: ToolCall | None = None
    """The call that a tool answers."""
    id: str = ""
    time: datetime | None = None
    model: str = ""
    requests: tuple[PricedRequest, ...] = ()


class ChatWalk:
    """Makes a chat of the steps of one conversation, and counts what is left out of it."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()

    def entries(self, steps: Iterable[ExchangeStep]) -> Iterator[ChatEntry]:
        copied: set[int] = set()
        for step in steps:
            if step.copied or step.turn in copied:
                copied.add(step.turn)
            elif isinstance(step, PromptStep):
                words = self._with_pictures(prompt_text(step.prompt), step.prompt.images)
                yield ChatEntry("user", words, id=step.prompt.id, time=step.prompt.time)
            elif isinstance(step, AnswerStep):
                yield from self._answer(step)
            else:
                yield from self._beside(step)
        self.left_out["copied turns"] += len(copied)

    def _answer(self, step: AnswerStep) -> Iterator[ChatEntry]:
        if step.about is not None and (step.about.synthetic or step.about.retracted):
            self.left_out["answers of no model" if step.about.synthetic else "answers taken back"] += 1
            return
        self.left_out["unknown records"] += sum(isinstance(block, Unknown) for block in step.blocks)
        words = self._with_pictures(step.words, tuple(one for one in step.blocks if isinstance(one, Image)))
        calls = step.calls
        if words or step.thoughts or calls:
            name = step.message
            yield ChatEntry("assistant", words, step.thoughts, calls, None, name, step.time, step.model, step.requests)
        for call in calls:
            result = call.result
            said = self._with_pictures(result_text(call), result.images) if result is not None else NO_OUTPUT
            own, time = (result.id, result.time) if result is not None else ("", call.time)
            yield ChatEntry("tool", said, call=call, id=own, time=time)

    def _beside(self, step: BesideStep) -> Iterator[ChatEntry]:
        block = step.block
        if isinstance(block, Notice) and block.kind == "system-prompt" and block.text:
            yield ChatEntry("system", block.text, id=block.id, time=block.time)
        elif isinstance(block, Notice) and is_sent(block):
            yield ChatEntry("user", self._with_pictures(block.text, block.images), id=block.id, time=block.time)
        elif isinstance(block, Image):
            yield ChatEntry("user", self._with_pictures("", (block,)), id=block.id, time=block.time)
        else:
            kinds = {Notice: "notices", ToolCall: "results without a call"}
            self.left_out[kinds.get(type(block), "unknown records")] += 1

    def _with_pictures(self, words: str, images: Sequence[Image]) -> str:
        """The words, and what pictures are called: the formats have no place for them that every reader knows."""
        self.left_out["pictures"] += len(images)
        return "\n\n".join(filter(None, (words, *map(picture_name, images))))


def merge_entries(entries: Iterable[ChatEntry]) -> list[ChatEntry]:
    """The chat as trainers want it: one system message, first; what one side says without the other in between is one
    message."""
    system: list[ChatEntry] = []
    found: list[ChatEntry] = []
    for entry in entries:
        last = found[-1] if found else None
        if entry.role == "system":
            system = system or [entry]
        elif last is not None and last.role == entry.role and entry.role != "tool" and not last.calls:
            joined = ("\n\n".join(filter(None, pair)) for pair in zip(_said(last), _said(entry), strict=True))
            content, reasoning = joined
            requests = last.requests + entry.requests
            given = {"content": content, "reasoning": reasoning, "calls": entry.calls, "requests": requests}
            found[-1] = msgspec.structs.replace(last, **given)
        else:
            found.append(entry)
    return [*system, *found]


def _said(entry: ChatEntry) -> tuple[str, str]:
    return entry.content, entry.reasoning


def left_out_counts(session: Session, view: View) -> Counter[str]:
    """What the chats of a session leave out, by kind."""
    walk, chat = SessionWalk(session, view), ChatWalk()
    for member in _members(session, view):
        list(chat.entries(walk.steps(member)))
        chat.left_out["branches"] += len(member.branches)
    return +chat.left_out


def _members(session: Session, view: View) -> list[Session]:
    return list(family(session)) if view.agents else [session]


class ChatRow(msgspec.Struct, frozen=True):
    """One line of the file: a chat, the tools that it could use, and what is known of it."""

    entries: list[ChatEntry]
    tools: list[ToolDefinition]
    metadata: dict[str, Json]


def conversations(session: Session, view: View, *, split: bool = False) -> Iterator[ChatRow]:
    """The chat of a session, then of each subagent; `split` cuts them where they were compacted."""
    walk, agents = SessionWalk(session, view), {agent.id: agent for agent in _agents(session)}
    for member in _members(session, view):
        parts = _parts(walk.steps(member)) if split else [list(walk.steps(member))]
        chats = [merge_entries(ChatWalk().entries(part)) for part in parts]
        chats = [chat for chat in chats if chat] or ([[]] if member is session else [])
        shown = {id(one) for chat in chats for entry in chat for one in entry.requests}
        rest = [one for one in walk.requests(member) if id(one) not in shown]
        tools = tool_definitions(member)
        for number, chat in enumerate(chats, 1):
            requests = [one for entry in chat for one in entry.requests] + (rest if number == len(chats) else [])
            about = _about(walk, member, agents.get(member.id) if member is not session else None, requests)
            yield ChatRow(chat, tools, about | ({"part": number} if split else {}))


def _agents(session: Session) -> list[Agent]:
    return [agent for member in family(session) for agent in member.agents]


def _parts(steps: Iterable[ExchangeStep]) -> list[list[ExchangeStep]]:
    """Steps cut before each compaction; what a summary says opens the next part."""
    parts: list[list[ExchangeStep]] = [[]]
    for step in steps:
        divides = isinstance(step, BesideStep) and isinstance(step.block, Notice) and step.block.kind in _COMPACTIONS
        if divides and any(isinstance(one, AnswerStep) for one in parts[-1]):
            parts.append([])
        parts[-1].append(step)
    return parts


def _about(walk: SessionWalk, member: Session, agent: Agent | None, requests: list[PricedRequest]) -> dict[str, Json]:
    """What is known of a conversation; the figures of the whole session are the same on every line of it."""
    session, cost = walk.session, requests_cost(requests)
    told = _told(session, agent.id if agent is not None else "")
    if told is not None:
        return mapping(told.get("metadata"))
    whole = figures(session, walk.prices)
    return {
        "session": session.id,
        "title": member.title,
        "agent": session.agent,
        "version": session.versions[-1] if session.versions else "",
        "models": list(dict.fromkeys(one.model for one in requests if one.model)),
        "cwd": session.cwd,
        "started": _moment(member.started),
        "ended": _moment(member.ended),
        "subagent": _subagent(agent) if agent is not None else None,
        "requests": [_request(one) for one in requests],
        "usage": usage_data(sum((one.usage for one in requests), Usage())),
        "cost_usd": float(cost.amount) if requests and not cost.unpriced else None,
        "session_usage": usage_data(whole.usage + whole.agents_usage),
        "session_cost_usd": float(whole.cost.amount) if whole.models and not whole.cost.unpriced else None,
    }


def _request(one: PricedRequest) -> dict[str, Json]:
    terms = {"model": one.model, "speed": one.speed, "tier": one.tier, "geo": one.geo, "time": _moment(one.time)}
    return terms | usage_data(one.usage)


def usage_data(usage: Usage) -> dict[str, Json]:
    """All figures of usage, so that every line has the same columns."""
    return {name: getattr(usage, name) for name in Usage.__struct_fields__}


def _subagent(agent: Agent) -> dict[str, Json]:
    return {"id": agent.id, "call_id": agent.call_id, "kind": agent.kind, "description": agent.description}


def _moment(time: datetime | None) -> str | None:
    return time.isoformat().replace("+00:00", "Z") if time is not None else None


def _told(session: Session, agent: str) -> dict[str, Any] | None:
    """What such a line said itself of the conversation that was read from it."""
    rows = (mapping(side.data) for side in session.side if side.type == ROW)
    return next((row for row in rows if text(mapping(_metadata(row).get("subagent")).get("id")) == agent), None)


def _metadata(row: dict[str, Any]) -> dict[str, Any]:
    return mapping(row.get("metadata"))


class MessagesWriter(msgspec.Struct, frozen=True):
    """JSON lines of `messages`, `tools` and `metadata`, as trainers and chat completions take them."""

    arguments: Literal["object", "string"] = "object"
    """How what a tool was given is written: as data, which trainers want, or as a string of JSON, which the API has."""
    split: bool = False
    """Whether a conversation is cut where it was compacted, each part a line."""

    name: ClassVar[str] = "messages"
    suffixes: ClassVar[tuple[str, ...]] = (".messages.jsonl",)
    description: ClassVar[str] = "OpenAI messages with tools, for training and evaluation"
    binary: ClassVar[bool] = False

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        for one in conversations(session, view, split=self.split):
            told = _told(session, text(mapping(one.metadata.get("subagent")).get("id")))
            tools = told.get("tools") if told is not None else [tool.openai() for tool in one.tools]
            row = {"messages": [self._message(entry) for entry in one.entries], "tools": tools}
            yield from json_line(session, row | {"metadata": one.metadata})

    def _message(self, entry: ChatEntry) -> dict[str, Json]:
        made: dict[str, Json] = {"role": entry.role, "content": entry.content}
        if entry.call is not None:
            return {"role": "tool", "tool_call_id": entry.call.call_id, "name": entry.call.name, **made}
        if entry.reasoning:
            made["reasoning_content"] = entry.reasoning
        if entry.calls:
            made["tool_calls"] = [self._call(call) for call in entry.calls]
        return made

    def _call(self, call: ToolCall) -> dict[str, Json]:
        given: Json = call_arguments(call)
        given = json_text(given) if self.arguments == "string" else given
        return {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": given}}


def call_arguments(call: ToolCall) -> dict[str, Json]:
    """What a tool was given, as the object that all formats want."""
    given = call.input
    return given if isinstance(given, dict) else {} if given is None else {"input": given}


def json_text(value: Json) -> str:
    """Data as a string of JSON."""
    return msgspec.json.encode(value).decode()


class ShareGptWriter(msgspec.Struct, frozen=True):
    """JSON lines of `conversations` that take turns: human or observation, then gpt or function_call."""

    split: bool = False

    name: ClassVar[str] = "sharegpt"
    suffixes: ClassVar[tuple[str, ...]] = (".sharegpt.jsonl",)
    description: ClassVar[str] = "ShareGPT conversations with function calls, for training"
    binary: ClassVar[bool] = False

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        for one in conversations(session, view, split=self.split):
            tools = [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in one.tools]
            row = {"conversations": list(_taking_turns(one.entries)), "tools": json_text(tools)}
            yield from json_line(session, row | {"metadata": one.metadata})


def _taking_turns(entries: Iterable[ChatEntry]) -> Iterator[dict[str, str]]:
    """The chat by turns: where one side speaks twice, an empty turn of the other stands between. Words said beside a
    call stand in its thoughts, for the format has no other place; a question without an answer ends nothing."""
    system, found = [], list[tuple[str, str]]()
    for entry in entries:
        if entry.role == "system":
            system.append({"from": "system", "value": entry.content})
        elif entry.role == "tool" and found and found[-1][0] == "observation":
            found[-1] = ("observation", f"{found[-1][1]}\n\n{entry.content}")
        else:
            turn = _turn(entry)
            if _answers(turn[0]) == (_answers(found[-1][0]) if found else True):  # a person begins
                found.append(("human", "") if _answers(turn[0]) else ("gpt", ""))
            found.append(turn)
    while found and not _answers(found[-1][0]):
        found.pop()
    yield from system
    yield from ({"from": who, "value": value} for who, value in found)


def _answers(who: str) -> bool:
    return who in ("gpt", "function_call")


def _turn(entry: ChatEntry) -> tuple[str, str]:
    if entry.role != "assistant":
        return ("observation" if entry.role == "tool" else "human"), entry.content
    if not entry.calls:
        return "gpt", _thought(entry.reasoning) + entry.content
    calls = [{"name": call.name, "arguments": call_arguments(call)} for call in entry.calls]
    words = "\n\n".join(filter(None, _said(entry)[::-1]))
    return "function_call", _thought(words) + json_text(calls[0] if len(calls) == 1 else calls)


def _thought(words: str) -> str:
    return f"<think>\n{words}\n</think>\n\n" if words else ""
