"""Scales of charts, and the year by day: round steps, limits, every day in its place."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.app.charts import DayFigure, plot_scale, year_chart

TODAY = date(2026, 11, 17)


@given(st.floats(1e-6, 1e15), st.none() | st.integers(1, 10**15), st.integers(1, 6))
def test_a_scale_holds_all_that_is_drawn_in_it(most: float, limit: int | None, lines: int) -> None:
    found = plot_scale(most, str, limit, lines)
    assert 0 < found.part(most) <= 1
    assert found.top >= most * 0.999
    assert all(0 < mark.part <= 1 for mark in found.marks)
    assert len(found.marks) <= 3 * lines
    assert bool(found.limit) + bool(found.beyond) == (limit is not None)
    assert found.limit is None or 0 <= found.limit.part <= 1


def test_a_limit_that_is_near_is_a_line_and_one_far_above_is_words() -> None:
    near, far = plot_scale(150_000, "{:.0f}".format, 200_000), plot_scale(50_000, "{:.0f}".format, 1_000_000)
    assert near.limit is not None
    assert (near.limit.part, near.limit.text) == (1.0, "limit 200000")
    assert [mark.text for mark in near.marks] == ["50000", "100000", "150000"]
    assert (far.limit, far.beyond) == (None, "limit 1000000")
    assert far.marks[-1].text == "60000"


def test_where_nothing_was_there_is_no_scale() -> None:
    assert plot_scale(0, str, 200_000).marks == ()


def days(*given: tuple[date, int]) -> dict[date, DayFigure]:
    return {day: DayFigure(number, f"{number} sessions") for day, number in given}


def test_every_day_of_53_weeks_stands_once_in_its_week_and_row() -> None:
    found = year_chart(days((TODAY, 3), (TODAY - timedelta(days=300), 12)), TODAY)
    assert found is not None
    places = {(one.x, one.y) for one in found.squares}
    assert len(places) == len(found.squares) == 52 * 7 + TODAY.weekday() + 1
    last = found.squares[-1]
    assert (last.x, last.y, last.shade) == (52, TODAY.weekday(), 1)
    assert last.says == "Tuesday, 17 Nov 2026: 3 sessions"
    assert last.href == "/sessions?since=2026-11-17&until=2026-11-17"
    assert sum(bool(one.href) for one in found.squares) == 2
    assert max(one.shade for one in found.squares) == 4
    assert found.about == "2 days of the last 12 months; most on 21 Jan 2026: 12 sessions."
    assert len(found.months) in (12, 13)
    assert all(later.x - earlier.x >= 3 for earlier, later in zip(found.months, found.months[1:], strict=False))


def test_a_month_leads_to_the_list_of_it_and_a_project_is_kept() -> None:
    found = year_chart(days((TODAY, 1)), TODAY, "/home/a&b")
    assert found is not None
    february = next(one for one in found.months if one.says == "February 2026")
    assert february.href == "/sessions?since=2026-02-01&until=2026-02-28&project=%2Fhome%2Fa%26b"


@pytest.mark.parametrize("day", [TODAY - timedelta(days=400), TODAY + timedelta(days=1)])
def test_what_is_not_of_these_months_is_not_shown(day: date) -> None:
    assert year_chart(days((day, 3)), TODAY) is None


@given(st.dates(date(1970, 1, 2), date(9990, 1, 1)), st.dictionaries(st.integers(0, 400), st.integers(0, 10**18)))
def test_any_year_can_be_drawn(today: date, ago: dict[int, int]) -> None:
    given_days = days(*((today - timedelta(days=back), number) for back, number in ago.items()))
    found = year_chart(given_days, today) if today > date(1972, 1, 1) else None
    assert found is None or all(0 <= one.shade <= 4 and 0 <= one.y < 7 for one in found.squares)
