"""Every agent but Claude Code, which has tests of its own, logs the same story, and it is read as the same session."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.stories import ANSWER, PROMPTS, STORIES, Story
from tests.cli.running import run
from unspool.agents import AGENTS, CodingAgent, by_id
from unspool.app.live_session import IncrementalReader
from unspool.figures import figures
from unspool.figures.changes import file_changes
from unspool.model import Session, Text, Thinking, ToolCall, Unknown
from unspool.prices import PriceTable
from unspool.store.library import Library

OTHERS = [agent for agent in AGENTS if agent.id != "claude-code"]
ALL = pytest.mark.parametrize("agent", OTHERS, ids=lambda one: one.id)
ODD: list[Any] = [None, 7, -1, 1e300, "x", "", [], {}, [1], {"x": []}, True, "\x1b[31m<script>", "../../etc"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(tmp_path / "kept"))
    folder = tmp_path / "agent"
    folder.mkdir()
    return folder


def told(agent: CodingAgent, home: Path) -> tuple[Story, Session]:
    story = STORIES[agent.id]
    story.write(home)
    (log,) = Library([home]).logs()
    return story, Library([home]).open(log)


def calls_of(session: Session) -> list[ToolCall]:
    return [block for turn in session.turns for block in turn.blocks if isinstance(block, ToolCall)]


def test_every_agent_has_its_story() -> None:
    assert {agent.id for agent in OTHERS} == set(STORIES)


@ALL
def test_the_list_tells_what_the_session_tells(agent: CodingAgent, home: Path) -> None:
    story, session = told(agent, home)
    (listed,) = Library([home]).overviews()
    full = figures(session, PriceTable.load())
    assert (listed.agent, listed.turns, listed.tool_calls) == (agent.id, len(PROMPTS), len(story.calls))
    wanted = story.cwd if story.cwd.startswith("/") or not story.cwd else str(home / story.cwd)
    assert (listed.cwd, session.cwd) == (wanted, wanted)
    assert (full.turns, full.tool_calls) == (listed.turns, listed.tool_calls)
    assert listed.tool_errors == sum(end == "failed" for _, end in story.calls)


@ALL
def test_prompts_thoughts_calls_and_answers_are_there(agent: CodingAgent, home: Path) -> None:
    story, session = told(agent, home)
    assert tuple(turn.prompt.text for turn in session.turns if turn.prompt is not None) == PROMPTS
    blocks = [block for turn in session.turns for block in turn.blocks]
    assert any(isinstance(block, Text) and block.text == ANSWER for block in blocks)
    assert all(block.text for block in blocks if isinstance(block, Thinking))
    assert tuple((call.role, call.end) for call in calls_of(session)) == story.calls


@ALL
def test_tokens_are_the_agents_own(agent: CodingAgent, home: Path) -> None:
    story, session = told(agent, home)
    (listed,) = Library([home]).overviews()
    used = figures(session, PriceTable.load()).usage
    if story.usage is None:
        assert used.total == 0
        return
    names = ("input", "output", "cache_read", "cache_write", "reasoning")
    wanted = [getattr(story.usage, name) for name in names]
    assert [getattr(used, name) for name in names] == wanted
    assert [sum(getattr(one.usage, name) for one in listed.calls) for name in names] == wanted


@ALL
def test_the_edit_is_a_change_of_a_file(agent: CodingAgent, home: Path) -> None:
    story, session = told(agent, home)
    changed = {
        change.path: (change.added, change.removed) for change in file_changes(calls_of(session)) if change.writes
    }
    assert changed == {story.edited: (1, 1)}


@ALL
def test_a_record_of_tomorrow_is_kept_and_shown(agent: CodingAgent, home: Path) -> None:
    story, session = told(agent, home)
    unknown = [block for turn in session.turns for block in turn.blocks if isinstance(block, Unknown)]
    assert tuple(block.what for block in unknown) == story.unknown


@ALL
def test_every_line_is_accounted_for(agent: CodingAgent, home: Path) -> None:
    _, session = told(agent, home)
    held = Path(session.log.path).read_bytes()
    assert session.problems == ()
    if held.startswith(b"{") and session.log.path.endswith(".jsonl"):
        assert session.lines.total == held.count(b"\n")


@ALL
def test_a_log_that_is_cut_anywhere_is_read(agent: CodingAgent, home: Path) -> None:
    story = STORIES[agent.id]
    path = story.write(home)
    whole = path.read_bytes()
    if not story.lines:
        pytest.skip("no log of its own: what is written out is cut in test_stores")
    for size in random.Random(5).sample(range(1, len(whole)), 40):
        path.write_bytes(whole[:size])
        for log in Library([home]).logs():
            Library([home]).open(log)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from _places(one, (*path, key))


@ALL
def test_any_value_in_any_field_is_read_and_counted(agent: CodingAgent, home: Path) -> None:
    """Each field of each record in turn is something else; all lines are still there."""
    story = STORIES[agent.id]
    story.write(home)
    (log,) = Library([home]).logs()
    data = Path(log.path).read_bytes()
    documents = [json.loads(line) for line in data.splitlines()] if log.path.endswith(".jsonl") else [json.loads(data)]
    copy, chance = home.parent / "copy", random.Random(7)
    copy.mkdir()
    for number, document in enumerate(documents):
        for place in list(_places(document)):
            changed = json.loads(json.dumps(document))
            inner = changed
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = chance.choice(ODD)
            lines = [*documents[:number], changed, *documents[number + 1 :]]
            path = copy / Path(log.path).name
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            with path.open("rb") as stream:
                events = agent.events(stream)
                seen = {event.place.line for event in events}
            assert seen == set(range(1, len(lines) + 1)) or not log.path.endswith(".jsonl")
    shutil.rmtree(copy)


@ALL
def test_a_log_that_grows_is_read_on(agent: CodingAgent, home: Path) -> None:
    story = STORIES[agent.id]
    path = story.write(home)
    if not story.lines:
        pytest.skip("no log of its own")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: len(lines) // 2]))
    reader = IncrementalReader()
    (log,) = Library([home]).logs()
    reader.session(log)
    path.write_bytes(b"".join(lines))
    (log,) = Library([home]).logs()
    assert reader.session(log).turns == Library([home]).open(log).turns


@ALL
def test_it_is_kept_byte_for_byte(agent: CodingAgent, home: Path) -> None:
    story = STORIES[agent.id]
    path = story.write(home)
    (log,) = Library([home]).logs()
    held = Path(log.path).read_bytes()
    assert run("sync", "-s", str(home), "-q").code == 0
    if path.is_file() and story.lines:
        path.unlink()
        out = home.parent / "out"
        assert run("restore", log.session_id, "--to", str(out)).code == 0
        assert held in [one.read_bytes() for one in out.rglob("*") if one.is_file()]
    assert ANSWER in run("show", log.session_id).out


@ALL
@pytest.mark.parametrize("command", ["info", "show", "export", "context", "redact"])
def test_commands_work(agent: CodingAgent, home: Path, command: str) -> None:
    STORIES[agent.id].write(home)
    (log,) = Library([home]).logs()
    done = run(command, log.session_id, "-s", str(home))
    assert (done.code, done.err) == (0, "")
    assert by_id(agent.id).name in done.out or command not in ("info",)


@ALL
def test_it_can_be_shared(agent: CodingAgent, home: Path) -> None:
    """A page that needs nothing else, without the name of whoever ran it."""
    STORIES[agent.id].write(home)
    (log,) = Library([home]).logs()
    page = home.parent / "page.html"
    done = run("share", log.session_id, "-s", str(home), "--html", "-o", str(page), "--yes")
    assert done.code == 0
    words = page.read_text()
    assert all(said in words for said in (*PROMPTS, ANSWER))
    assert "/home/ada" not in words


@ALL
def test_what_was_said_is_found_with_the_words_around_it(agent: CodingAgent, home: Path) -> None:
    STORIES[agent.id].write(home)
    assert run("sync", "-s", str(home), "-q").code == 0
    (found,) = json.loads(run("search", "lighthouse", "--kind", "prompt", "--json").out)["sessions"]
    assert found["agent"] == agent.id
    assert PROMPTS[1] in found["hits"][0]["snippet"]["text"]
    (found,) = json.loads(run("search", "dusk", "--kind", "answer", "--json").out)["sessions"]
    assert ANSWER in found["hits"][0]["snippet"]["text"]


@ALL
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_in_place_of_any_file_holds_nobody_up(agent: CodingAgent, home: Path) -> None:
    """A folder that somebody sent may hold one; it would never end."""
    STORIES[agent.id].write(home)
    for path in [path for path in home.rglob("*") if path.is_file()]:
        path.unlink()
        os.mkfifo(path)
    command = [sys.executable, "-m", "unspool", "list", "-s", str(home)]
    assert subprocess.run(command, capture_output=True, timeout=120, check=False).returncode in (0, 2, 3, 5)
