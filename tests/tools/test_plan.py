"""Plans."""

from tests.tools.calls import called
from unspool import tools
from unspool.doc import Fields, Link, Prose, Span, Terminal
from unspool.model import Plan


def test_an_approved_plan_is_shown_with_what_became_of_it() -> None:
    plan = Plan("Fix it", "# Fix it\n\nNow.", "approved", edited=True, path="/plans/x.md", settled_by="s2")
    asked = {"plan": "old", "planFilePath": "/plans/x.md", "allowedPrompts": []}
    fold = tools.describe(called("ExitPlanMode", asked, "no", error=True, state="rejected", meaning=plan))
    assert (fold.kind, fold.summary, fold.outcome) == ("plan", "Plan: Fix it", "approved · edited by the user")
    assert fold.tone == "good"
    assert fold.children == (
        Prose("# Fix it\n\nNow."),
        Fields((("file", "/plans/x.md"),)),
        Link("session:s2", "The session that carries it out"),
        Fields((("allowedPrompts", "[]"),)),
    )


def test_a_rejected_plan_tells_what_the_user_said() -> None:
    plan = Plan("Fix it", "Text", "rejected", feedback="not so")
    fold = tools.describe(called("ExitPlanMode", {}, "no", error=True, state="rejected", meaning=plan))
    assert (fold.outcome, fold.tone) == ("rejected", "warn")
    assert fold.children == (Prose("Text"), Fields((("feedback", "not so"),)))


def test_a_plan_nobody_made_sense_of_is_shown_as_given() -> None:
    fold = tools.describe(called("exit_plan_mode", {"plan": "\n## Do it\n- a"}, "approved"))
    assert fold.summary == "exit_plan_mode Do it"
    assert fold.children == (Prose("\n## Do it\n- a"), Terminal((Span("approved"),)))
