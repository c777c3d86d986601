"""Five-hour blocks, beside a reference that looks at one request after another."""

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.store.index.filled import Filled
from unspool.store.index.billing import UsageFilter
from unspool.store.index.five_hour_blocks import HOURS, FiveHourBlock, five_hour_blocks

TEN = datetime(2026, 1, 5, 10, tzinfo=UTC).timestamp()
LONG_AFTER = TEN + 10**7


def asked(*moments: float | None, now: float = LONG_AFTER) -> tuple[FiveHourBlock, ...]:
    filled = Filled()
    session = filled.session()
    for moment in moments:
        filled.request(session, moment)
    return five_hour_blocks(filled, now=now).rows


def test_a_block_begins_with_its_hour_and_lasts_five() -> None:
    (block,) = asked(TEN + 1800, TEN + 4 * 3600)
    assert (block.start, block.end, block.first, block.last) == (TEN, TEN + HOURS, TEN + 1800, TEN + 4 * 3600)
    assert block.sum.requests == 2
    assert not block.active


def test_a_request_on_the_last_moment_still_belongs_to_the_block() -> None:
    assert [block.sum.requests for block in asked(TEN, TEN + HOURS)] == [2]
    assert [block.sum.requests for block in asked(TEN, TEN + 3600, TEN + HOURS + 0.001)] == [2, 1]


def test_a_gap_is_told_from_where_the_block_could_have_lasted() -> None:
    first, gap, second = asked(TEN + 60, TEN + 60 + HOURS + 3600)
    assert not first.gap
    assert not second.gap
    assert gap == FiveHourBlock(TEN + 60 + HOURS, TEN + 60 + HOURS + 3600, gap=True)


def test_the_running_block_has_a_pace() -> None:
    """Two requests of 1,111 tokens and a dollar each in half an hour, with two hours left."""
    (block,) = asked(TEN + 1800, TEN + 3600, now=TEN + 3 * 3600)
    assert block.active
    assert block.pace is not None
    assert block.pace.tokens_a_minute == 2222 / 30
    assert block.pace.cost_an_hour == 4 * 10**12
    assert block.pace.minutes_left == 120
    assert (block.pace.tokens, block.pace.cost) == (2222 * 5, 10 * 10**12)


def test_a_block_runs_to_its_end_and_no_longer() -> None:
    """However long ago its last request was."""
    assert [block.active for block in asked(TEN, now=TEN + HOURS - 1)] == [True]
    assert [block.active for block in asked(TEN, TEN + HOURS - 1, now=TEN + HOURS)] == [False]


def test_one_moment_has_no_pace() -> None:
    (block,) = asked(TEN, now=TEN + 60)
    assert block.active
    assert block.pace is None


def test_what_has_no_time_is_in_no_block_and_is_counted() -> None:
    filled = Filled()
    session = filled.session()
    filled.request(session, TEN)
    filled.request(session, None)
    report = five_hour_blocks(filled, now=LONG_AFTER)
    assert (report.sum.requests, report.untimed) == (1, 1)


def test_a_project_is_shown_within_the_blocks_of_all() -> None:
    filled = Filled()
    filled.request(filled.session(project="/a"), TEN + 60, "opus", cost=1)
    filled.request(filled.session(project="/b"), TEN + 7200, "haiku", cost=2)
    (block,) = five_hour_blocks(filled, UsageFilter(project="/b"), now=LONG_AFTER).rows
    assert (block.start, block.sum.cost, [one.model for one in block.models]) == (TEN, 2, ["haiku"])


def test_blocks_that_reach_into_the_time_asked_for_are_shown_whole() -> None:
    filled = Filled()
    session = filled.session()
    for hour in (0, 4, 6, 24):
        filled.request(session, TEN + hour * 3600)
    found = five_hour_blocks(filled, UsageFilter(since=TEN + 4.5 * 3600, until=TEN + 7 * 3600), now=LONG_AFTER).rows
    assert [block.start for block in found] == [TEN, TEN + 6 * 3600]
    assert found[0].sum.requests == 2


def reference(moments: list[float]) -> list[tuple[float, int]]:
    """Start and requests of every block, one request after another."""
    made: list[tuple[float, int]] = []
    last = 0.0
    for moment in sorted(moments):
        if not made or moment - made[-1][0] > HOURS or moment - last > HOURS:
            made.append((moment // 3600 * 3600, 0))
        made[-1] = (made[-1][0], made[-1][1] + 1)
        last = moment
    return made


@given(
    st.lists(st.integers(0, 60 * 4).map(lambda quarter: TEN + quarter * 900.0) | st.floats(TEN, TEN + 2e5), max_size=40)
)
def test_blocks_are_those_of_a_request_by_request_reading(moments: list[float]) -> None:
    found = asked(*moments)
    assert [(block.start, block.sum.requests) for block in found if not block.gap] == reference(moments)
    assert all(before.end <= after.end for before, after in pairwise(found))
