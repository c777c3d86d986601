"""Rules about ids, parents, roots, the leaf, and references between lines."""

import re
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from unspool.agents.claude_code.lint.lines import Findings, LintLine
from unspool.agents.claude_code.lint.tree import LintTree, preserved_lines


def check_chain(tree: LintTree, live: Sequence[LintLine], notes: Findings) -> None:
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


def _duplicates(tree: LintTree, on_path: set[str], notes: Findings) -> None:
    first: dict[str, LintLine] = {}
    for line in tree.lines:
        other = first.setdefault(line.id, line)
        if other is line:
            continue
        if other.digest == line.digest:
            notes.odd("duplicate-uuid", line, f"The same line as line {other.number} again.")
        else:
            told = f"Another line than line {other.number} has the same id: the agent takes the later one for both."
            notes.judged(line.id in on_path, "duplicate-uuid", line, told)


def _parents(tree: LintTree, notes: Findings) -> None:
    missing = tree.walk(tree.leaf).missing
    began = next((line for line in tree.lines if line.is_main), None)
    for line in tree.lines:
        if not line.parent or line.parent in tree.by_id or line.shape.is_sidechain:
            continue
        cut = missing is not None and line.id == missing.id and began is not None and began.number < line.number
        told = "The line it follows is not in the log"
        what = f"{told}: the agent forgets all that was said before." if cut else f"{told}: the conversation has a gap."
        notes.judged(cut, "missing-parent", line, what)


def _cycles(tree: LintTree, notes: Findings) -> None:
    """One finding a cycle, at the line of it that comes last in the log."""
    live = tree.walk(tree.leaf)
    state: dict[str, int] = {}
    for start in tree.lines:
        trail: list[LintLine] = []
        line: LintLine | None = start
        while line is not None and line.id not in state:
            state[line.id] = start.number
            trail.append(line)
            line = tree.by_id.get(line.parent)
        if line is not None and state[line.id] == start.number and trail:
            ring = trail[[one.id for one in trail].index(line.id) :]
            severe = live.cycle is not None and live.cycle.id in {one.id for one in ring}
            told = "Lines follow one another in a circle: the agent loses what was said before it."
            notes.judged(severe, "cycle", max(ring, key=lambda one: one.number), told)


def _roots(tree: LintTree, notes: Findings) -> None:
    roots = [line for line in tree.lines if not line.parent and not line.is_boundary and not line.shape.is_sidechain]
    spoken = _with_words(tree)
    for line in roots[1:]:
        if notes.strict or line.id in spoken:
            told = "The conversation begins here once more: the agent sees only one of its beginnings."
            notes.odd("many-roots", line, told)


def _with_words(tree: LintTree) -> set[str]:
    """Roots that words hang below."""
    root: dict[str, str] = {}
    for line in tree.lines:
        root[line.id] = root.get(line.parent, line.parent) if line.parent else line.id
    return {root[line.id] for line in tree.lines if line.spoken and line.is_main}


def _leaf(tree: LintTree, on_path: set[str], notes: Findings) -> None:
    leaf = tree.leaf
    said = [line for line in tree.lines if line.spoken and line.is_main]
    if leaf is None:
        return
    if said and said[-1].id not in on_path:
        told = f"The agent goes on from line {leaf.number}, not from here, where the log ends: this is left out."
        notes.error("wrong-leaf", said[-1], told)
    elif notes.strict and not leaf.is_main:
        notes.error("wrong-leaf", leaf, "The agent goes on from a line that is no part of the main conversation.")


def _boundary(tree: LintTree, line: LintLine, live: bool, notes: Findings) -> None:
    logical = line.shape.logical_parent_uuid
    if logical and logical not in tree.by_id:
        notes.odd("boundary-untrue", line, "A compaction says it continues a line that is not in the log.", logical)
    facts = line.shape.compact_metadata
    keeps = isinstance(facts, dict) and (facts.get("preservedSegment") or facts.get("preservedMessages"))
    if keeps and not preserved_lines(tree, line):
        told = "A compaction says it kept lines that are not in the log: the agent forgets them."
        notes.judged(live, "boundary-untrue", line, told)


_FIELDS = ("leafUuid", "messageId", "snapshotMessageId", "sourceToolAssistantUUID", "refusedUserMessageUuid")
_VALUES = attrgetter("leaf_uuid", "message_id", "snapshot_message_id", "source_assistant", "refused_user_message_uuid")
_ENDS = 64 * 1024
_LOOP = re.compile(r"\s*(?:<command-(?:name|message)>/?loop</|/loop\b)")
_CHECKPOINTS = frozenset({"snapshot.messageId", "snapshotMessageId"})
"""Earlier checkpoints that one goes on from: without them a file cannot be taken back, and all else can."""
_ELSEWHERE = frozenset({"summary", "file-history-snapshot", "file-history-delta"})
"""Lines that the agent itself leaves in logs whose lines they are not about."""


def check_references(lines: Sequence[LintLine], tree: LintTree, notes: Findings) -> None:
    """Every rule of this file."""
    for line in lines:
        if line.shape.type in _ELSEWHERE and not notes.strict:
            continue
        for name, one in references(line):
            if one not in tree.by_id:
                told = f"“{name}” names a line that is not in the log: what it is about is not found."
                note = notes.warn if name in _CHECKPOINTS else notes.odd
                note("dangling-reference", line, told, one)
    _sessions(lines, notes)
    _picker(lines, tree, notes)


def references(line: LintLine) -> Iterator[tuple[str, str]]:
    """(field, id) of every line that a line refers to, but for its parents."""
    shape = line.shape
    values = _VALUES(shape)
    if any(values):
        yield from ((name, one) for name, one in zip(_FIELDS, values, strict=True) if one)
    if shape.snapshot is not None and shape.snapshot.message_id and shape.snapshot.message_id != shape.message_id:
        yield "snapshot.messageId", shape.snapshot.message_id
    for name, listed in (
        ("retractedMessageUuids", shape.retracted_message_uuids),
        ("supersedesUuids", shape.supersedes_uuids),
        ("clearedAttachmentUUIDs", _cleared(shape.microcompact_metadata)),
    ):
        if listed:
            yield from ((name, one) for one in listed)


def _cleared(facts: Any) -> list[str]:
    listed = facts.get("clearedAttachmentUUIDs") if isinstance(facts, dict) else None
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []


def _sessions(lines: Sequence[LintLine], notes: Findings) -> None:
    """One finding for each session that is not the one of most lines."""
    counts: dict[str, int] = {}
    first: dict[str, LintLine] = {}
    for line in lines:
        named, again = line.shape.session_id, line.shape.session_again
        for one in (named, again if again != named else None):
            if one:
                counts[one] = counts.get(one, 0) + 1
                first.setdefault(one, line)
    own = max(counts, key=lambda one: counts[one], default="")
    for one, line in first.items():
        if one != own:
            told = f"{counts[one]:,} lines are of the session {one[:36]}, the rest of {own[:36]}."
            notes.odd("foreign-session", line, told, one)


def _picker(lines: Sequence[LintLine], tree: LintTree, notes: Findings) -> None:
    if not lines or tree.leaf is None:
        return
    first = next((line for line in lines if line.in_chain), lines[0])
    why = [
        "its first line is a subagent's" if lines[0].shape.is_sidechain else "",
        "it is a team's" if any(line.shape.team_name for line in tree.lines) else "",
        "a program wrote it" if (first.shape.entrypoint or "").startswith("sdk-") else "",
        "its first prompt is a loop's" if _loops(tree) else "",
        "no title and no prompt stands in its first or last 64 KB" if not _has_name(lines) else "",
        "it ran in the background" if (first.shape.session_kind or "").startswith("daemon") else "",
    ]
    for one in filter(None, why):
        notes.warn("hidden-from-picker", first, f"The agent's picker does not list the session, because {one}.")


def _loops(tree: LintTree) -> bool:
    """Whether the first that was said was a command to go on and on."""
    first = next((line for line in tree.lines if _is_prompt(line)), None)
    return first is not None and _LOOP.match(first.opening) is not None


def _has_name(lines: Sequence[LintLine]) -> bool:
    """Whether the agent, which looks at a log's two ends alone, finds something to call it by."""
    last = lines[-1].start - _ENDS
    for line in lines:
        shape = line.shape
        near = line.start < _ENDS or line.start > last
        if near and (shape.custom_title or shape.ai_title or shape.last_prompt or shape.summary):
            return True
        if line.start < _ENDS and _is_prompt(line):
            return True
    return False


def _is_prompt(line: LintLine) -> bool:
    said = line.shape.type == "user" and line.is_main and not line.shape.is_compact_summary
    return said and not line.answers and any(piece.kind == "text" for piece in line.pieces)
