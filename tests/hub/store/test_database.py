"""The contract of a database, which every member keeps."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.thorough import tries
from unspool.hub.errors import BadRequest, Conflict, TooManyRequests
from unspool.hub.people.rate_limit import count_bytes
from unspool.hub.store.connect import Store
from unspool.hub.store.database import Database

_SET = "INSERT INTO setting(key, value) VALUES(?, ?)"
_ALL = "SELECT value FROM setting WHERE key = ?"
_COUNT = "SELECT count(*) FROM setting WHERE key LIKE 'n%'"


@pytest.fixture
def db(store: Store) -> Database:
    """A database of each kind, with the hub's tables."""
    return store.db


def _count(db: Database) -> int:
    found = db.row(_COUNT)
    assert found is not None
    number: int = found[0]
    return number


def test_what_is_changed_is_read(db: Database) -> None:
    """Rows, one row, no row, and how many were changed."""
    assert db.run(_SET, "n1", "a") == 1
    assert db.run("UPDATE setting SET value = ? WHERE key LIKE 'n%'", "b") == 1
    assert db.run("UPDATE setting SET value = ? WHERE key = ?", "c", "nobody") == 0
    assert db.rows(_ALL, "n1") == [("b",)]
    assert db.row(_ALL, "nobody") is None


def test_what_may_be_there_is_counted_as_changed_only_when_it_was(db: Database) -> None:
    """ON CONFLICT DO NOTHING says 0 the second time."""
    sql = _SET + " ON CONFLICT(key) DO NOTHING"
    assert [db.run(sql, "n1", "a"), db.run(sql, "n1", "b")] == [1, 0]
    assert db.row(_SET + " ON CONFLICT(key) DO UPDATE SET value = excluded.value RETURNING value", "n1", "c") == ("c",)


@settings(max_examples=tries(25, 200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(), number=st.integers(-(2**63) + 1, 2**63 - 1))
def test_text_and_numbers_come_back_as_they_were(db: Database, text: str, number: int) -> None:
    """Every text but for NUL, every number of 64 bits."""
    db.run("DELETE FROM pace")
    db.run("INSERT INTO pace(who, span, amount) VALUES(?, ?, ?)", text, number, -number)
    assert db.rows("SELECT who, span, amount FROM pace") == [(text.replace("\0", "\ufffd"), number, -number)]
    assert db.rows("SELECT 1 FROM pace WHERE who = ? AND span = ?", text, number) == [(1,)]


def test_what_no_database_keeps_is_replaced_or_refused(db: Database) -> None:
    """NUL and lone surrogates become U+FFFD; a number of more than 64 bits is unfit; truth is 0 or 1."""
    db.run(_SET, "n\0", "a\ud800b\x00c")
    assert db.rows("SELECT key, value FROM setting WHERE key LIKE 'n%'") == [("n\ufffd", "a\ufffdb\ufffdc")]
    with pytest.raises(BadRequest):
        db.run("INSERT INTO pace(who, span, amount) VALUES(?, ?, ?)", "a", 2**63, 0)
    db.run("INSERT INTO pace(who, span, amount) VALUES(?, ?, ?)", "a", True, False)
    assert db.row("SELECT span, amount FROM pace") == (1, 0)


def test_sums_are_numbers_of_python(db: Database) -> None:
    """A sum is whole, a mean has a point, whatever type the database gives them, and however rows are asked for."""
    db.many("INSERT INTO pace(who, span, amount) VALUES(?, ?, ?)", [("a", 1, 2**61), ("b", 1, 2**61), ("c", 1, 1)])
    asked = "SELECT sum(amount), avg(span * 1.5), max(amount), count(*), avg(span) FROM pace"
    with db.transaction():
        each = list(db.each(asked))
    for found in (db.row(asked), *db.rows(asked), *each):
        assert found is not None
        assert found == (2**62 + 1, 1.5, 2**61, 3, 1)
        assert [type(value) for value in found] == [int, float, int, int, float]


def test_a_percent_sign_is_no_placeholder(db: Database) -> None:
    """Neither in a statement nor in a value."""
    db.run(_SET, "n%s%d", "100 %")
    assert db.rows("SELECT value FROM setting WHERE key LIKE 'n%d' AND value LIKE ?", "%00 %") == [("100 %",)]
    assert db.rows("SELECT value FROM setting WHERE key LIKE ? ESCAPE '!'", "n!%s!%%") == [("100 %",)]


def test_like_minds_case(db: Database) -> None:
    """In every database alike."""
    db.run(_SET, "n1", "Fox")
    assert db.rows("SELECT key FROM setting WHERE value LIKE 'fox'") == []
    assert db.rows("SELECT key FROM setting WHERE lower(value) LIKE 'f%'") == [("n1",)]


def test_many_rows_or_none(db: Database) -> None:
    """A row that cannot be there takes the others with it."""
    db.many(_SET, [("n1", "a"), ("n2", "b")])
    db.many(_SET, [])
    assert _count(db) == 2
    with pytest.raises(Conflict):
        db.many(_SET, [("n3", "a"), ("n1", "b"), ("n4", "c")])
    assert _count(db) == 2


def test_many_rows_inside_a_transaction_are_part_of_it(db: Database) -> None:
    """A row that cannot be there takes all that the transaction did with it."""
    with db.transaction():
        db.run(_SET, "n1", "a")
        db.many(_SET, [("n2", "a"), ("n3", "a")])

    def spoiled() -> None:
        with db.transaction():
            db.run(_SET, "n4", "a")
            with suppress(Conflict):
                db.many(_SET, [("n5", "a"), ("n1", "b")])

    with pytest.raises(Conflict):
        spoiled()
    assert _count(db) == 3


def test_bytes_are_counted_only_as_far_as_somebody_may_send_them(db: Database) -> None:
    for size in (5, 4):
        count_bytes(db, "sent anne", size, 9)
    with pytest.raises(TooManyRequests):
        count_bytes(db, "sent anne", 1, 9)
    assert db.rows("SELECT amount FROM pace WHERE who = 'sent anne'") == [(9,)]


def test_an_exception_undoes_a_transaction(db: Database) -> None:
    """Whatever the exception is."""
    with suppress(KeyboardInterrupt), db.transaction():
        db.run(_SET, "n1", "a")
        assert _count(db) == 1
        raise KeyboardInterrupt
    assert _count(db) == 0


def test_a_transaction_inside_another_is_undone_alone_or_with_it(db: Database) -> None:
    """The inner one's exception, caught in between, undoes the inner; the outer's undoes both."""
    with db.transaction():
        db.run(_SET, "n1", "a")
        with suppress(ValueError), db.transaction():
            db.run(_SET, "n2", "a")
            raise ValueError("inner")
        with db.transaction(), db.transaction():
            db.run(_SET, "n3", "a")
    assert db.rows("SELECT key FROM setting WHERE key LIKE 'n%' ORDER BY key") == [("n1",), ("n3",)]
    with suppress(ValueError), db.transaction():
        with db.transaction():
            db.run(_SET, "n4", "a")
        raise ValueError("outer")
    assert _count(db) == 2


def test_a_conflict_spoils_its_transaction(db: Database) -> None:
    """Nothing more can be done in it, and its end says so instead of losing what was done."""
    db.run(_SET, "n1", "a")
    with pytest.raises(Conflict, match="already"):
        db.run(_SET, "n1", "b")
    for before, after in (("n2", None), (None, "n3")):
        with pytest.raises(Conflict, match="nothing"):
            _spoil(db, before, after)
    assert _count(db) == 1
    db.run(_SET, "n4", "a")
    assert _count(db) == 2


def _spoil(db: Database, before: str | None, after: str | None) -> None:
    """A transaction with a conflict in it that somebody caught."""
    with db.transaction():
        if before:
            db.run(_SET, before, "b")
        with suppress(Conflict):
            db.run(_SET, "n1", "b")
        if after:
            db.run(_SET, after, "b")


def test_a_conflict_in_an_inner_transaction_spoils_only_that(db: Database) -> None:
    """So one can try what may be there already."""
    db.run(_SET, "n1", "a")
    with db.transaction():
        db.run(_SET, "n2", "a")
        with pytest.raises(Conflict), db.transaction():
            db.run(_SET, "n1", "b")
        db.run(_SET, "n3", "a")
    assert _count(db) == 3


def test_nobody_sees_what_is_not_committed(db: Database) -> None:
    """Another thread reads what was there before, and does not wait."""
    with ThreadPoolExecutor(1) as other, db.transaction():
        db.run(_SET, "n1", "a")
        assert other.submit(_count, db).result(10) == 0
    assert _count(db) == 1


def test_whoever_is_alone_loses_no_change(db: Database) -> None:
    """Forty additions by four threads, each of what it read before."""
    db.run(_SET, "n", "0")

    def add(_: int) -> None:
        with db.transaction():
            db.alone("n")
            found = db.row(_ALL, "n")
            assert found is not None
            db.run("UPDATE setting SET value = ? WHERE key = ?", str(int(found[0]) + 1), "n")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add, range(40)))
    assert db.row(_ALL, "n") == ("40",)


def test_one_is_alone_in_a_transaction_only(db: Database) -> None:
    """Elsewhere it would end with the statement."""
    with pytest.raises(RuntimeError):
        db.alone("n")


def test_one_waits_for_whoever_is_alone(db: Database) -> None:
    """The second is past the line only when the first has ended."""
    order: list[str] = []
    inside = threading.Event()

    def first() -> None:
        with db.transaction():
            db.alone("line")
            inside.set()
            db.run(_SET, "n1", "a")
            order.append("first")

    def second() -> None:
        inside.wait(10)
        with db.transaction():
            db.alone("line")
            order.append("second")
            assert _count(db) == 1

    _together(second, first)
    assert order == ["first", "second"]


def test_a_snapshot_is_of_one_moment(db: Database) -> None:
    """What others commit meanwhile is not in it, row by row or at once, and they do not wait."""
    db.many(_SET, [(f"n{number:05}", "a") for number in range(3000)])
    with ThreadPoolExecutor(1) as other, db.snapshot():
        rows = db.each("SELECT key FROM setting WHERE key LIKE 'n%' ORDER BY key")
        assert next(rows) == ("n00000",)
        assert other.submit(db.run, "DELETE FROM setting WHERE key LIKE 'n%'").result(10) == 3000
        assert len(list(rows)) == 2999
        assert _count(db) == 3000
    assert _count(db) == 0


def test_many_threads_share_it(db: Database) -> None:
    """More than there are connections, reading and writing."""

    def work(number: int) -> int:
        with db.transaction():
            db.run(_SET, f"n{number}", "a")
        return _count(db)

    with ThreadPoolExecutor(24) as threads:
        counts = list(threads.map(work, range(96)))
    assert max(counts) == 96
    assert min(counts) >= 1


def test_it_is_well_until_it_is_closed(db: Database) -> None:
    """What a balancer asks."""
    assert db.well()


def _together(*works: Callable[[], None]) -> None:
    with ThreadPoolExecutor(len(works)) as threads:
        for done in [threads.submit(work) for work in works]:
            done.result(30)
