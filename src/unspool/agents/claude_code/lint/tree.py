"""The conversation as the agent would resume it: leaf, path, recovered lines, messages."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from unspool.agents.claude_code.lint.lines import LintBlock, LintLine


class Walk(NamedTuple):
    """From a leaf up to where no parent follows, oldest first."""

    lines: list[LintLine]
    missing: LintLine | None = None
    """The oldest line, where it names a parent that is not there."""
    cycle: LintLine | None = None
    """The oldest line, where its parent is one of the lines below it."""


class LintTree:
    """The lines that have a place in the conversation, by id; of two with one id the later counts, as for the agent."""

    def __init__(self, lines: Sequence[LintLine]) -> None:
        self.lines = [line for line in lines if line.in_chain]
        self.by_id = {line.id: line for line in self.lines}
        self.leaf = self._leaf()

    @cached_property
    def beside(self) -> "_Beside":
        """Gathered once: a log with many compactions asks for many paths."""
        return _Beside(self)

    def _leaf(self) -> LintLine | None:
        """The last in the log of the words that nothing follows; remarks and subagents only where there is no other."""
        parents = {line.parent for line in self.lines}
        leaves = [self._spoken(line) for line in self.lines if line.id not in parents]
        found = [line for line in leaves if line is not None]
        main = [line for line in found if line.is_main]
        return max(main or found, key=lambda line: line.number, default=None)

    def _spoken(self, line: LintLine | None) -> LintLine | None:
        """The nearest words at or above a line."""
        seen: set[str] = set()
        while line is not None and line.id not in seen:
            if line.spoken:
                return line
            seen.add(line.id)
            line = self.by_id.get(line.parent)
        return None

    def walk(self, leaf: LintLine | None) -> Walk:
        """The lines above a leaf, itself included."""
        found: list[LintLine] = []
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


def recover_lines(tree: LintTree, path: Sequence[LintLine]) -> list[LintLine]:
    """The path with what belongs to its messages."""
    return _Recovery(tree.beside, path).whole()


class _Beside:
    """What every message of a tree has: its lines, the line of each call, and the results that may answer a line."""

    def __init__(self, tree: LintTree) -> None:
        self._tree = tree
        self.members: dict[str, list[LintLine]] = {}
        self.owners: dict[str, LintLine | None] = {}
        self.results: dict[str, list[LintLine]] = {}
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

    def _may_answer(self, result: LintLine) -> Iterator[str]:
        yield result.parent
        source = self._tree.by_id.get(result.shape.source_assistant or "")
        for owner in (source, *(self.owners.get(call) for call in result.answers)):
            if owner is not None and _same_writer(owner, result):
                yield owner.id


class _Recovery:
    """One path and what hangs beside it."""

    def __init__(self, beside: _Beside, path: Sequence[LintLine]) -> None:
        self._path = path
        self._taken = {line.id for line in path}
        self._anchors = {line.message: line for line in path if _named(line)}
        self._members, self._owners, self._results = beside.members, beside.owners, beside.results
        self._answered = {call for line in path for call in line.answers}

    def whole(self) -> list[LintLine]:
        added: dict[str, list[LintLine]] = {}
        for message, anchor in self._anchors.items():
            members = self._members[message]
            mates = [line for line in members if line.id not in self._taken]
            found = sorted(mates, key=_time) + sorted(self._answers(members), key=_time)
            self._taken.update(line.id for line in found)
            added[anchor.id] = found
        return [step for line in self._path for step in (line, *added.get(line.id, ()))]

    def _answers(self, members: list[LintLine]) -> list[LintLine]:
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


def _named(line: LintLine) -> bool:
    """Whether a line is a part of a message that has an id."""
    return line.shape.type == "assistant" and bool(line.message) and line.message != line.id


def _same_writer(one: LintLine, other: LintLine) -> bool:
    return (bool(one.shape.is_sidechain), one.shape.agent_id) == (bool(other.shape.is_sidechain), other.shape.agent_id)


def _time(line: LintLine) -> str:
    return line.shape.timestamp or ""


class LintMessage(NamedTuple):
    """One message of a request, and the lines that it is made of."""

    role: str
    lines: list[LintLine]

    @property
    def pieces(self) -> list[tuple[LintLine, LintBlock]]:
        return [(line, piece) for line in self.lines for piece in line.pieces]


def lines_in_context(tree: LintTree, leaf: LintLine | None) -> list[LintLine]:
    """The lines that the agent has in mind at a leaf: since the last compaction, with what that one preserved."""
    return recover_lines(tree, with_preserved(tree, tree.walk(leaf).lines))


def with_preserved(tree: LintTree, path: list[LintLine]) -> list[LintLine]:
    """The path with the lines that a compaction keeps, behind its summary."""
    if not path or not path[0].is_boundary:
        return path
    kept = preserved_lines(tree, path[0])
    on_path = {line.id for line in path}
    kept = [line for line in kept if line.id not in on_path]
    anchor = kept_anchor(path[0])
    at = next((index for index, line in enumerate(path) if line.id == anchor), None)
    return path if at is None or not kept else [*path[: at + 1], *kept, *path[at + 1 :]]


def kept_anchor(boundary: LintLine) -> str:
    """The line that what was kept hangs below."""
    anchor = _part(boundary, "preservedSegment").get("anchorUuid")
    anchor = anchor or _part(boundary, "preservedMessages").get("anchorUuid")
    return anchor if isinstance(anchor, str) else ""


def preserved_lines(tree: LintTree, boundary: LintLine) -> list[LintLine]:
    """The lines that a compaction keeps, in order; none where they are not all there."""
    listed = _part(boundary, "preservedMessages").get("uuids")
    if isinstance(listed, list) and listed:
        lines = [tree.by_id.get(one) if isinstance(one, str) else None for one in listed]
        return [line for line in lines if line is not None] if None not in lines else []
    segment = _part(boundary, "preservedSegment")
    head, tail = segment.get("headUuid"), segment.get("tailUuid")
    walk = tree.walk(tree.by_id.get(tail)).lines if isinstance(tail, str) else []
    ids = [line.id for line in walk]
    return walk[ids.index(head) :] if head in ids else []


def _part(boundary: LintLine, name: str) -> dict[str, Any]:
    facts = boundary.shape.compact_metadata
    part = facts.get(name) if isinstance(facts, dict) else None
    return part if isinstance(part, dict) else {}


def lint_messages(lines: Sequence[LintLine]) -> list[LintMessage]:
    """Lines as messages: those of one answer together whatever stands between, results behind the calls, roles in turn.

    Errors that the agent noted as answers, and what was withdrawn, are not sent.
    """
    withdrawn = {one for line in lines for one in _withdrawn(line)}
    found: list[LintMessage] = []
    answer = ""
    for line in lines:
        if not line.spoken or line.shape.is_api_error_message or line.id in withdrawn:
            continue
        role = str(line.shape.type)
        if role == "assistant" and line.message == answer and len(found) > 1:
            (found[-1] if found[-1].role == role else found[-2]).lines.append(line)
        elif found and found[-1].role == role:
            found[-1].lines.append(line)
        else:
            found.append(LintMessage(role, [line]))
        answer = line.message if role == "assistant" else answer
    return found


def _withdrawn(line: LintLine) -> list[str]:
    return [*(line.shape.retracted_message_uuids or ()), *(line.shape.supersedes_uuids or ())]
