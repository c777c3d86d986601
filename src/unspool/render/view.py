"""What of a session a reader wants to see: view options, the branch followed, and who takes part."""

from collections import defaultdict
from datetime import UTC, tzinfo
from itertools import chain

import msgspec

from unspool.doc import Fields, Fold
from unspool.errors import NotFound
from unspool.figures import calls_of, family
from unspool.human import count
from unspool.model import Agent, Block, Branch, Call, Session, ToolCall, Turn, Usage
from unspool.tools.summary import first_line


class View(msgspec.Struct, frozen=True):
    """The default shows the live conversation with long outputs cut; nothing is left out but by a field here."""

    thinking: bool = True
    tools: bool = True
    """False hides tool calls, save plans and questions: they are words between the agent and the user."""
    notices: bool = True
    """False hides what happened around the conversation, save compactions: they divide it."""
    full: bool = False
    """False cuts long outputs, saying how much was cut, tells most notices in one line each and no progress."""
    turns: tuple[tuple[int, int], ...] = ()
    """Ranges of turn numbers, both ends included; empty for all."""
    branch: int = 0
    """0 is the live conversation; another number shows that branch after the turns it has in common."""
    agents: bool = False
    """Subagents' conversations in place, nested to any depth."""
    branches: bool = True
    """Mention the other branches where they leave."""
    zone: tzinfo | None = UTC
    """The time zone that moments are shown in; None: this machine's."""

    def has_turn(self, number: int) -> bool:
        return not self.turns or any(first <= number <= last for first, last in self.turns)


DEPTH = 24
"""Subagents nested deeper than this are told at the end instead of in place."""


class Participants:
    """The subagents and models of a session, and which subagents have been shown."""

    def __init__(self, session: Session) -> None:
        self.models: dict[str, str] = {}
        self._efforts: dict[str, str] = {}
        self.retracted: set[str] = set()
        self.late: list[Agent] = []
        self._by_id: dict[str, Agent] = {}
        self._by_call: defaultdict[str, list[Agent]] = defaultdict(list)
        self._shown: set[str] = set()
        self._named: set[str] = set()
        self._called: set[str] = set()
        for member in family(session):
            self._meet(member)

    def _meet(self, session: Session) -> None:
        for message in session.messages:
            self.models[message.id] = "" if message.synthetic else message.model
            self._efforts[message.id] = message.effort
            if message.retracted:
                self.retracted.add(message.id)
        for agent in session.agents:
            self._by_id.setdefault(agent.id, agent)
            self._by_call[agent.call_id].append(agent)
        for call in calls_of(session):
            self._named.update(call.agents)
            self._called.add(call.call_id)

    def of(self, call: ToolCall) -> tuple[Agent, ...]:
        """The subagents that a call started."""
        named = [self._by_id[name] for name in call.agents if name in self._by_id]
        tied = self._by_call.get(call.call_id, []) if call.call_id else []
        return tuple({agent.id: agent for agent in chain(named, tied)}.values())

    def enter(self, agent: Agent) -> bool:
        """True the first time an agent is to be shown."""
        new = agent.id not in self._shown
        self._shown.add(agent.id)
        return new

    def postpone(self, agent: Agent) -> None:
        """Keep an agent for the end."""
        self.late.append(agent)

    def recall(self) -> Agent:
        """The next agent that was kept for the end, to be entered anew."""
        agent = self.late.pop(0)
        self._shown.discard(agent.id)
        return agent

    def untied(self) -> tuple[Agent, ...]:
        """Subagents that no call in the log accounts for."""
        loose = (agent for agent in self._by_id.values() if agent.id not in self._named)
        return tuple(agent for agent in loose if not agent.call_id or agent.call_id not in self._called)

    def efforts_of(self, blocks: tuple[Block, ...]) -> tuple[str, ...]:
        """How hard the models were told to think, in order."""
        asked = (self._efforts.get(getattr(block, "message", ""), "") for block in blocks)
        return tuple(dict.fromkeys(effort for effort in asked if effort))

    def models_of(self, blocks: tuple[Block, ...]) -> tuple[str, ...]:
        """The models that spoke, in order."""
        spoken = (self.models.get(getattr(block, "message", ""), "") for block in blocks)
        return tuple(dict.fromkeys(model for model in spoken if model))


def distinct_calls(*sessions: Session) -> tuple[Call, ...]:
    """Every request to a model, once, whatever number of logs repeat it."""
    found: dict[str, Call] = {}
    for session in sessions:
        for message in session.messages:
            for call in message.calls:
                found.setdefault(call.key, call)
    return tuple(found.values())


def total_usage(*sessions: Session) -> Usage:
    """The tokens of the sessions together."""
    return sum((call.usage for call in distinct_calls(*sessions)), Usage())


Leaving = dict[int, list[Fold]]
"""Mentions by the number of the turn they follow."""


def follow_branch(session: Session, number: int) -> tuple[tuple[Turn, ...], Leaving]:
    """The turns from the beginning to the end of a branch, and the mentions of all others that leave them."""
    line = _line(session, number)
    ends = [branch.after for branch in line] + [None]
    ways = [session.turns, *(branch.turns for branch in line)]
    numbers = [0, *(branch.number for branch in line)]
    shown: list[Turn] = []
    leaving: Leaving = defaultdict(list)
    for way, end, own in zip(ways, ends, numbers, strict=True):
        shown.extend(turn for turn in way if end is None or turn.number <= end)
        for branch in session.branches:
            if branch.parent == own and branch not in line and (end is None or branch.after <= end):
                twigs = tuple(twig for twig in session.branches if twig.parent == branch.number)
                leaving[branch.after].append(_mention(f"Branch {branch.number} leaves here", branch.turns, twigs))
        if end is not None:
            rest = tuple(turn for turn in way if turn.number > end)
            name = f"branch {own}" if own else "live conversation"
            leaving[end].append(_mention(f"The {name} goes on from here", rest))
    return tuple(shown), leaving


def _line(session: Session, number: int) -> list[Branch]:
    """The branch and those it grew from, the oldest first; empty for the live conversation."""
    known = {branch.number: branch for branch in session.branches}
    if number and number not in known:
        has = f"it has {', '.join(map(str, sorted(known)))}" if known else "it has none"
        raise NotFound(f"The session has no branch {number}: {has}.")
    line: list[Branch] = []
    while number in known:
        line.insert(0, known.pop(number))  # popped, so that a circle of parents ends
        number = line[0].parent
    return line


def _mention(what: str, turns: tuple[Turn, ...], twigs: tuple[Branch, ...] = ()) -> Fold:
    items = (
        *((f"turn {turn.number}", first_line(turn.prompt.text) if turn.prompt else "") for turn in turns),
        *((f"branch {twig.number}", f"leaves it after turn {twig.after}") for twig in twigs),
    )
    return Fold("branch", what, count(len(turns), "turn"), "quiet", children=(Fields(items),) if items else ())
