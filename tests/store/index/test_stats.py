"""Statistics: what is counted, once or a session at a time, and in which hours and days."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.store.index.filled import Filled
from unspool.store.index.billing import UsageFilter
from unspool.store.index.stats import DayStreak, StatTotals, TouchedFile, index_stats, longest_streak

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC).timestamp()
"""A Monday."""
DAY = 86_400
READ, WRITE, EDIT = 0, 1, 2


def packed(**counts: int) -> bytes:
    return msgspec.msgpack.encode({"id": "x", "titles": {}, **counts})


def test_totals_hold_what_sessions_hold() -> None:
    filled = Filled()
    one = filled.session(turns=3, messages=9, overview=packed(agents=2, compactions=1))
    two = filled.session(turns=1, messages=2, overview=packed(), project="/other")
    filled.session("gone", kind="ghost", turns=50)
    filled.session("stub", kind="stub")
    filled.tally(one, "Dig", 5, 1)
    filled.tally(two, "Fly", 2)
    turn = filled.turn(filled.log(one))
    for word in ("abc", "abc", "def"):
        filled.put("git_commit", turn=turn, hash=word, branch="", message="", time=NOON)
    filled.touch(turn, "/a", READ, NOON)
    assert index_stats(filled).totals == StatTotals(2, 2, 4, 11, 7, 1, 2, 1, 2, 1)


def test_an_empty_index_has_statistics_too() -> None:
    found = index_stats(Filled(), UsageFilter(since=1, until=2, project="x", model="y"))
    assert found.totals == StatTotals()
    assert found.streak == DayStreak()
    assert found.sum.cached is None
    assert sum(map(sum, found.hours)) == 0


def test_money_and_tokens_are_those_of_usage_in_the_time_asked_for() -> None:
    filled = Filled()
    session = filled.session(started=NOON, ended=NOON + 2 * DAY)
    filled.request(session, NOON, cost=1)
    filled.request(session, NOON + DAY, cost=2)
    filled.request(session, None, cost=4)
    found = index_stats(filled, UsageFilter(since=NOON + 1, zone=UTC))
    assert (found.sum.cost, found.untimed, found.totals.sessions) == (2, 1, 1)
    assert index_stats(filled).sum.cost == 7


def test_cache_efficiency_is_what_was_read_of_all_that_was_sent() -> None:
    filled = Filled()
    filled.request(filled.session(), NOON, input=10, cache_read=60, cache_write=30, output=999)
    assert index_stats(filled).sum.cached == 0.6


def test_hours_are_those_of_the_week_where_somebody_lives() -> None:
    filled = Filled()
    session = filled.session()
    filled.request(session, NOON)
    filled.request(session, NOON + DAY * 7)
    filled.request(session, NOON, counts=0)
    assert index_stats(filled, UsageFilter(zone=UTC)).hours[0][12] == 2
    assert index_stats(filled, UsageFilter(zone=ZoneInfo("Pacific/Auckland"))).hours[1][1] == 2


def test_the_longest_and_the_dearest_sessions_come_first() -> None:
    filled = Filled()
    filled.session("long", started=NOON, ended=NOON + 500, cost=0)
    filled.session("dear", started=NOON, ended=NOON + 5, cost=9)
    filled.session("timeless", cost=4)
    found = index_stats(filled)
    assert [told.key for told in found.longest] == ["long", "dear"]
    assert [told.seconds for told in found.longest] == [500, 5]
    assert [told.key for told in found.dearest] == ["dear", "timeless"]
    assert [told.key for told in index_stats(filled, listed=1).dearest] == ["dear"]


def test_a_touch_that_two_sessions_hold_copies_of_counts_once() -> None:
    filled = Filled()
    for _ in range(2):
        turn = filled.turn(filled.log(filled.session()))
        filled.touch(turn, "/a", EDIT, NOON)
        filled.touch(turn, "/a", EDIT, NOON)
        filled.touch(turn, "/a", READ, NOON)
        filled.touch(turn, "/b", WRITE, None)
    assert index_stats(filled).files == (TouchedFile("/a", 1, 0, 2, 2), TouchedFile("/b", 0, 2, 0, 2))


def test_files_are_those_of_the_project_and_the_time() -> None:
    filled = Filled()
    for path, project, when in (("/a", "/one", NOON), ("/b", "/two", NOON), ("/c", "/one", NOON + DAY)):
        session = filled.session(project=project, started=NOON, ended=NOON + DAY)
        filled.touch(filled.turn(filled.log(session)), path, READ, when)
    found = index_stats(filled, UsageFilter(project="one", until=NOON + 1)).files
    assert [file.path for file in found] == ["/a"]


def test_the_busiest_days_come_first() -> None:
    filled = Filled()
    session = filled.session()
    filled.request(session, NOON)
    filled.request(session, NOON + DAY, output=99)
    filled.request(session, None, output=10**6)
    assert [row.key for row in index_stats(filled, UsageFilter(zone=UTC)).days] == ["2026-01-06", "2026-01-05"]


MONDAY = date(2026, 1, 5)


def test_a_streak_lasts_to_today_or_yesterday() -> None:
    days = ["2026-01-01", "2026-01-03", "2026-01-04", "2026-01-04"]
    assert longest_streak(days, MONDAY) == DayStreak(3, 2, 2, "2026-01-01", "2026-01-04")
    assert longest_streak(days, MONDAY + timedelta(days=1)).current == 0
    assert longest_streak([*days, "2026-01-05"], MONDAY).current == 3


@given(st.sets(st.integers(0, 40)))
def test_the_longest_streak_is_the_longest_run(numbers: set[int]) -> None:
    days = [(MONDAY + timedelta(days=number)).isoformat() for number in numbers]
    runs = [n for n in range(41) for start in numbers if all(start + step in numbers for step in range(n))]
    assert longest_streak(days, MONDAY).longest == max(runs, default=0)
