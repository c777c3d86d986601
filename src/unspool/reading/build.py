"""Turns of a session from a draft: calls paired and understood, blocks in order, queued prompts put in their places."""

from datetime import datetime

from msgspec.structs import replace

from unspool.model import (
    Block,
    Branch,
    Call,
    Dialect,
    Event,
    Notice,
    Plan,
    Prompt,
    Questionnaire,
    Result,
    Todo,
    Todos,
    ToolCall,
    Turn,
    Usage,
)
from unspool.reading.draft import SessionDraft
from unspool.reading.prompts import Unsent
from unspool.reading.scan import PlanName
from unspool.reading.skeleton import TurnNumber
from unspool.reading.tool_calls import CallKey

_MEANT = ("plan", "question", "todos")
"""Roles of calls that say more than what they ran."""


class TurnBuilder:
    """Makes the turns of one draft; `agents` and `plans` are the subagents and the plan of each call, `synopses`
    what was said, at a line, of the conversation up to there."""

    def __init__(
        self,
        draft: SessionDraft,
        dialect: Dialect,
        agents: dict[str, tuple[str, ...]],
        unsent: Unsent,
        plans: dict[PlanName, Plan],
        synopses: dict[str, str],
    ) -> None:
        self._draft, self._dialect, self._agents, self._plans = draft, dialect, agents, plans
        self._synopses = synopses
        self._tasks: dict[str, Todo] = {}
        self._unsent = unsent
        self.calls: dict[tuple[str, int], ToolCall] = {}
        self._paired: set[str] = set()
        self._pair()
        queued = [item.place.offset for item in unsent if isinstance(item, Prompt)]
        self._numbers = draft.turn_numbers(queued)
        self._positions: dict[int, list[int]] = {}
        for index, branch in enumerate(draft.branches.of):
            self._positions.setdefault(branch, []).append(index)
        self.turns = self._branch(0, 0)
        self.branches = self._branches()

    @property
    def todos(self) -> Todos:
        return Todos(tuple(self._tasks.values()))

    def _pair(self) -> None:
        """Give every call its result and its meaning, in the order the calls were made."""
        for message, merged in self._draft.merged.items():
            for index, block in enumerate(merged.blocks):
                if isinstance(block, ToolCall):
                    self.calls[message, index] = self._finished(block)

    def _finished(self, call: ToolCall) -> ToolCall:
        """The call with its result."""
        results = self._draft.results_of(call)
        if call.call_id:
            self._paired.add(call.call_id)
        result = results[-1] if results else None
        state = self._dialect.state(result) if result is not None else "unanswered"
        agents = self._agents.get(call.call_id, ())
        paired = replace(call, state=state, result=result, earlier=tuple(results[:-1]), agents=agents)
        return self._meaning(paired, self._draft.call_keys[id(call)]) if call.role in _MEANT else paired

    def _meaning(self, call: ToolCall, key: CallKey) -> ToolCall:
        meaning: Plan | Todos | Questionnaire | None
        if call.role == "plan":
            meaning = self._plans.get(key)
        elif call.role == "question":
            meaning = self._dialect.questions(call)
        else:
            meaning = self._dialect.todos(call, self._tasks)
        return replace(call, meaning=meaning)

    def _branches(self) -> tuple[Branch, ...]:
        found = []
        for fork in self._draft.branches.forks:
            after = self._numbers[fork.at].number if fork.at is not None else 0
            turns = self._branch(fork.number, after)
            at = self._draft.chain[fork.at].id if fork.at is not None else ""
            found.append(Branch(fork.number, after, turns, fork.parent, at))
        return tuple(found)

    def _branch(self, number: int, after: int) -> tuple[Turn, ...]:
        """The turns of one branch, in the order of the log."""
        writer = _Writer(after, opening=number == 0)
        extra = self._extra(number)
        for index in self._positions.get(number, ()):
            event = self._draft.chain[index]
            while extra and extra[0][0] < event.place.offset:
                self._insert(extra.pop(0)[1], writer)
            self._event(event, writer, self._numbers[index])
            if event.id in self._synopses:
                writer.add(Notice(event.place, "synopsis", self._synopses[event.id], time=event.time))
        for _, item in extra:
            self._insert(item, writer)
        return writer.finish(live=number == 0)

    def _extra(self, number: int) -> list[tuple[int, Event | Prompt | Notice]]:
        """What has no place in the tree and follows the order of the log, on the live branch."""
        if number:
            return []
        loose: list[tuple[int, Event | Prompt | Notice]] = [(event.place.offset, event) for event in self._draft.loose]
        loose += [(item.place.offset, item) for item in self._unsent]
        return sorted(loose, key=lambda pair: pair[0])

    @staticmethod
    def _insert(item: Event | Prompt | Notice, writer: "_Writer") -> None:
        if isinstance(item, Prompt):
            writer.begin(item, writer.number + 1)
        elif isinstance(item, Notice):
            writer.add(item)
        else:
            writer.extend(item.blocks)

    def _event(self, event: Event, writer: "_Writer", turn: TurnNumber) -> None:
        if event.prompt is not None:
            writer.begin(event.prompt, turn.number)
        writer.saw(event.time, copied=event.copied)
        if event.part is not None:
            self._say(event.part.message, writer, turn.branch)
            return
        for block in event.blocks:
            self._add(block, writer)

    def _add(self, block: Block | Result, writer: "_Writer") -> None:
        """A block of its own; a result only where its call is not in the log."""
        if not isinstance(block, Result):
            writer.add(block)
        elif block.call_id not in self._paired:
            writer.add(
                ToolCall(block.place, block.call_id, "", None, "orphan", result=block, id=block.id, time=block.time)
            )

    def _say(self, message: str, writer: "_Writer", number: int) -> None:
        """The whole message where its first line stands."""
        if message in writer.said or self._draft.message_branch[message] != number:
            return
        merged = self._draft.merged[message]
        for index, block in enumerate(merged.blocks):
            call = self.calls.get((message, index))
            if call is not None:
                writer.add(call)
            else:
                self._add(block, writer)
        writer.heard(message, self._draft.billed[message])


class _Writer:
    def __init__(self, after: int, *, opening: bool) -> None:
        self.number = after
        self.said: set[str] = set()
        self._turns: list[Turn] = []
        self._open: _Open | None = _Open(0, None) if opening else None

    def begin(self, prompt: Prompt, number: int) -> None:
        self._close()
        self.number = number
        self._open = _Open(number, prompt)

    def _current(self) -> "_Open":
        if self._open is None:
            self._open = _Open(self.number, None)
        return self._open

    def add(self, block: Block) -> None:
        self._current().blocks.append(block)

    def extend(self, blocks: tuple[Block | Result, ...]) -> None:
        for block in blocks:
            if not isinstance(block, Result):
                self.add(block)

    def saw(self, time: datetime | None, *, copied: bool) -> None:
        if self._open is not None:
            self._open.copied = copied if self._open.copied is None else self._open.copied
            if time is not None:
                self._open.saw(time)

    def heard(self, message: str, calls: tuple[Call, ...]) -> None:
        self.said.add(message)
        for call in calls:
            self._current().usage += call.usage
            if call.key.startswith(f"{message}:"):
                self._current().context = call.usage.context

    def _close(self) -> None:
        if self._open is not None and (self._open.prompt is not None or self._open.blocks):
            self._turns.append(self._open.turn(last=False))
        self._open = None

    def finish(self, *, live: bool) -> tuple[Turn, ...]:
        if self._open is not None and (self._open.prompt is not None or self._open.blocks):
            self._turns.append(self._open.turn(last=live))
        return tuple(self._turns)


class _Open:
    """A turn that is still being filled."""

    def __init__(self, number: int, prompt: Prompt | None) -> None:
        self.number, self.prompt = number, prompt
        self.blocks: list[Block] = []
        self.usage, self.context = Usage(), 0
        self.copied: bool | None = None
        """As its first line says."""
        self.started = self.ended = prompt.time if prompt is not None else None

    def saw(self, time: datetime) -> None:
        if self.started is None or time < self.started:
            self.started = time
        if self.ended is None or time > self.ended:
            self.ended = time

    def turn(self, *, last: bool) -> Turn:
        blocks = self._settled(last=last)
        copied = bool(self.copied)
        return Turn(self.number, self.prompt, blocks, self.started, self.ended, self.usage, self.context, copied)

    def _settled(self, *, last: bool) -> tuple[Block, ...]:
        """Say of calls without result whether they were broken off or still run."""
        stopped = max(
            (i for i, b in enumerate(self.blocks) if isinstance(b, Notice) and b.kind == "interruption"), default=-1
        )
        for index, block in enumerate(self.blocks):
            if isinstance(block, ToolCall) and block.state == "unanswered":
                state = "interrupted" if index < stopped else "running" if last else "unanswered"
                self.blocks[index] = replace(block, state=state)
        return tuple(self.blocks)
