"""What a walk up the parents leaves out of messages with several calls, put back where the agent puts it.

Each result hangs from the line of its own call, so a path meets one of them; the message's other lines, and the results
of its calls, follow its last line on the path.
"""

from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

from unspool.formats.claude_code.lint.facts import Line
from unspool.formats.claude_code.lint.tree import Tree


def recovered(tree: Tree, path: Sequence[Line]) -> list[Line]:
    """The path with what belongs to its messages."""
    return _Recovery(_beside(tree), path).whole()


class _Beside:
    """What every message of a tree has: its lines, the line of each call, and the results that may answer a line."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.members: dict[str, list[Line]] = {}
        self.owners: dict[str, Line | None] = {}
        self.results: dict[str, list[Line]] = {}
        unique = list(tree.by_id.values())
        for line in unique:
            if _named(line):
                self.members.setdefault(line.message, []).append(line)
                for call in line.calls:
                    other = self.owners.get(call, line)
                    same = other is not None and other.message == line.message
                    self.owners[call] = line if same else None
        for line in unique:
            if line.shape.type == "user" and line.parent and line.answers:
                for owner in self._may_answer(line):
                    self.results.setdefault(owner, []).append(line)

    def _may_answer(self, result: Line) -> Iterator[str]:
        yield result.parent
        source = self._tree.by_id.get(result.shape.source_assistant or "")
        for owner in (source, *(self.owners.get(call) for call in result.answers)):
            if owner is not None and _same_writer(owner, result):
                yield owner.id


_known: WeakKeyDictionary[Tree, _Beside] = WeakKeyDictionary()


def _beside(tree: Tree) -> _Beside:
    """Gathered once: a log with many compactions asks for many paths."""
    if tree not in _known:
        _known[tree] = _Beside(tree)
    return _known[tree]


class _Recovery:
    """One path and what hangs beside it."""

    def __init__(self, beside: _Beside, path: Sequence[Line]) -> None:
        self._path = path
        self._taken = {line.id for line in path}
        self._anchors = {line.message: line for line in path if _named(line)}
        self._members, self._owners, self._results = beside.members, beside.owners, beside.results
        self._answered = {call for line in path for call in line.answers}

    def whole(self) -> list[Line]:
        added: dict[str, list[Line]] = {}
        for message, anchor in self._anchors.items():
            members = self._members[message]
            mates = [line for line in members if line.id not in self._taken]
            found = sorted(mates, key=_time) + sorted(self._answers(members), key=_time)
            self._taken.update(line.id for line in found)
            added[anchor.id] = found
        return [step for line in self._path for step in (line, *added.get(line.id, ()))]

    def _answers(self, members: list[Line]) -> list[Line]:
        """Results of a message's calls: those below its lines, and of the others those whose call has none yet."""
        ids = {line.id for line in members}
        candidates = {
            result.id: result
            for line in members
            for result in self._results.get(line.id, ())
            if result.id not in self._taken
        }
        near = [result for result in candidates.values() if result.parent in ids]
        strays = sorted((one for one in candidates.values() if one.parent not in ids), key=lambda one: one.number)
        known = {call for result in near for call in result.answers}
        for result in strays:
            if any(self._is_open(call, known, ids) for call in result.answers):
                known.update(result.answers)
                near.append(result)
        return near

    def _is_open(self, call: str, known: set[str], ids: set[str]) -> bool:
        owner = self._owners.get(call)
        return call not in known and call not in self._answered and owner is not None and owner.id in ids


def _named(line: Line) -> bool:
    """Whether a line is a part of a message that has an id."""
    return line.shape.type == "assistant" and bool(line.message) and line.message != line.id


def _same_writer(one: Line, other: Line) -> bool:
    return (bool(one.shape.is_sidechain), one.shape.agent_id) == (bool(other.shape.is_sidechain), other.shape.agent_id)


def _time(line: Line) -> str:
    return line.shape.timestamp or ""
