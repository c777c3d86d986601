"""A transcript on its way to a session: lines told apart, messages joined, results at hand, tree known."""

from collections.abc import Iterable

from unspool.model import Call, Event, Lines, Message, Problem, Result, SideLine, ToolCall
from unspool.turns.branches import Branches
from unspool.turns.inline import InlineAgents
from unspool.turns.live import Live
from unspool.turns.merge import Merged, block_key, calls, merge
from unspool.turns.tree import Tree


class Draft:
    """All that the lines of one transcript say together. `inline` holds its subagents' lines, by agent."""

    def __init__(self, events: Iterable[Event], *, own: bool) -> None:
        self.chain: list[Event] = []
        self.loose: list[Event] = []
        self.side: list[SideLine] = []
        self.problems: list[Problem] = []
        self.inline: dict[str, list[Event]] = {}
        self._snapshots: set[int] = set()
        self._again: list[Event] = []
        self._held = {"conversation": 0, "side": 0, "repeated": 0, "problems": 0, "extra": 0}
        self._sort(events, own=own)
        self._messages()
        self._results()
        self._tree()

    def _sort(self, events: Iterable[Event], *, own: bool) -> None:
        """Tell lines apart: own conversation, subagents' lines, side lines, problems, repetitions."""
        seen: dict[str, Event] = {}
        agents = InlineAgents()
        line = -1
        for event in events:
            where = self._place(event, seen, agents, own=own)
            if event.problem is not None:
                self.problems.append(event.problem)
            if event.place.line == line:
                self._held["extra"] += 1
            else:
                self._held[where] += 1
            line = event.place.line

    def _place(self, event: Event, seen: dict[str, Event], agents: InlineAgents, *, own: bool) -> str:
        if event.kind == "problem":
            return "problems"
        if event.side is not None:
            self.side.append(event.side)
            return "side"
        if not event.id:
            self.loose.append(event)
            return "conversation"
        before = seen.setdefault(event.id, event)
        if before is not event:
            if _says(before) == _says(event):
                self._again.append(event)
                return "repeated"
            if before.part is not None and event.part is not None and before.part.message == event.part.message:
                self._snapshots.add(id(event))
            else:
                event.id = f"{event.id}#{event.place.line}.{event.place.offset}"
        if event.sidechain and not own:
            self.inline.setdefault(agents.of(event), []).append(event)
        else:
            self.chain.append(event)
        return "conversation"

    def _messages(self) -> None:
        groups: dict[str, list[Event]] = {}
        repeated = []
        for event in self.chain:
            if event.part is not None:
                groups.setdefault(event.part.message, []).append(event)
                if event.id.startswith("line-"):
                    self._snapshots.add(id(event))
            if id(event) in self._snapshots and not event.id.startswith("line-"):
                repeated.append(id(event))
        self.groups = groups
        billed = {message: list(events) for message, events in groups.items()}
        for event in self._again:
            if event.part is not None and event.part.message in billed:
                billed[event.part.message].append(event)
        self.merged: dict[str, Merged] = {}
        self.billed: dict[str, tuple[Call, ...]] = {}
        for message, events in groups.items():
            snapshots = self._snapshots if len(events) > 1 else frozenset[int]()
            self.merged[message] = merge(events, snapshots)
            self.billed[message] = calls(billed[message])
        again = set(repeated)
        if again:
            self.chain = [event for event in self.chain if id(event) not in again]

    def _results(self) -> None:
        self.results: dict[str, list[Result]] = {}
        for event in self.chain:
            for block in event.blocks:
                if isinstance(block, Result):
                    self.results.setdefault(block.call_id, []).append(block)

    def _tree(self) -> None:
        self.tree = Tree(self.chain)
        self.leaf = self.tree.leaf()
        self.live = Live(self.tree)
        self.branches = Branches(self.tree, self.leaf)
        self._branch_of_message()

    def _branch_of_message(self) -> None:
        self.message_branch: dict[str, int] = {}
        for event, branch in zip(self.chain, self.branches.of, strict=True):
            if event.part is not None:
                known = self.message_branch.get(event.part.message)
                self.message_branch[event.part.message] = branch if known is None else min(known, branch)

    def tool_calls(self) -> Iterable[ToolCall]:
        """Every call made, in order, not yet paired."""
        for merged in self.merged.values():
            for block in merged.blocks:
                if isinstance(block, ToolCall):
                    yield block

    def lines(self, blank: int) -> Lines:
        """Where every line went."""
        superseded = sum(merged.superseded for merged in self.merged.values())
        held = dict(self._held)
        held["conversation"] -= superseded
        total = blank + sum(count for name, count in held.items() if name != "extra") + superseded
        return Lines(total=total, superseded=superseded, blank=blank, **held)

    def messages(self) -> tuple[Message, ...]:
        retracted = {line for event in self.chain for line in event.retracts}
        return tuple(self._message(message, events, retracted) for message, events in self.groups.items())

    def _message(self, message: str, events: list[Event], retracted: set[str]) -> Message:
        parts = [event.part for event in events if event.part is not None]
        times = [event.time for event in events if event.time is not None]
        return Message(
            message,
            parts[-1].model,
            self.billed[message],
            next((part.stop for part in reversed(parts) if part.stop), ""),
            tuple(event.place.line for event in events),
            min(times, default=None),
            max(times, default=None),
            parts[-1].synthetic,
            any(event.id in retracted for event in events),
            any(part.aborted for part in parts),
            next((part.effort for part in parts if part.effort), ""),
            self.message_branch[message] == 0,
            next((part.request_ref for part in parts if part.request_ref), ""),
        )


def _says(event: Event) -> object:
    """What a line says, whenever and wherever it was written."""
    prompt = event.prompt
    said = (prompt.kind, prompt.text, prompt.command, prompt.arguments) if prompt is not None else None
    message = event.part.message if event.part is not None else ""
    return event.kind, message, said, [block_key(block, event) for block in event.blocks]
