"""Rules about the tree of lines: ids, parents, roots, the leaf."""

from collections.abc import Sequence

from unspool.formats.claude_code.lint.context import preserved
from unspool.formats.claude_code.lint.facts import Line
from unspool.formats.claude_code.lint.notes import Notes
from unspool.formats.claude_code.lint.tree import Tree


def check(tree: Tree, live: Sequence[Line], notes: Notes) -> None:
    """Every rule of this file; `live` is what the agent has in mind when it resumes."""
    if tree.leaf is None:
        notes.error("no-chain", 0, "No line of a conversation: there is nothing to resume.")
        return
    on_path = {line.id for line in live}
    _duplicates(tree, on_path, notes)
    _parents(tree, notes)
    _cycles(tree, notes)
    _roots(tree, notes)
    _leaf(tree, on_path, notes)
    for line in tree.lines:
        if line.is_boundary:
            _boundary(tree, line, line.id in on_path, notes)


def _duplicates(tree: Tree, on_path: set[str], notes: Notes) -> None:
    first: dict[str, Line] = {}
    for line in tree.lines:
        other = first.setdefault(line.id, line)
        if other is line:
            continue
        if other.digest == line.digest:
            notes.odd("duplicate-uuid", line, f"The same line as line {other.number} again.")
        else:
            told = f"Another line than line {other.number} has the same id: the agent takes the later one for both."
            notes.judged(line.id in on_path, "duplicate-uuid", line, told)


def _parents(tree: Tree, notes: Notes) -> None:
    missing = tree.walk(tree.leaf).missing
    began = next((line for line in tree.lines if line.is_main), None)
    for line in tree.lines:
        if not line.parent or line.parent in tree.by_id or line.shape.is_sidechain:
            continue
        cut = missing is not None and line.id == missing.id and began is not None and began.number < line.number
        told = "The line it follows is not in the log"
        what = f"{told}: the agent forgets all that was said before." if cut else f"{told}: the conversation has a gap."
        notes.judged(cut, "missing-parent", line, what)


def _cycles(tree: Tree, notes: Notes) -> None:
    """One finding a cycle, at the line of it that comes last in the log."""
    live = tree.walk(tree.leaf)
    state: dict[str, int] = {}
    for start in tree.lines:
        trail: list[Line] = []
        line: Line | None = start
        while line is not None and line.id not in state:
            state[line.id] = start.number
            trail.append(line)
            line = tree.by_id.get(line.parent)
        if line is not None and state[line.id] == start.number and trail:
            ring = trail[[one.id for one in trail].index(line.id) :]
            severe = live.cycle is not None and live.cycle.id in {one.id for one in ring}
            told = "Lines follow one another in a circle: the agent loses what was said before it."
            notes.judged(severe, "cycle", max(ring, key=lambda one: one.number), told)


def _roots(tree: Tree, notes: Notes) -> None:
    roots = [line for line in tree.lines if not line.parent and not line.is_boundary and not line.shape.is_sidechain]
    spoken = _with_words(tree)
    for line in roots[1:]:
        if notes.strict or line.id in spoken:
            told = "The conversation begins here once more: the agent sees only one of its beginnings."
            notes.odd("many-roots", line, told)


def _with_words(tree: Tree) -> set[str]:
    """Roots that words hang below."""
    root: dict[str, str] = {}
    for line in tree.lines:
        root[line.id] = root.get(line.parent, line.parent) if line.parent else line.id
    return {root[line.id] for line in tree.lines if line.spoken and line.is_main}


def _leaf(tree: Tree, on_path: set[str], notes: Notes) -> None:
    leaf = tree.leaf
    said = [line for line in tree.lines if line.spoken and line.is_main]
    if leaf is None:
        return
    if said and said[-1].id not in on_path:
        told = f"The agent goes on from line {leaf.number}, not from here, where the log ends: this is left out."
        notes.error("wrong-leaf", said[-1], told)
    elif notes.strict and not leaf.is_main:
        notes.error("wrong-leaf", leaf, "The agent goes on from a line that is no part of the main conversation.")


def _boundary(tree: Tree, line: Line, live: bool, notes: Notes) -> None:
    logical = line.shape.logical_parent_uuid
    if logical and logical not in tree.by_id:
        notes.odd("boundary-untrue", line, "A compaction says it continues a line that is not in the log.", logical)
    facts = line.shape.compact_metadata
    keeps = isinstance(facts, dict) and (facts.get("preservedSegment") or facts.get("preservedMessages"))
    if keeps and not preserved(tree, line):
        told = "A compaction says it kept lines that are not in the log: the agent forgets them."
        notes.judged(live, "boundary-untrue", line, told)
