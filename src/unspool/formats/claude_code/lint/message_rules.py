"""Rules about what would be sent: calls and results in pairs, content, roles, reasoning."""

import re
from collections.abc import Sequence

from unspool.formats.claude_code.lint.blocks import Flaw
from unspool.formats.claude_code.lint.context import Sent
from unspool.formats.claude_code.lint.facts import Line
from unspool.formats.claude_code.lint.notes import Notes

_BINDING = re.compile(r"claude-(?:(?:fable|mythos)-(\d+)-(\d{1,2})|(?:opus|sonnet|haiku)-(\d+)-(\d{1,2}))(?!\d)")


def check(sent: Sequence[Sent], notes: Notes) -> None:
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


def _content(line: Line, notes: Notes) -> None:
    if line.role and line.role != line.shape.type:
        notes.error("role-order", line, f"A line of the {line.shape.type} that holds a message of the {line.role}.")
    for flaw in line.flaws:
        _flawed(line, flaw, notes)
    for piece in line.pieces:
        for flaw in piece.flaws:
            _flawed(line, flaw, notes)


def _flawed(line: Line, flaw: Flaw, notes: Notes) -> None:
    if flaw.grade == "error":
        notes.error(flaw.rule, line, f"{flaw.message} The model's service refuses it.")
    else:
        (notes.odd if flaw.grade == "odd" else notes.warn)(flaw.rule, line, f"{flaw.message} The agent copes with it.")


def _thoughts(sent: Sequence[Sent], notes: Notes) -> None:
    for message in sent:
        pieces = message.pieces
        if message.role == "assistant" and pieces and pieces[-1][1].is_thought:
            line = pieces[-1][0]
            told = "An answer ends in reasoning; the agent leaves it out when it resumes, the service would refuse it."
            notes.odd("bad-thinking", line, told)


def check_bound(lines: Sequence[Line], edited_from: int, notes: Notes) -> None:
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


def _pairs(sent: Sequence[Sent], notes: Notes) -> None:
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


def _called(line: Line, call: str, called: dict[str, int], index: int, notes: Notes) -> None:
    if call in called:
        told = f"The call {call} is made twice: the model's service wants every id once."
        notes.error("duplicate-call-id", line, told, call)
    called.setdefault(call, index)


def _answered(line: Line, call: str, called: dict[str, int], answered: dict[str, int], at: tuple[int, Notes]) -> None:
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


def _unanswered(line: Line, call: str, notes: Notes, *, ended: bool) -> None:
    if ended:
        told = f"The call {call} has no result; the session stopped there, and the agent copes with it."
        notes.odd("orphan-call", line, told, call)
    else:
        told = f"The call {call} has no result: the model's service refuses it."
        notes.error("orphan-call", line, told, call)
