"""What a session adds up to: every count, once, exact; money at list prices. Imports tools, reading, prices and the
model."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from unspool import human
from unspool.figures.changes import file_changes, find_commits, find_pushes, find_repository
from unspool.model import Agent, Call, CallEnd, Commit, FileChange, Push, Session, Turn, Usage
from unspool.model.blocks import Image, Notice, Plan, Questionnaire, Text, Thinking, ToolCall, count_ends
from unspool.prices import Cost, PriceTable
from unspool.reading.ledger import CallLedger, sum_by_model
from unspool.reading.prompts import plans_of


class Figures(msgspec.Struct, frozen=True):
    """Counts of the session's own conversation, abandoned branches included; subagents apart."""

    turns: int
    abandoned_turns: int
    prompts: dict[str, int]
    """Prompts by kind."""
    messages: int
    texts: int
    thinking: int
    images: int
    tool_calls: int
    tool_errors: int
    """Calls that ran and failed."""
    tools: dict[str, int]
    """Calls by tool."""
    questions: int
    compactions: int
    branches: int
    agents: int
    """Subagents, nested ones included."""
    agent_tool_calls: int
    problems: int
    plans: tuple[Plan, ...]
    commits: tuple[Commit, ...]
    pushes: tuple[Push, ...]
    repository: str
    files: tuple[FileChange, ...]
    """Files read or changed, by subagents too."""
    usage: Usage
    agents_usage: Usage
    """What the subagents used beyond it."""
    models: tuple[Call, ...]
    """Usage by model, subagents included."""
    cost: Cost
    """Of session and subagents together, without history that was copied from another session and paid there."""
    context: int
    """Tokens in the window at the last request."""
    tool_refusals: int = 0
    """Calls that a person or a rule did not let run, refused plans and questions included."""
    tool_interruptions: int = 0
    """Calls that were broken off, or cancelled with one beside them."""
    tool_unanswered: int = 0
    """Calls without a result."""
    elsewhere: Cost = Cost()
    """Of `cost`, what requests cost that only other versions of the session made; `usage` holds them too."""

    @property
    def ends(self) -> "Counter[CallEnd]":
        """How calls ended that did not go well."""
        return count_ends(self.tool_errors, self.tool_refusals, self.tool_interruptions, self.tool_unanswered)


def figures(session: Session, prices: PriceTable) -> Figures:
    turns = list(all_turns(session))
    blocks = [block for turn in turns for block in turn.blocks]
    calls = [block for block in blocks if isinstance(block, ToolCall)]
    own, apart, members = CallLedger(), CallLedger(), list(family(session))
    own.add(billed_calls(session))
    for ledger in (own, apart):
        ledger.add(session.elsewhere)
    mine = own.usage
    own.add(call for member in members[1:] for call in billed_calls(member))
    agent_calls = [call for member in members[1:] for call in calls_of(member)]
    made, results = [call for call in calls if call.state != "orphan"], [call.result for call in calls if call.result]
    ends, kinds = Counter([call.end for call in calls]), Counter(map(type, blocks))
    prompts = [turn.prompt for turn in turns if turn.prompt is not None]
    beside = [*(prompt.images for prompt in prompts), *(result.images for result in results)]
    return Figures(
        turns=len(prompts),
        abandoned_turns=sum(turn.prompt is not None for branch in session.branches for turn in branch.turns),
        prompts=dict(Counter(prompt.kind for prompt in prompts)),
        messages=sum(not message.synthetic for message in session.messages),
        texts=kinds[Text],
        thinking=kinds[Thinking],
        images=kinds[Image] + sum(map(len, beside)),
        tool_calls=len(made),
        tool_errors=ends["failed"],
        tool_refusals=ends["refused"],
        tool_interruptions=ends["interrupted"],
        tool_unanswered=ends["unanswered"],
        tools=dict(Counter([call.name for call in made]).most_common()),
        questions=sum([isinstance(call.meaning, Questionnaire) for call in calls]),
        compactions=sum([isinstance(block, Notice) and block.kind == "compaction" for block in blocks]),
        branches=len(session.branches),
        agents=len(members) - 1,
        agent_tool_calls=sum(call.state != "orphan" for call in agent_calls),
        problems=sum(not problem.mended for problem in session.problems),
        plans=tuple(plans_of(session.turns)),
        commits=tuple(find_commits(calls)),
        pushes=tuple(find_pushes(session, calls)),
        repository=find_repository(session, calls),
        files=file_changes([*calls, *agent_calls]),
        usage=mine,
        agents_usage=_minus(own.usage, mine),
        models=sum_by_model(own),
        cost=prices.total(own.rows()),
        elsewhere=prices.total(apart.rows()),
        context=next((turn.context for turn in reversed(session.turns) if turn.context), 0),
    )


def family(session: Session) -> Iterator[Session]:
    """The session and all its subagents' sessions."""
    return (member.session for member in members(session))


def family_ledger(session: Session) -> CallLedger:
    """Every request of the session and its subagents, once; those of copied history were another's."""
    ledger = CallLedger()
    ledger.add(billed_calls(session))
    ledger.add(session.elsewhere)
    ledger.add(call for member in list(family(session))[1:] for call in billed_calls(member))
    return ledger


def all_turns(session: Session) -> Iterator[Turn]:
    """Every turn, those of abandoned branches included."""
    yield from session.turns
    for branch in session.branches:
        yield from branch.turns


def reported_cost(session: Session) -> str:
    """What the agent itself says that a session cost, in dollars or in what it counts; empty where it says nothing."""
    dollars = human.money(float(session.reported_cost)) if session.reported_cost else ""
    return human.joined(dollars, session.reported_credits)


def calls_of(session: Session) -> Iterator[ToolCall]:
    """Every tool call of the session itself."""
    return (call for turn in all_turns(session) for call in _calls(turn))


class SessionMember(NamedTuple):
    """A session, or the session of one of its subagents, nested ones included."""

    session: Session
    agent: Agent | None = None
    """Whose session it is; None for the session itself."""
    parent: str = ""
    """The id of the subagent that started it; empty where the session itself did."""
    copied: bool = False
    """Whether a subagent's lines stand in the log with the call that started it, and the session copied that call."""


def members(session: Session) -> Iterator[SessionMember]:
    """The session, then its subagents, each before those that it started."""
    copied = {call.call_id for turn in all_turns(session) if turn.copied for call in _calls(turn) if call.call_id}
    waiting = [SessionMember(session)]
    while waiting:
        member = waiting.pop()
        yield member
        own = member.agent.id if member.agent is not None else ""
        for one in reversed(member.session.agents):
            again = one.call_id in copied and one.session.log.path == session.log.path
            waiting.append(SessionMember(one.session, one, own, member.copied or again))


def totalled_calls(session: Session) -> Iterator[ToolCall]:
    """The tool calls that totals over sessions count: its own and its subagents', without those that it copied."""
    for member in members(session):
        if not member.copied:
            yield from (call for turn in all_turns(member.session) if not turn.copied for call in _calls(turn))


def _calls(turn: Turn) -> Iterator[ToolCall]:
    return (block for block in turn.blocks if isinstance(block, ToolCall))


def billed_calls(session: Session) -> Iterator[Call]:
    """The requests that the session itself made: those of copied history were another's."""
    return (call for message in session.messages if not message.copied for call in message.calls)


_ENDS: dict[CallEnd, str] = {
    "failed": "failed", "refused": "refused", "interrupted": "interrupted", "unanswered": "without a result",
}  # fmt: skip


def tell_ends(ends: "Counter[CallEnd]") -> str:
    """How many calls did not go well, in words; empty where all did."""
    return ", ".join(f"{ends[end]:,} {words}" for end, words in _ENDS.items() if ends[end])


def _minus(whole: Usage, part: Usage) -> Usage:
    names = (name for name in Usage.__struct_fields__ if name != "floor")
    return Usage(floor=whole.floor, **{name: getattr(whole, name) - getattr(part, name) for name in names})
