"""Rules about messages that would be sent, and rules for copies alone."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from unspool.agents.claude_code.lint.lines import BlockFlaw, Findings, LintLine
from unspool.agents.claude_code.lint.structure_rules import references
from unspool.agents.claude_code.lint.tree import LintMessage, LintTree

_BINDING = re.compile(r"claude-(?:(?:fable|mythos)-(\d+)-(\d{1,2})|(?:opus|sonnet|haiku)-(\d+)-(\d{1,2}))(?!\d)")


def check_messages(sent: Sequence[LintMessage], notes: Findings) -> None:
    """Every rule of this file, on the messages that the agent would send."""
    if sent and sent[0].role != "user":
        told = "The first message is the assistant's: the model's service wants a person's."
        notes.odd("role-order", sent[0].lines[0], told)
    for message in sent:
        if not message.pieces:
            told = "A message without content: the model's service refuses it."
            notes.error("empty-content", message.lines[0], told)
            continue
        for line in message.lines:
            _content(line, notes)
    _thoughts(sent, notes)
    _pairs(sent, notes)


def _content(line: LintLine, notes: Findings) -> None:
    if line.role and line.role != line.shape.type:
        notes.error("role-order", line, f"A line of the {line.shape.type} that holds a message of the {line.role}.")
    for flaw in line.flaws:
        _flawed(line, flaw, notes)
    for piece in line.pieces:
        for flaw in piece.flaws:
            _flawed(line, flaw, notes)


def _flawed(line: LintLine, flaw: BlockFlaw, notes: Findings) -> None:
    if flaw.grade == "error":
        notes.error(flaw.rule, line, f"{flaw.message} The model's service refuses it.")
    else:
        (notes.odd if flaw.grade == "odd" else notes.warn)(flaw.rule, line, f"{flaw.message} The agent copes with it.")


def _thoughts(sent: Sequence[LintMessage], notes: Findings) -> None:
    for message in sent:
        pieces = message.pieces
        if message.role == "assistant" and pieces and pieces[-1][1].is_thought:
            line = pieces[-1][0]
            told = "An answer ends in reasoning; the agent leaves it out when it resumes, the service would refuse it."
            notes.odd("bad-thinking", line, told)


def check_bound(lines: Sequence[LintLine], edited_from: int, notes: Findings) -> None:
    """Reasoning behind the first edited line, of models that take it only behind the words it was written behind."""
    for line in lines:
        if line.number >= edited_from and binds(line.model) and any(piece.is_thought for piece in line.pieces):
            told = f"Reasoning of {line.model} behind a change of what came before: the model's service refuses it."
            notes.error("bound-thinking", line, told)


def binds(model: str) -> bool:
    """Whether a model's reasoning is tied to the words before it."""
    found = _BINDING.search(model)
    if found is None:
        return False
    fable = found[1] is not None
    version = (int(found[1 if fable else 3]), int(found[2 if fable else 4]))
    return version >= ((5, 1) if fable else (5, 5))


def _pairs(sent: Sequence[LintMessage], notes: Findings) -> None:
    called: dict[str, int] = {}
    answered: dict[str, int] = {}
    for index, message in enumerate(sent):
        for line, piece in message.pieces:
            if piece.kind == "tool_use":
                _called(line, piece.id, called, index, notes)
            elif piece.kind == "tool_result":
                _answered(line, piece.id, called, answered, (index, notes))
    last = max((index for index, message in enumerate(sent) if message.role == "assistant"), default=-1)
    for index, message in enumerate(sent):
        for line, piece in message.pieces:
            if piece.kind == "tool_use" and piece.id not in answered:
                _unanswered(line, piece.id, notes, ended=index == last)


def _called(line: LintLine, call: str, called: dict[str, int], index: int, notes: Findings) -> None:
    if call in called:
        told = f"The call {call} is made twice: the model's service wants every id once."
        notes.error("duplicate-call-id", line, told, call)
    called.setdefault(call, index)


def _answered(
    line: LintLine, call: str, called: dict[str, int], answered: dict[str, int], at: tuple[int, Findings]
) -> None:
    index, notes = at
    if call not in called:
        told = f"A result of {call}, a call that is not there: the model's service refuses it."
        notes.error("orphan-result", line, told, call)
    elif call in answered:
        notes.error("duplicate-result", line, f"A second result of {call}: the model's service takes one.", call)
    elif called[call] != index - 1:
        told = f"The result of {call} is not in the message behind the call: the model's service refuses it."
        notes.error("result-not-next", line, told, call)
    answered.setdefault(call, index)


def _unanswered(line: LintLine, call: str, notes: Findings, *, ended: bool) -> None:
    if ended:
        told = f"The call {call} has no result; the session stopped there, and the agent copes with it."
        notes.odd("orphan-call", line, told, call)
    else:
        told = f"The call {call} has no result: the model's service refuses it."
        notes.error("orphan-call", line, told, call)


LATCHES = frozenset(
    {
        "bridge-session", "worktree-state", "atis-latch", "isolation-latch", "cost-state", "continued-in",
        "queue-operation", "relocated", "fork-context-ref", "tools-used", "session-owner", "dev-mods",
        "resume-head-vouch", "api-request", "api-request-shape", "api-request-blob",
    }
)  # fmt: skip
"""Lines that tie a session to a process, a place or an account, or tell what it sent."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def check_copy(lines: Sequence[LintLine], tree: LintTree, path: set[str], notes: Findings) -> None:
    """Every rule of this file; `path` holds the ids of all lines that some part of the conversation leads over."""
    for line in lines:
        if line.shape.type in LATCHES:
            notes.error("latch-line", line, f"A {line.shape.type} line ties the copy to what the source is tied to.")
    _origins(tree, notes)
    _old_ids(lines, tree, notes)
    _shape(tree, path, notes)
    _order(tree, notes)
    _title(lines, notes)


def _origins(tree: LintTree, notes: Findings) -> None:
    for line in tree.lines:
        origin = line.shape.forked_from
        if origin is None or not origin.session_id or not origin.message_uuid:
            notes.error("no-origin", line, "The line does not say which line it was copied from.")
        elif origin.session_id in (line.shape.session_id, line.shape.session_again):
            notes.error("old-session", line, "The line is of the session that it was copied from.")


def _old_ids(lines: Sequence[LintLine], tree: LintTree, notes: Findings) -> None:
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


def _named(line: LintLine) -> Iterator[str]:
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


def _shape(tree: LintTree, path: set[str], notes: Findings) -> None:
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


def _order(tree: LintTree, notes: Findings) -> None:
    for line in tree.lines:
        parent = tree.by_id.get(line.parent)
        if parent is not None and parent.number > line.number:
            notes.error("out-of-order", line, f"It stands before the line it follows, line {parent.number}.")
    times = [(line.shape.timestamp or "", line.number) for line in tree.lines if line.spoken and line.is_main]
    if tree.leaf is not None and times and max(times)[0] > (tree.leaf.shape.timestamp or ""):
        told = "Another line is later than the one that the copy ends with: some versions go on from that one."
        notes.error("wrong-leaf", tree.leaf, told)


def _title(lines: Sequence[LintLine], notes: Findings) -> None:
    titled = (
        bool(lines) and lines[-1].shape.type == "custom-title" and bool((lines[-1].shape.custom_title or "").strip())
    )
    if not titled:
        notes.error("no-title", lines[-1] if lines else 0, "The copy does not end with a title of its own.")
