"""Sessions of every agent are pushed, listed, found and shown, without the name of whoever ran them."""

from pathlib import Path

import pytest

from tests.agents.stories import ANSWER, PROMPTS, STORIES
from tests.hub.sessions.team import Machine, Team


@pytest.mark.parametrize("agent", sorted(STORIES))
def test_a_session_is_pushed_and_shown(
    agent: str, small_crew: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    machine = Machine(small_crew.member("anne"), tmp_path / "anne")
    STORIES[agent].write(machine.source)
    (done,) = machine.push()
    assert done.outcome == "pushed"
    (listed,) = machine.member.get("/api/archive").json["sessions"]
    assert (listed["agent"], listed["turns"], listed["calls"]) == (agent, len(PROMPTS), len(STORIES[agent].calls))
    assert b"/home/ada" not in machine.member.get(f"/api/archive/{listed['id']}/log").body
    found = machine.member.get("/api/search?q=lighthouse").json["found"]
    assert [one["session"]["id"] for one in found] == [listed["id"]]
    assert ANSWER in machine.member.get(f"/sessions/{listed['id']}/page-001.html").body.decode()
