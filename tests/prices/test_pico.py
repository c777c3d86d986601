"""Whole picodollars are what the price table says, to the last digit."""

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from unspool.model import Call, Usage
from unspool.prices import PICO, SYNTHETIC, Picodollars, PriceTable
from unspool.prices import CallFigures as Figures
from unspool.prices import CallTerms as Terms
from unspool.prices.table import builtin_sheet

TABLE = PriceTable.load()
QUICK = Picodollars(TABLE)
MODELS = st.sampled_from([*(price.model for price in builtin_sheet().models), "nobody's", SYNTHETIC, ""])
TERMS = st.tuples(
    MODELS, st.sampled_from(["", "fast"]), st.sampled_from(["", "batch"]), st.sampled_from(["", "us", "eu"])
)
TIMES = st.none() | st.floats(1.6e9, 1.9e9) | st.sampled_from([-6e10, 2.5e11, 9e11])
COUNTS = st.integers(0, 300_000) | st.just(2**53)
FIGURES = st.tuples(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, st.integers(0, 3), st.integers(0, 3), COUNTS)


def _call(terms: Terms, time: float | None, usage: Usage) -> Call:
    moment = None if time is None else datetime.fromtimestamp(min(time, 253_402_214_400), UTC)
    model, speed, tier, geo = terms
    return Call("", model, usage, moment, speed, tier, geo)


def asked(table: PriceTable, terms: Terms, time: float | None, figures: Figures) -> int | None:
    price = table.price_of(_call(terms, time, Usage(*figures)))
    cost = None if price is None else int((price * PICO).to_integral_value())
    return cost if cost is None or cost < 2**63 else None


@given(TERMS, TIMES, FIGURES)
def test_a_request_costs_what_the_table_says(terms: Terms, time: float | None, figures: Figures) -> None:
    assert QUICK.of(terms, time, figures) == asked(TABLE, terms, time, figures)


def test_prices_that_whole_picodollars_cannot_tell_are_rounded_once(tmp_path: Path) -> None:
    own = tmp_path / "prices.json"
    own.write_text('{"models": [{"model": "odd", "input": "0.0000003", "output": "1"}]}')
    table = PriceTable.load(own)
    odd, figures = ("odd", "", "", ""), (7, 0, 0, 0, 0, 0, 0, 0)
    assert Picodollars(table).of(odd, None, figures) == asked(table, odd, None, figures) == 2


@given(calls=st.lists(st.tuples(TERMS, TIMES, FIGURES, st.booleans()), max_size=8))
def test_calls_of_a_ledger_cost_together_what_they_cost_one_by_one(
    calls: list[tuple[Terms, float | None, Figures, bool]],
) -> None:
    rows = [(at, 0, time, terms, figures, final) for at, (terms, time, figures, final) in enumerate(calls)]
    singly = TABLE.cost(_call(terms, time, Usage(*figures, floor=not final)) for terms, time, figures, final in calls)
    together = TABLE.total(rows)
    assert together == singly
    assert str(together.amount) == str(singly.amount)
