"""Sessions that were handed over are judged by the agent that takes them: it resumes each, and sends all of it."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.agents.stories import ANSWER, PROMPTS, STORIES
from tests.live import agents
from tests.live.stage import Job, Run, Stage
from tests.live.steps import say
from tests.thorough import some
from unspool.agents import agent_named
from unspool.copies.hand_over import HandOver, hand_over
from unspool.model import Session
from unspool.store.library import Library

AGENTS = sorted(STORIES)
SOME = some(AGENTS, 7)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def story(agent: str, folder: Path, cwd: Path) -> Session:
    """The story of an agent, in a folder that is there."""
    folder.mkdir()
    STORIES[agent].write(folder)
    (log,) = Library([folder]).logs()
    return replace(Library([folder]).open(log), cwd=str(cwd))


def written(made: HandOver) -> HandOver:
    made.path.parent.mkdir(parents=True, exist_ok=True)
    made.path.write_bytes(made.data)
    return made


def assert_told(run: Run) -> None:
    """The model was sent the whole story, and the new prompt behind it."""
    assert run.exit_code == 0, run.stderr
    sent = json.dumps(run.talks[-1])
    places = [sent.find(words) for words in (*PROMPTS, ANSWER, "And a bell")]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize("agent", AGENTS)
def test_claude_code_goes_on_with_a_session_of_another(agent: str, work: Path, tmp_path: Path) -> None:
    config = tmp_path / "config"
    agents.trust(config, work)
    made = written(hand_over(story(agent, tmp_path / "source", work), agent_named("claude"), config))
    with Stage() as stage:
        assert_told(stage.run_claude(config, work, "And a bell", [say("Rung.")], resume=made.session.id))


@pytest.mark.skipif(agents.program("pi") is None, reason="no pi under UNSPOOL_LIVE")
@pytest.mark.parametrize("agent", SOME)
def test_pi_goes_on_with_a_session_of_another(agent: str, work: Path, tmp_path: Path) -> None:
    config = tmp_path / "config"
    made = written(hand_over(story(agent, tmp_path / "source", work), agent_named("pi"), config))
    with Stage() as stage:
        assert_told(stage.run_other("pi", config, work, "And a bell", [say("Rung.")], resume=made.session.id))


@pytest.mark.skipif(agents.program("opencode") is None, reason="no opencode under UNSPOOL_LIVE")
@pytest.mark.parametrize("agent", SOME)
def test_opencode_imports_and_goes_on_with_a_session_of_another(
    agent: str, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "config"
    session = story(agent, tmp_path / "source", work)
    session = replace(session, messages=tuple(replace(one, model=agents.MODEL) for one in session.messages))
    made = written(hand_over(session, agent_named("opencode"), config))
    importing = [str(agents.program("opencode")), "import", str(made.path)]
    with Stage() as stage:
        taken = stage.run(Job(importing, str(work), agents.other_environment("opencode", config), []))
        assert (taken.exit_code, made.session.id in taken.stdout) == (0, True), taken.stderr
        assert_told(stage.run_other("opencode", config, work, "And a bell", [say("Rung.")], resume=made.session.id))


@pytest.mark.parametrize("agent", AGENTS)
def test_codex_goes_on_with_a_session_of_another(agent: str, work: Path, tmp_path: Path) -> None:
    config = tmp_path / "config"
    made = written(hand_over(story(agent, tmp_path / "source", work), agent_named("codex"), config))
    with Stage() as stage:
        assert_told(stage.run_codex(config, work, "And a bell", [say("Rung.")], resume=made.session.id))
