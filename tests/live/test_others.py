"""What today's versions of the other agents write is read whole, and says what was asked, done, answered and used."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.live import agents
from tests.live.stage import Run, Stage
from tests.live.steps import Step, call, say
from unspool.agents import by_id, resume_command
from unspool.model import Session, Text, Thinking, ToolCall, Unknown
from unspool.store.library import Library

PROMPTS = ["Write tide.py", "And the ebb"]


def steps_of(agent: str, cwd: Path) -> list[Step]:
    """A command, one that fails, a file written, and an answer, by the tools that the agent has."""
    path, held = str(cwd / "tide.py"), "low = 1\n"
    shell = "bash" if agent in ("copilot", "opencode", "pi") else "run_shell_command"
    writing = {
        "copilot": call("create", path=path, file_text=held),
        "opencode": call("write", filePath=path, content=held),
        "pi": call("write", path=path, content=held),
    }
    return [
        Step(call(shell, command="echo nine", description="Count").calls, "I look.", "Let me look."),
        call(shell, command="echo ten; exit 3", description="Fail"),
        writing.get(agent) or call("write_file", file_path=path, content=held),
        say("Written.", thinking="It works."),
    ]


@dataclass(frozen=True)
class Told:
    """The session that an agent wrote in two runs, and the runs."""

    session: Session
    runs: list[Run]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            name, marks=pytest.mark.skipif(agents.program(name) is None, reason=f"no {name} under UNSPOOL_LIVE")
        )
        for name in agents.OTHERS
    ],
)
def told(request: pytest.FixtureRequest, kept: Path) -> Told:
    """A session that was gone on with."""
    agent, config, cwd = request.param, kept / "others" / request.param, kept / "work" / "others" / request.param
    cwd.mkdir(parents=True)

    (root,) = by_id(agent).roots(agents.other_environment(agent, config), kept / "home")

    def read() -> Session:
        (log,) = Library([root]).logs()
        return Library([root]).open(log)

    def named() -> str:
        """The session as the command that resumes it names it."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("os.environ", agents.other_environment(agent, config))
            return resume_command(agent, read().id, str(cwd)).split()[-1].removeprefix("--resume=")

    with Stage() as stage:
        first = stage.run_other(agent, config, cwd, PROMPTS[0], steps_of(agent, cwd))
        assert first.exit_code == 0, first.stderr
        second = stage.run_other(agent, config, cwd, PROMPTS[1], [say("Ebbed.")], resume=named())
        assert second.exit_code == 0, second.stderr
    return Told(read(), [first, second])


def test_it_is_read_whole(told: Told) -> None:
    blocks = [block for turn in told.session.turns for block in turn.blocks]
    assert told.session.problems == ()
    assert [block.what for block in blocks if isinstance(block, Unknown)] == []
    assert told.session.branches == ()


def test_it_says_what_was_asked_done_and_answered(told: Told) -> None:
    blocks = [block for turn in told.session.turns for block in turn.blocks]
    calls = [block for block in blocks if isinstance(block, ToolCall)]
    assert [turn.prompt.text for turn in told.session.turns if turn.prompt is not None] == PROMPTS
    assert [block.text for block in blocks if isinstance(block, Text)] == ["I look.", "Written.", "Ebbed."]
    assert [block.text for block in blocks if isinstance(block, Thinking)] == ["Let me look.", "It works."]
    assert [(one.role, one.end) for one in calls] == [("shell", "ok"), ("shell", "failed"), ("write", "ok")]
    answers = [one.result.text for one in calls if one.result is not None]
    assert [word in answer for word, answer in zip(("nine", "ten", ""), answers, strict=True)] == [True] * 3


def test_it_says_what_was_used(told: Told) -> None:
    assert sum(message.usage.total for message in told.session.messages) == sum(run.tokens for run in told.runs)


def test_the_agent_went_on_with_it(told: Told) -> None:
    sent = json.dumps(told.runs[1].talks[-1])
    assert [words for words in (*PROMPTS, "nine", "Written.") if words not in sent] == []
