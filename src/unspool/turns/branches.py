"""Which branch each line belongs to: 0 is live; the others were left by an edited prompt or a rewind.

Most forks in a log are none: results of parallel calls, progress, attachments, further blocks of a message.
A strand that leaves the path is a branch only where a person typed again, or the model answered again.
"""

from typing import NamedTuple

from unspool.model import Event
from unspool.turns.tree import Tree


class Fork(NamedTuple):
    """Where a branch leaves another."""

    number: int
    parent: int
    at: int | None


class Branches:
    """The branch of every event of a tree, by position."""

    def __init__(self, tree: Tree, leaf: int | None) -> None:
        self._tree = tree
        self._events = tree.events
        self.of = [-1] * len(tree.events)
        self.forks: list[Fork] = []
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
            fork = Fork(len(self.forks) + 1, number, parent)
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
