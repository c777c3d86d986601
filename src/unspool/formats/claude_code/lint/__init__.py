"""The validator: what keeps a log from being resumed, and what a copy of ours must never show.

It reads and joins lines by itself, sharing nothing with the product's reader, so that it can prove what that one and
the writer do. Findings are values; nothing in a log raises.
"""

import json
from collections.abc import Iterable
from typing import Any

from unspool.formats.claude_code.lint import chain_rules, clone_rules, message_rules, reference_rules
from unspool.formats.claude_code.lint.context import context, messages
from unspool.formats.claude_code.lint.facts import Line
from unspool.formats.claude_code.lint.notes import Notes
from unspool.formats.claude_code.lint.reading import read
from unspool.formats.claude_code.lint.tree import Tree
from unspool.formats.findings import Finding

__all__ = ["lint", "rebuilt"]


def lint(lines: Iterable[bytes], *, strict: bool, edited_from: int | None = None) -> list[Finding]:
    """What is wrong with a log, by line. Strictly: as a copy of ours, else as the agent left it.

    `edited_from` is the number of the first line whose words a copy changed or that stands behind words left out.
    """
    notes = Notes(strict=strict)
    found = list(read(lines, notes))
    tree = Tree(found)
    live = context(tree, tree.leaf)
    chain_rules.check(tree, live, notes)
    message_rules.check(messages(live), notes)
    reference_rules.check(found, tree, notes)
    if strict:
        _copied(found, tree, live, notes)
    if edited_from is not None:
        message_rules.check_bound(found, edited_from, notes)
    return notes.sorted()


def _copied(found: list[Line], tree: Tree, live: list[Line], notes: Notes) -> None:
    """A copy's own rules; what came before a compaction must be as sound as what came behind it."""
    path = {line.id for line in live}
    for boundary in (line for line in tree.lines if line.is_boundary):
        before = context(tree, tree.by_id.get(boundary.shape.logical_parent_uuid or ""))
        fresh = [line for line in before if line.id not in path]
        if fresh:
            message_rules.check(messages(before), notes)
        path.update(line.id for line in before)
    clone_rules.check(found, tree, path, notes)


def rebuilt(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """The messages that the agent would send when it resumes a log: role and content blocks, results first."""
    kept = list(lines)
    tree = Tree(list(read(kept, Notes(strict=False))))
    found = []
    for message in messages(context(tree, tree.leaf)):
        blocks = [block for line in message.lines for block in _blocks(kept[line.number - 1])]
        blocks.sort(key=lambda block: message.role == "user" and block.get("type") != "tool_result")
        found.append({"role": message.role, "content": blocks})
    return found


def _blocks(raw: bytes) -> list[dict[str, Any]]:
    message = json.loads(raw.decode("utf-8-sig", "replace")).get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
