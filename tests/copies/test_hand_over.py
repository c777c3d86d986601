"""A session of any agent handed over to another: read back by the other's reader, it says the same."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.agents.stories import ANSWER, PROMPTS, STORIES
from tests.cli.running import run
from unspool.agents import agent_named, by_id, writer_of
from unspool.agents.writing import errors
from unspool.copies.hand_over import hand_over, takers
from unspool.errors import Unsound, UsageProblem
from unspool.model import Session, Text, ToolCall
from unspool.store.library import Library

TO = pytest.mark.parametrize("to", [agent.id for agent in takers()])


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def story(agent: str, folder: Path) -> Session:
    folder.mkdir(exist_ok=True)
    STORIES[agent].write(folder)
    (log,) = Library([folder]).logs()
    return Library([folder]).open(log)


def calls_of(session: Session) -> list[ToolCall]:
    return [block for turn in session.turns for block in turn.blocks if isinstance(block, ToolCall)]


@TO
@pytest.mark.parametrize("agent", list(STORIES))
def test_the_other_agents_reader_reads_the_same_story(agent: str, to: str, home: Path) -> None:
    session = story(agent, home / "source")
    made = hand_over(session, agent_named(to), home / "target")
    path = made.path if to != "opencode" else home / "target" / made.path.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made.data)
    (log,) = Library([home / "target"]).logs()
    read = Library([home / "target"]).open(log)
    assert (read.agent, read.cwd, read.problems) == (to, session.cwd, ())
    assert tuple(turn.prompt.text for turn in read.turns if turn.prompt is not None) == PROMPTS
    blocks = [block for turn in read.turns for block in turn.blocks]
    assert any(isinstance(block, Text) and block.text.endswith(ANSWER) for block in blocks)
    mapped = [(call.role, call.end) for call in calls_of(read)]
    calls = STORIES[agent].calls
    assert mapped == [one for one in calls if one in mapped]
    assert len(mapped) + sum(made.told.values()) == len(calls)
    answers = [call.result.text for call in calls_of(read) if call.result and call.role == "shell"]
    said = [call.result.text for call in calls_of(session) if call.result and call.role == "shell"]
    assert answers[0].endswith(said[0])


@pytest.mark.parametrize("agent", list(STORIES))
def test_what_claude_code_gets_passes_its_lint(agent: str, home: Path) -> None:
    made = hand_over(story(agent, home / "source"), agent_named("claude"), home / "target")
    lines = [line + b"\n" for line in made.data.splitlines()]
    assert errors(writer_of(by_id("claude-code")).lint(lines, strict=False)) == []


@TO
def test_the_command_tells_and_writes(to: str, home: Path) -> None:
    session = story("gemini", home / "source")
    dry = json.loads(run("hand-over", session.id, "--to", to, "-s", str(home / "source"), "-n", "--json").out)
    assert (dry["written"], Path(dry["path"]).exists()) == (False, False)
    out = home / "out.file"
    done = run("hand-over", session.id, "--to", to, "-s", str(home / "source"), "-o", str(out))
    assert (done.code, done.err) == (0, "")
    assert out.stat().st_mode & 0o077 == 0
    assert "Go on:" in done.out
    again = run("hand-over", session.id, "--to", to, "-s", str(home / "source"), "-o", str(out))
    assert (again.code != 0, "is there already" in again.err) == (True, True)


def test_an_agent_that_takes_none_and_a_session_without_a_word(home: Path) -> None:
    session = story("gemini", home / "source")
    with pytest.raises(UsageProblem, match="Claude Code, Codex, pi, OpenCode"):
        hand_over(session, agent_named("amp"))
    with pytest.raises(Unsound):
        hand_over(replace(session, turns=()), agent_named("codex"))


@TO
@pytest.mark.parametrize("cwd", ["/a\0b", "/" + "x" * 5000, "../../etc", "/a\nb\x1b[2J", "C:\\Users\\ada", ""])
def test_a_folder_of_any_name_leads_nowhere_else(to: str, cwd: str, home: Path) -> None:
    made = hand_over(replace(story("gemini", home / "source"), cwd=cwd), agent_named(to), home / "target")
    place = home / "target" if to != "opencode" else home
    assert made.path.resolve().is_relative_to(place)
    made.path.parent.mkdir(parents=True, exist_ok=True)
    made.path.write_bytes(made.data)


@pytest.mark.parametrize(
    ("model", "named"),
    [("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"), ("gpt-5.4", "openai/gpt-5.4"), ("", "unknown/unknown")],
)
def test_opencode_goes_on_with_the_model_that_answered_last(model: str, named: str, home: Path) -> None:
    session = story("gemini", home / "source")
    session = replace(session, messages=tuple(replace(one, model=model) for one in session.messages))
    told = json.loads(hand_over(session, agent_named("opencode"), home / "target").data)
    models = {"{providerID}/{modelID}".format(**one["info"].get("model", one["info"])) for one in told["messages"]}
    assert models == {named}
