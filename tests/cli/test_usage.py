"""`unspool usage` as people see it: rows, totals, lower bounds, zones, data, and a quick start."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.cli.kept import filling, told
from tests.cli.running import run
from unspool.cli.usage_cmd import command
from unspool.demo import write_demo
from unspool.errors import NotFound, UsageProblem

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC).timestamp()
HOUR, DAY = 3600, 86_400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two days of two models in two projects."""
    with filling(tmp_path) as filled:
        one = filled.session("aaaa1111-x", project="/home/ann/shop", title="Mend the till")
        two = filled.session("bbbb2222-x", project="/home/ann/tide", title="Read the tide")
        filled.request(one, NOON, "fam-opus-4-20250514", cost=1_500_000_000_000)
        filled.request(one, NOON + DAY, "fam-haiku-3", cost=20_000_000_000, agent=filled.log(one, "a5b6"))
        filled.request(two, NOON + DAY, "fam-opus-4-20250514", cost=2 * 10**12)
        filled.tally(one, "Dig", 8, 2)
    return tmp_path


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_days_come_in_order_with_a_total_at_the_end(folder: Path) -> None:
    heads, *rows = lines(told(command, folder))
    assert heads == ["day", "input", "output", "cache", "write", "cache", "read", "tokens", "cost", "models"]
    assert rows[0][:7] == ["2026-01-05", "1", "10", "1,000", "100", "1,111", "$1.50"]
    assert rows[1][:7] == ["2026-01-06", "2", "20", "2,000", "200", "2,222", "$2.02"]
    assert rows[1][8:] == ["opus-4,", "haiku-3"]
    assert rows[2] == ["total", "3", "30", "3,000", "300", "3,333", "$3.52"]


@pytest.mark.parametrize(("columns", "title"), [(80, 32), (120, 32), (60, 24)])
def test_titles_of_sessions_have_the_room_there_is(tmp_path: Path, columns: int, title: int) -> None:
    """Figures are written short or left out before a title is cut to a few words, and no line is too long."""
    name = "Mend the till that eats coins on rainy Sundays"
    with filling(tmp_path) as filled:
        filled.request(filled.session("aaaa1111-x", title=name), NOON, "fam-opus-4", cost=10**14, cache_read=10**9)
        filled.request(filled.session("bbbb2222-x", title=name), NOON, "fam-haiku-3", cost=10**14, cache_read=10**9)
    out = told(command, tmp_path, "--by", "session", columns=columns)
    assert name[: title - 1].rstrip() in out
    assert max(map(len, out.splitlines()[:4])) <= columns


def test_the_longest_bar_is_the_dearest_row(folder: Path) -> None:
    first, second = (line.split("$")[1].split()[1] for line in told(command, folder).splitlines()[1:3])
    assert len(first) < len(second)
    assert set(second) == {"█"}


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["weekly"], "2026-01-05"), (["monthly"], "2026-01"), (["weekly", "--week-starts", "sunday"], "2026-01-04"),
        (["--by", "session"], "bbbb2222"), (["--by", "project"], "/home/ann/tide"), (["models"], "fam-opus-4-20250514"),
        (["--by", "tool"], "Dig"), (["subagents"], "main conversation"), (["blocks"], "2026-01-05 12:00"),
        (["--order", "desc"], "2026-01-06"), (["--order", "tokens", "--limit", "1"], "2026-01-06"),
        (["--limit", "1"], "2026-01-06"), (["-p", "SHOP", "-m", "haiku"], "2026-01-06"),
        (["--tz", "+13:00"], "2026-01-06"),
    ],
)  # fmt: skip
def test_rows_are_of_what_is_asked_for(folder: Path, words: list[str], first: str) -> None:
    assert told(command, folder, *words).splitlines()[1].startswith(first)


def test_a_limit_says_what_it_leaves_out(folder: Path) -> None:
    said = told(command, folder, "--limit", "1")
    assert "1 of 2 rows; the total is of all." in said
    assert ["total", "3", "30", "3,000", "300", "3,333", "$3.52"] in lines(said)


def test_a_breakdown_has_a_line_a_model(folder: Path) -> None:
    said = told(command, folder, "--breakdown").splitlines()
    assert [line.split()[:2] for line in said[4:6]] == [["└", "fam-opus-4-20250514"], ["└", "fam-haiku-3"]]


def test_until_a_day_means_to_its_end_in_the_zone_asked_for(folder: Path) -> None:
    def requests(*words: str) -> int:
        return int(json.loads(told(command, folder, "--json", *words))["total"]["requests"])

    assert requests("--until", "2026-01-05") == 1
    assert requests("--until", "20260105") == 1
    assert requests("--since", "2026-01-06") == 2
    assert requests("--until", "2026-01-05", "--tz", "Pacific/Auckland") == 0
    assert requests("--since", "2026-01-06", "--until", "2026-01-06", "--tz", "Pacific/Auckland") == 1
    assert requests("--until", "2026-01-05T12:00") == 0
    assert requests("--until", "2026-01-05T12:00:01") == 1
    assert requests("--since", "1y", "--until", "1h") == requests("--since", "1y") - (time.time() < NOON)


def test_unknown_prices_are_named_and_bounds_marked(tmp_path: Path) -> None:
    with filling(tmp_path) as filled:
        session = filled.session()
        filled.request(session, NOON, "new-model", cost=None)
        filled.request(session, NOON, "opus", final=0)
        filled.request(session, NOON + DAY, "new-model", cost=None)
    said = told(command, tmp_path)
    assert ["≥$1.00" in said.splitlines()[1], "?" in said.splitlines()[2].split()] == [True, True]
    assert "No known price: new-model (2 requests)." in said
    assert "≥: 1 request never had final figures in the log." in said
    assert json.loads(told(command, tmp_path, "--json"))["total"]["unpriced_models"] == {"new-model": 2}


def test_what_has_no_time_is_shown(tmp_path: Path) -> None:
    with filling(tmp_path) as filled:
        session = filled.session()
        filled.request(session, NOON)
        filled.request(session, None)
    assert told(command, tmp_path).splitlines()[2].startswith("no time")
    assert "1 request without a time left out." in told(command, tmp_path, "--since", "2026-01-01")
    assert "1 request without a time left out." in told(command, tmp_path, "blocks")


def test_the_running_block_tells_where_it_leads(tmp_path: Path) -> None:
    now = time.time()
    start = now // HOUR * HOUR
    with filling(tmp_path) as filled:
        session = filled.session()
        filled.request(session, start)
        filled.request(session, start + 1)
        filled.request(session, start - DAY)
    said = told(command, tmp_path, "blocks")
    assert "gap of" in said
    assert "active" in said
    assert "Active block: 133 k tokens a minute, $7,200.00 an hour;" in said
    data = json.loads(told(command, tmp_path, "blocks", "--json"))["rows"]
    assert [(row["gap"], row["active"]) for row in data] == [(False, False), (True, False), (False, True)]
    assert data[2]["pace"]["cost_an_hour"] == "7200"
    with filling(tmp_path) as filled:
        filled.request(session, start + 1, final=0)
    said = told(command, tmp_path, "blocks")
    assert re.search(r"tokens a minute, ≥\$10,800.00 an hour; .* tokens, ≥\$[\d,.]+ by its end", said)


def test_json_has_every_figure_and_exact_money(folder: Path) -> None:
    data = json.loads(told(command, folder, "--json", "--tz", "UTC"))
    assert (data["by"], data["zone"], data["since"], data["untimed"]) == ("day", "UTC", None, 0)
    row = data["rows"][1]
    assert (row["day"], row["cost"], row["tokens"], row["requests"]) == ("2026-01-06", "2.02", 2222, 2)
    assert (row["first"], row["last"]) == ("2026-01-06T00:00:00Z", "2026-01-06T12:00:00Z")
    assert [one["cost"] for one in row["models"]] == ["2", "0.02"]
    session = json.loads(told(command, folder, "--by", "session", "--json"))["rows"][0]
    assert (session["session"], session["title"], session["project"]) == (
        "bbbb2222-x",
        "Read the tide",
        "/home/ann/tide",
    )
    agents = json.loads(told(command, folder, "--by", "subagent", "--json"))["rows"]
    assert [(row["subagent"], row["session"]) for row in agents] == [(None, ""), ("a5b6", "aaaa1111-x")]


def test_csv_is_read_back_and_holds_no_formula(tmp_path: Path) -> None:
    with filling(tmp_path) as filled:
        filled.request(filled.session("s1", title='=HYPERLINK("x")\n2'), NOON, "m, 1", cost=3 * 10**12)
    (row,) = csv.DictReader(io.StringIO(told(command, tmp_path, "--by", "session", "--csv")))
    assert (row["session"], row["title"], row["cost"], row["models"]) == ("s1", '\'=HYPERLINK("x")\n2', "3", "m, 1")
    (one,) = csv.DictReader(io.StringIO(told(command, tmp_path, "--csv", "-b")))
    assert (one["day"], one["model"], one["tokens"]) == ("2026-01-05", "m, 1", "1111")


def test_what_a_log_holds_cannot_drive_the_terminal(tmp_path: Path) -> None:
    with filling(tmp_path) as filled:
        bad = "\x1b]0;x\x07\x1b[2Jred\u202e\r\nnext"
        filled.request(filled.session("s", title=bad, project=bad), NOON, bad, cost=None)
    for by in ("day", "session", "project", "model"):
        said = told(command, tmp_path, "--by", by, "-b")
        assert not {"\x1b", "\x07", "\r", "\u202e"} & set(said)
        assert "red" in said


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 100, 200])
@pytest.mark.parametrize("by", ["day", "session", "project", "model", "tool", "subagent", "block"])
def test_lines_fit_the_terminal(folder: Path, by: str, columns: int) -> None:
    table = told(command, folder, "--by", by, columns=columns).split("\n\n")[0].splitlines()
    assert max(map(len, table)) <= max(columns, 32)
    assert "cost" in table[0] or by == "tool"


def test_nothing_used_is_said(tmp_path: Path) -> None:
    with filling(tmp_path):
        pass
    assert told(command, tmp_path).startswith("Nothing was used")
    assert json.loads(told(command, tmp_path, "--json"))["rows"] == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["weekly", "--by", "day"], "one thing only"),
        (["--json", "--csv"], "exclude"),
        (["tools", "-m", "x"], "not counted by"),
    ],
)
def test_what_contradicts_itself_is_refused(folder: Path, words: list[str], problem: str) -> None:
    with pytest.raises(UsageProblem, match=problem):
        told(command, folder, *words)


@pytest.mark.parametrize(
    "words", [["--since", "soon"], ["--until", "2026-13-01"], ["--tz", "Mars/Base"], ["--tz", "../etc"]]
)
def test_what_is_no_time_or_zone_is_named(folder: Path, words: list[str]) -> None:
    done = CliRunner().invoke(command, [*words, "--archive", str(folder)], help_option_names=["-h", "--help"])
    assert done.exit_code == 2
    assert repr(words[1]) in done.output


def test_without_an_index_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="unspool sync"):
        told(command, tmp_path)


def test_it_starts_light(folder: Path) -> None:
    """A table of days loads neither the library of sessions nor what draws and exports them."""
    script = (
        "import sys; from unspool.cli.usage_cmd import command\n"
        f"command(['--archive', {str(folder)!r}], standalone_mode=False)\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not loaded & {
        "rich",
        "unspool.store.library",
        "unspool.render",
        "unspool.tools",
        "unspool.prices",
        "unspool.agents",
    }


def test_logs_that_are_named_are_told_without_an_archive(tmp_path: Path) -> None:
    done = run("usage", "--by", "model", "--json", "--source", str(write_demo(tmp_path)))
    assert json.loads(done.out)["total"]["requests"] > 50
    assert (done.code, done.err) == (0, "")
    assert not list(tmp_path.rglob("*.db"))


def test_where_nothing_is_kept_yet_the_agents_own_logs_are_told(home: Path) -> None:
    assert run("usage").code == 3
    write_demo(home / "demo")
    (home / "demo").rename(home / ".claude")
    done = run("usage", "monthly", "--no-sync")
    assert done.code == 0
    assert "there is no index yet" in done.err
    assert run("usage", "--by", "session", "--no-sync").code == 2
    assert run("sync").code == 0
    assert run("usage", "monthly").out == done.out
    assert run("usage", "monthly").err == ""
    assert run("usage", "--by", "session").code == 0


@pytest.mark.skipif(shutil.which("script") is None, reason="needs script, to have a terminal")
def test_a_terminal_gets_colours_unless_they_are_forbidden(folder: Path) -> None:
    def printed(**more: str) -> str:
        shown = ["script", "-qec", f"{sys.executable} -m unspool usage --archive {folder}", "/dev/null"]
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", **more}
        return subprocess.run(shown, env=environment, capture_output=True, text=True, check=True).stdout

    assert "\x1b[2mday" in printed()
    assert "\x1b[1mtotal" in printed()
    assert "\x1b[" not in printed(NO_COLOR="1")
    assert "\x1b[" not in printed(TERM="dumb")
