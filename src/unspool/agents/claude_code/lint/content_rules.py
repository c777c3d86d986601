"""Rules about messages that would be sent, and rules for copies alone."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from unspool.agents.claude_code.lint.block_rules import BlockFlaw, LintBlock
from unspool.agents.claude_code.lint.lines import Findings, LintChain, LintLine
from unspool.agents.claude_code.lint.structure_rules import references

_BINDING = re.compile(r"claude-(?:(?:fable|mythos)-(\d+)-(\d{1,2})|(?:opus|sonnet|haiku)-(\d+)-(\d{1,2}))(?!\d)")


class LintMessage(NamedTuple):
    """One message of a request, and the lines that it is made of."""

    role: str
    lines: list[LintLine]

    @property
    def blocks(self) -> list[tuple[LintLine, LintBlock]]:
        return [(line, block) for line in self.lines for block in line.blocks]


def lint_messages(lines: Sequence[LintLine]) -> list[LintMessage]:
    """Lines as messages: those of one answer together whatever stands between, results behind the calls, roles in turn.

    Errors that the agent noted as answers, and what was withdrawn, are not sent.
    """
    withdrawn = {one for line in lines for one in line.withdrawn}
    found: list[LintMessage] = []
    answer = ""
    for line in lines:
        if not line.event.turn or line.fields.get("isApiErrorMessage") or line.id in withdrawn:
            continue
        role = line.type
        if role == "assistant" and line.message == answer and len(found) > 1:
            (found[-1] if found[-1].role == role else found[-2]).lines.append(line)
        elif found and found[-1].role == role:
            found[-1].lines.append(line)
        else:
            found.append(LintMessage(role, [line]))
        answer = line.message if role == "assistant" else answer
    return found


def check_messages(sent: Sequence[LintMessage], notes: Findings) -> None:
    """Every rule of this file, on the messages that the agent would send."""
    if sent and sent[0].role != "user":
        told = "The first message is the assistant's: the model's service wants a person's."
        notes.odd("role-order", sent[0].lines[0], told)
    for message in sent:
        if not message.blocks:
            told = "A message without content: the model's service refuses it."
            notes.error("empty-content", message.lines[0], told)
            continue
        for line in message.lines:
            _content(line, notes)
    _thoughts(sent, notes)
    _pairs(sent, notes)


def _content(line: LintLine, notes: Findings) -> None:
    if line.role and line.role != line.type:
        notes.error("role-order", line, f"A line of the {line.type} that holds a message of the {line.role}.")
    for flaw in line.flaws:
        _flawed(line, flaw, notes)
    for block in line.blocks:
        for flaw in block.flaws:
            _flawed(line, flaw, notes)


def _flawed(line: LintLine, flaw: BlockFlaw, notes: Findings) -> None:
    if flaw.grade == "error":
        notes.error(flaw.rule, line, f"{flaw.message} The model's service refuses it.")
    else:
        (notes.odd if flaw.grade == "odd" else notes.warn)(flaw.rule, line, f"{flaw.message} The agent copes with it.")


def _thoughts(sent: Sequence[LintMessage], notes: Findings) -> None:
    for message in sent:
        blocks = message.blocks
        if message.role == "assistant" and blocks and blocks[-1][1].is_thought:
            line = blocks[-1][0]
            told = "An answer ends in reasoning; the agent leaves it out when it resumes, the service would refuse it."
            notes.odd("bad-thinking", line, told)


def check_bound(lines: Sequence[LintLine], edited_from: int, notes: Findings) -> None:
    """Reasoning behind the first edited line, of models that take it only behind the words it was written behind."""
    for line in lines:
        if line.number >= edited_from and binds(line.model) and any(block.is_thought for block in line.blocks):
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
    """Every call once, and its result once, in the message behind it."""
    called: dict[str, int] = {}
    answered: set[str] = set()
    blocks = [(index, line, block) for index, message in enumerate(sent) for line, block in message.blocks]
    for index, line, block in blocks:
        call = block.id
        if block.kind == "tool_use":
            if call in called:
                told = f"The call {call} is made twice: the model's service wants every id once."
                notes.error("duplicate-call-id", line, told, call)
            called.setdefault(call, index)
        elif block.kind == "tool_result":
            wrong = flaw_of_result(call, index, called, answered)
            if wrong:
                notes.error(wrong[0], line, wrong[1], call)
            answered.add(call)
    last = max((index for index, message in enumerate(sent) if message.role == "assistant"), default=-1)
    for index, line, block in blocks:
        if block.kind == "tool_use" and block.id not in answered:
            _note_unanswered(line, block.id, notes, ended=index == last)


def _note_unanswered(line: LintLine, call: str, notes: Findings, *, ended: bool) -> None:
    if ended:
        told = f"The call {call} has no result; the session stopped there, and the agent copes with it."
        notes.odd("orphan-call", line, told, call)
    else:
        told = f"The call {call} has no result: the model's service refuses it."
        notes.error("orphan-call", line, told, call)


def flaw_of_result(
    call: str, message: int, called: Mapping[str, int], answered: Collection[str]
) -> tuple[str, str] | None:
    """(rule, sentence) where a result in the message of that number does not answer a call of the one before, once."""
    if call not in called:
        return "orphan-result", f"A result of {call}, a call that is not there: the model's service refuses it."
    if call in answered:
        return "duplicate-result", f"A second result of {call}: the model's service takes one."
    if called[call] != message - 1:
        told = f"The result of {call} is not in the message behind the call: the model's service refuses it."
        return "result-not-next", told
    return None


LATCHES = frozenset(
    {
        "bridge-session", "worktree-state", "atis-latch", "isolation-latch", "cost-state", "continued-in",
        "queue-operation", "relocated", "fork-context-ref", "tools-used", "session-owner", "dev-mods",
        "resume-head-vouch", "api-request", "api-request-shape", "api-request-blob",
    }
)  # fmt: skip
"""Lines that tie a session to a process, a place or an account, or tell what it sent."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def check_copy(lines: Sequence[LintLine], chain: LintChain, path: set[str], notes: Findings) -> None:
    """Every rule of this file; `path` holds the ids of all lines that some part of the conversation leads over."""
    for line in lines:
        if line.type in LATCHES:
            notes.error("latch-line", line, f"A {line.type} line ties the copy to what the source is tied to.")
    _origins(chain, notes)
    _old_ids(lines, chain, notes)
    _shape(chain, path, notes)
    _order(chain, notes)
    _title(lines, notes)


def _origins(chain: LintChain, notes: Findings) -> None:
    for line in chain.lines:
        origin = line.fields.get("forkedFrom")
        if not origin or not origin.get("sessionId") or not origin.get("messageUuid"):
            notes.error("no-origin", line, "The line does not say which line it was copied from.")
        elif origin["sessionId"] in (line.fields.get("sessionId"), line.fields.get("session_id")):
            notes.error("old-session", line, "The line is of the session that it was copied from.")


def _old_ids(lines: Sequence[LintLine], chain: LintChain, notes: Findings) -> None:
    old = {(line.fields.get("forkedFrom") or {}).get("messageUuid") for line in chain.lines}
    for line in chain.lines:
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
    yield from (one for _, one in references(line.fields))
    yield line.parent
    yield line.fields.get("logicalParentUuid") or ""
    yield (line.fields.get("attachment") or {}).get("source_uuid") or ""
    yield from _texts(line.fields.get("compactMetadata"))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _shape(chain: LintChain, path: set[str], notes: Findings) -> None:
    for line in chain.lines:
        if line.type == "progress":
            notes.error("foreign-line", line, "A line that only tells of progress: a copy has none.")
        if line.event.turn and line.id not in path and not line.event.sidechain:
            notes.error("off-path", line, "Words that no part of the conversation leads over: the agent skips them.")
        for name in ("teamName", "agentName", "slug", "sessionKind", "requestRef"):
            if line.fields.get(name):
                notes.error("kept-link", line, f"“{name}” ties the copy to what the source is tied to.")


def _order(chain: LintChain, notes: Findings) -> None:
    for line in chain.lines:
        parent = chain.by_id.get(line.parent)
        if parent is not None and parent.number > line.number:
            notes.error("out-of-order", line, f"It stands before the line it follows, line {parent.number}.")
    leaf = chain.leaf
    times = [line.event.time for line in chain.lines if line.event.turn and line.is_main and line.event.time]
    if leaf is not None and leaf.event.time is not None and any(time > leaf.event.time for time in times):
        told = "Another line is later than the one that the copy ends with: some versions go on from that one."
        notes.error("wrong-leaf", leaf, told)


def _title(lines: Sequence[LintLine], notes: Findings) -> None:
    last = lines[-1] if lines else None
    if last is None or last.type != "custom-title" or not (last.fields.get("customTitle") or "").strip():
        notes.error("no-title", last or 0, "The copy does not end with a title of its own.")
