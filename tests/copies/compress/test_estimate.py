"""What it would cost is told before anything is sent."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from tests.copies.compress.model import KEY, asked_of, model, passages
from unspool.copies.compress.passages import TurnBands, choose_passages
from unspool.copies.compress.providers import Anthropic
from unspool.copies.compress.run import Estimate, compress
from unspool.figures.tokens import estimate_tokens
from unspool.prices import PriceTable

NOW = datetime(2026, 11, 1, tzinfo=UTC)
BANDS = TurnBands.parse("0-50:heavy,50-100:light")


@pytest.fixture
def prices(tmp_path: Path) -> PriceTable:
    sheet = {"models": [{"model": "house-model", "input": "2", "output": "10"}]}
    (tmp_path / "prices.json").write_text(json.dumps(sheet))
    return PriceTable.load(tmp_path / "prices.json")


def test_the_estimate_counts_what_will_be_sent(prices: PriceTable) -> None:
    """The tokens of the requests that a service then gets, and the targets of the answers."""
    choice = choose_passages(passages(8), BANDS)
    made = Estimate.of(choice, "house-model", prices, NOW)
    with model() as server:
        compress(passages(8), BANDS, Anthropic(server.address, "house-model", KEY))
    bodies = [heard.body for heard in server.heard]
    assert made.requests == len(bodies) == 8
    assert made.tokens_in == sum(
        estimate_tokens(body["system"]) + estimate_tokens(body["messages"][0]["content"]) for body in bodies
    )
    assert made.tokens_out == sum(asked_of(body)["target_tokens"] + 10 for body in bodies)
    assert made.cost == Decimal(made.tokens_in * 2 + made.tokens_out * 10) / 1_000_000
    assert f"8 requests · {made.tokens_in / 1000:.1f} k tokens in" in str(made)
    assert str(made).endswith(f"about ${made.cost:.3f}")


@pytest.mark.parametrize("name", ["", "nobody-knows-it"])
def test_an_unknown_model_has_an_unknown_price(prices: PriceTable, name: str) -> None:
    """Never nothing."""
    made = Estimate.of(choose_passages(passages(2), BANDS), name, prices, NOW)
    assert made.cost is None
    assert str(made).endswith("cost unknown")


def test_nothing_to_send_costs_nothing(prices: PriceTable) -> None:
    made = Estimate.of(choose_passages([], BANDS), "house-model", prices, NOW)
    assert (made.requests, made.cost) == (0, Decimal(0))


@pytest.mark.parametrize(
    ("cost", "shown"),
    [("0", "about $0.00"), ("0.0004", "less than $0.001"), ("0.0034", "about $0.003"), ("1234.5", "about $1,234.50")],
)
def test_money_is_shown_as_people_write_it(cost: str, shown: str) -> None:
    assert str(Estimate(1, 900, 90, "m", Decimal(cost))) == f"1 request · 900 tokens in, 90 out · {shown}"
