"""Where every line of a transcript belongs: to the conversation, to a branch of it, to a turn. Decided here alone.

A skeleton hears the events of a transcript one by one. Whoever reads a session whole gives it the events to keep;
whoever only counts or indexes a log has it keep no more of each than the tree needs. Both number turns alike.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from unspool.model import BY_PLACE, Event, Image, Notice, Place, Prompt, Result, Text, Thinking, ToolCall, Unknown
from unspool.model.blocks import Block
from unspool.reading.tree import BranchMap, ConversationTree


class TurnNumber(NamedTuple):
    """Which turn a line belongs to: turns are counted along a branch, from where it left the one before."""

    branch: int
    number: int


_NO_TURN = TurnNumber(-1, 0)


class Skeleton:
    """The lines of one transcript. `slim`: events lose what they say once they are in, and only their places stay."""

    def __init__(self, *, slim: bool = False) -> None:
        self.rows: list[Event] = []
        """Lines of the conversation in order, subagents' among them."""
        self.again: list[Event] = []
        """Lines that only repeat another."""
        self.snapshots: set[int] = set()
        """The `id()`s of rows that hold a later state of a message that another line began."""
        self._seen: dict[str, tuple[Event, int | None]] = {}
        self._slim = slim
        self.own = True
        """Whether all lines are of a subagent, whose own log this is then."""

    def add(self, event: Event) -> bool:
        """Take in a line that has an id and is part of a conversation; False where it only repeats another."""
        words = hash_of_words(event) if self._slim else None
        before, said = self._seen.setdefault(event.id, (event, words))
        if before is not event:
            if (said or hash_of_words(before)) == (words or hash_of_words(event)):
                self.again.append(event)
                return False
            if before.part is not None and event.part is not None and before.part.message == event.part.message:
                self.snapshots.add(id(event))
            else:
                event.id = f"{event.id}#{event.place.line}.{event.place.offset}"
        self.own = self.own and event.sidechain
        self.rows.append(event)
        if self._slim:
            event.blocks, event.nested = (), None
            if event.prompt is not None:
                event.prompt = Prompt(event.prompt.place, event.prompt.kind, "")
        return True

    def chain(self, *, own: bool) -> list[Event]:
        """The lines of the session itself, or of the subagent whose `own` log this is, each message's states once."""
        rows = [row for row in self.rows if own or not row.sidechain]
        return [row for row in rows if not self._is_repeated(row)] if self.snapshots else rows

    def _is_repeated(self, row: Event) -> bool:
        return id(row) in self.snapshots and not row.id.startswith(BY_PLACE)


class InlineAgents:
    """Names the subagent of each line: its own id, or the line its chain began with."""

    def __init__(self) -> None:
        self._roots: dict[str, str] = {}
        self._last = ""

    def of(self, event: Event) -> str:
        if event.agent:
            return event.agent
        if event.link and self._last:
            return self._last
        name = self._roots.get(event.logical or event.parent or "", "") or f"inline-{event.id}"
        self._roots[event.id] = self._last = name
        return name


def number_turns(chain: list[Event], branches: BranchMap, unsent: Iterable[int]) -> list[TurnNumber]:
    """The turn of each line of a chain; `unsent` are the places of queued prompts that have no line of their own."""
    found = [_NO_TURN] * len(chain)
    positions: dict[int, list[int]] = {}
    for index, branch in enumerate(branches.of):
        positions.setdefault(branch, []).append(index)
    for branch, after in _starts(branches, found):
        turn, queued = TurnNumber(branch, after), sorted(unsent) if branch == 0 else []
        for index in positions.get(branch, ()):
            while queued and queued[0] < chain[index].place.offset:
                turn = TurnNumber(branch, turn.number + 1)
                queued.pop(0)
            if chain[index].prompt is not None:
                turn = TurnNumber(branch, turn.number + 1)
            found[index] = turn
    return found


def _starts(branches: BranchMap, found: Sequence[TurnNumber]) -> Iterator[tuple[int, int]]:
    """Each branch with the number of the turn that it left; those that others leave come first."""
    yield 0, 0
    for fork in branches.forks:
        yield fork.number, found[fork.at].number if fork.at is not None else 0


class TurnPlace(NamedTuple):
    """A turn of the live conversation: its number, and where its prompt stands, or what came before the first."""

    number: int
    offset: int
    line: int


class NumberedLines(NamedTuple):
    """The turn of every line of a log, by the line's place; and the prompts of the live conversation."""

    turns: dict[int, TurnNumber]
    prompts: tuple[TurnPlace, ...]


def number_lines(skeleton: Skeleton, unsent: Iterable[Place]) -> NumberedLines:
    """Where every line of a skeleton belongs; `unsent` are the places of queued prompts without a line of their own."""
    chain, queued = skeleton.chain(own=skeleton.own), list(unsent)
    tree = ConversationTree(chain)
    branches = BranchMap(tree, tree.leaf())
    numbers = number_turns(chain, branches, [place.offset for place in queued])
    turns = {event.place.offset: number for event, number in zip(chain, numbers, strict=True)}
    live = [event.place for event, own in zip(chain, numbers, strict=True) if event.prompt and own.branch == 0]
    places = sorted([*live, *queued], key=lambda place: place.offset)
    return NumberedLines(turns, tuple(TurnPlace(n, one.offset, one.line) for n, one in enumerate(places, 1)))


def hash_of_words(event: Event) -> int:
    """The same for lines that say the same, whenever and wherever they were written."""
    prompt = event.prompt
    said = (prompt.kind, prompt.text, prompt.command, prompt.arguments) if prompt is not None else None
    message = event.part.message if event.part is not None else ""
    return hash((event.kind, message, said, *[block_key(block, event) for block in event.blocks]))


def block_key(block: Block | Result, event: Event) -> object:
    """Equal for blocks that are the same block. Lines that number their blocks differ by that number."""
    if isinstance(block, ToolCall):
        return ("call", block.call_id) if block.call_id else ("block", id(block))
    if isinstance(block, Result):
        return ("result", block.call_id, block.text)
    index = event.part.index if event.part is not None and len(event.blocks) == 1 else -1
    if isinstance(block, Text):
        return (Text, block.text, index)
    if isinstance(block, Notice):
        return ("notice", block.kind, block.text, index)
    match block:
        case Thinking(signature=signature) if signature:
            return ("thinking", signature, index)
        case Thinking(text=text):
            return (Thinking, text, index)
        case Image(data=data, url=url, path=path):
            return ("image", data, url, path, index)
        case Unknown(what=what, data=data):
            return ("unknown", what, repr(data), index)
