"""The window of a session and the cache of all of them, on a real server over a really synced source."""

import csv
import io
from collections.abc import Iterator
from decimal import Decimal

import pytest

from tests.app.asking import NOW, Got, Site, site
from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens

WORDS = "The till is short by a little. " * 80


def sent(read: int, write: int = 0) -> DemoTokens:
    return DemoTokens(input=2, read=read, write=write, output=20)


def long() -> LogBuilder:
    """Four turns, a pause in which the cache expires, a compaction, and names that are markup."""
    log = LogBuilder(session_id="long", cwd="/home/dev/long", model="claude-opus-5", start=NOW)
    log.prompt("one <script>alert(1)</script>").assistant(log.text("1"), usage=sent(0, 20_000))
    log.prompt("two").ran("ls", WORDS).call("<b>=2+2</b>", {"x": WORDS}, WORDS)
    log.assistant(log.text("2"), usage=sent(20_000, 5000)).wait(400)
    log.prompt("three").assistant(log.text("3"), usage=sent(0, 26_000))
    log.compact("auto", "All is well.").prompt("four").read("/a.py", "x = 1")
    return log.assistant(log.text("4"), usage=sent(4000, 3000)).title("Long <i>talk</i>")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    quiet = LogBuilder(session_id="quiet", cwd="/home/dev/quiet").prompt("Anybody?")
    short = LogBuilder(session_id="short", cwd="/home/dev/short", model="house-model").prompt("Hello.")
    short.assistant(short.text("Hi."), usage=sent(900))
    with site(tmp_path_factory.mktemp("window"), long(), quiet, short) as opened:
        yield opened


def rows(got: Got) -> list[dict[str, str]]:
    assert got.status == 200
    assert got.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(got.text)))


def test_the_page_tells_what_the_last_request_found_and_how_it_came_to_that(app: Site) -> None:
    got = app.get("/s/long/context")
    assert got.status == 200
    for said in ("At the end 7.0 k of 1.0 M", "At its fullest 26 k", "Compactions 1", "unaccounted", "summaries"):
        assert said in got.said
    assert got.text.count('class="cut" x=') == 1
    assert "style=" not in got.text


def test_nothing_that_a_log_holds_is_markup(app: Site) -> None:
    for where in ("/s/long/context", "/stats"):
        text = app.get(where).text
        assert "<script>alert" not in text
        assert "<b>=2+2" not in text
    assert "Long <i>talk" not in app.get("/s/long/context").text


def test_kinds_turns_and_tools_are_files_too(app: Site) -> None:
    kinds = {row["kind"]: int(row["tokens"]) for row in rows(app.get("/s/long/context/kinds.csv"))}
    assert sum(kinds.values()) == 7002
    turns = rows(app.get("/s/long/context/turns.csv"))
    assert [row["compactions"] for row in turns] == ["0", "0", "1", "0"]
    assert turns[1]["mostly"] == "tool output"
    assert [row["in the window"] for row in turns] == ["20002", "25002", "26002", "7002"]
    assert [row["tool"] for row in rows(app.get("/s/long/context/tools.csv"))] == ["Read"]
    assert app.get("/s/long/context/nothing.csv").status == 404


def test_every_entry_in_the_window_is_drawn_and_listed_and_is_a_file_too(app: Site) -> None:
    page, listed = app.get("/s/long/context").text, rows(app.get("/s/long/context/entries.csv"))
    assert {row["kind"].partition(" ·")[0] for row in listed} >= {"summaries", "prompts", "tool input", "files"}
    assert page.count('<rect class="part-', page.index('class="entries of-kind"')) == len(listed)


def test_what_turns_and_calls_cost_are_files_too_and_add_up_to_the_session(app: Site) -> None:
    turns, calls = (rows(app.get(f"/s/long/context/{name}.csv")) for name in ("turns", "calls"))
    cost = next(Decimal(row["cost"]) for row in rows(app.get("/stats/dearest.csv")) if "Long" in row["session"])
    assert sum(Decimal(row["cost"]) for row in turns) == sum(Decimal(row["cost"]) for row in calls) == cost > 0
    assert [row["why"] for row in turns] == ["", "", "expired", "compacted"]
    assert [row["written again"] for row in turns][2] == "25000"
    assert float(turns[2]["lost"]) == pytest.approx(25_000 * 5.75e-6)
    lost = rows(app.get("/s/long/context/lost.csv"))
    assert {row["tokens"] for row in lost} >= {"25000"}


def test_the_chart_has_an_axis_and_titles_and_every_bar_leads_to_its_turn(app: Site) -> None:
    got = app.get("/s/long/context")
    for said in ("10 k", "limit 1.0 M of the model", "Paid for", "written again", "the pause was longer than"):
        assert said in got.said
    assert "Turn 3: three · 26,002 tokens in the window" in got.said
    assert "25,000 tokens written again (expired)" in got.said
    assert "compacted" in got.said


def test_zooming_to_few_turns_shows_their_calls_and_leads_out_again(app: Site) -> None:
    assert "context?from=2&to=2#spending" in app.get("/s/long/context").links("context?from=")
    got = app.get("/s/long/context", **{"from": "2", "to": "2"})
    assert "Turn 2, by call" in got.said
    assert "Turn 2, call 1" in got.said
    assert "All turns" in got.said
    tokens = app.get("/s/long/context", **{"from": "2", "to": "2", "measure": "tokens"})
    assert "Tokens read from cache" in tokens.said


@pytest.mark.parametrize(
    "asked",
    [{"from": "9" * 30}, {"to": "0"}, {"from": "-1", "to": "x"}, {"from": "4", "to": "1"}, {"measure": "<b>"}],
)
def test_a_range_that_cannot_be_is_the_nearest_that_can(app: Site, asked: dict[str, str]) -> None:
    got = app.get("/s/long/context", **asked)
    assert got.status == 200
    assert "Where the window and the money went" in got.said


def test_links_of_the_page_lead_to_turns(app: Site) -> None:
    found = app.get("/s/long/context").links("#turn-")
    assert {link.rpartition("#")[2] for link in found} == {f"turn-{number}" for number in range(1, 5)}
    assert app.get(f"/s/long/{found[0]}").status == 200


def test_the_session_leads_to_its_window(app: Site) -> None:
    assert "context" in app.get("/s/long/").links()


def test_sessions_without_a_window_or_with_one_of_unknown_size_say_so(app: Site) -> None:
    assert "there was no window to fill" in app.get("/s/quiet/context").said
    assert "of a window of unknown size" in app.get("/s/short/context").said
    assert app.get("/s/nobody/context").status == 404


def test_the_dashboard_tells_what_was_written_to_the_cache_again_and_what_filled_windows(app: Site) -> None:
    got = app.get("/stats")
    assert "Written to the cache again" in got.said
    assert "What filled the window" in got.said
    assert "1 compaction emptied windows" in got.said
    wasted = {row["why"]: row for row in rows(app.get("/stats/wasted.csv"))}
    assert wasted["expired"]["tokens"] == "25000"
    assert float(wasted["expired"]["lost"]) == pytest.approx(25_000 * 5.75e-6)
    assert "compacted" in wasted
    assert "tool output" in {row["kind"] for row in rows(app.get("/stats/context.csv"))}
    tools = {row["tool"] for row in rows(app.get("/stats/filling.csv"))}
    assert {"Bash", "<b>=2+2</b>"} <= tools
    assert "Nothing in this time" in app.get("/stats", project="quiet").said


def test_the_api_tells_the_same(app: Site) -> None:
    told = app.json("/api/stats")
    assert {one["cause"] for one in told["wasted"]} == {"expired", "compacted"}
    assert told["filled"][-1]["name"] == "unaccounted"
    assert told["filling_tools"]
