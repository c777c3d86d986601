"""What of a session a reader sees: view options, who takes part, the branch followed and where others leave it."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from datetime import UTC, tzinfo
from itertools import chain

import msgspec

from unspool.doc import Fields, Fold
from unspool.errors import NotFound
from unspool.figures import all_turns, calls_of, family
from unspool.human import count
from unspool.model import (
    Agent,
    Block,
    Branch,
    Image,
    Notice,
    Plan,
    Questionnaire,
    Session,
    Thinking,
    Todos,
    ToolCall,
    Turn,
    Usage,
)
from unspool.prices import PriceTable
from unspool.tools.summary import first_line

DEPTH = 8
"""Subagents nested deeper than this stand at the end instead of in place."""
DIVIDERS = frozenset({"compaction", "interruption"})
"""Notices that divide the conversation."""


class View(msgspec.Struct, frozen=True):
    """The default shows the live conversation with long outputs cut; nothing is left out but by a field here."""

    thinking: bool = True
    tools: bool = True
    """False hides tool calls, save plans and questions: they are words between the agent and the user."""
    notices: bool = True
    """False hides what happened around the conversation, save what divides it: compactions and interruptions."""
    full: bool = False
    """False cuts long outputs, saying how much was cut, shows most notices in one line each and no progress."""
    turns: tuple[tuple[int, int], ...] = ()
    """Ranges of turn numbers, both ends included; empty for all."""
    branch: int = 0
    """0 is the live conversation; another number shows that branch after the turns it has in common."""
    agents: bool = False
    """Subagents' conversations in place, nested to any depth."""
    agent_limit: int = 0
    """Bytes of log up to which a subagent stands in place; 0 for no limit."""
    branches: bool = True
    """Mention the other branches where they leave."""
    zone: tzinfo | None = UTC
    """The time zone that moments are shown in; None: this machine's."""
    prices: PriceTable | None = None
    """What the cost of the session is told by; None: no cost is told."""
    hide: frozenset[str] = frozenset()
    """Kinds that are not shown at all: thinking, tools, notices, agents, todos, images."""

    def has_turn(self, number: int) -> bool:
        return not self.turns or any(first <= number <= last for first, last in self.turns)

    @property
    def hidden(self) -> frozenset[str]:
        """All kinds that are not shown; without tools there are neither todo lists nor calls of subagents."""
        fields = (
            (self.thinking, ("thinking",)),
            (self.tools, ("tools", "todos", "agents")),
            (self.notices, ("notices",)),
        )
        return self.hide.union(*(kinds for shown, kinds in fields if not shown))


def is_shown(block: Block, hidden: frozenset[str]) -> bool:
    """False for a block of a hidden kind; plans, questions and what divides the conversation are never hidden."""
    match block:
        case Thinking():
            return "thinking" not in hidden
        case ToolCall():
            return _is_call_shown(block, hidden)
        case Image():
            return "images" not in hidden
        case Notice():
            return "notices" not in hidden or block.kind in DIVIDERS
        case _:
            return True


def _is_call_shown(call: ToolCall, hidden: frozenset[str]) -> bool:
    if isinstance(call.meaning, Plan | Questionnaire) or call.role in ("plan", "question"):
        return True
    if isinstance(call.meaning, Todos) or call.role == "todos":
        return "todos" not in hidden
    return ("agents" if call.role == "agent" else "tools") not in hidden


class Participants:
    """The subagents and models of a session, and the call at which each subagent's conversation stands."""

    def __init__(self, session: Session, turns: Iterable[Turn] = ()) -> None:
        """`turns` are those that are shown, where that is not all: a subagent stands at a call of theirs if it can."""
        self._session = session  # kept, for calls are told apart by identity while the session lives
        self.models: dict[str, str] = {}
        self.efforts: dict[str, str] = {}
        self.retracted: set[str] = set()
        self._by_id: dict[str, Agent] = {}
        self._by_call: defaultdict[str, list[Agent]] = defaultdict(list)
        self._homes: dict[str, int] = {}
        self._sizes: dict[str, int] = {}
        members = list(family(session))
        for member in members:
            self._add(member)
        shown = (block for turn in turns for block in turn.blocks if isinstance(block, ToolCall))
        for call in chain(shown, chain.from_iterable(map(calls_of, members))):
            for agent in self.of(call):
                self._homes.setdefault(agent.id, id(call))

    def _add(self, session: Session) -> None:
        for message in session.messages:
            self.models[message.id] = "" if message.synthetic else message.model
            self.efforts[message.id] = message.effort
            if message.retracted:
                self.retracted.add(message.id)
        for agent in session.agents:
            self._by_id.setdefault(agent.id, agent)
            self._by_call[agent.call_id].append(agent)

    def of(self, call: ToolCall) -> tuple[Agent, ...]:
        """The subagents that a call started or went on with."""
        tied = self._by_call.get(call.call_id, ()) if call.call_id else ()
        if not (tied or call.agents):
            return ()
        named = [self._by_id[name] for name in call.agents if name in self._by_id]
        return tuple({agent.id: agent for agent in chain(named, tied)}.values())

    def is_home(self, call: ToolCall, agent: Agent) -> bool:
        """True for the one call at which the agent's conversation stands; other calls of it only mention it."""
        return self._homes[agent.id] == id(call)

    def untied(self) -> tuple[Agent, ...]:
        """Subagents that no call in the log accounts for."""
        return tuple(agent for agent in self._by_id.values() if agent.id not in self._homes)

    def fits(self, agent: Agent, limit: int) -> bool:
        """Whether the agent's log, with those of its own subagents, has at most so many bytes; 0 is no limit."""
        return not limit or self._size(agent) <= limit

    def _size(self, agent: Agent) -> int:
        if agent.id not in self._sizes:
            sizes = (
                block.place.size + (block.result.place.size if isinstance(block, ToolCall) and block.result else 0)
                for turn in all_turns(agent.session)
                for block in turn.blocks
            )
            self._sizes[agent.id] = sum(sizes) + sum(self._size(inner) for inner in agent.session.agents)
        return self._sizes[agent.id]


def total_usage(*sessions: Session) -> Usage:
    """The tokens of the sessions together, each request once, whatever number of logs repeat it; copied history not."""
    used: dict[str, Usage] = {}
    for message in (message for session in sessions for message in session.messages):
        for call in () if message.copied else message.calls:
            used.setdefault(call.key, call.usage)
    used.update((call.key, call.usage) for session in sessions for call in session.elsewhere)
    return sum(used.values(), Usage())


def turns_and_forks(turns: Iterable[Turn], afters: Iterable[int]) -> Iterator[Turn | int]:
    """The turns in order, and between them the numbers after which branches leave, each in its place."""
    waiting = deque(sorted(afters))
    for turn in turns:
        while waiting and waiting[0] < turn.number:
            yield waiting.popleft()
        yield turn
    yield from waiting


def follow_branch(session: Session, number: int) -> tuple[tuple[Turn, ...], dict[int, list[Fold]]]:
    """The turns from the beginning to the end of a branch, and mentions of the others by the turn they leave after."""
    line = _line(session, number)
    ends = [branch.after for branch in line] + [None]
    parts = [session.turns, *(branch.turns for branch in line)]
    numbers = [0, *(branch.number for branch in line)]
    shown: list[Turn] = []
    leaving: dict[int, list[Fold]] = defaultdict(list)
    for part, end, own in zip(parts, ends, numbers, strict=True):
        shown.extend(turn for turn in part if end is None or turn.number <= end)
        for branch in session.branches:
            if branch.parent == own and branch not in line and (end is None or branch.after <= end):
                twigs = tuple(twig for twig in session.branches if twig.parent == branch.number)
                leaving[branch.after].append(_mention(f"Branch {branch.number} leaves here", branch.turns, twigs))
        if end is not None:
            rest = tuple(turn for turn in part if turn.number > end)
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
        *((f"turn {turn.number}", first_line(turn.prompt.words) if turn.prompt else "") for turn in turns),
        *((f"branch {twig.number}", f"leaves it after turn {twig.after}") for twig in twigs),
    )
    return Fold("branch", what, count(len(turns), "turn"), "quiet", children=(Fields(items),) if items else ())
