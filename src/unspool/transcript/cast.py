"""Who takes part: subagents by id and by the call that started them, models by message, wherever they nest."""

from collections import defaultdict
from itertools import chain

from unspool.figures import calls_of, family
from unspool.model import Agent, Block, Call, Session, ToolCall, Usage

DEPTH = 24
"""Subagents nested deeper than this are told at the end instead of in place."""


class Cast:
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


def billed(*sessions: Session) -> tuple[Call, ...]:
    """Every request to a model, once, whatever number of logs repeat it."""
    found: dict[str, Call] = {}
    for session in sessions:
        for message in session.messages:
            for call in message.calls:
                found.setdefault(call.key, call)
    return tuple(found.values())


def spent(*sessions: Session) -> Usage:
    """The tokens of the sessions together."""
    return sum((call.usage for call in billed(*sessions)), Usage())
