"""Rules about what lines refer to: other lines, sessions, files; and what the picker of sessions makes of them."""

import re
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from unspool.formats.claude_code.lint.facts import Line
from unspool.formats.claude_code.lint.notes import Notes
from unspool.formats.claude_code.lint.tree import Tree

_FIELDS = ("leafUuid", "messageId", "snapshotMessageId", "sourceToolAssistantUUID", "refusedUserMessageUuid")
_VALUES = attrgetter("leaf_uuid", "message_id", "snapshot_message_id", "source_assistant", "refused_user_message_uuid")
_ENDS = 64 * 1024
_LOOP = re.compile(r"\s*(?:<command-(?:name|message)>/?loop</|/loop\b)")
_CHECKPOINTS = frozenset({"snapshot.messageId", "snapshotMessageId"})
"""Earlier checkpoints that one goes on from: without them a file cannot be taken back, and all else can."""
_ELSEWHERE = frozenset({"summary", "file-history-snapshot", "file-history-delta"})
"""Lines that the agent itself leaves in logs whose lines they are not about."""


def check(lines: Sequence[Line], tree: Tree, notes: Notes) -> None:
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


def references(line: Line) -> Iterator[tuple[str, str]]:
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


def _sessions(lines: Sequence[Line], notes: Notes) -> None:
    """One finding for each session that is not the one of most lines."""
    counts: dict[str, int] = {}
    first: dict[str, Line] = {}
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


def _picker(lines: Sequence[Line], tree: Tree, notes: Notes) -> None:
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


def _loops(tree: Tree) -> bool:
    """Whether the first that was said was a command to go on and on."""
    first = next((line for line in tree.lines if _is_prompt(line)), None)
    return first is not None and _LOOP.match(first.opening) is not None


def _has_name(lines: Sequence[Line]) -> bool:
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


def _is_prompt(line: Line) -> bool:
    said = line.shape.type == "user" and line.is_main and not line.shape.is_compact_summary
    return said and not line.answers and any(piece.kind == "text" for piece in line.pieces)
