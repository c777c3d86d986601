"""Rules for copies of ours alone: new ids everywhere, one chain, nothing that must not be copied."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from unspool.formats.claude_code.lint.facts import Line
from unspool.formats.claude_code.lint.notes import Notes
from unspool.formats.claude_code.lint.reference_rules import references
from unspool.formats.claude_code.lint.tree import Tree

LATCHES = frozenset(
    {
        "bridge-session", "worktree-state", "atis-latch", "isolation-latch", "cost-state", "continued-in",
        "queue-operation", "relocated", "fork-context-ref", "tools-used", "session-owner", "dev-mods",
        "resume-head-vouch", "api-request", "api-request-shape", "api-request-blob",
    }
)  # fmt: skip
"""Lines that tie a session to a process, a place or an account, or tell what it sent."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def check(lines: Sequence[Line], tree: Tree, path: set[str], notes: Notes) -> None:
    """Every rule of this file; `path` holds the ids of all lines that some part of the conversation leads over."""
    for line in lines:
        if line.shape.type in LATCHES:
            notes.error("latch-line", line, f"A {line.shape.type} line ties the copy to what the source is tied to.")
    _origins(tree, notes)
    _old_ids(lines, tree, notes)
    _shape(tree, path, notes)
    _order(tree, notes)
    _title(lines, notes)


def _origins(tree: Tree, notes: Notes) -> None:
    for line in tree.lines:
        origin = line.shape.forked_from
        if origin is None or not origin.session_id or not origin.message_uuid:
            notes.error("no-origin", line, "The line does not say which line it was copied from.")
        elif origin.session_id in (line.shape.session_id, line.shape.session_again):
            notes.error("old-session", line, "The line is of the session that it was copied from.")


def _old_ids(lines: Sequence[Line], tree: Tree, notes: Notes) -> None:
    old = {line.shape.forked_from.message_uuid for line in tree.lines if line.shape.forked_from is not None}
    for line in tree.lines:
        if line.id in old:
            notes.error("old-uuid", line, "The line has an id of the source's: every line of a copy has its own.")
        elif not _UUID.fullmatch(line.id):
            notes.error("old-uuid", line, "The id of the line is no UUID.")
    for line in lines:
        for one in {one for one in _named(line) if one in old}:
            notes.error(
                "old-reference", line, "It names a line of the source, which the copy has under another id.", one
            )


def _named(line: Line) -> Iterator[str]:
    """Every id that a line may refer to another by, whatever for."""
    yield from line.mentions
    yield from (one for _, one in references(line))
    yield line.parent
    yield line.shape.logical_parent_uuid or ""
    if line.shape.attachment is not None:
        yield line.shape.attachment.source_uuid or ""
    yield from _texts(line.shape.compact_metadata)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _shape(tree: Tree, path: set[str], notes: Notes) -> None:
    for line in tree.lines:
        shape = line.shape
        if shape.type == "progress":
            notes.error("foreign-line", line, "A line that only tells of progress: a copy has none.")
        if line.spoken and line.id not in path and not shape.is_sidechain:
            notes.error("off-path", line, "Words that no part of the conversation leads over: the agent skips them.")
        kept = (("teamName", shape.team_name), ("agentName", shape.agent_name), ("slug", shape.slug))
        for name, value in (*kept, ("sessionKind", shape.session_kind), ("requestRef", shape.request_ref)):
            if value:
                notes.error("kept-link", line, f"“{name}” ties the copy to what the source is tied to.")


def _order(tree: Tree, notes: Notes) -> None:
    for line in tree.lines:
        parent = tree.by_id.get(line.parent)
        if parent is not None and parent.number > line.number:
            notes.error("out-of-order", line, f"It stands before the line it follows, line {parent.number}.")
    times = [(line.shape.timestamp or "", line.number) for line in tree.lines if line.spoken and line.is_main]
    if tree.leaf is not None and times and max(times)[0] > (tree.leaf.shape.timestamp or ""):
        told = "Another line is later than the one that the copy ends with: some versions go on from that one."
        notes.error("wrong-leaf", tree.leaf, told)


def _title(lines: Sequence[Line], notes: Notes) -> None:
    titled = (
        bool(lines) and lines[-1].shape.type == "custom-title" and bool((lines[-1].shape.custom_title or "").strip())
    )
    if not titled:
        notes.error("no-title", lines[-1] if lines else 0, "The copy does not end with a title of its own.")
