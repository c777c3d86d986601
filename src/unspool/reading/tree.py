"""The tree of a conversation: parents, branches, and the live path that the agent would load on resume."""

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import NamedTuple

from unspool.model import BY_PLACE, Event, Result, ToolCall

_NEAR = 1000
"""How far back a line is looked for that a root may follow."""


class ConversationTree:
    """Links between the events of one transcript, by position in `events`."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = events
        self.at = at = {event.id: index for index, event in enumerate(events)}
        self.strict: list[int | None] = [at.get(event.parent) if event.parent else None for event in events]
        for index, event in enumerate(events):
            if event.link:
                self.strict[index] = index - 1 if index else None
            elif self.strict[index] == index:
                self.strict[index] = None

    @cached_property
    def joined(self) -> list[int | None]:
        """The parents as a reader follows them: across compactions and gaps, without cycles."""
        joined = list(self.strict)
        roots = _roots(self.strict)
        rooted_in_prompt = False
        for index, event in enumerate(self.events):
            if event.boundary:
                logical = self.at.get(event.logical, index)
                joined[index] = logical if logical < index else _before(index, roots)
            elif joined[index] is None:
                first_words = event.parent is None and _typed(event)
                restart = first_words and rooted_in_prompt and not self._cleared(index)
                joined[index] = None if restart else _before(index, roots)
                rooted_in_prompt = rooted_in_prompt or first_words
        if not _lead_back(joined):
            _cut_cycles(joined)
        return joined

    def _cleared(self, index: int) -> bool:
        """Whether the last thing typed before a new root was the command that empties the context."""
        for before in range(index - 1, -1, -1):
            if self.events[before].prompt is not None:
                return self.events[before].clears
        return False

    def leaf(self) -> int | None:
        """The tip of the live path: the last line in the file that nothing follows."""
        parents = {event.parent for event in self.events if event.parent}
        linked = {parent for index, parent in enumerate(self.strict) if self.events[index].link}
        nearest: dict[int, int | None] = {}
        best = [-1, -1]
        for index, event in enumerate(self.events):
            if event.id in parents or index in linked:
                continue
            tip = self._nearest_turn(index, nearest)
            if tip is not None:
                main = self._is_main(self.events[tip])
                best[main] = max(best[main], tip)
        found = best[1] if best[1] >= 0 else best[0]
        return found if found >= 0 else None

    @staticmethod
    def _is_main(event: Event) -> bool:
        return not (event.sidechain or event.team or event.meta)

    def _nearest_turn(self, index: int, known: dict[int, int | None]) -> int | None:
        walked: list[int] = []
        at: int | None = index
        found: int | None = None
        while at is not None and at not in known:
            known[at] = None
            walked.append(at)
            if self.events[at].turn or self.events[at].rewinds:
                found = at
                break
            at = self.strict[at]
        else:
            found = known[at] if at is not None else None
        for step in walked:
            known[step] = found
        return found

    def path(self, leaf: int, links: Sequence[int | None]) -> list[int]:
        """Positions from the root to `leaf`."""
        path, seen = [], set()
        at: int | None = leaf
        while at is not None and at not in seen:
            seen.add(at)
            path.append(at)
            at = links[at]
        path.reverse()
        return path


def _before(index: int, roots: Sequence[int]) -> int | None:
    """The nearest line before a root that does not itself hang from it."""
    for before in range(index - 1, max(-1, index - _NEAR), -1):
        if roots[before] != index:
            return before
    return None


def _roots(links: Sequence[int | None]) -> list[int]:
    """The root each line hangs from; lines of a cycle hang from one of them."""
    if _lead_back(links):
        found: list[int] = []
        for index, parent in enumerate(links):
            found.append(index if parent is None else found[parent])
        return found
    roots = [-1] * len(links)
    for start in range(len(links)):
        walked: list[int] = []
        at: int | None = start
        last = start
        while at is not None and roots[at] < 0:
            roots[at] = at
            walked.append(at)
            last, at = at, links[at]
        root = last if at is None else roots[at]
        for step in walked:
            roots[step] = root
    return roots


def _lead_back(links: Sequence[int | None]) -> bool:
    """Whether every line follows an earlier one or none, as in all logs but damaged ones: there are no cycles then."""
    return all(parent is None or parent < index for index, parent in enumerate(links))


def _typed(event: Event) -> bool:
    return event.prompt is not None and event.prompt.kind in ("text", "command", "bash", "memory")


def _cut_cycles(links: list[int | None]) -> None:
    """Make the links a forest: in each cycle the line that stands first in the file becomes a root."""
    done = bytearray(len(links))
    for start in range(len(links)):
        walked: list[int] = []
        at: int | None = start
        while at is not None and not done[at]:
            done[at] = 1
            walked.append(at)
            at = links[at]
        if at is not None and done[at] == 1:
            links[min(walked[walked.index(at) :])] = None
        for step in walked:
            done[step] = 2


class BranchPoint(NamedTuple):
    """Where a branch leaves another."""

    number: int
    parent: int
    at: int | None


class BranchMap:
    """The branch of every event of a tree, by position."""

    def __init__(self, tree: ConversationTree, leaf: int | None) -> None:
        self._tree = tree
        self._events = tree.events
        self.of = [-1] * len(tree.events)
        self.forks: list[BranchPoint] = []
        self._next: dict[int, int] = {}
        self._messages: dict[int, set[str]] = {0: set()}
        if leaf is not None:
            self._claim(tree.path(leaf, tree.joined), 0)
        for index in range(len(tree.events) - 1, -1, -1):
            if self.of[index] < 0:
                self._strand(index)

    def _claim(self, path: list[int], number: int, at: int | None = None) -> None:
        before, of, events, follow = at, self.of, self._events, self._next.setdefault
        messages = self._messages.setdefault(number, set())
        for index in path:
            of[index] = number
            if before is not None:
                follow(before, index)
            before = index
            part = events[index].part
            if part is not None:
                messages.add(part.message)

    def _strand(self, leaf: int) -> None:
        strand, at = [], leaf
        parent: int | None = leaf
        while parent is not None and self.of[parent] < 0:
            at = parent
            strand.append(at)
            parent = self._tree.joined[at]
        strand.reverse()
        number = self.of[parent] if parent is not None else 0
        if self._is_branch(strand, parent, number):
            fork = BranchPoint(len(self.forks) + 1, number, parent)
            self.forks.append(fork)
            number = fork.number
        self._claim(strand, number, parent)

    def _is_branch(self, strand: list[int], at: int | None, number: int) -> bool:
        rival = self._rival(at)
        if rival is None:
            return False
        if any(_asked(self._events[index]) for index in strand):
            return True
        if rival.part is None:
            return False
        first = next((self._events[index].part for index in strand if self._events[index].part), None)
        return first is not None and not first.synthetic and first.message not in self._messages.get(number, ())

    def _rival(self, at: int | None) -> Event | None:
        """What the path that was kept says next after the fork: a prompt, an answer, or that it goes back to there."""
        step = self._next.get(at) if at is not None else self._root()
        for _ in range(10_000):
            if step is None:
                return None
            event = self._events[step]
            if _asked(event) or event.rewinds or (event.part is not None and not event.part.synthetic):
                return event
            step = self._next.get(step)
        return None

    def _root(self) -> int | None:
        return next((index for index, number in enumerate(self.of) if number == 0), None)


def _asked(event: Event) -> bool:
    return event.prompt is not None and event.prompt.kind != "queued"


class LivePath:
    """What the agent loads of a tree, for any tip of it; of two lines with one id the later counts."""

    def __init__(self, tree: ConversationTree) -> None:
        self._tree = tree
        self._members: dict[str, list[int]] = {}
        """Lines by the message that they are parts of."""
        self._owners: dict[str, int | None] = {}
        """The line of each call; None where two messages made it."""
        self._results: dict[str, list[int]] = {}
        """Lines with results by the id of the line that they may answer."""
        events, answering = tree.events, []
        for index in tree.at.values():
            event = events[index]
            message = _message(event)
            if message and not event.id.startswith(BY_PLACE):
                self._members.setdefault(message, []).append(index)
                self._own_calls(index, message)
            elif event.blocks and event.parent and event.part is None:
                answering.append(index)
        for index in answering:
            for line in self._answered_lines(events[index]):
                self._results.setdefault(line, []).append(index)

    def _own_calls(self, index: int, message: str) -> None:
        events = self._tree.events
        for block in events[index].blocks:
            if isinstance(block, ToolCall):
                other = self._owners.get(block.call_id, index)
                same = other == index or (other is not None and _message(events[other]) == message)
                self._owners[block.call_id] = index if same else None

    def _answered_lines(self, event: Event) -> Collection[str]:
        """Ids of the lines that an event may answer."""
        calls = _answers(event)
        if not calls or not event.parent:
            return ()
        named = {self._tree.at.get(event.answers), *map(self._owners.get, calls), None}
        if len(named) == 2 and self._tree.at.get(event.parent, -1) in named:
            return (event.parent,)  # as nearly all do
        lines = (self._tree.events[index] for index in named if index is not None)
        return {event.parent, *(line.id for line in lines if _same_writer(event, line))}

    def ids(self, leaf: int | None) -> tuple[str, ...]:
        """Ids of the visible lines, in order. Lines that have no id of their own are not among them."""
        if leaf is None:
            return ()
        events = self._tree.events
        return tuple(events[step].id for step in self.loaded(leaf) if _visible(events[step]))

    def loaded(self, leaf: int) -> list[int]:
        """Positions of all lines from the root to `leaf` and of those put back, in order."""
        return self._whole(self._tree.path(leaf, self._tree.strict))

    def in_context(self, leaf: int) -> list[int]:
        """The same, with the earlier lines that a compaction at the root keeps behind its summary."""
        path = self._tree.path(leaf, self._tree.strict)
        kept = self._tree.events[path[0]].preserved
        anchor = self._tree.at.get(kept.anchor) if kept is not None else None
        if anchor is None or anchor not in path:
            return self._whole(path)
        behind = path.index(anchor) + 1
        on_path = set(path)
        preserved = [index for index in self.preserved(path[0]) if index not in on_path]
        return self._whole([*path[:behind], *preserved, *path[behind:]])

    def preserved(self, boundary: int, *, partly: bool = False) -> list[int]:
        """Positions of the earlier lines that a compaction keeps; unless `partly`, none where one is missing."""
        tree, kept = self._tree, self._tree.events[boundary].preserved
        if kept is None:
            return []
        if kept.lines:
            there = [tree.at[line] for line in kept.lines if line in tree.at]
            return there if partly or len(there) == len(kept.lines) else []
        head, tail = tree.at.get(kept.head), tree.at.get(kept.tail)
        path = tree.path(tail, tree.strict) if tail is not None else []
        return path[path.index(head) :] if head in path else []

    def _whole(self, path: list[int]) -> list[int]:
        """A path with the other lines of each message on it, and their results, behind the message's last line."""
        events = self._tree.events
        on_path = set(path)
        anchors: dict[str, int] = {}
        answered: set[str] = set()
        for index in path:
            if message := _message(events[index]):
                anchors[message] = index
            else:
                answered.update(_answers(events[index]))
        put_back: dict[int, list[int]] = {}
        for message, anchor in anchors.items():
            members = self._members.get(message, [])
            mates = [index for index in members if index not in on_path]
            results = self._missing_results(members, on_path, answered)
            if not mates and not results:
                continue
            extra = sorted(mates, key=lambda i: _when(events[i])) + sorted(results, key=lambda i: _when(events[i]))
            on_path.update(extra)
            put_back[anchor] = extra
        return [step for index in path for step in (index, *put_back.get(index, ()))]

    def _missing_results(self, members: list[int], on_path: set[int], answered: set[str]) -> list[int]:
        """Results of a message's calls: those below its lines, and of the others those whose call has none yet."""
        events, results = self._tree.events, self._results
        lines = dict.fromkeys([events[index].id for index in members])
        found = {result: None for line in lines for result in results.get(line, ()) if result not in on_path}
        if not found:
            return []
        near = [result for result in found if events[result].parent in lines]
        stray = [result for result in found if events[result].parent not in lines]
        known = {call for index in near for call in _answers(events[index])}  # apart: `answered` is as long as the log
        for result in sorted(stray):
            given = [call for call in _answers(events[result]) if call not in known and call not in answered]
            if any(self._owners.get(call) in members for call in given):
                known.update(_answers(events[result]))
                near.append(result)
        return near


def _visible(event: Event) -> bool:
    return event.turn and not (event.meta or event.sidechain or event.team) and not event.id.startswith(BY_PLACE)


def _message(event: Event) -> str:
    """The id of the message that a line is a part of, where that has one."""
    return event.part.message if event.part is not None and event.part.message != event.id else ""


def _same_writer(one: Event, other: Event) -> bool:
    return one.sidechain == other.sidechain and one.agent == other.agent


def _answers(event: Event) -> list[str]:
    if event.part is not None or not event.blocks:
        return []
    return [block.call_id for block in event.blocks if isinstance(block, Result)]


def _when(event: Event) -> str:
    return event.time.isoformat(timespec="microseconds") if event.time is not None else ""
