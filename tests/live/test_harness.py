"""The harness itself: stages are alone, leave nothing running, and the played model counts as the real ones do."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.live import billing
from tests.live.answers import fitting
from tests.live.conftest import Live
from tests.live.copies import PROMPT, Promise, broken, unpaired
from tests.live.played_model import Part
from tests.live.stage import Job, Run, Stage
from tests.live.steps import Step, call, say


def python(code: str, cwd: Path) -> Job:
    return Job([sys.executable, "-c", code], str(cwd), {"PATH": os.environ["PATH"]}, [])


def test_a_stage_has_no_network(stage: Stage, tmp_path: Path) -> None:
    """Nothing but the loopback can be reached."""
    run = stage.run(python("import socket; socket.create_connection(('192.0.2.1', 80), 5)", tmp_path))
    assert run.exit_code == 1
    assert "unreachable" in run.stderr


def test_what_a_job_leaves_running_is_ended(stage: Stage, tmp_path: Path) -> None:
    """Also where it has made itself independent."""
    code = "import subprocess; print(subprocess.Popen(['sleep', '600'], start_new_session=True, stdout=-3).pid)"
    run = stage.run(python(code, tmp_path))
    assert not Path("/proc", run.stdout.strip()).exists()


def test_a_stage_ends_with_its_context(tmp_path: Path) -> None:
    with Stage() as stage:
        number = stage.run(python("import os; print(os.getppid())", tmp_path)).stdout.strip()
        assert Path("/proc", number).exists()
    assert not Path("/proc", number).exists()


def test_codex_plays_its_part(live_codex: Live) -> None:
    """Each scenario of Codex comes to its end, and the one that is gone on with has one session."""
    assert [run.stderr for runs in live_codex.runs.values() for run in runs if run.exit_code] == []
    assert {name: len(ids) for name, ids in live_codex.sessions.items()} == {"tools": 1, "resumed": 1}
    assert live_codex.runs["resumed"][1].talks[0][-1]["content"][0]["text"] == "Second"


def asked(*texts: str, tools: tuple[str, ...] = ("Bash",)) -> dict[str, Any]:
    """A request whose last block asks to be cached."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": text}]} for text in texts]
    messages[-1]["content"][0]["cache_control"] = {"type": "ephemeral"}
    return {"model": "played", "tools": [{"name": name} for name in tools], "messages": messages}


def test_what_was_cached_is_read_and_the_rest_written() -> None:
    """A second request that begins like the first pays for its beginning only as read."""
    cache = billing.Cache()
    first = cache.bill("played", billing.pieces(asked("a" * 4000)))
    second = cache.bill("played", billing.pieces(asked("a" * 4000, "b" * 400)))
    assert (first.read, second.read) == (0, first.written)
    assert 100 <= second.written < 200
    assert cache.bill("played", billing.pieces(asked("c" * 4000))).read == 0


def test_tools_that_are_not_offered_are_left_out_and_listed() -> None:
    part = Part(0, [call("Gone"), call("Bash", command="true"), Step(call("Forced").calls, left_out=False)])
    played = [part.next_step(asked("hello")) for _ in range(3)]
    assert [one.calls[0].name if one.calls else one.text for one in played] == ["Bash", "Forced", "Done."]
    assert part.not_offered == ["Gone"]


def test_a_subagent_has_steps_of_its_own() -> None:
    part = Part(0, [call("Agent", prompt="HELPER: look"), say("Main."), say("Helper.", within="HELPER")])
    part.next_step(asked("hello", tools=("Agent",)))
    assert part.next_step(asked("HELPER: look")).text == "Helper."
    assert part.next_step(asked("HELPER: look")).text == "Done."
    assert part.next_step(asked("hello")).text == "Main."


def test_forms_are_filled_in() -> None:
    form = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}, "why": {"enum": ["x"]}},
        "required": ["ok", "why"],
    }
    assert fitting(form) == {"ok": False, "why": "x"}


USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": ""}]}
LAST = {"role": "user", "content": [{"type": "text", "text": PROMPT}]}


@pytest.mark.parametrize(
    ("talk", "why"),
    [
        ([USE, RESULT], ""),
        ([USE, {"role": "system", "content": "x"}, RESULT], ""),
        ([USE, LAST], "no result"),
        ([RESULT, LAST], "without its call"),
        ([USE], "at the end"),
    ],
)
def test_calls_without_results_are_noticed(talk: list[dict[str, Any]], why: str) -> None:
    assert why in unpaired(talk)
    assert bool(why) == bool(unpaired(talk))


@pytest.mark.parametrize(
    ("promised", "why"),
    [
        (Promise(["one", "two"], []), ""),
        (Promise(["two", "one"], []), "out of order"),
        (Promise(["three"], []), "not sent"),
        (Promise([], ["t9"]), "calls were not sent"),
    ],
)
def test_what_a_copy_promised_is_looked_for(promised: Promise, why: str) -> None:
    talk = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}, LAST]
    run = Run(0, "", "", [{"tools": [{}], "messages": talk}], [], [])
    assert why in broken(run, promised)
    assert bool(why) == bool(broken(run, promised))
