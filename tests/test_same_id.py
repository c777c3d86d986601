"""Two agents may have sessions of one id: each is listed, found, counted, shown, built and forgotten by itself."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.agents.codex_rollouts import answer, called, output, told, user
from tests.agents.stories.codex import SESSION, record
from tests.app.serving import served
from tests.app.sessions import get
from tests.cli.running import Outcome, run
from tests.lake.lakes import asked, written
from tests.log_builder.builder import LogBuilder
from unspool.app.context import AppContext
from unspool.app.marks import get_mark_store
from unspool.store.library import Library
from unspool.store.sync import sync

NAMES = {f"claude-code:{SESSION}", f"codex:{SESSION}"}
OTHER = "bbbbbbbb-0000-4000-8000-000000000002"


class Desk(NamedTuple):
    """Logs of two agents with one id, and of one with an id of its own, and the archive that keeps them."""

    claude: Path
    codex: Path
    archive: Path

    def run(self, *arguments: str) -> Outcome:
        done = run(*arguments, "-s", str(self.claude), "-s", str(self.codex))
        assert done.code in (0, 4), done.err
        return done

    def kept(self, *arguments: str) -> Outcome:
        return run(*arguments, "--archive", str(self.archive))

    @property
    def app(self) -> AppContext:
        return AppContext(self.archive, (self.claude, self.codex))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path / "claude", tmp_path / "codex", tmp_path / "kept")
    log = LogBuilder(session_id=SESSION, version="2.1.230").prompt("Where do boats moor?")
    log.ran("ls", "quay").assistant(log.text("At the quay.")).write(made.claude)
    other = LogBuilder(session_id=OTHER, seed="other").prompt("Who rows?")
    other.assistant(other.text("Ada.")).write(made.claude)
    usage = {"input_tokens": 700, "cached_input_tokens": 0, "output_tokens": 30, "total_tokens": 730}
    lines = [
        record("session_meta", {"id": SESSION, "cwd": "/home/ada/quay", "cli_version": "0.126.0"}),
        record("turn_context", {"model": "gpt-5.5"}),
        user("Where do trains stop?"),
        called("shell", '{"command": ["ls"]}', "c1"),
        output("platform", "c1"),
        called("shell", '{"command": ["pwd"]}', "c2"),
        output("station", "c2"),
        answer("At the station."),
        told("token_count", info={"total_token_usage": usage, "last_token_usage": usage}),
    ]
    rollout = made.codex / "sessions" / "2026" / "04" / "29" / f"rollout-2026-04-29T22-33-39-{SESSION}.jsonl"
    rollout.parent.mkdir(parents=True)
    rollout.write_text("".join(json.dumps(line) + "\n" for line in lines))
    sync(made.archive, [made.claude, made.codex])
    return made


def test_lists_of_logs_and_of_the_index_have_both(desk: Desk) -> None:
    listed = {(one.agent, one.id): one for one in Library([desk.claude, desk.codex]).overviews()}
    assert len(listed) == 3
    assert [listed[agent, SESSION].tool_calls for agent in ("claude-code", "codex")] == [1, 2]
    assert listed["codex", SESSION].usage.input == 700
    assert listed["claude-code", SESSION].usage.input != 700
    rows = json.loads(desk.run("list", "--json").out)
    assert sorted((row["agent"], row["tool_calls"]) for row in rows["sessions"] if row["id"] == SESSION) == [
        ("claude-code", 1),
        ("codex", 2),
    ]


def test_a_session_is_named_by_its_agent_and_id_where_the_id_is_not_enough(desk: Desk) -> None:
    assert "At the station." in desk.run("show", f"codex:{SESSION}").out
    assert "At the quay." in desk.run("show", f"claude-code:{SESSION}").out
    several = desk.run("show", SESSION)
    assert several.code == 4
    assert "2 agents have a session" in several.err
    assert all(name in several.err for name in NAMES)
    assert "Ada." in desk.run("show", OTHER).out
    assert "Ada." in desk.run("show", f"claude-code:{OTHER}").out
    assert "Ada." in desk.run("show", "claude-code:bbbb").out


def test_search_usage_and_statistics_tell_them_apart(desk: Desk) -> None:
    for words, agent in (("moor", "claude-code"), ("trains", "codex")):
        (found,) = json.loads(desk.kept("search", words, "--no-sync", "--json").out)["sessions"]
        assert (found["session"], found["agent"]) == (f"{agent}:{SESSION}", agent)
    both = json.loads(desk.kept("search", "where", "--session", SESSION[:8], "--no-sync", "--json").out)["sessions"]
    assert {one["session"] for one in both} == NAMES
    rows = json.loads(desk.kept("usage", "session", "--no-sync", "--json").out)["rows"]
    assert {row["session"] for row in rows} == {*NAMES, OTHER}
    totals = json.loads(desk.kept("stats", "--no-sync", "--json").out)["totals"]
    assert (totals["sessions"], totals["tool_calls"]) == (3, 3)


def test_the_app_has_a_page_of_each_and_tells_of_both_where_the_id_is_not_enough(desk: Desk) -> None:
    with served(desk.app) as address:
        rows = json.loads(get(f"{address}/api/sessions").body)["sessions"]
        assert {row["key"] for row in rows} == {*NAMES, OTHER}
        assert {row["key"]: row["tool_calls"] for row in rows}[f"codex:{SESSION}"] == 2
        listed = get(f"{address}/sessions").text
        for name, words in ((f"codex:{SESSION}", "At the station."), (f"claude-code:{SESSION}", "At the quay.")):
            assert f"/s/{name.replace(':', '%3A')}/" in listed
            assert words in get(f"{address}/s/{name}/").text
            assert get(f"{address}/s/{name}/context").status == 200
            assert json.loads(get(f"{address}/api/sessions/{name}").body)["session"]["key"] == name
        several = get(f"{address}/s/{SESSION}/")
        assert several.status == 404
        assert all(name in several.text for name in NAMES)
        assert "Ada." in get(f"{address}/s/{OTHER}/").text


def test_a_mark_is_of_one_of_them_and_stays_with_its_session(desk: Desk) -> None:
    store = get_mark_store(desk.app)
    store.change(OTHER, starred=True)
    store.change(f"codex:{SESSION}", starred=True)
    with served(desk.app) as address:
        starred = json.loads(get(f"{address}/api/sessions?starred=1").body)["sessions"]
    assert {row["key"] for row in starred} == {OTHER, f"codex:{SESSION}"}


def test_a_site_has_pages_of_each(desk: Desk, tmp_path: Path) -> None:
    desk.run("all", "-o", str(tmp_path / "site"))
    pages = [one.read_text() for one in (tmp_path / "site").glob(f"*/*{SESSION}*/index.html")]
    assert len(pages) == 2
    assert [sum(words in page for page in pages) for words in ("At the station.", "At the quay.")] == [1, 1]


def test_a_lake_has_rows_of_each(desk: Desk, tmp_path: Path) -> None:
    written(tmp_path / "lake", desk.claude, desk.codex)
    rows = asked(tmp_path / "lake", f"SELECT agent, tool_calls FROM sessions WHERE session = '{SESSION}' ORDER BY ALL")  # noqa: S608
    assert rows == [("claude-code", 1), ("codex", 2)]


def test_forgetting_one_leaves_the_other_which_its_id_names_again(desk: Desk) -> None:
    several = desk.kept("forget", SESSION, "--yes")
    assert several.code == 4
    assert all(name in several.err for name in NAMES)
    assert desk.kept("forget", f"codex:{SESSION}", "--yes").code == 0
    sync(desk.archive, [desk.claude, desk.codex])
    rows = json.loads(desk.kept("usage", "session", "--no-sync", "--json").out)["rows"]
    assert {row["session"] for row in rows} == {SESSION, OTHER}
    with served(AppContext(desk.archive, (desk.claude,))) as address:
        assert "At the quay." in get(f"{address}/s/{SESSION}/").text
        assert "At the quay." in get(f"{address}/s/claude-code:{SESSION}/").text


def test_restoring_takes_the_one_that_is_named(desk: Desk, tmp_path: Path) -> None:
    assert desk.kept("restore", f"codex:{SESSION}", "--to", str(tmp_path / "back")).code == 0
    restored = [one for one in (tmp_path / "back").rglob("*") if one.is_file()]
    assert [one.name.startswith("rollout-") for one in restored] == [True]
