"""Copies of a request count once, in whatever order sessions come, change and go."""

from typing import Any, NamedTuple

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.index.filled import Filled
from unspool.model import Call, Usage
from unspool.prices import PriceTable
from unspool.reading.ledger import CallLedger
from unspool.store.index.requests import BilledRequest, BilledRequests, picodollars, requests_of

PRICES = PriceTable.load()
TERMS = ("claude-opus-4-8", "standard", "standard", "")


class Said(NamedTuple):
    """A request as a session tells of it."""

    message: int
    request: int
    figures: tuple[int, ...]
    final: bool = True
    terms: tuple[str, str, str, str] = TERMS

    @property
    def usage(self) -> Usage:
        return self.row.usage

    @property
    def row(self) -> BilledRequest:
        row = BilledRequest(self.message, self.request, None, self.terms, self.figures, self.final, 0, None)
        model, speed, tier, geo = self.terms
        return row._replace(cost=picodollars(PRICES, Call("", model, row.usage, None, speed, tier, geo)))


def figures(output: int, entered: int = 0) -> tuple[int, ...]:
    return (entered, output, 0, 0, 0, 0, 0, 0)


class Kept:
    """An index of requests alone, and what each session should say."""

    def __init__(self) -> None:
        self.filled = Filled()
        self.requests = BilledRequests(self.filled.db, PRICES)
        self.sessions: dict[int, tuple[int, list[Said]]] = {}

    def put(self, name: int, said: list[Said]) -> None:
        """Write a session, anew where it is known."""
        known = name in self.sessions
        number = self._leave(name) if known else self.filled.session(f"s{name}", started=float(name))
        self.requests.put(number, [one.row for one in said], {})
        self.sessions[name] = number, said

    def drop(self, name: int) -> None:
        number = self._leave(name)
        self.filled.db.execute("DELETE FROM session WHERE id = ?", (number,))
        del self.sessions[name]

    def _leave(self, name: int) -> int:
        number = self.sessions[name][0]
        self.requests.leave(number)
        for table in ("request", "own"):
            self.filled.db.execute(f"DELETE FROM {table} WHERE session = ?", (number,))  # noqa: S608
        return number

    @property
    def db(self) -> apsw.Connection:
        return self.filled.db

    def check(self) -> None:
        """The sums are those of the ledger, and every session still says what it said."""
        self.requests.settle()
        ledger = CallLedger()
        for name in sorted(self.sessions):
            for one in self.sessions[name][1]:
                ledger.enter((one.message, one.request), one.usage, None, one.terms)
        query = (
            "SELECT count(*), sum(input), sum(output), sum(cache_read), sum(cost), sum(cost IS NULL), sum(NOT final)"
            " FROM request WHERE counts = 1"
        )
        told: Any = self.db.execute(query).fetchone()
        usage, cost = ledger.usage, [picodollars(PRICES, call) for call in ledger]
        unpriced, open_ = sum(one is None for one in cost), sum(call.usage.floor for call in ledger)
        expected = (
            len(ledger), usage.input, usage.output, usage.cache_read, sum(one or 0 for one in cost), unpriced, open_,
        )  # fmt: skip
        assert tuple(value or 0 for value in told) == expected
        for number, said in self.sessions.values():
            own = {(row.message, row.request): row for row in requests_of(self.db, number)}
            assert own == {(one.message, one.request): one.row for one in said}


SAID = st.builds(
    lambda message, named, output, entered, read, final: Said(
        message, message * 7 if named else 0, (entered, output, read, 0, 0, 0, 0, 0), final
    ),
    st.integers(1, 4), st.booleans(), st.integers(0, 3), st.integers(0, 3), st.integers(0, 1) , st.booleans(),
)  # fmt: skip
SESSION = st.lists(SAID, max_size=5, unique_by=lambda one: one.message)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 4), SESSION),
        st.tuples(st.just("drop"), st.integers(0, 4), st.just([])),
        st.tuples(st.just("settle"), st.just(0), st.just([])),
    ),
    max_size=12,
)


@given(STEPS)
def test_sums_are_exact_whatever_sessions_come_change_and_go(steps: list[tuple[str, int, list[Said]]]) -> None:
    kept = Kept()
    for what, name, said in steps:
        if what == "put":
            kept.put(name, said)
        elif what == "drop" and name in kept.sessions:
            kept.drop(name)
        elif what == "settle":
            kept.requests.settle()
    kept.check()


@given(st.lists(SESSION, max_size=4), st.data())
def test_the_order_in_which_sessions_come_makes_no_difference(sessions: list[list[Said]], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(sessions))))
    told = []
    for names in (range(len(sessions)), order):
        kept = Kept()
        for name in names:
            kept.put(name, sessions[name])
            if data.draw(st.booleans()):
                kept.requests.settle()
        kept.check()
        query = (
            "SELECT key, message, request, input, output, cache_read, final, counts, request.cost FROM request"
            " JOIN session ON session.id = session ORDER BY 1, 2, 3"
        )
        told.append(kept.db.execute(query).fetchall())
    assert told[0] == told[1]


def test_the_copy_of_the_session_that_began_first_counts_with_the_larger_figures() -> None:
    kept = Kept()
    kept.put(2, [Said(1, 7, figures(50, entered=3))])
    kept.put(1, [Said(1, 7, figures(8, entered=4), final=False)])
    kept.check()
    rows = kept.db.execute("SELECT key, input, output, counts FROM request JOIN session ON session.id = session")
    assert sorted(rows) == [("s1", 4, 50, 1), ("s2", 3, 50, 0)]


def test_a_copy_counts_again_when_the_one_that_counted_is_rewritten_without_it() -> None:
    kept = Kept()
    kept.put(1, [Said(1, 7, figures(50)), Said(2, 9, figures(4))])
    kept.put(2, [Said(1, 7, figures(20))])
    kept.requests.settle()
    kept.put(1, [Said(2, 9, figures(4))])
    kept.check()
    assert kept.db.execute("SELECT sum(output) FROM request WHERE counts").get == 24


def test_what_a_dropped_copy_said_is_not_counted_any_more() -> None:
    kept = Kept()
    kept.put(1, [Said(1, 7, figures(8))])
    kept.put(2, [Said(1, 7, figures(50))])
    kept.requests.settle()
    kept.drop(2)
    kept.check()
    assert kept.db.execute("SELECT output FROM request").get == 8
    assert kept.db.execute("SELECT count(*) FROM own").get == 0


def test_two_requests_of_one_message_count_both_and_one_without_a_name_is_of_the_first() -> None:
    kept = Kept()
    kept.put(1, [Said(1, 0, figures(5))])
    kept.put(2, [Said(1, 7, figures(6))])
    kept.put(3, [Said(1, 8, figures(100))])
    kept.check()
    assert kept.db.execute("SELECT sum(output) FROM request WHERE counts").get == 106


@pytest.mark.parametrize("model", ["\ud800", "\udfff odd"])
def test_a_model_with_half_a_character_in_its_name_is_written(model: str) -> None:
    kept = Kept()
    for name, one in enumerate((model, model.replace("\ud800", "\ud801"), model.encode(errors="replace").decode())):
        said = Said(name, name, figures(1), terms=(one, "", "", ""))
        kept.requests.put(kept.filled.session(), [said.row._replace(cost=None)], {})
    assert kept.db.execute("SELECT count(*) FROM terms").get == 1
