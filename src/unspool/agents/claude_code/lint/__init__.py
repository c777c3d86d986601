"""The validator: what keeps a log from being resumed, and what a copy of ours must never show.

Rules over the lines, events and live path that the rest of the product reads too. Findings are values; nothing in a
log raises.
"""

from collections.abc import Iterable

from unspool.agents.claude_code.lint import content_rules, structure_rules
from unspool.agents.claude_code.lint.content_rules import lint_messages
from unspool.agents.claude_code.lint.lines import Findings, LintChain, LintLine, read_lines
from unspool.agents.writing import LintFinding

__all__ = ["lint"]


def lint(lines: Iterable[bytes], *, strict: bool, edited_from: int | None = None) -> list[LintFinding]:
    """What is wrong with a log, by line. Strictly: as a copy of ours, else as the agent left it.

    `edited_from` is the number of the first line whose words a copy changed or that stands behind words left out.
    """
    notes = Findings(strict=strict)
    found = list(read_lines(lines, notes))
    chain = LintChain(found)
    live = chain.in_context(chain.leaf)
    structure_rules.check_chain(chain, live, notes)
    content_rules.check_messages(lint_messages(live), notes)
    structure_rules.check_references(found, chain, notes)
    if strict:
        _check_copy(found, chain, live, notes)
    if edited_from is not None:
        content_rules.check_bound(found, edited_from, notes)
    return notes.sorted()


def _check_copy(found: list[LintLine], chain: LintChain, live: list[LintLine], notes: Findings) -> None:
    """A copy's own rules; what came before a compaction must be as sound as what came behind it."""
    path = {line.id for line in live}
    for boundary in chain.boundaries:
        before = chain.closed_by(boundary)
        if any(line.id not in path for line in before):
            content_rules.check_messages(lint_messages(before), notes)
        path.update(line.id for line in before)
    content_rules.check_copy(found, chain, path, notes)
