"""What the cache had to be told twice, and why."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from unspool.figures.cache_rewrites import LEAST, CachedRequest, RewrittenTokens, find_rewrites
from unspool.model.usage import CAUSES

FIRST = CachedRequest("opus", 0.0, 10, 0, 50_000, 0)


def after(first: CachedRequest, **changed: Any) -> tuple[str, int, int] | None:
    """Cause and tokens of a request that follows another; by default it reads nothing and writes all again."""
    grown = first.read + first.write + 2000
    second = first._replace(**{"time": 10.0, "read": 0, "write": grown, **changed})
    found = list(find_rewrites([first, second]))
    assert found[0] is None
    return found[1] and (CAUSES[found[1].cause], found[1].tokens, found[1].hour)


def test_what_is_read_from_the_cache_is_not_written_again() -> None:
    assert after(FIRST, read=50_000, write=2000) is None


def test_a_pause_longer_than_the_cache_holds_expires_it() -> None:
    assert after(FIRST, time=301.0) == ("expired", 50_000, 0)
    assert after(FIRST, time=300.0) == ("other", 50_000, 0)


def test_what_is_kept_for_an_hour_expires_after_an_hour() -> None:
    hourly = FIRST._replace(hour=50_000)
    assert after(hourly, time=3600.0, hour=52_000) == ("other", 50_000, 50_000)
    assert after(hourly, time=3601.0, hour=52_000) == ("expired", 50_000, 50_000)


def test_what_most_of_a_request_is_kept_for_says_when_it_expires() -> None:
    """Half of it is not most of it."""
    assert after(FIRST._replace(hour=25_001), time=301.0, hour=0) == ("other", 50_000, 0)
    assert after(FIRST._replace(hour=25_000), time=301.0, hour=0) == ("expired", 50_000, 0)
    assert after(FIRST._replace(hour=1), time=301.0, hour=0) == ("expired", 50_000, 0)


def test_another_model_and_a_compaction_are_causes_of_their_own_whatever_time_went_by() -> None:
    assert after(FIRST, model="haiku", time=9999.0) == ("model switched", 50_000, 0)
    assert after(FIRST, write=4000, compacted=True, model="haiku") == ("compacted", 4000, 0)


def test_a_window_that_was_cut_without_a_compaction_is_not_written_again() -> None:
    assert after(FIRST, write=4000) is None


def test_times_that_are_unknown_explain_nothing() -> None:
    assert after(FIRST, time=None) == ("other", 50_000, 0)


def test_a_request_without_figures_stands_between_no_others() -> None:
    empty = CachedRequest("opus", 5.0, 0, 0, 0, 0)
    found = list(find_rewrites([FIRST, empty, FIRST._replace(time=10.0, read=50_000, write=0)]))
    assert found == [None, None, None]


def test_a_read_in_between_keeps_the_cache_for_as_long_as_it_was_written() -> None:
    hourly = FIRST._replace(hour=50_000)
    read = CachedRequest("opus", 100.0, 10, 50_000, 0, 0)
    late = CachedRequest("opus", 2000.0, 10, 0, 50_000, 50_000)
    assert list(find_rewrites([hourly, read, late]))[2] == RewrittenTokens(CAUSES.index("other"), 50_000, 50_000)


numbers = st.integers(0, 10**7)
sent = st.builds(
    CachedRequest,
    st.sampled_from(["a", "b"]),
    st.none() | st.floats(0, 1e10),
    numbers,
    numbers,
    numbers,
    numbers,
    st.booleans(),
)


@given(st.lists(sent))
def test_no_request_writes_again_more_than_it_writes_or_than_was_there(requests: list[CachedRequest]) -> None:
    found = list(find_rewrites(requests))
    assert len(found) == len(requests)
    for one, again in zip(requests, found, strict=True):
        if again is not None:
            assert LEAST <= again.tokens <= one.write
            assert 0 <= again.hour <= again.tokens
            assert one.read + again.tokens <= max(before.read + before.write for before in requests)
