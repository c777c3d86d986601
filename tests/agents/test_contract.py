"""What every agent promises to the layers above, whichever agent it reads."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from unspool.agents import AGENTS, CodingAgent, Detail, FoundAgent, FoundLog, by_id, resume_command, writer_of
from unspool.agents.lines import Cursor
from unspool.errors import UsageProblem
from unspool.model import Event, Facts, LogFile, Place, Result, ToolCall, Transcript

ODD: list[Any] = [
    {},
    {"type": None},
    {"type": 7},
    {"type": "user"},
    {"type": "assistant", "message": []},
    {"type": "system", "content": {"x": 1}},
    {"type": "attachment", "attachment": "x"},
    {"type": "progress", "data": 1, "parentToolUseID": 2},
    {"type": "response_item", "payload": None},
    {"type": "never met", "uuid": 4, "timestamp": [], "message": {"content": {"type": "text"}}},
]
ALL = pytest.mark.parametrize("agent", AGENTS, ids=lambda one: one.id)


def found(path: Path) -> FoundLog:
    return FoundLog(str(path), path.stem, AGENTS[0].id, 0, 0.0)


def test_agents_have_ids_and_names_of_their_own() -> None:
    assert len({one.id for one in AGENTS}) == len({one.name for one in AGENTS}) == len(AGENTS) > 0


@ALL
def test_a_agentis_found_by_its_id(agent: CodingAgent) -> None:
    assert by_id(agent.id) is agent


@ALL
def test_roots_are_below_the_home_unless_the_environment_names_others(agent: CodingAgent, tmp_path: Path) -> None:
    roots = agent.roots({}, tmp_path)
    assert roots
    assert all(tmp_path in root.parents for root in roots)


@ALL
def test_an_empty_folder_holds_no_sessions(agent: CodingAgent, tmp_path: Path) -> None:
    assert list(agent.discover(tmp_path)) == []


def events(agent: CodingAgent, data: bytes, detail: Detail = Detail.ALL) -> list[Event]:
    return list(agent.events(io.BytesIO(data), start=Cursor(40, 3), detail=detail))


@ALL
@pytest.mark.parametrize("detail", Detail)
@pytest.mark.parametrize("data", ODD, ids=range(len(ODD)))
def test_any_object_becomes_an_event_at_its_place(agent: CodingAgent, data: Any, detail: Detail) -> None:
    raw = json.dumps(data).encode() + b"\n"
    (event,) = events(agent, raw, detail)
    assert event.place == Place(3, 40, len(raw))
    assert event.blocks or event.side is not None or event.prompt is not None or event.id


@ALL
def test_a_line_that_cannot_be_read_becomes_a_problem_with_its_bytes(agent: CodingAgent) -> None:
    (event,) = events(agent, b"{torn\n")
    assert event.kind == "problem"
    assert event.problem is not None
    assert (event.problem.raw, event.problem.mended) == (b"{torn\n", False)


@ALL
def test_a_line_that_was_mended_is_understood_and_told(agent: CodingAgent) -> None:
    (event,) = events(agent, b'\0{"type":"x"}\0\n')
    assert event.kind != "problem"
    assert event.problem is not None
    assert event.problem.mended


@ALL
def test_an_agent_says_in_words_what_it_cannot_do(agent: CodingAgent) -> None:
    if agent.writer is None:
        with pytest.raises(UsageProblem, match=agent.name):
            writer_of(agent)
    assert (agent.resuming is None) == (resume_command(agent.id, "s", "/p") == "")


@ALL
@pytest.mark.parametrize(
    "given", [None, 7, "x", [], {}, {"questions": 3, "todos": [4], "plan": [], "taskId": {}, "prompt": 1}]
)
def test_a_dialect_takes_calls_of_any_shape(agent: CodingAgent, given: Any) -> None:
    dialect = agent.dialect(None, Facts())
    place = Place(1, 0, 1)
    for result in (
        None,
        Result(place, "t", "", detail=given),
        Result(place, "t", "x", error=True, detail={"task": 1, "answers": 5}),
    ):
        call = ToolCall(place, "t", "Tool", given, "ok", result=result)
        dialect.note(call)
        dialect.plan(call)
        dialect.questions(call)
        dialect.todos(call, {})
        assert isinstance(dialect.agent_ids(call), tuple)
        assert isinstance(dialect.agent_prompt(call), str)
        if result is not None:
            assert dialect.state(result) in ("ok", "error")


@ALL
@pytest.mark.parametrize("sidecar", ["", "[]", "{torn", '{"agentType":7,"toolUseId":null}', "\0", "[" * 100_000])
def test_a_sidecar_of_any_shape_does_no_harm(agent: CodingAgent, sidecar: str, tmp_path: Path) -> None:
    path = tmp_path / "agent-a.meta.json"
    path.write_text(sidecar)
    transcript = Transcript([], Facts(), LogFile("x", 0))
    source = agent.subagent(FoundAgent("x", "a", str(path)), transcript)
    assert (source.id, source.kind, source.call_id) == ("a", "", "")


@ALL
def test_companions_of_a_log_that_is_gone_are_none(agent: CodingAgent, tmp_path: Path) -> None:
    assert agent.files.companions(found(tmp_path / "gone.jsonl"), "slug") == []


@ALL
def test_a_project_without_a_folder_in_its_lines_is_called_as_its_folder(agent: CodingAgent) -> None:
    assert agent.project(Facts(), "-home-dev-x") == "-home-dev-x"


@ALL
def test_a_stranger_is_not_taken_for_one_of_the_agents_lines(agent: CodingAgent) -> None:
    assert not agent.recognises({})
    assert not agent.recognises({"level": "info", "msg": "started"})
