"""Questions to the user."""

import pytest

from tests.tools.calls import called
from unspool import tools
from unspool.doc import Check, Checklist, Fields, Prose, Span, Terminal
from unspool.model import Option, Question, Questionnaire

OPTIONS = (Option("Red", "warm", chosen=True), Option("Blue"))


def test_an_answered_question_marks_what_was_chosen() -> None:
    asked = Questionnaire((Question("Which colour?", "Colour", OPTIONS, answer="Red", notes="dark"),), "answered")
    fold = tools.describe(called("AskUserQuestion", {}, "answered", meaning=asked))
    assert (fold.kind, fold.summary, fold.outcome) == ("question", "AskUserQuestion Which colour?", "Red")
    assert fold.children == (
        Checklist((Check("Red", "done", "warm"), Check("Blue", "open")), "Colour: Which colour?"),
        Fields((("notes", "dark"),)),
    )


def test_an_answer_in_the_users_own_words_is_told() -> None:
    asked = Questionnaire((Question("Which?", options=(Option("Red"),), answer="Green"), Question("Why?")), "answered")
    fold = tools.describe(called("AskUserQuestion", {}, "answered", meaning=asked))
    assert (fold.summary, fold.outcome) == ("AskUserQuestion Which?, Why?", "Green, no answer")
    assert fold.children == (
        Checklist((Check("Red", "open"),), "Which?"),
        Fields((("answer", "Green"),)),
        Prose("Why?"),
    )


@pytest.mark.parametrize(("outcome", "said"), [("away", "no answer"), ("pending", "no answer yet")])
def test_a_question_without_an_answer_says_why(outcome: str, said: str) -> None:
    asked = Questionnaire((Question("Why?"),), outcome)  # type: ignore[arg-type]
    assert tools.describe(called("AskUserQuestion", {}, "away", meaning=asked)).outcome == said


def test_a_refused_question_shows_the_refusal() -> None:
    asked = Questionnaire((Question("Why?"),), "rejected")
    fold = tools.describe(called("AskUserQuestion", {}, "No.", error=True, state="rejected", meaning=asked))
    assert (fold.outcome, fold.tone) == ("rejected", "warn")
    assert fold.children == (Prose("Why?"), Terminal((Span("No."),)))


def test_questions_nobody_made_sense_of_are_shown_as_asked() -> None:
    asked = {"questions": [{"question": "Why?", "header": "H", "options": [{"label": "so"}]}]}
    fold = tools.describe(called("AskUserQuestion", asked, "who knows"))
    assert fold.children == (Checklist((Check("so", "open"),), "H: Why?"), Terminal((Span("who knows"),)))
