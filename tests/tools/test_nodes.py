"""What looks alike for every tool."""

import pytest

from tests.tools.calls import PLACE, called, image, text_of
from unspool import tools
from unspool.doc import Fold, Picture, Prose, Raw, Span, Terminal
from unspool.model import Plan, Questionnaire, Result, Todos


@pytest.mark.parametrize(
    ("state", "tone", "outcome"),
    [
        ("ok", "plain", ""),
        ("error", "bad", "error"),
        ("rejected", "warn", "rejected"),
        ("denied", "warn", "denied · permission-rule"),
        ("interrupted", "warn", "interrupted"),
        ("cancelled", "warn", "cancelled"),
        ("running", "quiet", "no answer yet"),
        ("unanswered", "quiet", "no answer"),
        ("orphan", "plain", ""),
    ],
)
def test_the_state_of_a_call_gives_its_tone_and_outcome(state: str, tone: str, outcome: str) -> None:
    fold = tools.describe(called("Brand_New", {}, "", state=state, denial="permission-rule"))
    assert (fold.tone, fold.outcome) == (tone, outcome)


def test_an_error_is_bad_whatever_the_state_says() -> None:
    assert tools.describe(called("Brand_New", {}, "boom", error=True, state="ok")).tone == "bad"


@pytest.mark.parametrize(
    ("meaning", "role", "kind"),
    [
        (Plan("t", "t", "pending"), "", "plan"),
        (Todos(()), "", "todos"),
        (Questionnaire(()), "", "question"),
        (None, "agent", "agent"),
        (None, "shell", "tool"),
        (None, "", "tool"),
    ],
)
def test_the_kind_follows_from_what_the_call_means(meaning: object, role: str, kind: str) -> None:
    assert tools.describe(called("Brand_New", {}, "", meaning=meaning, role=role)).kind == kind


def test_a_result_without_its_call_says_so() -> None:
    fold = tools.describe(called("", None, "lost", state="orphan"))
    assert (fold.summary, fold.outcome) == ("Result without its call", "1 line")
    assert fold.children == (Terminal((Span("lost"),)),)


def test_an_answer_is_followed_by_unknown_pieces_pictures_and_earlier_answers() -> None:
    earlier = (Result(PLACE, "call-1", "first try", images=(image("b2xk"),)),)
    call = called("Brand_New", {}, "text", images=(image(),), parts=({"type": "odd"}, 5), earlier=earlier)
    assert tools.describe(call).children == (
        Terminal((Span("text"),)),
        Raw('{\n  "type": "odd"\n}', "odd"),
        Raw("5"),
        Picture("image/png", "aGk="),
        Fold(
            "tool",
            "Earlier answer",
            "1 line",
            "quiet",
            children=(Terminal((Span("first try"),)), Picture("image/png", "b2xk")),
        ),
    )


def test_the_wrapping_of_an_error_is_left_out() -> None:
    fold = tools.describe(called("Brand_New", {}, "<tool_use_error>No.</tool_use_error>", error=True))
    assert fold.children == (Terminal((Span("No."),)),)


def test_what_a_user_said_beside_the_refusal_is_shown() -> None:
    fold = tools.describe(called("Brand_New", {}, "Refused.", error=True, state="rejected", feedback="Ask first"))
    assert fold.children == (Terminal((Span("Refused."),)), Prose("Ask first"))


@pytest.mark.parametrize(
    ("role", "permission", "told"),
    [("shell", "user", True), ("shell", "rule", False), ("shell", "", False), ("question", "user", False)],
)
def test_that_a_person_let_a_call_run_is_told(role: str, permission: str, told: bool) -> None:
    """What rules and modes allow goes without saying, and so does who answered a question."""
    fold = tools.describe(called("Anything", None, "done", role=role, permission=permission))
    assert ("decided by the user" in text_of(fold.children)) is told
