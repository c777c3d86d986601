"""Lists and searches stay quick with many sessions; `bench/hub_scale.py` asks the same of 100,000."""

from bench.hub_scale import fill, measured
from unspool.hub.store.connect import Store


def test_lists_and_searches_of_many_sessions_are_quick(store: Store) -> None:
    fill(store.db, 600)
    slow = [(name, median) for name, median, _ in measured(store.db, 3) if median > 200]
    assert slow == []
