"""Lists and searches find what is there among many sessions; how quickly, `bench/hub_scale.py` asks of 100,000."""

from bench.hub_scale import fill, measured
from unspool.hub.store.connect import Store


def test_lists_and_searches_of_many_sessions_are_answered(store: Store) -> None:
    """Each of the questions that the benchmark asks is answered, on either database."""
    fill(store, 600)
    asked = list(measured(store, 1))
    assert len({name for name, _, _ in asked}) == len(asked) > 5
