"""The conversation as the agent resumes it: the leaf it goes on from, and the lines above that one."""

from collections.abc import Sequence
from typing import NamedTuple

from unspool.formats.claude_code.lint.facts import Line


class Walk(NamedTuple):
    """From a leaf up to where no parent follows, oldest first."""

    lines: list[Line]
    missing: Line | None = None
    """The oldest line, where it names a parent that is not there."""
    cycle: Line | None = None
    """The oldest line, where its parent is one of the lines below it."""


class Tree:
    """The lines that have a place in the conversation, by id; of two with one id the later counts, as for the agent."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = [line for line in lines if line.in_chain]
        self.by_id = {line.id: line for line in self.lines}
        self.leaf = self._leaf()

    def _leaf(self) -> Line | None:
        """The last in the log of the words that nothing follows; remarks and subagents only where there is no other."""
        parents = {line.parent for line in self.lines}
        leaves = [self._spoken(line) for line in self.lines if line.id not in parents]
        found = [line for line in leaves if line is not None]
        main = [line for line in found if line.is_main]
        return max(main or found, key=lambda line: line.number, default=None)

    def _spoken(self, line: Line | None) -> Line | None:
        """The nearest words at or above a line."""
        seen: set[str] = set()
        while line is not None and line.id not in seen:
            if line.spoken:
                return line
            seen.add(line.id)
            line = self.by_id.get(line.parent)
        return None

    def walk(self, leaf: Line | None) -> Walk:
        """The lines above a leaf, itself included."""
        found: list[Line] = []
        seen: set[str] = set()
        line = leaf
        while line is not None and line.id not in seen:
            seen.add(line.id)
            found.append(line)
            line = self.by_id.get(line.parent)
        found.reverse()
        oldest = found[0] if found else None
        if oldest is None or not oldest.parent:
            return Walk(found)
        return Walk(found, cycle=oldest) if line is not None else Walk(found, missing=oldest)
