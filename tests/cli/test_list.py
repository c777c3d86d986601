"""`unspool list`: what it shows, leaves out and says where there is nothing."""

import json
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import FIRST_LIGHT, NIGHTLY, STORM, STUB, demo, run, source, talk
from tests.log_builder.builder import LogBuilder
from unspool.agents import FoundLog
from unspool.prices.table import builtin_sheet
from unspool.store.library.history import CountedLog
from unspool.store.library.read import count_log


def listed(*arguments: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(demo("list", "--json", *arguments))["sessions"]
    return rows


def ids(*arguments: str) -> list[str]:
    return [row["id"] for row in listed(*arguments)]


def test_sessions_are_listed_newest_first() -> None:
    """The table has one row a session under its headings, the newest on top."""
    lines = demo("list").splitlines()
    assert lines[0].split() == ["id", "when", "agent", "project", "turns", "tools", "cost", "size", "kind", "title"]
    rows = [line for line in lines[1:] if re.match(r"[0-9a-z_]{8}  ", line)]
    times = [row[10:26] for row in rows]
    assert rows[0].startswith(NIGHTLY[:8])
    assert times == sorted(times, reverse=True)
    assert len(rows) == 9


@pytest.mark.parametrize(
    ("by", "figure"),
    [
        ("cost", lambda row: float(row["cost"])),
        (
            "tokens",
            lambda row: sum(row["usage"].get(name, 0) for name in ("input", "output", "cache_read", "cache_write")),
        ),
        ("size", lambda row: row["size"]),
        ("turns", lambda row: row["turns"]),
        ("calls", lambda row: row["tool_calls"]),
    ],
)
def test_a_list_is_sorted_by_a_figure(by: str, figure: Callable[[dict[str, Any]], float]) -> None:
    """The largest first, the smallest with --reverse; a limit is of that order, and the figure has a column."""
    rows = listed("--sort", by)
    figures = [figure(row) for row in rows]
    assert figures == sorted(figures, reverse=True)
    assert len(set(figures)) > 1
    assert ids("--sort", by, "-r") == [row["id"] for row in rows][::-1]
    assert ids("--sort", by, "-n", "2") == [row["id"] for row in rows[:2]]
    narrow = demo("list", "--sort", by).splitlines()
    assert narrow[1].startswith(rows[0]["id"][:8])


def test_a_list_is_sorted_by_title_or_time() -> None:
    titles = [row["title"].casefold() for row in listed("--sort", "title")]
    assert titles == sorted(titles)
    assert ids("--sort", "when") == ids() == ids("--reverse")[::-1]


def test_what_rows_are_sorted_by_is_shown_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for by, heading in (("tokens", "tokens"), ("calls", "tools"), ("size", "size")):
        lines = demo("list", "--sort", by).splitlines()
        assert heading in lines[0].split()
        assert heading not in demo("list").splitlines()[0].split()
        assert max(map(len, lines[:-1])) <= 80


def test_without_colours_nothing_is_painted_and_no_line_ends_with_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in demo("list")
    monkeypatch.setenv("NO_COLOR", "1")
    plain = demo("list")
    assert "\x1b" not in plain
    assert not re.search(" $", plain, re.MULTILINE)


def test_projects_are_sorted_too(tmp_path: Path) -> None:
    logs = [talk("Go.", f"s{number}", cwd=f"/home/ann/{name}") for number, name in enumerate("cabb")]
    where = source(tmp_path, *logs)

    def projects(*arguments: str) -> list[str]:
        found = json.loads(run("list", "--projects", "--json", *arguments, *where).out)["projects"]
        return [one["project"][-1] for one in found]

    assert projects("--sort", "title") == ["a", "b", "c"]
    assert projects("--sort", "title", "-r", "-n", "1") == ["c"]
    assert projects("--sort", "turns")[0] == projects("--sort", "cost")[0] == projects("--sort", "tokens")[0] == "b"


def test_no_command_lists_too() -> None:
    """`unspool` alone is `unspool list`; where the agent has logged nothing it shows the demo and says so."""
    alone = run()
    assert (alone.code, alone.out) == (0, demo("list"))
    assert re.search(r"No sessions yet.*demo", alone.err)


def test_the_total_stands_below() -> None:
    """The last line counts the sessions and what they cost together, and names what is not listed."""
    assert re.fullmatch(
        r"9 sessions · 1 empty one hidden \(-a\) · all together ≥\$\d+\.\d\d, [\d.]+ M tokens",
        demo("list").splitlines()[-1],
    )


def test_the_total_is_of_what_the_filter_leaves() -> None:
    """With a filter the last line adds up what fits it, whatever the limit; nothing is hidden where a kind is named."""
    whole = demo("list").splitlines()[-1]
    storm = next(row for row in listed() if row["id"] == STORM)
    found = demo("list", "-t", "storm").splitlines()[-1]
    assert found.startswith(f"1 session · all together ${float(storm['cost']):.2f}, ")
    assert demo("list", "-n", "2").splitlines()[-1].split(" · ")[1:] == whole.split(" · ")[1:]
    assert "hidden" not in demo("list", "-k", "headless").splitlines()[-1]


def test_projects_are_counted_as_projects(tmp_path: Path) -> None:
    """Below a list of projects stands how many there are, of how many sessions, also where the limit cuts."""
    logs = [talk(f"Ask {number}", f"{number}" * 8, cwd=f"/work/port{number % 2}") for number in range(3)]
    place = source(tmp_path, *logs)
    assert run("list", "--projects", *place).out.splitlines()[-1].startswith("2 projects · 3 sessions · all together ")
    assert "1 of 2 projects · 3 sessions · " in run("list", "--projects", "-n", "1", *place).out


def test_a_lower_bound_is_marked() -> None:
    """A session whose log held only placeholders has ≥ before its cost; another has none."""
    rows = {line[:8]: line for line in demo("list").splitlines()}
    assert "≥$" in rows[FIRST_LIGHT[:8]]
    assert "≥" not in rows[STORM[:8]]


def test_an_unknown_price_is_a_question_mark(tmp_path: Path) -> None:
    """The cost of a model without a price is unknown, not nothing."""
    out = run("list", *source(tmp_path, talk("Any fish?", model="sea-monster-1"))).out
    assert re.search(r" \? +\d", out)
    assert "$0.00 " not in out.splitlines()[1]


def test_a_user_may_set_prices(home: Path, tmp_path: Path) -> None:
    """A price file in the configuration folder gives an unknown model its price."""
    file = home / "xdg_config_home" / "unspool" / "prices.json"
    file.parent.mkdir(parents=True)
    file.write_text(
        '{"models": [{"model": "sea-monster", "input": "1", "output": "2", "write": "1", "write_1h": "1",'
        ' "read": "1"}]}'
    )
    row = json.loads(run("list", "--json", *source(tmp_path, talk("Any fish?", model="sea-monster"))).out)["sessions"][
        0
    ]
    assert float(row["cost"]) > 0
    assert not any("sea-monster" in price.model for price in builtin_sheet().models)


def test_a_broken_price_file_is_one_sentence(home: Path) -> None:
    """A price file that is none stops the command and is named."""
    file = home / "xdg_config_home" / "unspool" / "prices.json"
    file.parent.mkdir(parents=True)
    file.write_text("[]")
    done = run("list", "--demo")
    assert done.code == 5
    assert re.fullmatch(r"unspool: The price file .*prices\.json is not a price table: [^\n]*\n", done.err)


def test_json_has_every_figure() -> None:
    """`--json` holds the same sessions with exact figures, and the totals of all."""
    data = json.loads(demo("list", "--json"))
    first = data["sessions"][0]
    wanted = {"id", "title", "kind", "project", "log", "turns", "tool_calls", "cost", "usage", "models", "size"}
    assert wanted <= set(first)
    assert first["id"] == NIGHTLY
    assert set(data["all"]) == {"sessions", "usage", "cost", "unpriced"}
    assert data["all"]["sessions"] == 10


def test_what_is_shared_is_counted_once(tmp_path: Path) -> None:
    """A copy of a session costs nothing of its own, says what it copied, and adds nothing to the total."""
    original = talk("Which way to the harbour?", session_id="11111111-0000-4000-8000-000000000001")
    copy = original.copied("22222222-0000-4000-8000-000000000002")
    data = json.loads(run("list", "--json", *source(tmp_path, original, copy)).out)
    costs = {row["id"]: row["cost"] for row in data["sessions"]}
    copied = {row["id"]: row["history"] for row in data["sessions"] if row.get("history")}
    assert costs == {original.session_id: data["all"]["cost"], copy.session_id: "0"}
    assert data["all"]["cost"] != "0"
    assert copied[copy.session_id]["cost"] == data["all"]["cost"]
    assert copied[copy.session_id]["session"] == original.session_id


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("-t", "STORM"), {STORM}),
        (("-m", "haiku"), {NIGHTLY}),
        (("-k", "headless"), {NIGHTLY}),
        (("-k", "stub"), {STUB}),
        (("--until", "2026-01-13"), {FIRST_LIGHT}),
        (("--since", "2026-10-15"), {NIGHTLY}),
        (("--since", "2026-08-19", "--until", "2026-08-20"), {STORM}),
        (("-p", "nowhere"), set()),
        (("-p", "HARBOUR", "-t", "storm"), {STORM}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_filters_narrow_the_list(arguments: tuple[str, ...], wanted: set[str]) -> None:
    """Each filter leaves the sessions that fit, in any case, and filters add up."""
    assert set(ids(*arguments)) == wanted


def test_an_age_is_a_date() -> None:
    """`--since 100y` leaves everything, `--until 100y` nothing."""
    assert len(ids("--since", "100y")) == 9
    assert ids("--until", "100y") == []


def test_all_shows_stubs_too() -> None:
    """`-a` adds what holds no conversation."""
    assert set(ids("-a")) - set(ids()) == {STUB}


def test_the_limit_cuts_and_says_so() -> None:
    """`-n 2` shows two and says of how many; `-n 0` shows all."""
    assert "2 of 9 sessions" in demo("list", "-n", "2")
    assert ids("-n", "2") == ids()[:2]
    assert ids("-n", "0") == ids()


def test_a_project_counts_prompts_that_a_fork_copied_once(tmp_path: Path) -> None:
    log = talk("Where do gulls sleep?", "11111111")
    fork = log.copied("22222222", fork=True).wait(60).prompt("And terns?")
    log.write(tmp_path)
    fork.assistant(fork.text("Elsewhere.")).write(tmp_path)
    (project,) = json.loads(run("list", "--projects", "--json", "-s", str(tmp_path)).out)["projects"]
    assert (project["sessions"], project["turns"]) == (2, 2)


def test_projects_add_up() -> None:
    """`--projects` has a row a project with its sessions, turns and cost."""
    lines = demo("list", "--projects").splitlines()
    assert lines[0].split() == ["last", "active", "sessions", "turns", "cost", "size", "project"]
    assert re.search(r"^2026-10-15 03:00 +9 +\d+ +≥\$\d+\.\d\d +\d+ kB +/home/dev/harbour *$", lines[1])


def test_projects_as_json() -> None:
    """`--projects --json` gives projects."""
    data = json.loads(demo("list", "--projects", "--json"))
    assert [project["project"] for project in data["projects"]] == ["/home/dev/harbour"]


def test_an_empty_source_is_no_failure(tmp_path: Path) -> None:
    """A folder without sessions gives a sentence, and JSON without sessions; the demo does not step in."""
    empty = source(tmp_path)
    done = run("list", *empty)
    assert (done.code, done.out.strip(), done.err) == (0, "No sessions were found.", "")
    assert json.loads(run("list", "--json", *empty).out)["sessions"] == []


def test_nothing_that_fits_is_said() -> None:
    """Filters that leave nothing say so."""
    assert demo("list", "-t", "no such title").strip() == "No session fits."


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_a_title_has_room_at_any_width(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a narrow terminal other columns give way before the title does, and no line is longer than it."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    plain = re.sub(r"\x1b\[[0-9;]*m", "", demo("list"))
    assert re.search(r"^2e1ea5e0.*  Release 1\.0", plain, re.M)
    assert max(map(len, plain.splitlines())) <= columns


def test_a_hostile_title_is_inert(tmp_path: Path) -> None:
    """Escapes and line breaks in a title, a project or a model print as plain text on one line."""
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m\r\nnext [bold]x[/bold]"
    log = LogBuilder(cwd="/home/\x1b[2Jdev/e\x9bvil")
    log.prompt("hello").assistant(log.text("Aye.")).title(evil)
    for arguments in (("list",), ("list", "--projects"), ("info",), ("show", "--no-pager")):
        done = run(*arguments, *source(tmp_path, log))
        assert done.code == 0
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", done.out), arguments
    row = run("list", *source(tmp_path, log)).out.splitlines()[1]
    assert "red next [bold]" in row


def count_or_die(found: FoundLog) -> CountedLog:
    """Dies of one log, as a process does for want of memory."""
    if found.session_id.startswith("00000002"):
        os.kill(os.getpid(), signal.SIGKILL)
    return count_log(found)


@pytest.mark.skipif(sys.platform != "linux", reason="needs processes that are copies of this one")
def test_a_log_that_its_process_dies_of_is_named_and_the_others_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unspool.store.library.read._WORTH_A_POOL", 0)
    monkeypatch.setattr("unspool.store.library.read.count_log", count_or_die)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    logs = [talk(f"Ahoy {number}", f"{number:08x}-0000-4000-8000-000000000000") for number in (1, 2, 3)]
    done = run("list", *source(tmp_path, *logs), "--json")
    assert done.code == 0
    assert sorted(row["id"][:8] for row in json.loads(done.out)["sessions"]) == ["00000001", "00000003"]
    assert "00000002-0000-4000-8000-000000000000.jsonl: the process that read it died" in done.err
