"""Subagents hang at the call that started them, whichever era wrote them, and count on their own."""

import json
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.lines import answer, asked, said, text, use
from tests.reading.reading import call, calls, jsonl, opened, prompts, session, texts
from unspool.figures import figures
from unspool.prices import PriceTable

ERAS = ["1.0.88", "2.0.30", "2.1.3", "2.1.33", "2.1.90", "2.1.230", "2.1.300"]


def looking(log: LogBuilder, words: str = "Found it.") -> None:
    inner = log.use("Bash", command="grep x")
    log.assistant(inner).result(inner, "x").assistant(log.text(words))


def delegating(version: str) -> LogBuilder:
    log = LogBuilder(version=version).prompt("go")
    use_ = log.agent_use("Explore", "Look around", "Look for x")
    log.assistant(log.text("Asking."), use_).subagent(use_, "Explore", "Look around", looking)
    return log.assistant(log.text("It is found."))


@pytest.mark.parametrize("version", ERAS)
def test_the_agent_of_every_era_hangs_at_its_call(version: str, tmp_path: Path) -> None:
    read = opened(tmp_path, delegating(version))
    (agent,) = read.agents
    (started,) = [one for one in calls(read) if one.role == "agent"]
    assert agent.call_id == started.call_id
    assert started.agents == (agent.id,)
    assert (agent.kind, agent.description) == ("Explore", "Look around")


@pytest.mark.parametrize("version", ERAS)
def test_the_conversation_of_an_agent_is_its_own(version: str, tmp_path: Path) -> None:
    read = opened(tmp_path, delegating(version))
    inner = read.agents[0].session
    assert texts(read) == ["Asking.", "It is found."]
    assert [prompt.text for prompt in prompts(read)] == ["go"]
    assert [prompt.text for prompt in prompts(inner)] == ["Look for x"]
    assert (texts(inner), call(inner, "Bash").state, inner.kind) == (["Found it."], "ok", "subagent")


@pytest.mark.parametrize("version", ERAS)
def test_the_usage_of_an_agent_is_counted_once_and_apart(version: str, tmp_path: Path) -> None:
    read = opened(tmp_path, delegating(version))
    counted = figures(read, PriceTable.load())
    own = sum(message.usage.total for message in read.messages)
    inner = sum(message.usage.total for message in read.agents[0].session.messages)
    assert inner > 0
    assert (counted.usage.total, counted.agents_usage.total) == (own, inner)
    assert (counted.agents, counted.agent_tool_calls) == (1, 1)


def linked_by(tmp_path: Path, version: str, drop: tuple[str, ...]) -> str:
    """How an agent was tied to its call where some traces of it are missing."""
    log = delegating(version)
    if "sidecar" in drop:
        log.children[0].sidecar = {}
    for line in log.lines:
        if isinstance(line, dict) and "result" in drop and isinstance(line.get("toolUseResult"), dict):
            line["toolUseResult"].pop("agentId", None)
            line["message"]["content"][0]["content"] = "Found it."
        if isinstance(line, dict) and "progress" in drop and line["type"] == "progress":
            line["data"].pop("agentId", None)
    (agent,) = opened(tmp_path, log).agents
    assert agent.call_id
    return agent.linked_by


def test_each_trace_of_an_agent_is_enough_to_find_its_call(tmp_path: Path) -> None:
    assert linked_by(tmp_path / "a", "2.1.33", ()) == "sidecar"
    assert linked_by(tmp_path / "b", "2.1.33", ("sidecar",)) == "result"
    assert linked_by(tmp_path / "c", "2.1.33", ("sidecar", "result")) == "progress"
    assert linked_by(tmp_path / "d", "2.1.33", ("sidecar", "result", "progress")) == "prompt"


def test_the_text_of_a_result_names_its_agent_where_nothing_else_does(tmp_path: Path) -> None:
    log = delegating("2.1.90")
    log.children[0].sidecar = {}
    for line in log.lines:
        if isinstance(line, dict):
            line.pop("toolUseResult", None)
    (agent,) = opened(tmp_path, log).agents
    assert agent.linked_by == "result"


def test_two_agents_with_the_same_prompt_hang_at_two_calls() -> None:
    log = LogBuilder(version="1.0.88").prompt("go")
    uses = [log.agent_use("Explore", f"try {number}", "Look for x") for number in range(2)]
    log.assistant(*uses)
    for use_ in uses:
        log.subagent(use_, "Explore", "d", looking)
    read = session(log)
    assert sorted(agent.call_id for agent in read.agents) == sorted(use_["id"] for use_ in uses)


@pytest.mark.parametrize("version", ["2.0.30", "2.1.90", "2.1.230"])
def test_agents_of_agents_hang_at_the_agents_calls(version: str, tmp_path: Path) -> None:
    def deep(log: LogBuilder) -> None:
        inner = log.agent_use("Plan", "deeper", "Look deeper")
        log.assistant(inner).subagent(inner, "Plan", "deeper", lambda child: looking(child, "Deep."))
        log.assistant(log.text("Passed on."))

    log = LogBuilder(version=version).prompt("go")
    use_ = log.agent_use("Explore", "outer", "Look")
    log.assistant(use_).subagent(use_, "Explore", "outer", deep)
    read = opened(tmp_path, log)
    (outer,) = read.agents
    (inner,) = outer.session.agents
    assert (outer.call_id, inner.description, texts(inner.session)) == (use_["id"], "deeper", ["Deep."])
    assert figures(read, PriceTable.load()).agents == 2


def test_a_background_agent_is_marked_and_its_notice_tells_how_it_ended(tmp_path: Path) -> None:
    log = LogBuilder().prompt("go")
    use_ = log.agent_use("Explore", "watch", "Watch", run_in_background=True)
    log.assistant(use_).subagent(use_, "Explore", "watch", looking, background=True)
    log.assistant(log.text("Started.")).notify(use_, "Agent completed", "x found", status="failed")
    log.assistant(log.text("So it failed."))
    read = opened(tmp_path, log)
    (agent,) = read.agents
    assert (agent.call_id, agent.background, agent.status) == (use_["id"], True, "failed")
    assert [prompt.text for prompt in prompts(read)] == ["go"]


def test_an_agent_the_user_stopped_says_so(tmp_path: Path) -> None:
    log = delegating("2.1.230")
    log.children[0].sidecar["stoppedByUser"] = True
    assert opened(tmp_path, log).agents[0].status == "stopped"


@pytest.mark.parametrize(("name", "kind"), [("acompact-1f", "compaction"), ("aside_question-1f", "side question")])
def test_helpers_that_copy_the_history_are_not_counted_twice(name: str, kind: str, tmp_path: Path) -> None:
    log = LogBuilder().prompt("one")
    log.assistant(log.text("1")).prompt("two").assistant(log.text("2"))
    alone = figures(opened(tmp_path / "alone", log), PriceTable.load())
    copied = [{**line, "isSidechain": True, "agentId": name} for line in log.lines if isinstance(line, dict)]
    extra = said("extra", "msg_extra", [text("sum")], str(log.last), output=77, stop="end_turn", isSidechain=True)
    log.file(f"{log.folder}/{log.session_id}/subagents/agent-{name}.jsonl", jsonl(*copied, extra))
    read = opened(tmp_path / "both", log)
    counted = figures(read, PriceTable.load())
    (agent,) = read.agents
    assert agent.kind == kind
    assert counted.usage == alone.usage
    assert (counted.agents_usage.output, counted.agents_usage.input) == (77, 10)


def test_agents_of_a_workflow_are_found_below_its_folder(tmp_path: Path) -> None:
    log = LogBuilder().prompt("run it")
    use_ = log.use("Workflow", scriptPath="ship.js")
    log.assistant(use_).result(use_, "started", {"status": "running", "runId": "r1"})
    folder = f"{log.folder}/{log.session_id}/subagents/workflows/r1"
    log.file(
        f"{folder}/agent-w1.jsonl",
        jsonl(asked("w1", "step one", isSidechain=True), said("w2", "mw", [text("ok")], "w1", isSidechain=True)),
    )
    log.file(f"{folder}/agent-w1.meta.json", json.dumps({"agentType": "step", "toolUseId": use_["id"]}).encode())
    log.file(f"{folder}/journal.jsonl", jsonl({"type": "started", "agentId": "w1"}))
    read = opened(tmp_path, log)
    assert [(agent.id, agent.kind, agent.call_id) for agent in read.agents] == [("w1", "step", use_["id"])]


def test_an_agent_that_nothing_names_hangs_at_the_session(tmp_path: Path) -> None:
    log = LogBuilder().prompt("go")
    log.file(
        f"{log.folder}/{log.session_id}/subagents/agent-zz.jsonl", jsonl(asked("z", "who am I?", isSidechain=True))
    )
    (agent,) = opened(tmp_path, log).agents
    assert (agent.id, agent.call_id, agent.linked_by) == ("zz", "", "")


def test_agents_that_name_each_other_as_parents_hang_at_the_session(tmp_path: Path) -> None:
    log = LogBuilder().prompt("go")
    for one, other in (("aa", "bb"), ("bb", "aa")):
        base = f"{log.folder}/{log.session_id}/subagents/agent-{one}"
        log.file(f"{base}.jsonl", jsonl(asked(one, "hello", isSidechain=True)))
        log.file(f"{base}.meta.json", json.dumps({"parentAgentId": other}).encode())
    assert sorted(agent.id for agent in opened(tmp_path, log).agents) == ["aa", "bb"]


def test_sidechains_in_the_log_itself_are_told_apart_by_their_roots() -> None:
    lines = [asked("u", "go"), said("a", "m", [use("t1", "Task", prompt="one"), use("t2", "Task", prompt="two")], "u")]
    for name in ("one", "two"):
        lines += [
            asked(f"{name}-1", name, isSidechain=True),
            said(f"{name}-2", f"m-{name}", [text(f"{name} done")], f"{name}-1", isSidechain=True),
        ]
    lines += [asked("r1", [answer("t1")], "a"), asked("r2", [answer("t2")], "r1")]
    read = session(jsonl(*lines))
    assert [(agent.call_id, texts(agent.session)) for agent in read.agents] == [
        ("t1", ["one done"]),
        ("t2", ["two done"]),
    ]


def test_a_teammate_is_a_session_of_its_own_with_its_team(tmp_path: Path) -> None:
    log = LogBuilder()
    log.user(
        '<teammate-message teammate_id="lead" color="blue">Please look</teammate-message>',
        teamName="crew",
        agentName="ann",
    )
    log.assistant(log.text("Looking."), teamName="crew", agentName="ann")
    read = opened(tmp_path, log)
    assert (read.team, prompts(read)) == ("crew", [])
    assert texts(read) == ["Looking."]


def test_a_teammate_that_a_call_spawned_hangs_at_it(tmp_path: Path) -> None:
    log = LogBuilder().prompt("go")
    use_ = log.agent_use("worker", "help", "Please look", team_name="crew")
    log.assistant(use_).result(use_, "Spawned.", {"status": "teammate_spawned", "agent_id": "ann-1", "name": "ann"})
    body = '<teammate-message teammate_id="team-lead">Please look</teammate-message>'
    log.file(f"{log.folder}/{log.session_id}/subagents/agent-xyz.jsonl", jsonl(asked("z", body, isSidechain=True)))
    (agent,) = opened(tmp_path, log).agents
    assert (agent.call_id, agent.linked_by) == (use_["id"], "prompt")
