"""Rules about what lines refer to: other lines, sessions, files; and what the picker of sessions makes of them."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from unspool.formats.claude_code.lint.facts import Line
from unspool.formats.claude_code.lint.notes import Notes
from unspool.formats.claude_code.lint.tree import Tree

_FIELDS = ("leafUuid", "messageId", "snapshotMessageId", "sourceToolAssistantUUID", "refusedUserMessageUuid")
_VALUES = attrgetter("leaf_uuid", "message_id", "snapshot_message_id", "source_assistant", "refused_user_message_uuid")
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
                notes.odd("dangling-reference", line, told, one)
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
        "it ran in the background" if (first.shape.session_kind or "").startswith("daemon") else "",
    ]
    for one in filter(None, why):
        notes.warn("hidden-from-picker", first, f"The agent's picker does not list the session, because {one}.")
