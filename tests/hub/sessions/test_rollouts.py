"""Sessions of other agents are pushed as those of any, with their subagents."""

from pathlib import Path

from tests.agents import test_codex_threads as rollouts
from tests.agents.stories import pi
from tests.hub.sessions.team import Machine, Team


def test_a_rollout_is_pushed_with_its_subagents(crew: Team, tmp_path: Path) -> None:
    machine = Machine(crew.member("anne"), tmp_path / "anne")
    rollouts.keep(machine.source, rollouts.PARENT, rollouts.spawned())
    own = [rollouts.subagent(), *rollouts.turn(rollouts.NEW_TURN, "Count the stones", "Nine.", 110)]
    rollouts.keep(machine.source, rollouts.CHILD, own, "sessions/2026/05/24")
    assert [one.outcome for one in machine.push()] == ["pushed"]
    (listed,) = machine.member.get("/api/archive").json["sessions"]
    told = {name: listed[name] for name in ("key", "agent", "turns", "calls", "tokens")}
    assert told == {"key": rollouts.PARENT, "agent": "codex", "turns": 1, "calls": 1, "tokens": 220}


def test_a_session_of_pi_is_pushed(crew: Team, tmp_path: Path) -> None:
    machine = Machine(crew.member("anne"), tmp_path / "anne")
    pi.write(machine.source)
    assert [one.outcome for one in machine.push()] == ["pushed"]
    (listed,) = machine.member.get("/api/archive").json["sessions"]
    told = {name: listed[name] for name in ("key", "agent", "turns", "tokens")}
    assert told == {"key": pi.SESSION, "agent": "pi", "turns": 2, "tokens": 245}
