"""`unspool context`: what fills a session's window, as people and programs read it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run, source
from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens

WORDS = "The till is short by a little. " * 100


def log(**given: Any) -> LogBuilder:
    made = LogBuilder(model="claude-opus-5", **given)
    return made.prompt("Count\x1b[31m the till").ran("count", WORDS).read("/till.py", "x = 1")


def sent(made: LogBuilder, tokens: int) -> LogBuilder:
    return made.assistant(made.text("Done."), usage=DemoTokens(input=0, read=tokens, output=5))


def told(folder: Path, made: LogBuilder, *arguments: str) -> str:
    done = run("context", made.session_id, *arguments, *source(folder, made))
    assert done.code == 0, done.err
    return done.out


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_kinds_turns_and_tools_are_told_with_their_share_of_the_window(tmp_path: Path) -> None:
    text = told(tmp_path, sent(log(), 250_000))
    assert "claude-opus-5: 250,000 tokens of 1,000,000 at the last request (measured, 25.0%)" in text
    found = rows(text)
    assert next(row[:3] for row in found if row[:2] == ["tool", "output"])[2] > "1"
    assert [row[0] for row in found if row[-1:] == ["█" * 30]][:1] == ["unaccounted"]
    assert [row[0] for row in found if row[:1] in (["Bash"], ["Read"])] == ["Bash", "Read"]
    assert "\x1b" not in text
    assert next(row for row in found if row[:1] == ["1"])[-3:] == ["Count", "the", "till"]


def test_a_model_that_nobody_knows_has_a_window_of_unknown_size(tmp_path: Path) -> None:
    made = sent(LogBuilder(model="house-model").prompt("go"), 5000)
    text = told(tmp_path, made)
    assert "house-model: 5,000 tokens at the last request (measured)" in text
    assert "is not known" in text
    assert "of all" in text


def test_a_log_without_figures_is_estimated_and_says_so(tmp_path: Path) -> None:
    text = told(tmp_path, sent(log(), 0))
    assert "estimated" in text
    assert "unaccounted" not in text


def test_a_session_that_asked_no_model_says_so(tmp_path: Path) -> None:
    assert "there is no window" in told(tmp_path, LogBuilder().prompt("hello?"))


def test_only_so_many_turns_are_told_and_compactions_are_marked(tmp_path: Path) -> None:
    made = sent(log().prompt("more").ran("count", WORDS * 3).prompt("little"), 9000)
    made = sent(made.compact("auto", "short").prompt("on"), 4000)
    text = told(tmp_path, made, "--turns", "2")
    assert "2 turns that added less left out." in text
    assert "1 compaction" in text
    assert "[compacted]" in told(tmp_path, made)


def test_json_has_every_turn_and_figure(tmp_path: Path) -> None:
    data = json.loads(told(tmp_path, sent(log().prompt("on"), 50_000), "--json"))
    assert (data["window"], data["share"], data["peak"]) == (1_000_000, 0.05, 50_000)
    assert data["now"]["measured"] == sum(data["now"]["kinds"].values()) + data["now"]["unaccounted"]
    assert [turn["number"] for turn in data["turns"]] == [1, 2]
    assert {tool["name"] for tool in data["tools"]} == {"Bash", "Read"}


@pytest.mark.parametrize("columns", ["50", "80"])
def test_tables_fit_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = told(tmp_path, sent(log(), 250_000)).split("By kind")[1].splitlines()
    assert max(map(len, lines)) <= int(columns)


def test_the_heaviest_entries_are_listed_where_they_are_asked_for() -> None:
    done = run("context", "57024", "--demo", "--entries", "2")
    assert "By entry" not in run("context", "57024", "--demo").out
    told = done.out.partition("By entry, the heaviest in the window\n")[2].splitlines()
    data = json.loads(run("context", "57024", "--demo", "--json").out)["entries"]
    heaviest = sorted(data, key=lambda one: -one["tokens"])[:2]
    assert [line.split()[:2] for line in told[1:]] == [[str(one["line"]), str(one["turn"])] for one in heaviest]
