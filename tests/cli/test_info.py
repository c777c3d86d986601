"""`unspool info`: the facts of one session."""

import json
import re
from pathlib import Path

from tests.cli.running import FIRST_LIGHT, NIGHTLY, STORM, demo, run, source, talk
from tests.log_builder.builder import LogBuilder


def facts(*arguments: str) -> dict[str, str]:
    """The rows of the table, by name; the title under ""."""
    lines = demo("info", *arguments).splitlines()
    rows: dict[str, str] = {"": lines[0].strip()}
    name = ""
    for line in lines[1:]:
        found = re.match(r"(\S.*?)  +(.*)", line)
        name = found[1] if found else name
        rows[name] = f"{rows.get(name, '')} {(found[2] if found else line).strip()}".strip()
    return rows


def test_the_latest_is_the_default() -> None:
    """Without a name it tells of the session that the list has on top."""
    assert facts()["id"] == NIGHTLY


def test_the_facts_of_a_session() -> None:
    """Identity, conversation, work, use and log each have their lines."""
    rows = facts(STORM[:5])
    assert rows[""] == "Add the storm surge to predictions"
    assert rows["id"] == STORM
    assert rows["project"] == "/home/dev/harbour"
    assert rows["git branch"] == "surge"
    assert rows["when"].startswith("2026-08-19 06:30")
    assert rows["turns"] == "9 (8 text, 1 queued; 1 on abandoned branches)"
    assert rows["subagents"].startswith("2 ")
    assert rows["branches"] == "1 left behind"
    assert rows["plans"].startswith("approved")
    assert rows["cost"] == "$1.06"
    assert rows["lines"].startswith("80: 71 conversation, 9 beside it")


def test_the_parts_of_a_row_stand_apart() -> None:
    """A row that holds two facts sets them apart by more than a space."""
    assert re.search(r"refused(?:  |:|;|,| ·)", facts(STORM)["tool calls"])


def test_a_name_is_the_same_everywhere() -> None:
    """A session has one title in the list, in info, in show and in what is exported."""
    wanted = {row["id"]: row["title"] for row in json.loads(demo("list", "--json", "-a"))["sessions"]}
    told = {name: json.loads(demo("info", name, "--json"))["session"]["title"] for name in wanted}
    assert told == wanted


def test_figures_agree_with_the_list() -> None:
    """Cost, turns and tool calls are the same in info and in the list."""
    for row in json.loads(demo("list", "--json"))["sessions"]:
        figures = json.loads(demo("info", row["id"], "--json"))["figures"]
        assert (figures["turns"], figures["tool_calls"]) == (row["turns"], row["tool_calls"]), row["title"]
        assert float(figures["cost"]["amount"]) == float(row["cost"]), row["title"]


def test_json_has_identity_figures_and_companions() -> None:
    """`--json` has its parts, with usage by kind and model."""
    data = json.loads(demo("info", STORM, "--json"))
    assert set(data) == {"session", "mark", "figures", "companions", "versions", "context_files"}
    assert data["session"]["id"] == STORM
    assert data["figures"]["agents"] == 2
    assert {call["model"] for call in data["figures"]["models"]} == {"claude-opus-5", "claude-sonnet-5"}


def test_a_model_without_price_is_named(tmp_path: Path) -> None:
    """An unknown price is said with the model's name."""
    done = run("info", *source(tmp_path, talk("Any fish?", model="sea-monster-1")))
    assert re.search(r"^cost .*no known price: sea-monster-1", done.out, re.M)


def test_bad_lines_are_told(tmp_path: Path) -> None:
    """A line that cannot be read is counted, with its number and what is wrong."""
    log = LogBuilder().prompt("Hello?").raw(b'{"type":"user","torn\n')
    done = run("info", *source(tmp_path, log))
    assert re.search(r"^lines +2: 1 conversation, 0 beside it, 1 unreadable", done.out, re.M)
    assert re.search(r"^problem +line 2: not JSON", done.out, re.M)


def test_the_sessions_around_it_are_named() -> None:
    """A planning session names what implements it, and the other way round."""
    planning = json.loads(demo("info", "a1a7e", "--json"))["session"]["links"]
    building = json.loads(demo("info", "b0a75", "--json"))["session"]["links"]
    assert [(link["session"][:8], link["relation"]) for link in planning] == [("b0a75000", "follow-up")]
    assert [(link["session"][:8], link["relation"]) for link in building] == [("a1a7e000", "source")]


def test_one_of_a_thing_is_singular() -> None:
    """Counts agree with their nouns."""
    assert "1 texts" not in demo("info", NIGHTLY)
    assert facts(FIRST_LIGHT)["subagents"].startswith("1 with 1 tool call")
