"""The tree of a conversation: which lines are live, and which belong to a branch that was left.

Two readings of the links are kept apart. Strictly, the parents the log gives: that is what the agent itself
loads on resume, and it ends at a compaction. Joined, the same with every gap closed (compaction, restart, a
line that is missing): that is the history a person reads.
"""

from collections.abc import Sequence

from unspool.model import Event

_NEAR = 1000
"""How far back a line is looked for that a root may follow."""


class Tree:
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
            prompt = self.events[before].prompt
            if prompt is not None:
                return prompt.kind == "command" and prompt.command == "/clear"
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
