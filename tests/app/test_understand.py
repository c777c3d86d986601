"""The dashboard and the time-lines of files, on a real server over a really synced source."""

import csv
import io
import itertools
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.app.asking import NOW, Site, harbour, shop, site
from tests.log_builder.builder import LogBuilder
from tests.store.index.synced import kept
from unspool.app import charts
from unspool.app.stats_data import (
    DashboardData,
    RecentUsage,
    StatsSpan,
    gather_dashboard,
    today_in_zone,
    with_custom_titles,
)
from unspool.app.stats_tables import TABLES, table_to_csv
from unspool.render.html.elements import day_text
from unspool.store.index.billing import UsageFilter, UsageSum, exact_dollars, format_spent
from unspool.store.index.database import Index
from unspool.store.index.stats import DayStreak, IndexStats, StatTotals
from unspool.store.index.usage import UsagePeriod, usage_report


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("understand")


@pytest.fixture(scope="module")
def app(folder: Path) -> Iterator[Site]:
    odd = LogBuilder(session_id="odd", cwd="/home/dev/=cmd", model="model-nobody-knows", start=NOW - timedelta(days=3))
    odd.prompt("Hello.").assistant(odd.text("Hi.")).call("=2+2", {"x": "y"}, "four")
    with site(folder, shop(), harbour(), odd) as opened:
        yield opened


@pytest.fixture
def index(app: Site, folder: Path) -> Iterator[Index]:
    with Index.open(folder / "archive", readonly=True) as opened:
        yield opened


def rows(app: Site, name: str, **query: str | int) -> list[dict[str, str]]:
    got = app.get(f"/stats/{name}.csv", **query)
    assert got.status == 200
    assert got.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(got.text)))


def test_the_dashboard_tells_of_everything(app: Site) -> None:
    got = app.get("/stats")
    assert got.status == 200
    for said in (
        "Today",
        "This week",
        "Cost by day",
        "By project",
        "By model",
        "By tool",
        "Hours of the week",
        "Cache",
    ):
        assert said in got.said
    for said in ("Dearest sessions", "Longest sessions", "Files touched most", "Most failing tools"):
        assert said in got.said


def test_every_picture_has_a_title_and_its_figures_as_a_table(app: Site) -> None:
    got = app.get("/stats")
    pictures = [one.partition(">")[0] for one in got.text.split("<svg")[1:]]
    told = [one for one in pictures if 'role="img"' in one]
    assert len(told) == 6
    assert all("aria-labelledby" in one for one in told)
    beside = [one for one in pictures if one not in told]
    assert sum('role="group"' in one and "aria-label=" in one for one in beside) == 1  # the year, whose days are links
    assert all('aria-hidden="true"' in one for one in beside if 'role="group"' not in one)
    assert got.text.count("All figures as a table") == sum(bool(rows(app, name)) for name in TABLES) >= 9
    assert "style=" not in got.text


def test_every_table_is_a_file_with_the_same_rows(app: Site) -> None:
    links = list(app.get("/stats").links(".csv"))
    assert {urlsplit(link).path for link in links} == {f"/stats/{name}.csv" for name in TABLES}
    assert all(rows(app, name) for name in TABLES if name not in ("failing", "wasted"))


def test_figures_are_those_of_the_index(app: Site, index: Index) -> None:
    expected = {row.key: row.sum for row in usage_report(index, "day").rows}
    found = {row["day"]: row for row in rows(app, "days")}
    assert {day: int(row["requests"]) for day, row in found.items()} == {
        day: one.requests for day, one in expected.items()
    }
    assert {day: int(row["tokens"]) for day, row in found.items()} == {day: one.total for day, one in expected.items()}
    assert {day: row["cost"] for day, row in found.items()} == {
        day: "" if one.unpriced == one.requests else exact_dollars(one.cost) for day, one in expected.items()
    }
    assert sum(int(row["sessions begun"]) for row in found.values()) == 3


def test_a_price_that_is_not_known_is_neither_zero_nor_invented(app: Site) -> None:
    got = app.get("/stats", project="/home/dev/=cmd")
    assert "No known price: model-nobody-knows" in got.said
    assert [row["cost"] for row in rows(app, "models", project="/home/dev/=cmd")] == [""]
    assert "≥$" in app.get("/stats").said


def test_no_cell_of_a_file_is_a_formula(app: Site) -> None:
    names = [row["tool"] for row in rows(app, "tools")]
    assert "'=2+2" in names
    assert not [name for name in names if name.startswith("=")]


def test_a_span_and_a_project_narrow_all_of_it(app: Site) -> None:
    assert {row["project"] for row in rows(app, "projects", days=7)} == {"/home/dev/harbour", "/home/dev/=cmd"}
    assert {row["project"] for row in rows(app, "projects", project="shop")} == {"/home/dev/shop"}
    long_ago = (NOW - timedelta(days=39)).date().isoformat()
    assert {row["project"] for row in rows(app, "projects", until=long_ago)} == {"/home/dev/shop"}
    assert "No sessions in this time" in app.get("/stats", since="2001-01-01", until="2001-01-02").said


@pytest.mark.parametrize(
    "query", [{"since": "soon"}, {"until": "9999-12-31"}, {"days": "99999999"}, {"days": "-1"}, {"project": "%' OR"}]
)
def test_whatever_the_address_says_there_is_a_page(app: Site, query: dict[str, str]) -> None:
    assert app.get("/stats", **query).status == 200


def test_a_date_that_is_none_is_explained(app: Site) -> None:
    assert "“soon” is no date" in app.get("/stats", since="soon").said


def test_there_is_no_file_of_another_name(app: Site) -> None:
    assert app.get("/stats/nothing.csv").status == 404


def test_what_is_kept_is_counted_anew_when_the_index_changes(folder: Path, app: Site, tmp_path: Path) -> None:
    log = LogBuilder(session_id="first", cwd="/home/dev/first", start=NOW - timedelta(days=1))
    log.prompt("One.").assistant(log.text("1"))
    with site(tmp_path, log) as own:
        assert len(rows(own, "projects")) == 1
        more = LogBuilder(session_id="second", cwd="/home/dev/second", start=NOW - timedelta(days=1))
        more.prompt("Two.").assistant(more.text("2"))
        kept(tmp_path, more)
        assert len(rows(own, "projects")) == 2


def told(days: dict[str, UsageSum], begun: dict[date, int]) -> DashboardData:
    daily = tuple(UsagePeriod(day, one) for day, one in days.items())
    every = IndexStats(StatTotals(), UsageSum(), (), (), (), (), ((0,) * 24,) * 7, (), (), (), DayStreak(), daily=daily)
    return DashboardData(every, begun, RecentUsage(UsageSum(), 0), RecentUsage(UsageSum(), 0), None)


@pytest.mark.parametrize(("days", "by"), [(3, "day"), (129, "day"), (200, "week"), (2000, "month")])
def test_periods_grow_with_the_time_and_leave_none_out(days: int, by: str) -> None:
    last = date(2026, 3, 31)
    first = last - timedelta(days=days)
    found = told(
        {first.isoformat(): UsageSum(requests=2, cost=7), last.isoformat(): UsageSum(requests=3, cost=1)}, {last: 4}
    )
    named, every = charts.chart_periods(found)
    assert named == by
    assert sum(one.sum.requests for one in every) == 5
    assert sum(one.begun for one in every) == 4
    gaps = {(after.first - before.first).days for before, after in itertools.pairwise(every)}
    assert gaps <= {"day": {1}, "week": {7}, "month": {28, 29, 30, 31}}[by]


def test_the_highest_bar_is_as_high_as_the_picture() -> None:
    found = told({"2026-01-01": UsageSum(requests=1, cost=5), "2026-01-03": UsageSum(requests=1, cost=10)}, {})
    cost = charts.charts_over_time(found)[0]
    assert [bar.height for bar in cost.bars] == [50, 0, 100]
    assert cost.width == 30


def test_money_is_marked_where_it_is_a_lower_bound() -> None:
    assert format_spent(UsageSum(requests=2, cost=4_120_000_000_000)) == "$4.12"
    assert format_spent(UsageSum(requests=2, cost=4_120_000_000_000, open=1)) == "≥$4.12"
    assert format_spent(UsageSum(requests=2, unpriced=2)) == "?"


@pytest.mark.parametrize("hours", [13, -11])
def test_days_are_those_of_the_zone_that_is_asked_for(index: Index, hours: int) -> None:
    zone = timezone(timedelta(hours=hours))
    found = gather_dashboard(index, UsageFilter(zone=zone), today_in_zone(), time.time())
    assert set(found.begun) == {
        datetime.fromtimestamp(row.first, zone).date() for row in usage_report(index, "session").rows if row.first
    }
    began = {one.key: day_text(datetime.fromtimestamp(one.started or 0, zone)) for one in found.stats.longest}
    assert [row[1].text for row in TABLES["longest"](found).rows] == list(began.values())


def test_a_session_is_called_as_a_person_calls_it(index: Index) -> None:
    found = gather_dashboard(index, StatsSpan().wanted(today_in_zone()), today_in_zone(), time.time())
    named = with_custom_titles(found, {"shop": "My own name"})
    assert "My own name" in table_to_csv(TABLES["dearest"](named))
    assert "My own name" not in table_to_csv(TABLES["dearest"](found))


def test_many_who_ask_at_once_are_all_answered_alike(app: Site) -> None:
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda days: app.get("/stats/projects.csv", days=days).text, [50, 51] * 12))
    assert set(found) == {app.get("/stats/projects.csv", days=50).text}


def test_a_board_without_anything_makes_every_table(tmp_path: Path) -> None:
    with Index.open(tmp_path) as empty:
        found = gather_dashboard(empty, StatsSpan().wanted(date(2026, 1, 1)), date(2026, 1, 1), 0.0)
    assert charts.charts_over_time(found) == ()
    assert charts.week_chart(found) == ()
    assert charts.cache_chart(found.stats.sum) == ()
    assert all(table_to_csv(make(found)) for make in TABLES.values())


def test_files_are_listed_by_project_with_their_lines(app: Site) -> None:
    first = app.get("/files")
    assert "/home/dev/harbour 1 file 1 change 1 session +1 −0" in first.said
    (shop,) = first.links("/files?project=shop-")
    got = app.get(shop)
    assert "src/pay.py" in got.said
    assert "+1 −1" in got.said
    assert "board.py" not in got.said
    assert "/files?path=%2Fhome%2Fdev%2Fshop%2Fsrc%2Fpay.py" in got.links("/files?")
    assert got.links("pay.py") == app.get("/files", path="/home/dev/shop/").links("pay.py")


def test_words_of_a_path_narrow_files_of_one_project_or_of_all(app: Site) -> None:
    assert app.get("/files", q="SRC board").links("board.py")
    assert not app.get("/files", q="src board").links("pay.py")
    (shop,) = app.get("/files").links("/files?project=shop-")
    assert not app.get(f"{shop}&q=board").links("board.py")
    assert app.get("/files", project="nothing", q="pay").links("pay.py")


def test_a_file_tells_its_changes_and_who_read_it_apart(app: Site) -> None:
    got = app.get("/files", path="/home/dev/shop/src/pay.py")
    assert "1 change in 1 session +1 −1" in got.said
    assert "1 × read" in got.said
    assert "Why is the checkout slow?" in got.said
    assert "Slow <b>checkout</b>" in got.said
    reads = app.get("/files", path="/home/dev/shop/src/pay.py", only="reads").said
    assert "Tides and lighthouses" in reads
    assert "Slow <b>" not in reads


def test_a_touch_leads_to_its_call(app: Site) -> None:
    (stood,) = set(app.get("/files", path="/home/dev/shop/src/pay.py").links("/files/at?"))
    (href, _) = app.get(stood).links("/s/shop/at/")[::-1]
    end = urlsplit(app.get(href).url)
    assert f'id="{end.fragment}"' in app.get(end.path).text


def test_only_changes_can_be_asked_for(app: Site) -> None:
    changes = app.get("/files", path="/home/dev/shop/src/pay.py", only="changes")
    assert not changes.links("/s/harbour/at/")
    assert changes.links("/s/shop/at/")


def test_part_of_a_name_finds_its_files(app: Site) -> None:
    assert app.get("/files", path="PAY").links("pay.py")
    assert "No session touched such a file" in app.get("/files", path="nowhere.py").said


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "%", "_", "\\", "'", "/" * 3000, "\x00"])
def test_no_path_reads_a_file(app: Site, path: str) -> None:
    got = app.get("/files", path=path)
    assert got.status == 200
    assert "root:" not in got.text
