"""Sessions of every agent are pushed, listed, found and shown, without the name of whoever ran them."""

from pathlib import Path

import pytest

from tests.agents.stories import ANSWER, PROMPTS, STORIES
from tests.agents.stories.codex import SESSION
from tests.hub.sessions.team import Machine, Team
from tests.log_builder.builder import LogBuilder
from unspool.hub_client.manifest import make_manifest


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


@pytest.fixture
def two(small_crew: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Machine, Machine]:
    """One person's sessions of two agents that have one id, each pushed from a folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    anne = small_crew.member("anne")
    one, other = (Machine(anne, tmp_path / name) for name in ("claude", "codex"))
    log = LogBuilder(session_id=SESSION).prompt("Where do boats moor?")
    log.assistant(log.text("At the quay.")).write(one.source)
    STORIES["codex"].write(other.source)
    return one, other


def _listed(machine: Machine) -> dict[str, str]:
    """Ids by agent."""
    return {one["agent"]: one["id"] for one in machine.member.get("/api/archive").json["sessions"]}


def test_sessions_of_two_agents_with_one_id_are_two(two: tuple[Machine, Machine]) -> None:
    for machine in two:
        assert [done.outcome for done in machine.push()] == ["pushed"]
    ids, get = _listed(two[0]), two[0].member.get
    assert sorted(ids) == ["claude-code", "codex"]
    assert b"At the quay." in get(f"/sessions/{ids['claude-code']}/page-001.html").body
    assert ANSWER in get(f"/sessions/{ids['codex']}/page-001.html").body.decode()
    for word, agent in (("moor", "claude-code"), ("lighthouse", "codex")):
        assert [one["session"]["id"] for one in get(f"/api/search?q={word}").json["found"]] == [ids[agent]]
    assert [machine.push() for machine in two] == [[], []]


def test_a_session_that_was_pushed_before_agents_told_ids_apart_stays_itself(
    two: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, other = two
    with monkeypatch.context() as before:
        before.setattr("unspool.hub_client.push.make_manifest", lambda key, files, _: make_manifest(key, files))
        first.push()
    former = _listed(first)["claude-code"]
    other.push()
    with next(first.source.rglob("*.jsonl")).open("a") as log:
        log.write('{"type": "summary", "summary": "Boats"}\n')
    assert [done.outcome for done in first.push()] == ["pushed"]
    assert _listed(first)["claude-code"] == former
    assert len(_listed(first)) == 2
