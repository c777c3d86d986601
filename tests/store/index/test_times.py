"""Moments as people type them: days begin where they live."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.store.index.times import parse_moment

ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
DAY = 86_400


@given(ZONES)
def test_today_began_at_the_last_midnight_there(zone: timezone) -> None:
    began = parse_moment("today", zone)
    assert began is not None
    assert datetime.fromtimestamp(began, zone).strftime("%H:%M:%S") == "00:00:00"
    assert 0 <= time.time() - began < DAY + 5
    assert parse_moment("yesterday", zone) == began - DAY


@given(ZONES)
def test_a_day_or_time_without_a_zone_is_of_that_one(zone: timezone) -> None:
    assert parse_moment("2026-01-31", zone) == datetime(2026, 1, 31, tzinfo=zone).timestamp()
    assert parse_moment("2026-01-31T12:00", zone) == datetime(2026, 1, 31, 12, tzinfo=zone).timestamp()
    assert parse_moment("2026-01-31T12:00+02:00", zone) == datetime(2026, 1, 31, 10, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("text", ["", "never", "32d2", "2026-02-31", "99999y", "today today"])
def test_what_is_no_moment_is_none(text: str) -> None:
    assert parse_moment(text, UTC) is None
    assert parse_moment(text) is None
