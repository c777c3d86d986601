"""The tree of a conversation: parents, branches, and the live path that the agent would load on resume."""

from collections.abc import Sequence
from typing import NamedTuple

from unspool.model import BY_PLACE, Event, Result, ToolCall

_NEAR = 1000
"""How far back a line is looked for that a root may follow."""


class ConversationTree:
    """Links between the events of one transcript, by position in `events`."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = events
        self.at = {event.id: index for index, event in enumerate(events)}
        self.strict = [self._strict(index) for index in range(len(events))]
        self.joined = self._joined()
        _cut_cycles(self.joined)

    def _strict(self, index: int) -> int | None:
        event = self.events[index]
        if event.link:
            return index - 1 if index else None
        if event.parent is None:
            return None
        parent = self.at.get(event.parent)
        return parent if parent != index else None

    def _joined(self) -> list[int | None]:
        joined: list[int | None] = []
        roots = _roots(self.strict)
        rooted_in_prompt = False
        for index, event in enumerate(self.events):
            parent = self.strict[index]
            if event.boundary:
                logical = self.at.get(event.logical, index)
                parent = logical if logical < index else _before(index, roots)
            elif parent is None:
                first_words = event.parent is None and _typed(event)
                restart = first_words and rooted_in_prompt and not self._cleared(index)
                parent = None if restart else _before(index, roots)
                rooted_in_prompt = rooted_in_prompt or first_words
            joined.append(parent)
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
            if self.events[at].turn:
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
        before = at
        for index in path:
            self.of[index] = number
            if before is not None:
                self._next.setdefault(before, index)
            before = index
            part = self._events[index].part
            if part is not None:
                self._messages.setdefault(number, set()).add(part.message)

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
        """What the path that was kept says next after the fork: a prompt or an answer."""
        step = self._next.get(at) if at is not None else self._root()
        for _ in range(10_000):
            if step is None:
                return None
            event = self._events[step]
            if _asked(event) or (event.part is not None and not event.part.synthetic):
                return event
            step = self._next.get(step)
        return None

    def _root(self) -> int | None:
        return next((index for index, number in enumerate(self.of) if number == 0), None)


def _asked(event: Event) -> bool:
    return event.prompt is not None and event.prompt.kind != "queued"


class LivePath:
    """What the agent loads of a tree, for any tip of it."""

    def __init__(self, tree: ConversationTree) -> None:
        self._tree = tree
        self._members, self._owners, self._answers = _index(tree.events)

    def ids(self, leaf: int | None) -> tuple[str, ...]:
        """Ids of the visible lines, in order. Lines that have no id of their own are not among them."""
        if leaf is None:
            return ()
        events = self._tree.events
        return tuple(events[step].id for step in self.loaded(leaf) if _visible(events[step]))

    def loaded(self, leaf: int) -> list[int]:
        """Positions of all lines from the root to `leaf` and of those put back, in order."""
        path = self._tree.path(leaf, self._tree.strict)
        put_back = self._recovered(path, set(path))
        return [step for index in path for step in (index, *put_back.get(index, ()))]

    def _recovered(self, path: list[int], on_path: set[int]) -> dict[int, list[int]]:
        """Lines to put back, by the position on the path that they follow."""
        events = self._tree.events
        anchors = {part.message: index for index in path if (part := events[index].part) and _named(events[index])}
        answered = {call for index in path for call in _answers(events[index])}
        found: dict[int, list[int]] = {}
        for message, anchor in anchors.items():
            members = self._members.get(message, [])
            mates = [index for index in members if index not in on_path]
            results = _results(events, members, self._answers, (on_path, self._owners, answered))
            extra = sorted(mates, key=lambda i: _when(events[i])) + sorted(results, key=lambda i: _when(events[i]))
            if extra:
                on_path.update(extra)
                found[anchor] = extra
        return found


def _visible(event: Event) -> bool:
    return event.turn and not (event.meta or event.sidechain or event.team) and not event.id.startswith(BY_PLACE)


def _named(event: Event) -> bool:
    return event.part is not None and event.part.message != event.id


def _index(events: Sequence[Event]) -> tuple[dict[str, list[int]], dict[str, int], dict[str, list[int]]]:
    """(lines of each message, the line of each call, results by the id of the line they may answer)."""
    members: dict[str, list[int]] = {}
    owners: dict[str, int] = {}
    for index, event in enumerate(events):
        if event.part is not None and not event.id.startswith(BY_PLACE):
            members.setdefault(event.part.message, []).append(index)
            for block in event.blocks:
                if isinstance(block, ToolCall):
                    owners[block.call_id] = index
    answers: dict[str, list[int]] = {}
    for index, event in enumerate(events):
        for line in _answered_lines(event, events, owners):
            answers.setdefault(line, []).append(index)
    return members, owners, answers


def _answered_lines(event: Event, events: Sequence[Event], owners: dict[str, int]) -> set[str]:
    if event.part is not None or not event.parent:
        return set()
    calls = _answers(event)
    if not calls:
        return set()
    lines = {events[owners[call]].id for call in calls if call in owners and _same(event, events[owners[call]])}
    return lines | {event.parent} | ({event.answers} if event.answers else set())


def _same(one: Event, other: Event) -> bool:
    return one.sidechain == other.sidechain and one.agent == other.agent


def _answers(event: Event) -> list[str]:
    return [block.call_id for block in event.blocks if isinstance(block, Result)] if event.part is None else []


def _results(
    events: Sequence[Event],
    members: list[int],
    answers: dict[str, list[int]],
    state: tuple[set[int], dict[str, int], set[str]],
) -> list[int]:
    on_path, owners, answered = state
    lines = {events[index].id for index in members}
    near: list[int] = []
    stray: list[int] = []
    for line in (events[index].id for index in members):
        for result in answers.get(line, ()):
            if result in on_path or result in near or result in stray:
                continue
            (near if events[result].parent in lines else stray).append(result)
    known = {call for index in near for call in _answers(events[index])}  # apart: `answered` is as long as the log
    for result in sorted(stray):
        given = [call for call in _answers(events[result]) if call not in known and call not in answered]
        if any(owners.get(call) in members for call in given):
            known.update(_answers(events[result]))
            near.append(result)
    return near


def _when(event: Event) -> str:
    return event.time.isoformat(timespec="microseconds") if event.time is not None else ""
