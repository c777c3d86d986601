"""Money: every figure here was worked out by hand from the list prices."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.errors import Unreadable
from unspool.model import Call, Usage
from unspool.prices import Cost, PriceTable, Spend

TABLE = PriceTable.load()
OCTOBER = datetime(2026, 10, 12, tzinfo=UTC)


def call(model: str, usage: Usage | None = None, **fields: object) -> Call:
    """One request, in October 2026 unless told otherwise."""
    settings: dict[str, object] = {"time": OCTOBER, **fields}
    return Call(key="m:r", model=model, usage=usage or Usage(input=1_000_000), **settings)  # type: ignore[arg-type]


def test_each_kind_of_token_has_its_own_price() -> None:
    usage = Usage(input=1_000, output=2_000, cache_read=50_000, cache_write=3_000, cache_write_1h=1_000)
    # 1000*5 + 2000*25 + 50000*0.50 + 2000*6.25 + 1000*10 = 102500 millionths
    assert TABLE.price_of(call("claude-opus-5", usage)) == Decimal("0.1025")


def test_a_single_token_is_priced_exactly() -> None:
    assert TABLE.price_of(call("claude-haiku-5-5", Usage(cache_read=1))) == Decimal("0.00000001")


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("claude-fable-5-1", "10"),
        ("claude-fable-5", "10"),
        ("claude-mythos-preview", "10"),
        ("claude-opus-5-5", "4"),
        ("claude-opus-4-8", "5"),
        ("claude-opus-4-1-20250805", "15"),
        ("claude-opus-4-20250514", "15"),
        ("claude-3-opus-20240229", "15"),
        ("claude-sonnet-5-5", "2"),
        ("claude-sonnet-4-6[1m]", "3"),
        ("claude-sonnet-4-20250514", "3"),
        ("claude-3-7-sonnet-latest", "3"),
        ("claude-haiku-4-5-20251001", "1"),
        ("claude-3-5-haiku-20241022", "0.8"),
        ("claude-3-haiku-20240307", "0.25"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "3"),
        ("arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-opus-4-5-20251101-v1:0", "5"),
        ("anthropic/claude-opus-4.5", "5"),
        ("openrouter/anthropic/claude-haiku-4-5", "1"),
        ("claude-sonnet-4-5@20250929", "3"),
        ("claude-3-5-sonnet-v2@20241022", "3"),
        ("Claude-Opus-5", "5"),
    ],
)
def test_a_model_is_known_under_every_providers_spelling(model: str, price: str) -> None:
    assert TABLE.price_of(call(model, Usage(input=1_000_000, floor=True), time=OCTOBER)) == Decimal(price)


@pytest.mark.parametrize(
    "model", ["gpt-9-unheard", "", "claude", "claude-opus-4-9", "claude-opus-5-7", "claude-opus-50", "qwen3-coder"]
)
def test_an_unknown_model_has_no_price_and_is_not_free(model: str) -> None:
    assert TABLE.price_of(call(model)) is None
    assert TABLE.cost([call(model), call(model)]) == Cost(Decimal(0), ((model, 2),))


def test_what_the_agent_wrote_itself_costs_nothing() -> None:
    assert TABLE.cost([call("<synthetic>", Usage(input=500))]) == Cost(Decimal(0))


def test_a_long_prompt_raises_the_price_of_the_whole_request() -> None:
    august = datetime(2026, 8, 20, tzinfo=UTC)
    short = Usage(input=50_000, cache_read=150_000, output=1_000)
    long = Usage(input=50_001, cache_read=150_000, output=1_000)
    # 50000*3 + 150000*0.30 + 1000*15 = 210000; 50001*6 + 150000*0.6 + 1000*22.5 = 412506
    assert TABLE.price_of(call("claude-sonnet-4-5", short, time=august)) == Decimal("0.21")
    assert TABLE.price_of(call("claude-sonnet-4-5", long, time=august)) == Decimal("0.412506")
    assert TABLE.price_of(call("claude-sonnet-4-6", long, time=august)) == Decimal("0.210003")


def test_cache_writes_count_towards_a_long_prompt() -> None:
    usage = Usage(input=1, cache_read=60_000, cache_write=40_000, cache_write_1h=10_000)
    # 100001 tokens: 0.5 + 60000*0.05 + 30000*0.625 + 10000*1.0 = 31750.5 millionths
    assert TABLE.price_of(call("claude-haiku-5-5", usage)) == Decimal("0.0317505")


def test_fast_batch_and_place_multiply_the_price_of_tokens() -> None:
    usage = Usage(input=1_000, output=1_000)
    assert TABLE.price_of(call("claude-opus-5-5", usage)) == Decimal("0.024")
    assert TABLE.price_of(call("claude-opus-5-5", usage, speed="fast")) == Decimal("0.048")
    assert TABLE.price_of(call("claude-opus-5-5", usage, tier="batch")) == Decimal("0.012")
    assert TABLE.price_of(call("claude-opus-5-5", usage, geo="us")) == Decimal("0.0264")
    assert TABLE.price_of(call("claude-opus-5-5", usage, geo="not_available", tier="standard")) == Decimal("0.024")


def test_web_searches_cost_a_cent_each_whatever_the_speed() -> None:
    usage = Usage(input=1_000, web_searches=3, web_fetches=5)
    assert TABLE.price_of(call("claude-opus-5", usage, speed="fast", geo="us")) == Decimal("0.041")


def test_a_price_that_changed_is_taken_from_the_day_of_the_call() -> None:
    reads = Usage(cache_read=1_000_000)
    before, after = datetime(2026, 10, 9, 23, tzinfo=UTC), datetime(2026, 10, 10, tzinfo=UTC)
    assert TABLE.price_of(call("claude-sonnet-5-5", reads, time=before)) == Decimal("0.20")
    assert TABLE.price_of(call("claude-sonnet-5-5", reads, time=after)) == Decimal("0.10")
    assert TABLE.price_of(call("claude-sonnet-5-5", reads, time=None)) == Decimal("0.10")


def test_a_fast_call_without_a_listed_fast_price_is_unpriced() -> None:
    spring = datetime(2026, 4, 1, tzinfo=UTC)
    assert TABLE.price_of(call("claude-opus-4-6", speed="fast", time=spring)) == Decimal(30)
    assert TABLE.price_of(call("claude-opus-4-6", speed="fast")) is None
    assert TABLE.price_of(call("claude-haiku-4-5", speed="fast")) is None


def test_a_cache_lifetime_without_a_listed_price_is_unpriced() -> None:
    assert TABLE.price_of(call("claude-3-haiku", Usage(cache_write=1_000_000))) == Decimal("0.30")
    assert TABLE.price_of(call("claude-3-haiku", Usage(cache_write=10, cache_write_1h=1))) is None


def test_a_lower_bound_is_said_to_be_one() -> None:
    cost = TABLE.cost([call("claude-opus-5"), call("claude-opus-5", Usage(output=3, floor=True))])
    assert cost.floor
    assert not cost.known


def test_a_users_file_wins_model_by_model(tmp_path: Path) -> None:
    own = tmp_path / "prices.json"
    entry = {"model": "claude-opus-5", "input": "1", "output": "2"}
    own.write_text(
        json.dumps({"date": "2027-01-01", "web_search": "0.02", "models": [entry, {**entry, "model": "house-model"}]})
    )
    table = PriceTable.load(own)
    assert table.date == "2027-01-01"
    assert table.source == TABLE.source
    assert table.price_of(call("claude-opus-5", Usage(input=10, web_searches=1))) == Decimal("0.02001")
    assert table.price_of(call("claude-opus-5", Usage(cache_read=1))) is None
    assert table.price_of(call("house-model")) == Decimal(1)
    assert table.price_of(call("claude-opus-4-8")) == Decimal(5)


def test_a_users_dated_entry_says_nothing_about_other_days(tmp_path: Path) -> None:
    own = tmp_path / "prices.json"
    own.write_text('{"models": [{"model": "claude-opus-5", "input": 1, "output": 2, "from": "2026-11-01"}]}')
    assert PriceTable.load(own).price_of(call("claude-opus-5")) is None


@pytest.mark.parametrize(
    "text", ["", "[]", '{"models": [{"model": "x"}]}', '{"modells": []}', '{"web_search": "dear"}']
)
def test_a_file_that_is_no_price_table_is_refused_by_name(tmp_path: Path, text: str) -> None:
    own = tmp_path / "prices.json"
    own.write_text(text)
    with pytest.raises(Unreadable, match=r"prices\.json is not a price table"):
        PriceTable.load(own)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"nowhere\.json cannot be read: No such file"):
        PriceTable.load(tmp_path / "nowhere.json")


def test_the_table_says_what_it_is_and_from_when() -> None:
    assert TABLE.date == "2026-10-15"
    assert "public list prices as of October 2026" in TABLE.source


COUNTS = st.integers(0, 10**7)
USAGES = st.builds(
    lambda inp, out, read, write, hour, searches, floor: Usage(inp, out, read, write + hour, hour, searches, 0, floor),
    *[COUNTS] * 5,
    st.integers(0, 9),
    st.booleans(),
)
CALLS = st.builds(
    Call,
    key=st.just("k"),
    model=st.sampled_from(
        ["claude-opus-5", "claude-haiku-5-5", "claude-sonnet-4-5", "claude-opus-4-6", "other", "<synthetic>"]
    ),
    usage=USAGES,
    time=st.none() | st.datetimes(datetime(2025, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    speed=st.sampled_from(["", "fast"]),
    tier=st.sampled_from(["", "batch"]),
    geo=st.sampled_from(["", "us"]),
)


@given(st.lists(CALLS), st.lists(CALLS))
def test_cost_is_additive_over_calls(first: list[Call], second: list[Call]) -> None:
    assert TABLE.cost(first + second) == TABLE.cost(first) + TABLE.cost(second)


@given(st.lists(CALLS))
def test_every_call_is_either_priced_or_named_as_unpriced(calls: list[Call]) -> None:
    spend = Spend(TABLE)
    for one in calls:
        spend.add(one)
    unpriced = [one for one in calls if TABLE.price_of(one) is None]
    assert sum(count for _, count in spend.total().unpriced) == len(unpriced)
    assert spend.total().amount == sum(TABLE.price_of(one) or Decimal(0) for one in calls)
