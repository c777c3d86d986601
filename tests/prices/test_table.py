"""What is known of models besides their prices."""

import pytest

from unspool.prices.table import builtin_sheet, token_density, window_size

PRICED = sorted({price.model for price in builtin_sheet().models})


@pytest.mark.parametrize("model", PRICED)
def test_every_model_that_has_a_price_has_a_window(model: str) -> None:
    assert window_size(model) in (200_000, 1_000_000)
    assert 0.5 < token_density(model) <= 1


def test_a_further_version_is_another_model() -> None:
    assert window_size("claude-opus-4-5") == 200_000
    assert window_size("claude-opus-4-9") is None
    assert token_density("claude-opus-4-9") == 1


def test_the_larger_window_is_asked_for_by_name_or_shown_by_what_was_sent() -> None:
    assert window_size("claude-opus-4-7", 200_000) == 200_000
    assert window_size("claude-opus-4-7", 200_001) == window_size("Claude-Opus-4-7[1M]") == 1_000_000
    assert window_size("claude-opus-4-5[1m]") == 200_000


def test_more_than_any_window_holds_makes_it_unknown() -> None:
    assert window_size("claude-opus-5", 1_000_001) is None
