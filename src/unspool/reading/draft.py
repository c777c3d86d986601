"""A transcript on its way to a session: inline subagents told apart, lines merged into messages, results at hand."""

from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from unspool.model import (
    BY_PLACE,
    Block,
    Call,
    Event,
    Lines,
    Message,
    Problem,
    Result,
    SideLine,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from unspool.reading.skeleton import InlineAgents, Skeleton, TurnNumber, block_key, number_turns
from unspool.reading.tool_calls import CallKey, CallPairs
from unspool.reading.tree import BranchMap, ConversationTree, LivePath

_NEAR = 64
"""How far back a snapshot is compared with the blocks before it."""

Piece = Block | Result


class MergedMessage:
    """Blocks joined so far, and the line each was taken from."""

    def __init__(self) -> None:
        self.blocks: list[Piece] = []
        self._lines: list[Event] = []
        self._givers: list[Event] = []
        self._from: list[tuple[int, bool]] = []
        self._known: dict[object, int] = {}

    @classmethod
    def of_line(cls, event: Event) -> "MergedMessage":
        """The message of a single line that holds no more than one block, as most do."""
        merged = cls()
        merged.blocks += event.blocks
        return merged

    def add(self, event: Event, *, snapshot: bool) -> None:
        """Take in the blocks of one line."""
        several = len(event.blocks) > 1
        self._lines.append(event)
        for index, block in enumerate(event.blocks):
            loose = snapshot or several
            at = self._find(block, index, event, loose=loose)
            if at is None:
                self._known[block_key(block, event)] = len(self.blocks)
                self.blocks.append(block)
                self._from.append((index, loose))
                self._givers.append(event)
            elif _fuller(block, self.blocks[at]):
                self.blocks[at] = block
                self._givers[at] = event

    @property
    def superseded(self) -> int:
        """How many lines hold nothing but what another line holds as well or better."""
        if len(self._lines) < 2:
            return 0
        givers = {id(event) for event in self._givers}
        return sum(bool(event.blocks) and id(event) not in givers for event in self._lines)

    def _find(self, block: Piece, index: int, event: Event, *, loose: bool) -> int | None:
        """Where the same block already stands, in this or an earlier state."""
        at = self._known.get(block_key(block, event))
        if at is not None:
            return at
        if not isinstance(block, Text | Thinking):
            return None
        for at in range(len(self.blocks) - 1, max(-1, len(self.blocks) - 1 - _NEAR), -1):
            where, was_loose = self._from[at]
            if (loose or was_loose) and where == index and _grows(self.blocks[at], block):
                return at
        return None


def _grows(before: Piece, after: Text | Thinking) -> bool:
    if isinstance(before, Text) and isinstance(after, Text):
        return after.text.startswith(before.text) or before.text.startswith(after.text)
    if isinstance(before, Thinking) and isinstance(after, Thinking):
        one_signed = not (before.signature and after.signature)
        return one_signed and (after.text.startswith(before.text) or before.text.startswith(after.text))
    return False


def _fuller(after: Piece, before: Piece) -> bool:
    if isinstance(after, ToolCall) and isinstance(before, ToolCall):
        return bool(after.input) or not before.input
    if isinstance(after, Text | Thinking) and isinstance(before, Text | Thinking):
        return len(after.text) > len(before.text) or bool(
            getattr(after, "signature", "") > getattr(before, "signature", "")
        )
    return False


def merge_message(events: Sequence[Event], snapshots: frozenset[int] | set[int]) -> MergedMessage:
    """Join the lines of one message; `snapshots` holds the `id()`s of those that only repeat a state, as lines without
    an id of their own may too."""
    if len(events) == 1 and len(events[0].blocks) < 2:
        return MergedMessage.of_line(events[0])
    merged = MergedMessage()
    ordered: Sequence[Event] = events
    if len(events) > 1 and all(event.part is not None and event.part.index >= 0 for event in events):
        ordered = sorted(events, key=lambda event: event.part.index if event.part else 0)
    for event in ordered:
        merged.add(event, snapshot=len(events) > 1 and (id(event) in snapshots or event.id.startswith(BY_PLACE)))
    return merged


def billed_requests(events: Sequence[Event]) -> tuple[Call, ...]:
    """What the message was billed: each request once, with the largest figures any of its lines held."""
    first = next((event.part.request for event in events if event.part and event.part.request), "")
    by_request: dict[str, list[Event]] = {}
    advised = False
    for event in events:
        part = event.part
        if part is not None:
            advised = advised or bool(part.advice)
            if part.usage is not None and not part.synthetic:
                by_request.setdefault(part.request or first, []).append(event)
    billed = [_call(request, group) for request, group in by_request.items()]
    return (*billed, *_advice(events)) if advised else tuple(billed)


def _advice(events: Sequence[Event]) -> Iterable[Call]:
    """The requests of other models that the message asked, each once."""
    found: dict[str, Call] = {}
    for event in events:
        for call in event.part.advice if event.part is not None else ():
            known = found.get(call.key)
            found[call.key] = call if known is None else replace(known, usage=larger_usage(known.usage, call.usage))
    return found.values()


def _call(request: str, events: list[Event]) -> Call:
    best, final = None, False
    for event in events:
        part = event.part
        if part is None or part.usage is None:
            continue
        best = part.usage if best is None else larger_usage(best, part.usage)
        final = final or bool(part.stop)
        last = part
    usage = best or Usage()
    if not final:
        usage = Usage(
            usage.input, usage.output, usage.cache_read, usage.cache_write,
            usage.cache_write_1h, usage.web_searches, usage.web_fetches, usage.reasoning, floor=True,
        )  # fmt: skip
    return Call(f"{last.message}:{request}", last.model, usage, events[0].time, last.speed, last.tier, last.geo)


def larger_usage(one: Usage, other: Usage) -> Usage:
    """The larger of each figure."""
    if one == other:
        return one
    return Usage(
        max(one.input, other.input),
        max(one.output, other.output),
        max(one.cache_read, other.cache_read),
        max(one.cache_write, other.cache_write),
        max(one.cache_write_1h, other.cache_write_1h),
        max(one.web_searches, other.web_searches),
        max(one.web_fetches, other.web_fetches),
        max(one.reasoning, other.reasoning),
        one.floor and other.floor,
    )


class SessionDraft:
    """All that the lines of one transcript say together. `inline` holds its subagents' lines, by agent, but for those
    that it only repeats of subagents with a log of their own: those are `logged`."""

    def __init__(self, events: Iterable[Event], *, own: bool, logged: Collection[str] = ()) -> None:
        self.loose: list[Event] = []
        self.side: list[SideLine] = []
        self.problems: list[Problem] = []
        self.inline: dict[str, list[Event]] = {}
        self._skeleton = Skeleton()
        self._held = {"conversation": 0, "side": 0, "repeated": 0, "problems": 0, "extra": 0}
        self._sort(events, logged, own=own)
        self._messages(own=own)
        self.chain = self._skeleton.chain(own=own)
        self._pair(own=own)
        self._tree()

    def _sort(self, events: Iterable[Event], logged: Collection[str], *, own: bool) -> None:
        """Tell lines apart: own conversation, subagents' lines, side lines, problems, repetitions."""
        agents = InlineAgents()
        line = -1
        for event in events:
            where = self._place(event)
            if event.sidechain and where == "conversation" and event.id and not own:
                self.inline.setdefault(agents.of(event), []).append(event)
            elif event.nested is not None and where == "conversation" and event.nested.agent not in logged:
                self.inline.setdefault(event.nested.agent, []).append(event.nested)
            if event.problem is not None:
                self.problems.append(event.problem)
            if event.place.line == line:
                self._held["extra"] += 1
            else:
                self._held[where] += 1
            line = event.place.line

    def _place(self, event: Event) -> str:
        if event.kind == "problem":
            return "problems"
        if event.side is not None:
            self.side.append(event.side)
            return "side"
        if not event.id:
            self.loose.append(event)
            return "conversation"
        return "conversation" if self._skeleton.add(event) else "repeated"

    def _messages(self, *, own: bool) -> None:
        groups: dict[str, list[Event]] = {}
        for event in self._skeleton.rows:
            if event.part is not None and (own or not event.sidechain):
                groups.setdefault(event.part.message, []).append(event)
        self.groups = groups
        again: dict[str, list[Event]] = {}
        for event in self._skeleton.again:
            if event.part is not None:
                again.setdefault(event.part.message, []).append(event)
        self.merged: dict[str, MergedMessage] = {}
        self.billed: dict[str, tuple[Call, ...]] = {}
        for message, events in groups.items():
            self.merged[message] = merge_message(events, self._skeleton.snapshots)
            self.billed[message] = billed_requests([*events, *again[message]] if message in again else events)

    def _pair(self, *, own: bool) -> None:
        """Find which call each block is, and the results of every call."""
        self.call_keys: dict[int, CallKey] = {}
        """By the `id()`s of blocks."""
        self._answers: dict[CallKey, list[Result]] = {}
        early: dict[str, list[Result]] = {}
        pairs, chain = CallPairs(), {id(event) for event in self.chain} if self._skeleton.snapshots else None
        for event in self._skeleton.rows:
            for block in event.blocks if own or not event.sidechain else ():
                if type(block) is ToolCall:  # quicker than `isinstance` where it is none
                    key, new = pairs.call(block)
                    self.call_keys[id(block)] = key
                    if new and block.call_id:
                        self._answers[key] = early.pop(block.call_id, [])
                elif type(block) is Result and (chain is None or id(event) in chain):
                    answered = pairs.answer(block)
                    (early.setdefault(block.call_id, []) if answered is None else self._answers[answered]).append(block)

    def results_of(self, call: ToolCall) -> list[Result]:
        """What a call was answered, the last one last."""
        return self._answers.get(self.call_keys[id(call)], [])

    def _tree(self) -> None:
        self.tree = ConversationTree(self.chain)
        self.leaf = self.tree.leaf()
        self.live = LivePath(self.tree)
        self.branches = BranchMap(self.tree, self.leaf)
        self._branch_of_message()

    def _branch_of_message(self) -> None:
        self.message_branch: dict[str, int] = {}
        for event, branch in zip(self.chain, self.branches.of, strict=True):
            if event.part is not None:
                known = self.message_branch.get(event.part.message)
                self.message_branch[event.part.message] = branch if known is None else min(known, branch)

    def turn_numbers(self, unsent: Iterable[int]) -> list[TurnNumber]:
        """The turn of each line of the chain; `unsent` are the places of queued prompts without a line of their own."""
        return number_turns(self.chain, self.branches, unsent)

    def tool_calls(self) -> Iterable[ToolCall]:
        """Every call made, in order, not yet paired."""
        for merged in self.merged.values():
            for block in merged.blocks:
                if isinstance(block, ToolCall):
                    yield block

    def lines(self, blank: int) -> Lines:
        superseded = sum(merged.superseded for merged in self.merged.values())
        held = dict(self._held)
        held["conversation"] -= superseded
        total = blank + sum(count for name, count in held.items() if name != "extra") + superseded
        return Lines(total=total, superseded=superseded, blank=blank, **held)

    def messages(self) -> tuple[Message, ...]:
        retracted = {line for event in self.chain for line in event.retracts}
        return tuple(self._message(message, events, retracted) for message, events in self.groups.items())

    def _message(self, message: str, events: list[Event], retracted: set[str]) -> Message:
        stop = effort = request = ""
        aborted = False
        for event in events:
            if (part := event.part) is not None:
                last, stop = part, part.stop or stop
                effort, request = effort or part.effort, request or part.request_ref
                aborted = aborted or part.aborted
        times = [event.time for event in events if event.time is not None]
        return Message(
            message,
            last.model,
            self.billed[message],
            stop,
            tuple([event.place.line for event in events]),
            min(times, default=None),
            max(times, default=None),
            last.synthetic,
            bool(retracted) and any(event.id in retracted for event in events),
            aborted,
            effort,
            self.message_branch[message] == 0,
            request,
            events[0].copied and all(event.copied for event in events),
        )
