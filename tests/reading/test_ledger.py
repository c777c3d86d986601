"""Requests are counted once, whatever number of lines, branches and files repeat them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reading.lines import said, text
from tests.reading.reading import event
from unspool.model import Call, Event, Usage
from unspool.reading.ledger import CallLedger, sum_by_model


def call(message: str, request: str, output: int, *, floor: bool = False, model: str = "m") -> Call:
    return Call(f"{message}:{request}", model, Usage(1, output, floor=floor))


def ledger(*calls: Call) -> CallLedger:
    made = CallLedger()
    made.add(calls)
    return made


def test_a_request_seen_twice_keeps_the_larger_figures() -> None:
    found = ledger(call("a", "r", 5), call("a", "r", 9), call("a", "r", 7))
    assert (len(found), found.usage) == (1, Usage(1, 9))


def test_two_requests_of_one_message_are_two() -> None:
    assert ledger(call("a", "r", 5), call("a", "s", 9)).usage == Usage(2, 14)


def test_a_line_without_request_belongs_to_its_messages_first() -> None:
    assert len(ledger(call("a", "", 5), call("a", "r", 9), call("a", "", 7))) == 1


def test_one_final_figure_is_enough() -> None:
    assert not ledger(call("a", "r", 5, floor=True), call("a", "r", 9)).usage.floor
    assert ledger(call("a", "r", 5), call("b", "s", 9, floor=True)).usage.floor


CALLS = st.builds(
    call,
    st.sampled_from("abc"),
    st.sampled_from(["r", "s"]),
    st.integers(0, 50),
    floor=st.booleans(),
)


@given(st.lists(CALLS, max_size=12), st.integers(0, 12))
def test_two_ledgers_together_are_the_ledger_of_all(calls: list[Call], at: int) -> None:
    together = ledger(*calls[:at])
    together.merge(ledger(*calls[at:]))
    assert (len(together), together.usage) == (len(ledger(*calls)), ledger(*calls).usage)


@given(st.lists(CALLS, max_size=12))
def test_repeating_all_of_it_adds_nothing_and_order_does_not_matter(calls: list[Call]) -> None:
    assert ledger(*calls, *calls).usage == ledger(*reversed(calls)).usage == ledger(*calls).usage


def test_usage_is_summed_by_model() -> None:
    sums = sum_by_model(ledger(call("a", "r", 5), call("b", "s", 9), call("c", "t", 2, model="n")))
    assert {one.model: one.usage.output for one in sums} == {"m": 14, "n": 2}


def _see(made: CallLedger, told: Event) -> None:
    assert told.part is not None
    made.see(told.part, told.time)


@pytest.mark.parametrize("stamp", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "1969-12-31T23:59:59Z"])
def test_the_ends_of_time_do_no_harm(stamp: str) -> None:
    made = CallLedger()
    _see(made, event(said("a", "m", [text("x")], timestamp=stamp)))
    (only,) = made
    assert only.usage.output == 5


def test_the_earliest_line_tells_the_time() -> None:
    made = CallLedger()
    for second in (5, 3, 4):
        _see(made, event(said(f"a{second}", "m", [text("x")], timestamp=f"2026-03-02T09:00:0{second}Z")))
    (only,) = made
    assert only.time == datetime(2026, 3, 2, 9, 0, 3, tzinfo=UTC)
