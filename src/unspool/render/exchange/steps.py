"""A session as steps: prompts, answers with their calls and requests, and what stands beside. Every exchange format is
written from this one walk, so all of them say the same, and count each request once."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from unspool.agents.values import items, mapping, text
from unspool.figures import all_turns, calls_of
from unspool.figures.spending import PricedRequest, requests_by_message
from unspool.figures.tokens import block_pieces
from unspool.model import (
    Agent,
    Block,
    Branch,
    Image,
    Json,
    Message,
    Notice,
    Prompt,
    Session,
    Text,
    Thinking,
    ToolCall,
    Turn,
    Unknown,
    Usage,
)
from unspool.prices import Cost, PriceTable
from unspool.render.json import encode_json
from unspool.render.view import View, follow_branch, is_shown


class PromptStep(msgspec.Struct, frozen=True):
    """What a person typed."""

    turn: int
    copied: bool
    """Whether it stands in the session that this one copied its history from."""
    prompt: Prompt


class AnswerStep(msgspec.Struct, frozen=True):
    """One answer of a model: its blocks in order, and the requests that it took."""

    turn: int
    copied: bool
    """Whether it was given, and paid, in the session that this one copied its history from."""
    message: str
    blocks: tuple[Block, ...]
    about: Message | None = None
    requests: tuple[PricedRequest, ...] = ()

    @property
    def words(self) -> str:
        return _joined(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def thoughts(self) -> str:
        return _joined(block.text for block in self.blocks if isinstance(block, Thinking))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    @property
    def model(self) -> str:
        """The model that answered; empty where the agent itself wrote the answer, or nobody knows."""
        return self.about.model if self.about is not None and not self.about.synthetic else ""

    @property
    def time(self) -> datetime | None:
        known = (self.about.time if self.about is not None else None, *(block.time for block in self.blocks))
        return next((time for time in known if time is not None), None)

    @property
    def usage(self) -> Usage:
        return sum((request.usage for request in self.requests), Usage())

    @property
    def cost(self) -> Decimal | None:
        """What its requests cost; None where one of them has no known price, or there is none."""
        costs = [request.cost for request in self.requests]
        known = [cost for cost in costs if cost is not None]
        return sum(known, Decimal(0)) if known and len(known) == len(costs) else None


class BesideStep(msgspec.Struct, frozen=True):
    """What stands between prompts and answers: a notice, a picture, a result without its call, something unknown."""

    turn: int
    copied: bool
    block: Block


ExchangeStep = PromptStep | AnswerStep | BesideStep


class SessionWalk:
    """Walks a session and its subagents, once; a request goes with the first step of the answer that it is of."""

    def __init__(self, session: Session, view: View) -> None:
        self.session, self.view = session, view
        self.prices = view.prices or PriceTable.load()
        self._requests = requests_by_message(session, self.prices)
        """By the subagent, which has its id as a name and the session itself none, and the message."""
        self._given: set[tuple[str, str]] = set()

    def steps(self, member: Session) -> Iterator[ExchangeStep]:
        """The conversation that the view asks for, of the session or of a subagent: turns and branches are chosen from
        the session's own."""
        if member is not self.session:
            turns: Iterable[Turn] = member.turns
        else:
            turns = (turn for turn in follow_branch(member, self.view.branch)[0] if self.view.has_turn(turn.number))
        return self._walk(member, turns)

    def branch_steps(self, member: Session, branch: Branch) -> Iterator[ExchangeStep]:
        """A way that was left."""
        return self._walk(member, branch.turns)

    def unshown(self, member: Session) -> Iterator[AnswerStep]:
        """Requests that nothing in the conversation shows, an empty answer for each message of theirs: for a
        compaction, or made by another version of the session."""
        shown = {getattr(block, "message", "") for turn in all_turns(member) for block in turn.blocks}
        known, name = {message.id: message for message in member.messages}, self._name(member)
        for owner, message in self._requests:
            if owner == name and message not in shown:
                yield AnswerStep(0, False, message, (), known.get(message), self._take((owner, message)))

    def requests(self, member: Session) -> list[PricedRequest]:
        """Every request of the session itself, or of a subagent."""
        name = self._name(member)
        return [one for (owner, _), requests in self._requests.items() if owner == name for one in requests]

    def _take(self, answer: tuple[str, str]) -> tuple[PricedRequest, ...]:
        if answer in self._given:
            return ()
        self._given.add(answer)
        return tuple(self._requests.get(answer, ()))

    def _name(self, member: Session) -> str:
        return "" if member is self.session else member.id

    def _walk(self, member: Session, turns: Iterable[Turn]) -> Iterator[ExchangeStep]:
        messages = {message.id: message for message in member.messages}
        hidden = self.view.hidden
        for turn in turns:
            if turn.prompt is not None:
                yield PromptStep(turn.number, turn.copied, turn.prompt)
            for message, blocks in _answers(turn.blocks):
                shown = tuple(block for block in blocks if is_shown(block, hidden))
                if message is None:
                    yield from (BesideStep(turn.number, turn.copied, block) for block in shown)
                    continue
                about = messages.get(message)
                requests = self._take((self._name(member), message))
                copied = not requests and (turn.copied or (about is not None and about.copied))
                yield AnswerStep(turn.number, copied, message, shown, about, requests)


def _answers(blocks: Iterable[Block]) -> Iterator[tuple[str | None, list[Block]]]:
    """Blocks of one message together, with its id; None for what is no answer. A picture inside an answer is of it."""
    open_message: str | None = None
    group: list[Block] = []
    for block in blocks:
        if isinstance(block, Notice) or (isinstance(block, ToolCall) and block.state == "orphan"):
            message = None
        elif isinstance(block, Image):
            message = open_message
        else:
            message = None if isinstance(block, Unknown) and not block.message else block.message
        if group and message != open_message:
            yield open_message, group
            group = []
        open_message = message
        group.append(block)
    if group:
        yield open_message, group


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, texts))


def prompt_text(prompt: Prompt) -> str:
    """What a prompt put before the model: a command as it was typed, then what it was expanded to."""
    if prompt.kind == "bash":
        return f"!{prompt.text}"
    typed = " ".join(filter(None, (prompt.command, prompt.arguments)))
    return "\n\n".join(filter(None, (typed, prompt.text if prompt.text.strip() != typed else "")))


def is_sent(notice: Notice) -> bool:
    """Whether a notice was put before the model in words."""
    return bool(notice.text.strip()) and bool(block_pieces(notice))


def result_text(call: ToolCall) -> str:
    """What a tool answered, in words; where it never ran, why."""
    result = call.result
    if result is None:
        return ""
    rest = msgspec.json.encode(result.parts).decode() if result.parts and not result.text else ""
    return result.text or rest or result.feedback or result.denial


def json_line(session: Session, row: dict[str, Json]) -> Iterator[bytes]:
    """A line of a file of JSON lines; Unreadable where the session's data cannot be written."""
    return encode_json(session.id, lambda: row, 0)


def requests_cost(requests: Iterable[PricedRequest]) -> Cost:
    """What requests cost together."""
    amount, unpriced, floor = Decimal(0), dict[str, int](), False
    for one in requests:
        floor = floor or one.usage.floor
        if one.cost is None:
            unpriced[one.model] = unpriced.get(one.model, 0) + 1
        else:
            amount += one.cost
    return Cost(amount, tuple(sorted(unpriced.items())), floor)


def agents_of(call: ToolCall, member: Session) -> list[Agent]:
    """The subagents whose conversations begin at a call: each begins at one."""
    return [agent for agent in member.agents if agent.call_id and agent.call_id == call.call_id]


class ToolDefinition(msgspec.Struct, frozen=True):
    """A tool that a model could call."""

    name: str
    description: str
    parameters: dict[str, Any]
    """A JSON Schema: the agent's own, or one made of what the tool was called with."""
    declared: bool
    """Whether the log holds the agent's own definition."""

    def openai(self) -> dict[str, Json]:
        """As chat completions take it."""
        inner = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": inner}


def tool_definitions(member: Session) -> list[ToolDefinition]:
    """Tools that the log defines, then others that were called, each once."""
    found: dict[str, ToolDefinition] = {}
    for turn in all_turns(member):
        for block in turn.blocks:
            if isinstance(block, Notice) and block.kind == "system-prompt":
                for one in map(mapping, items(block.facts.get("tools"))):
                    schema = mapping(one.get("input_schema")) or mapping(one.get("parameters"))
                    if name := text(one.get("name")):
                        found[name] = ToolDefinition(name, text(one.get("description")), schema or _schema({}), True)
    observed: dict[str, dict[str, list[str]]] = {}
    for call in calls_of(member):
        if call.name and call.state != "orphan" and call.name not in found:
            fields = observed.setdefault(call.name, {})
            for key, value in (call.input if isinstance(call.input, dict) else {}).items():
                kinds = fields.setdefault(key, [])
                kinds += [kind] if (kind := _kind(value)) not in kinds else []
    found |= {name: ToolDefinition(name, "", _schema(fields), False) for name, fields in observed.items()}
    return list(found.values())


def _schema(fields: dict[str, list[str]]) -> dict[str, Any]:
    properties = {key: {"type": kinds[0] if len(kinds) == 1 else kinds} for key, kinds in fields.items()}
    return {"type": "object", "properties": properties}


def _kind(value: Json) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")
