"""Figures as people write them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool import human


@pytest.mark.parametrize(
    ("number", "text"),
    [
        *((0, "0"), (999, "999"), (1_000, "1.0 k"), (9_949, "9.9 k"), (9_950, "10 k"), (120_400, "120 k")),
        *((999_499, "999 k"), (999_500, "1.0 M"), (1_900_000, "1.9 M"), (2_500_000_000, "2.5 G")),
        (10**30, "1,000,000,000 G"),
    ],
)
def test_tokens(number: int, text: str) -> None:
    """Tokens have two or three figures and a unit."""
    assert human.tokens(number) == text


def test_sizes_are_in_bytes() -> None:
    """A size says bytes even where there is no larger unit."""
    assert [human.size(950), human.size(34_000), human.size(5_200_000)] == ["950 B", "34 kB", "5.2 MB"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.48, "480 ms"),
        (59.6, "1 m"),
        (185, "3 m 5 s"),
        (6_420, "1 h 47 m"),
        (3_605, "1 h"),
        (183_600, "2 d 3 h"),
    ],
)
def test_durations_have_the_two_largest_units(seconds: float, text: str) -> None:
    """Hours come with minutes, minutes with seconds."""
    assert human.duration(seconds) == text


@given(st.floats(0, 1e12, allow_nan=False))
def test_every_duration_says_something(seconds: float) -> None:
    """No duration is blank or has more than two units."""
    assert 2 <= len(human.duration(seconds).split()) <= 4


def test_moments_are_shown_in_the_zone_asked_for() -> None:
    """UTC unless said otherwise; a missing time is an empty text; the calendar's edge does not fail."""
    noon = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    east = timezone(timedelta(hours=2), "EET")
    assert human.moment(noon) == "2026-03-01 12:00 UTC"
    assert human.moment(noon, east) == "2026-03-01 14:00 EET"
    assert human.day(noon, timezone(timedelta(hours=13))) == "2026-03-02"
    assert human.moment(None) == ""
    assert human.moment(datetime.max.replace(tzinfo=UTC), east).startswith("9999-12-31")


def test_elapsed_time_needs_two_ends_in_order() -> None:
    """A clock that went back gives no duration."""
    noon = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    later = noon + timedelta(minutes=3)
    assert (human.elapsed(noon, later), human.elapsed(later, noon), human.elapsed(None, noon)) == ("3 m", "", "")


def test_counts_know_one_from_many() -> None:
    """The noun agrees with its number."""
    assert human.count(1, "turn") == "1 turn"
    assert human.count(2_400, "turn") == "2,400 turns"
    assert human.count(2, "branch", "branches") == "2 branches"


@pytest.mark.parametrize(
    ("path", "name"), [("/home/dev/shop/", "shop"), ("C:\\work\\shop", "shop"), ("shop", "shop"), ("/", "/"), ("", "")]
)
def test_a_project_is_called_by_the_last_part_of_its_path(path: str, name: str) -> None:
    assert human.last_part(path) == name


def test_money_says_how_much_of_it_is_known() -> None:
    assert [human.money(4), human.money(4, floor=True), human.money(4, unpriced=True)] == ["$4.00", "≥$4.00", "≥$4.00"]
    assert [human.money(0), human.money(0, floor=True), human.money(0, unpriced=True)] == ["$0.00", "≥$0.00", "?"]
