"""Usage: every request once, in the right row, in the right day of the right zone."""

import time
from datetime import UTC, date, datetime, timedelta, timezone
from typing import get_args
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.index.filled import Filled
from unspool.store.index.billing import By, UsageFilter, exact_dollars, unpriced_models
from unspool.store.index.stats import ToolStats, tool_stats
from unspool.store.index.times import first_day
from unspool.store.index.usage import usage_report

BYS = get_args(By)
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC).timestamp()


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def days(filled: Filled, wanted: UsageFilter, by: By = "day") -> dict[str, int]:
    return {row.key: row.sum.requests for row in usage_report(filled, by, wanted).rows}


def test_a_row_holds_every_figure_of_its_requests() -> None:
    filled = Filled()
    session = filled.session()
    filled.request(session, NOON, "opus", input=3, output=4, cache_read=5, cache_write=6, cost=7 * 10**12)
    filled.request(session, NOON, "haiku", cost=None, final=0, web_searches=2)
    (row,) = usage_report(filled, "day", UsageFilter(zone=UTC)).rows
    assert (row.sum.input, row.sum.output, row.sum.cache_read, row.sum.cache_write) == (4, 14, 105, 1006)
    assert (row.sum.total, row.sum.cost, row.sum.web_searches) == (1129, 7 * 10**12, 2)
    assert [one.model for one in row.models] == ["opus", "haiku"]
    assert unpriced_models(row.models) == {"haiku": 1}
    assert row.sum.floor


def test_copies_do_not_count() -> None:
    filled = Filled()
    filled.request(filled.session(), NOON)
    filled.request(filled.session(), NOON, counts=0)
    for by in BYS:
        assert usage_report(filled, by).sum.requests == 1


def test_what_has_no_time_has_a_row_of_its_own() -> None:
    filled = Filled()
    session = filled.session()
    filled.request(session, NOON)
    filled.request(session, None)
    report = usage_report(filled, "day", UsageFilter(zone=UTC))
    assert [row.key for row in report.rows] == ["2026-01-05", ""]
    assert report.sum.requests == 2


def test_a_question_about_some_time_counts_apart_what_has_none() -> None:
    filled = Filled()
    session = filled.session()
    filled.request(session, NOON)
    filled.request(session, None)
    for by in BYS:
        report = usage_report(filled, by, UsageFilter(since=NOON - 1))
        assert (report.sum.requests, report.untimed) == (1, 1)


def test_since_is_the_first_second_and_until_the_first_after() -> None:
    filled = Filled()
    session = filled.session()
    for moment in (NOON - 0.001, NOON, NOON + 899.999, NOON + 900):
        filled.request(session, moment)
    assert usage_report(filled, "day", UsageFilter(since=NOON, until=NOON + 900)).sum.requests == 2


def test_days_end_where_summer_time_ends() -> None:
    """In Berlin the 29th of March 2026 has 23 hours and the 25th of October 25."""
    filled = Filled()
    session = filled.session()
    for text in ("2026-03-28T22:59Z", "2026-03-28T23:00Z", "2026-03-29T21:59Z", "2026-03-29T22:00Z"):
        filled.request(session, at(text))
    for text in ("2026-10-24T22:00Z", "2026-10-25T22:59Z", "2026-10-25T23:00Z"):
        filled.request(session, at(text))
    assert days(filled, UsageFilter(zone=ZoneInfo("Europe/Berlin"))) == {
        "2026-03-28": 1, "2026-03-29": 2, "2026-03-30": 1, "2026-10-25": 2, "2026-10-26": 1,
    }  # fmt: skip


def test_the_machines_own_clock_has_summer_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    filled = Filled()
    session = filled.session()
    for text in ("2026-01-06T04:59Z", "2026-01-06T05:00Z", "2026-07-06T03:59Z", "2026-07-06T04:00Z"):
        filled.request(session, at(text))
    assert list(days(filled, UsageFilter())) == ["2026-01-05", "2026-01-06", "2026-07-05", "2026-07-06"]


@pytest.mark.parametrize(
    ("zone", "last"),
    [("Asia/Kolkata", "18:29:59"), ("Asia/Kathmandu", "18:14:59"), ("Australia/Eucla", "15:14:59")],
)
def test_zones_of_half_and_quarter_hours_have_their_own_days(zone: str, last: str) -> None:
    filled = Filled()
    session, end = filled.session(), at(f"2026-01-05T{last}Z")
    filled.request(session, end)
    filled.request(session, end + 1)
    assert days(filled, UsageFilter(zone=ZoneInfo(zone))) == {"2026-01-05": 1, "2026-01-06": 1}


def test_weeks_begin_on_the_day_asked_for_and_months_on_the_first() -> None:
    filled = Filled()
    session = filled.session()
    for text in ("2026-01-04T12:00Z", "2026-01-05T12:00Z", "2026-02-01T12:00Z"):
        filled.request(session, at(text))
    assert days(filled, UsageFilter(zone=UTC), "week") == {"2025-12-29": 1, "2026-01-05": 1, "2026-01-26": 1}
    assert days(filled, UsageFilter(zone=UTC, week=6), "week") == {"2026-01-04": 2, "2026-02-01": 1}
    assert days(filled, UsageFilter(zone=UTC), "month") == {"2026-01": 2, "2026-02": 1}


def test_projects_and_models_are_found_by_a_piece_of_their_name_in_any_case() -> None:
    filled = Filled()
    filled.request(filled.session(project="/home/ann/Straße"), NOON, "Opus-4")
    filled.request(filled.session(project="/home/ann/shop"), NOON, "haiku")
    assert usage_report(filled, "project", UsageFilter(project="STRASSE")).rows[0].key == "/home/ann/Straße"
    assert usage_report(filled, "model", UsageFilter(model="opus")).sum.requests == 1
    assert usage_report(filled, "model", UsageFilter(project="shop", model="opus")).rows == ()


def test_subagents_have_rows_of_their_own_beside_the_main_conversation() -> None:
    filled = Filled()
    session = filled.session("abc", title="Fix the tide")
    agent = filled.log(session, "a1b2")
    filled.request(session, NOON, cost=1)
    filled.request(session, NOON, cost=5, agent=agent)
    rows = usage_report(filled, "subagent").rows
    assert [(row.key, row.session, row.title, row.sum.cost) for row in rows] == [
        ("a1b2", "abc", "Fix the tide", 5), ("", "", "", 1),
    ]  # fmt: skip


def test_sessions_are_named_and_the_dearest_is_first() -> None:
    filled = Filled()
    filled.request(filled.session("cheap"), NOON, cost=1)
    filled.request(filled.session("dear", project="/p"), NOON + 5, cost=2)
    rows = usage_report(filled, "session").rows
    assert [(row.key, row.title, row.first) for row in rows] == [
        ("dear", "About dear", NOON + 5), ("cheap", "About cheap", NOON),
    ]  # fmt: skip


def test_figures_beyond_what_a_database_can_add_are_still_added() -> None:
    filled = Filled()
    session = filled.session()
    for _ in range(3):
        filled.request(session, NOON, cost=2**62, output=2**53)
    (row,) = usage_report(filled, "day", UsageFilter(zone=UTC)).rows
    assert (row.sum.cost, row.sum.output, row.sum.requests) == (3 * 2**62, 3 * 2**53, 3)


def test_moments_at_the_ends_of_the_calendar_have_a_day() -> None:
    filled = Filled()
    session = filled.session()
    for moment in (-6.3e10, -1.0, 0.0, 2.6e11, 1e18):
        filled.request(session, moment)
    for by in ("day", "week", "month"):
        for zone in (UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12)), None):
            assert usage_report(filled, by, UsageFilter(zone=zone)).sum.requests == 5


def test_dollars_have_every_digit() -> None:
    assert [exact_dollars(pico) for pico in (0, 1, 10**12, 4_120_000_000_000, 3_000_000)] == [
        "0", "0.000000000001", "1", "4.12", "0.000003",
    ]  # fmt: skip


def test_tools_are_counted_by_call_and_error() -> None:
    filled = Filled()
    one = filled.session(started=NOON, ended=NOON + 10)
    two = filled.session(started=NOON + 100, ended=NOON + 110, project="/other")
    filled.tally(one, "Dig", 3, 1)
    filled.tally(two, "Dig", 2)
    filled.tally(two, "Fly", 9, 9)
    assert tool_stats(filled) == (ToolStats("Fly", 9, 9, 1), ToolStats("Dig", 5, 1, 2))
    assert tool_stats(filled, UsageFilter(project="shop")) == (ToolStats("Dig", 3, 1, 1),)
    assert tool_stats(filled, UsageFilter(since=NOON + 11)) == (ToolStats("Fly", 9, 9, 1), ToolStats("Dig", 2, 0, 1))
    assert tool_stats(filled, UsageFilter(until=NOON + 11)) == (ToolStats("Dig", 3, 1, 1),)


Drawn = tuple[float | None, str, int, int | None]
moments = st.none() | st.floats(1.7e9, 1.8e9).map(lambda seconds: round(seconds, 3))
requests = st.lists(
    st.tuples(moments, st.sampled_from(["a", "b"]), st.integers(0, 2), st.none() | st.integers(0, 2**61)), max_size=30
)
zones = st.sampled_from([UTC, None, ZoneInfo("Asia/Kathmandu"), ZoneInfo("America/St_Johns")])


@given(requests, zones)
def test_every_report_adds_up_to_the_same(drawn: list[Drawn], zone: ZoneInfo) -> None:
    """Rows add up to the total, the total is that of the requests, and no way of asking changes it."""
    filled = Filled()
    sessions = [filled.session(project=f"/p{number % 2}") for number in range(3)]
    for moment, model, which, cost in drawn:
        filled.request(sessions[which], moment, model, cost=cost)
    money = sum(cost or 0 for _, _, _, cost in drawn)
    for by in BYS:
        report = usage_report(filled, by, UsageFilter(zone=zone))
        assert report.sum.cost == money == sum(row.sum.cost for row in report.rows)
        assert report.sum.requests == len(drawn) == sum(row.sum.requests for row in report.rows)
        assert report.sum.unpriced == sum(cost is None for *_, cost in drawn)
        assert all(row.sum.requests == sum(one.sum.requests for one in row.models) for row in report.rows)


@given(st.dates(min_value=date(1, 2, 2)), st.integers(0, 6))
def test_a_week_begins_on_its_day_at_most_six_days_before(day: date, week: int) -> None:
    first = first_day("week", day, week)
    assert 0 <= (day - first).days <= 6
    assert first.weekday() == week


@given(requests, zones)
def test_a_request_is_in_the_day_its_own_time_falls_in(drawn: list[Drawn], zone: ZoneInfo) -> None:
    """The database's quarters of an hour never move a request over a local midnight."""
    filled = Filled()
    session = filled.session()
    expected: dict[str, int] = {}
    for moment, *_ in drawn:
        filled.request(session, moment)
        day = "" if moment is None else datetime.fromtimestamp(moment, zone).date().isoformat()
        expected[day] = expected.get(day, 0) + 1
    assert days(filled, UsageFilter(zone=zone)) == expected
