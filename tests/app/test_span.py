"""Days of the statistics begin where the settings say."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from unspool.app.stats_data import StatsSpan, today_in_zone
from unspool.config.settings import settings_path


@pytest.mark.parametrize(("zone", "hours"), [("+13:00", 13), ("-11:00", -11), ("UTC", 0)])
def test_a_span_begins_and_ends_at_midnight_there(zone: str, hours: int) -> None:
    settings_path().parent.mkdir(parents=True, exist_ok=True)
    settings_path().write_text(f'time_zone = "{zone}"\n', "utf-8")
    wanted = StatsSpan(since="2026-03-01", until="2026-03-02").wanted(date(2026, 3, 9))
    assert wanted.since == datetime(2026, 3, 1, tzinfo=UTC).timestamp() - hours * 3600
    assert wanted.until == datetime(2026, 3, 3, tzinfo=UTC).timestamp() - hours * 3600
    assert today_in_zone() == datetime.now(timezone(timedelta(hours=hours))).date()
