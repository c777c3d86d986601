"""Questions put to the user, and the answers in every form they were written."""

from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import asked, session
from unspool.model import Questionnaire

COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "multiSelect": False,
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
}
SIZES = {
    "question": "Which sizes?",
    "header": "Sizes",
    "multiSelect": True,
    "options": [{"label": "S"}, {"label": "M"}, {"label": "L"}],
}


def asking(words: str, detail: Any = None, *questions: dict[str, Any], error: bool = False) -> Questionnaire:
    log = LogBuilder().prompt("go")
    use = log.use("AskUserQuestion", questions=list(questions or (COLOUR,)))
    return asked(session(log.assistant(use).result(use, words, detail, error=error)))


TEXTS = [
    'User has answered your questions: "Which colour?"="Blue". You can now continue with the user\'s answers in mind.',
    'Your questions have been answered: "Which colour?"="Blue". You can now continue with these answers in mind.',
    'The user answered: "Which colour?"="Blue" selected preview: none',
    'User has answered your questions: "Which colour?"="Blue"',
]


@pytest.mark.parametrize("words", TEXTS)
def test_an_answer_is_read_from_every_form_of_text(words: str) -> None:
    found = asking(words)
    (question,) = found.questions
    assert (found.outcome, question.text, question.header, question.answer) == (
        "answered",
        "Which colour?",
        "Colour",
        "Blue",
    )
    assert [(option.label, option.description, option.chosen) for option in question.options] == [
        ("Red", "warm", False),
        ("Blue", "cold", True),
    ]


def test_the_structured_answer_goes_before_the_text() -> None:
    found = asking(TEXTS[0], {"questions": [COLOUR], "answers": {"Which colour?": "Red"}})
    assert found.questions[0].answer == "Red"


@pytest.mark.parametrize("answer", ["S, L", "S,L", ["S", "L"]])
def test_several_choices_are_all_marked(answer: Any) -> None:
    (question,) = asking("x", {"answers": {"Which sizes?": answer}}, SIZES).questions
    assert question.multiple
    assert [option.chosen for option in question.options] == [True, False, True]


def test_a_label_with_a_comma_is_one_choice() -> None:
    odd = {
        "question": "How?",
        "header": "H",
        "multiSelect": False,
        "options": [{"label": "Fast, loud"}, {"label": "Fast"}],
    }
    (question,) = asking("x", {"answers": {"How?": "Fast, loud"}}, odd).questions
    assert [option.chosen for option in question.options] == [True, False]


def test_an_answer_in_the_users_own_words_chooses_no_option() -> None:
    (question,) = asking("x", {"answers": {"Which colour?": "green, please"}}).questions
    assert question.answer == "green, please"
    assert not any(option.chosen for option in question.options)


def test_several_questions_get_their_own_answers() -> None:
    words = 'User has answered your questions: "Which colour?"="Red", "Which sizes?"="S, M". You can now continue.'
    found = asking(words, None, COLOUR, SIZES)
    assert [question.answer for question in found.questions] == ["Red", "S, M"]


def test_notes_are_read_from_annotations_and_from_text() -> None:
    noted = asking("x", {"answers": {"Which colour?": "Red"}, "annotations": {"Which colour?": {"notes": "dark"}}})
    assert noted.questions[0].notes == "dark"
    said = asking('The user answered: "Which colour?"=(no option selected) notes: neither of them')
    assert (said.questions[0].answer, said.questions[0].notes) == (None, "neither of them")


def test_a_user_who_was_away_gave_no_answer() -> None:
    found = asking("No response after 60s — the user may be away from the keyboard. Proceed with your best judgement.")
    assert (found.outcome, found.questions[0].answer) == ("away", None)


def test_a_user_who_refused_said_why() -> None:
    log = LogBuilder().prompt("go")
    use = log.use("AskUserQuestion", questions=[COLOUR])
    found = asked(session(log.assistant(use).rejected(use, "just pick one")))
    assert (found.outcome, found.feedback) == ("rejected", "just pick one")


def test_a_question_without_result_is_pending() -> None:
    log = LogBuilder().prompt("go")
    use = log.use("AskUserQuestion", questions=[COLOUR])
    assert asked(session(log.assistant(use))).outcome == "pending"


def test_a_quote_inside_an_answer_is_kept() -> None:
    words = 'User has answered your questions: "Which colour?"="the \\"red\\" one". You can now continue.'
    assert "red" in str(asking(words).questions[0].answer)
