"""Rows handed from one process to another."""

import gc
from pathlib import Path

import msgspec
import pytest

from unspool.demo import write_demo
from unspool.prices import PriceTable
from unspool.store.index.requests import SessionRows
from unspool.store.library.discover import discover_logs
from unspool.store.sync import readers
from unspool.store.sync.extract import ExtractJob, extract_rows


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[ExtractJob]:
    monkeypatch.setattr(readers, "_held", [PriceTable.load()])
    return [ExtractJob(found, {}) for found in discover_logs([write_demo(tmp_path)])]


def test_rows_that_are_handed_over_say_the_same(jobs: list[ExtractJob]) -> None:
    for job in jobs:
        made, given = extract_rows(job, PriceTable.load()), readers.unpack_rows(readers.extract_packed(job))
        assert isinstance(made, SessionRows)
        assert isinstance(given, SessionRows)
        assert msgspec.msgpack.encode(given) == msgspec.msgpack.encode(made)
        assert given._replace(todos=tuple(given.todos)) == made._replace(todos=tuple(made.todos))


def test_reading_leaves_nothing_that_only_a_collector_would_find(jobs: list[ExtractJob]) -> None:
    """Whoever reads many sessions looks for no cycles: one in what a session was read with is never given back."""
    prices = PriceTable.load()
    extract_rows(jobs[0], prices)
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for job in jobs:
            extract_rows(job, prices)
        gc.collect()
        left = {type(one) for one in gc.garbage if type(one).__module__.startswith("unspool.")}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert left == set()


def test_rows_that_cannot_be_packed_are_handed_over_as_they_are(
    jobs: list[ExtractJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = extract_rows(jobs[0], PriceTable.load())
    assert isinstance(made, SessionRows)
    broken = made._replace(failures=["half a character: \ud800"])
    monkeypatch.setattr(readers, "extract_rows", lambda *_: broken)
    assert readers.unpack_rows(readers.extract_packed(jobs[0])) is broken


def test_why_there_are_no_rows_is_handed_over(jobs: list[ExtractJob], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "extract_rows", lambda *_: "It cannot be read.")
    assert readers.unpack_rows(readers.extract_packed(jobs[0])) == "It cannot be read."
