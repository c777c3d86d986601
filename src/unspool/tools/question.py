"""What is put to the user: plans and what became of them, questions with what could be chosen and what was."""

from typing import Final

from unspool.doc import Check, Checklist, Link, Node, Tone
from unspool.model import Option, Plan, Question, Questionnaire, ToolCall
from unspool.tools import nodes as reply
from unspool.tools import other, summary
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

_PLANS = ("ExitPlanMode", "exit_plan_mode", "EnterPlanMode")
NAMES: tuple[str, ...] = ("AskUserQuestion", *_PLANS)

_TONES: Final[dict[str, Tone]] = {"approved": "good", "rejected": "warn", "pending": "quiet"}
_OUTCOMES: Final = {"rejected": "rejected", "away": "no answer", "pending": "no answer yet"}


def describe(call: ToolCall) -> CallDescription:
    asked = call.meaning
    if call.name in _PLANS or isinstance(asked, Plan):
        return _planned(call)
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
    options = question.options
    checks = tuple(Check(one.label, "done" if one.chosen else "open", one.description) for one in options)
    chosen = any(option.chosen for option in question.options)
    answer = "" if chosen else question.answer or ""
    said = reply.field_nodes(("answer", answer), ("notes", question.notes))
    return (Checklist(checks, title), *said) if checks else (*reply.prose_nodes(title), *said)


def _planned(call: ToolCall) -> CallDescription:
    given, plan = ToolFields(call.input), call.meaning
    written = given.text("plan")
    if isinstance(plan, Plan):
        given.take("planFilePath")
        return _settled(plan, given)
    heading = next((line.strip("# \t") for line in written.split("\n") if line.strip("# \t")), "")
    shown = (*reply.prose_nodes(written), *given.rest(), *reply.answer_nodes(call))
    return CallDescription(f"{call.name} {heading}", "", shown)


def _settled(plan: Plan, given: ToolFields) -> CallDescription:
    nodes: tuple[Node, ...] = (
        *reply.prose_nodes(plan.text),
        *reply.field_nodes(("feedback", plan.feedback), ("file", plan.path)),
        *((Link(f"session:{plan.settled_by}", "The session that carries it out"),) if plan.settled_by else ()),
        *given.rest(),
    )
    outcome = summary.join_facts(plan.status, "edited by the user" if plan.edited else "")
    return CallDescription(f"Plan: {plan.title}", outcome, nodes, _TONES[plan.status], settled=True)
