"""A row of a list: what it says of a session's cost, kind and figures, whoever lists it."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from unspool.site.session_rows import SessionRow

START = datetime(2026, 5, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("amount", "known", "text"),
    [("0", True, ""), ("0", False, "?"), ("4.12", True, "$4.12"), ("4.12", False, "≥$4.12"), ("0.003", True, "$0.003")],
)
def test_a_cost_is_exact_or_a_lower_bound_or_unknown_and_never_nothing(amount: str, known: bool, text: str) -> None:
    assert SessionRow("id", "Title", amount=Decimal(amount), known=known).cost_text == text


def test_only_figures_that_there_are_are_told() -> None:
    bare = SessionRow("id", "Title", "interactive")
    assert list(bare.facts) == ["0 prompts"]
    assert (list(bare.badges), bare.failures) == ([], "")
    models = ("vendor-opus-4-6-20260101", "vendor-opus-4-6", "vendor-haiku-4-5", "vendor-sonnet-5")
    full = SessionRow(
        "id",
        "Title",
        "planning",
        branch="main",
        started=START,
        ended=START + timedelta(minutes=3),
        prompts=2,
        tool_calls=1,
        tool_errors=1,
        tool_refusals=2,
        tool_interruptions=1,
        tool_unanswered=3,
        files=3,
        commits=1,
        problems=1,
        models=models,
        size=2000,
        kept=True,
    )
    assert list(full.facts) == [
        *("2 prompts", "1 call", "3 files", "1 commit", "3 m", "Opus 4.6, Haiku 4.5 +1", "⎇ main", "2.0 kB")
    ]
    assert [badge.text for badge in full.badges] == ["planning", "1 line not read", "kept"]
    assert full.failures == "1 failed, 2 refused, 1 interrupted, 3 without a result"
