"""What is known of models besides their prices."""

from pathlib import Path

import pytest

from unspool import prices
from unspool.prices.table import builtin_sheet, read_sheet, token_density, window_size

KEPT_BY_HAND = read_sheet(Path(prices.__file__).with_name("table.json"))
PRICED = sorted({price.model for price in KEPT_BY_HAND.models})


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


@pytest.mark.parametrize(
    ("model", "figures"),
    [
        ("gpt-5-codex", ("1.25", "10", "0.125")),
        ("gpt-5-2025-08-07", ("1.25", "10", "0.125")),
        ("openai/gpt-5.2-codex", ("1.75", "14", "0.175")),
        ("gemini-3.5-flash", ("1.5", "9", "0.15")),
        ("gemini-3-pro-preview", ("2", "12", "0.2")),
    ],
)
def test_models_of_others_have_their_own_price(model: str, figures: tuple[str, str, str]) -> None:
    (price,) = [one for one in builtin_sheet().fitting(model) if one.until is None]
    assert (str(price.input), str(price.output), str(price.read)) == figures


def test_no_price_of_others_is_one_that_is_kept_by_hand() -> None:
    others = read_sheet(Path(prices.__file__).with_name("others.json"))
    assert others.date
    assert others.source
    assert not {price.model for price in others.models} & set(PRICED)
