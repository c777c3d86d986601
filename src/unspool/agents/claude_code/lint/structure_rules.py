"""Rules about ids, parents, roots, the leaf, and references between lines."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unspool.agents.claude_code.lint.lines import Findings, LintChain, LintLine


def check_chain(chain: LintChain, live: Sequence[LintLine], notes: Findings) -> None:
    """Every rule of this file; `live` is what the agent has in mind when it resumes."""
    if chain.leaf is None:
        notes.error("no-chain", 0, "No line of a conversation: there is nothing to resume.")
        return
    on_path = {line.id for line in live}
    _duplicates(chain, on_path, notes)
    _parents(chain, notes)
    _cycles(chain, notes)
    _roots(chain, notes)
    _leaf(chain, on_path, notes)
    for line in chain.boundaries:
        _boundary(chain, line, line.id in on_path, notes)


def _duplicates(chain: LintChain, on_path: set[str], notes: Findings) -> None:
    first: dict[str, LintLine] = {}
    for line in chain.lines if len(chain.by_id) < len(chain.lines) else ():
        other = first.setdefault(line.id, line)
        if other is line:
            continue
        if other.digest == line.digest:
            notes.odd("duplicate-uuid", line, f"The same line as line {other.number} again.")
        else:
            told = f"Another line than line {other.number} has the same id: the agent takes the later one for both."
            notes.judged(line.id in on_path, "duplicate-uuid", line, told)


def _parents(chain: LintChain, notes: Findings) -> None:
    oldest = chain.path(chain.leaf)[0]
    began = next((line for line in chain.lines if line.is_main), None)
    for line in chain.lines:
        parent = line.event.parent
        if parent is None or parent in chain.by_id or line.event.sidechain:
            continue
        cut = line.id == oldest.id and began is not None and began.number < line.number
        told = "The line it follows is not in the log"
        what = f"{told}: the agent forgets all that was said before." if cut else f"{told}: the conversation has a gap."
        notes.judged(cut, "missing-parent", line, what)


def _cycles(chain: LintChain, notes: Findings) -> None:
    """One finding a cycle, at the line of it that comes last in the log."""
    oldest = chain.path(chain.leaf)[0]
    for ring in chain.cycles():
        told = "Lines follow one another in a circle: the agent loses what was said before it."
        severe = oldest.id in {line.id for line in ring}
        notes.judged(severe, "cycle", max(ring, key=lambda line: line.number), told)


def _roots(chain: LintChain, notes: Findings) -> None:
    events = ((line, line.event) for line in chain.lines)
    roots = [line for line, event in events if event.parent is None and not event.boundary and not event.sidechain]
    spoken = _with_words(chain) if len(roots) > 1 else set[str]()
    for line in roots[1:]:
        if notes.strict or line.id in spoken:
            told = "The conversation begins here once more: the agent sees only one of its beginnings."
            notes.odd("many-roots", line, told)


def _with_words(chain: LintChain) -> set[str]:
    """Roots that words hang below."""
    root: dict[str, str] = {}
    for line in chain.lines:
        root[line.id] = root.get(line.parent, line.parent) if line.parent else line.id
    return {root[line.id] for line in chain.lines if line.event.turn and line.is_main}


def _leaf(chain: LintChain, on_path: set[str], notes: Findings) -> None:
    leaf, said = chain.leaf, chain.last_words
    if leaf is None:
        return
    if said is not None and said.id not in on_path:
        told = f"The agent goes on from line {leaf.number}, not from here, where the log ends: this is left out."
        notes.error("wrong-leaf", said, told)
    elif notes.strict and not leaf.is_main:
        notes.error("wrong-leaf", leaf, "The agent goes on from a line that is no part of the main conversation.")


def _boundary(chain: LintChain, line: LintLine, live: bool, notes: Findings) -> None:
    logical = line.event.logical
    if logical and logical not in chain.by_id:
        notes.odd("boundary-untrue", line, "A compaction says it continues a line that is not in the log.", logical)
    if line.event.preserved is not None and not chain.preserves(line):
        told = "A compaction says it kept lines that are not in the log: the agent forgets them."
        (notes.error if live else notes.warn)("boundary-untrue", line, told)


_ONE_LINE = ("leafUuid", "messageId", "snapshotMessageId", "sourceToolAssistantUUID", "refusedUserMessageUuid")
_MANY_LINES = ("retractedMessageUuids", "supersedesUuids")
_REFERENCES = frozenset({*_ONE_LINE, *_MANY_LINES, "snapshot", "microcompactMetadata"})
_ENDS = 64 * 1024
_LOOP = re.compile(r"\s*(?:<command-(?:name|message)>/?loop</|/loop\b)")
_CHECKPOINTS = frozenset({"snapshot.messageId", "snapshotMessageId"})
"""Earlier checkpoints that one goes on from: without them a file cannot be taken back, and all else can."""
_ELSEWHERE = frozenset({"summary", "file-history-snapshot", "file-history-delta"})
"""Lines that the agent itself leaves in logs whose lines they are not about."""


def check_references(lines: Sequence[LintLine], chain: LintChain, notes: Findings) -> None:
    """Every rule of this file."""
    for line in lines:
        if line.type in _ELSEWHERE and not notes.strict:
            continue
        for name, one in references(line.fields):
            if one not in chain.by_id:
                told = f"“{name}” names a line that is not in the log: what it is about is not found."
                note = notes.warn if name in _CHECKPOINTS else notes.odd
                note("dangling-reference", line, told, one)
    _sessions(lines, notes)
    _picker(lines, chain, notes)


def references(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(field, id) of every line that a line refers to, but for its parents."""
    if _REFERENCES.isdisjoint(fields):
        return
    yield from ((name, fields[name]) for name in _ONE_LINE if fields.get(name))
    about = (fields.get("snapshot") or {}).get("messageId")
    if about and about != fields.get("messageId"):
        yield "snapshot.messageId", about
    yield from ((name, one) for name in _MANY_LINES for one in fields.get(name) or ())
    facts = fields.get("microcompactMetadata")
    cleared = facts.get("clearedAttachmentUUIDs") if isinstance(facts, dict) else None
    for one in cleared if isinstance(cleared, list) else ():
        if isinstance(one, str):
            yield "clearedAttachmentUUIDs", one


def _sessions(lines: Sequence[LintLine], notes: Findings) -> None:
    """One finding for each session that is not the one of most lines."""
    counts: Counter[str] = Counter()
    first: dict[str, LintLine] = {}
    for line in lines:
        named, again = line.fields.get("sessionId"), line.fields.get("session_id")
        for one in (named, again if again != named else None):
            if one:
                counts[one] += 1
                first.setdefault(one, line)
    own = max(counts, key=lambda one: counts[one], default="")
    for one, line in first.items():
        if one != own:
            told = f"{counts[one]:,} lines are of the session {one[:36]}, the rest of {own[:36]}."
            notes.odd("foreign-session", line, told, one)


def _picker(lines: Sequence[LintLine], chain: LintChain, notes: Findings) -> None:
    if not lines or chain.leaf is None:
        return
    first = next((line for line in lines if line.in_chain), lines[0])
    why = [
        "its first line is a subagent's" if lines[0].event.sidechain else "",
        "it is a team's" if any(line.event.team for line in chain.lines) else "",
        "a program wrote it" if (first.fields.get("entrypoint") or "").startswith("sdk-") else "",
        "its first prompt is a loop's" if _loops(chain) else "",
        "no title and no prompt stands in its first or last 64 KB" if not _has_name(lines) else "",
        "it ran in the background" if (first.fields.get("sessionKind") or "").startswith("daemon") else "",
    ]
    for one in filter(None, why):
        notes.warn("hidden-from-picker", first, f"The agent's picker does not list the session, because {one}.")


def _loops(chain: LintChain) -> bool:
    """Whether the first that was said was a command to go on and on."""
    first = next((line for line in chain.lines if _is_prompt(line)), None)
    return first is not None and _LOOP.match(first.opening) is not None


def _has_name(lines: Sequence[LintLine]) -> bool:
    """Whether the agent, which looks at a log's two ends alone, finds something to call it by."""
    last = lines[-1].event.place.offset - _ENDS
    for line in lines:
        start = line.event.place.offset
        fields = line.fields
        named = fields.get("customTitle") or fields.get("aiTitle") or fields.get("lastPrompt") or fields.get("summary")
        if named and (start < _ENDS or start > last):
            return True
        if start < _ENDS and _is_prompt(line):
            return True
    return False


def _is_prompt(line: LintLine) -> bool:
    said = line.type == "user" and line.is_main and not line.fields.get("isCompactSummary")
    return said and not line.answers and any(block.kind == "text" for block in line.blocks)
