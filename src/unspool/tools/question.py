"""Questions put to the user: what could be chosen, what was, and what was said beside it."""

from typing import Final

from unspool.doc import Check, Checklist, Node
from unspool.model import Option, Question, Questionnaire, ToolCall
from unspool.tools import nodes as reply
from unspool.tools import other
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

NAMES: tuple[str, ...] = ("AskUserQuestion",)

_OUTCOMES: Final = {"rejected": "rejected", "away": "no answer", "pending": "no answer yet"}


def describe(call: ToolCall) -> CallDescription:
    asked = call.meaning
    if not isinstance(asked, Questionnaire):
        return _unread(call)
    title = _summary(call, asked.questions)
    nodes = tuple(node for question in asked.questions for node in _question(question))
    if asked.outcome == "answered":
        outcome = ", ".join(question.answer or "no answer" for question in asked.questions)
        return CallDescription(title, outcome, (*nodes, *reply.prose_nodes(asked.feedback)), "plain", settled=True)
    return CallDescription(title, _OUTCOMES[asked.outcome] if call.state == "ok" else "", nodes)


def _unread(call: ToolCall) -> CallDescription:
    """Nobody made sense of the answer: the questions as they were asked, the answer as it is."""
    given = ToolFields(call.input)
    if "questions" not in given:
        return other.describe(call)
    questions = tuple(_asked(ToolFields(entry)) for entry in given.items("questions"))
    nodes = tuple(node for question in questions for node in _question(question))
    return CallDescription(_summary(call, questions), "", (*nodes, *given.rest(), *reply.answer_nodes(call)))


def _asked(entry: ToolFields) -> Question:
    offered = [ToolFields(option) for option in entry.items("options")]
    options = tuple(Option(option.need("label"), option.text("description")) for option in offered)
    return Question(entry.text("question"), entry.text("header"), options, entry.flag("multiSelect"))


def _summary(call: ToolCall, questions: tuple[Question, ...]) -> str:
    if len(questions) == 1:
        return f"{call.name} {questions[0].text}"
    return f"{call.name} {', '.join(question.header or question.text for question in questions)}"


def _question(question: Question) -> tuple[Node, ...]:
    title = f"{question.header}: {question.text}" if question.header else question.text
    checks = tuple(
        Check(option.label, "done" if option.chosen else "open", option.description) for option in question.options
    )
    chosen = any(option.chosen for option in question.options)
    answer = "" if chosen else question.answer or ""
    said = reply.field_nodes(("answer", answer), ("notes", question.notes))
    return (Checklist(checks, title), *said) if checks else (*reply.prose_nodes(title), *said)
