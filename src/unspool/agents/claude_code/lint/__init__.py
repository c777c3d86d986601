"""The validator: what keeps a log from being resumed, and what a copy of ours must never show.

It reads and joins lines by itself, sharing nothing with the product's reader, so that it can prove what that one and
the writer do. Findings are values; nothing in a log raises.
"""

import json
from collections.abc import Iterable
from typing import Any

from unspool.agents.claude_code.lint import content_rules, structure_rules
from unspool.agents.claude_code.lint.lines import Findings, LintLine
from unspool.agents.claude_code.lint.reading import read_lines
from unspool.agents.claude_code.lint.tree import LintTree, lines_in_context, lint_messages
from unspool.agents.writing import LintFinding

__all__ = ["lint", "rebuilt"]


def lint(lines: Iterable[bytes], *, strict: bool, edited_from: int | None = None) -> list[LintFinding]:
    """What is wrong with a log, by line. Strictly: as a copy of ours, else as the agent left it.

    `edited_from` is the number of the first line whose words a copy changed or that stands behind words left out.
    """
    notes = Findings(strict=strict)
    found = list(read_lines(lines, notes))
    tree = LintTree(found)
    live = lines_in_context(tree, tree.leaf)
    structure_rules.check_chain(tree, live, notes)
    content_rules.check_messages(lint_messages(live), notes)
    structure_rules.check_references(found, tree, notes)
    if strict:
        _copied(found, tree, live, notes)
    if edited_from is not None:
        content_rules.check_bound(found, edited_from, notes)
    return notes.sorted()


def _copied(found: list[LintLine], tree: LintTree, live: list[LintLine], notes: Findings) -> None:
    """A copy's own rules; what came before a compaction must be as sound as what came behind it."""
    path = {line.id for line in live}
    for boundary in (line for line in tree.lines if line.is_boundary):
        before = lines_in_context(tree, tree.by_id.get(boundary.shape.logical_parent_uuid or ""))
        fresh = [line for line in before if line.id not in path]
        if fresh:
            content_rules.check_messages(lint_messages(before), notes)
        path.update(line.id for line in before)
    content_rules.check_copy(found, tree, path, notes)


def rebuilt(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """The messages that the agent would send when it resumes a log: role and content blocks, results first."""
    kept = list(lines)
    tree = LintTree(list(read_lines(kept, Findings(strict=False))))
    found = []
    for message in lint_messages(lines_in_context(tree, tree.leaf)):
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
