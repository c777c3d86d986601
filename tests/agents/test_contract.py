"""What every format promises to the layers above, whichever agent it reads."""

from pathlib import Path
from typing import Any

import pytest

from unspool.agents import FORMATS, AgentFormat, FoundLog, by_id
from unspool.agents.base import FoundAgent
from unspool.model import Entry, Facts, LogFile, Place, Result, ToolCall, Transcript

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
ALL = pytest.mark.parametrize("format_", FORMATS, ids=lambda one: one.id)


def found(path: Path) -> FoundLog:
    return FoundLog(str(path), path.stem, FORMATS[0].id, 0, 0.0)


def test_formats_have_ids_and_names_of_their_own() -> None:
    assert len({one.id for one in FORMATS}) == len({one.name for one in FORMATS}) == len(FORMATS) > 0


@ALL
def test_a_format_is_found_by_its_id(format_: AgentFormat) -> None:
    assert by_id(format_.id) is format_


@ALL
def test_roots_are_below_the_home_unless_the_environment_names_others(format_: AgentFormat, tmp_path: Path) -> None:
    roots = format_.roots({}, tmp_path)
    assert roots
    assert all(tmp_path in root.parents for root in roots)


@ALL
def test_an_empty_folder_holds_no_sessions(format_: AgentFormat, tmp_path: Path) -> None:
    assert list(format_.discover(tmp_path)) == []


@ALL
@pytest.mark.parametrize("data", ODD, ids=range(len(ODD)))
def test_any_object_becomes_an_event_at_its_place(format_: AgentFormat, data: Any) -> None:
    place = Place(3, 40, 10)
    event = format_.parser(None).event(Entry(place, b"raw", data))
    assert event.place == place
    assert event.blocks or event.side is not None or event.prompt is not None or event.id


@ALL
def test_an_entry_without_data_becomes_a_problem_with_its_bytes(format_: AgentFormat) -> None:
    event = format_.parser(None).event(Entry(Place(3, 40, 10), b"{torn", None, "not JSON"))
    assert event.kind == "problem"
    assert event.problem is not None
    assert (event.problem.why, event.problem.raw, event.problem.mended) == ("not JSON", b"{torn", False)


@ALL
def test_an_entry_that_was_mended_is_understood_and_told(format_: AgentFormat) -> None:
    event = format_.parser(None).event(Entry(Place(3, 40, 10), b"raw", {"type": "x"}, "NUL bytes around it"))
    assert event.kind != "problem"
    assert event.problem is not None
    assert event.problem.mended


@ALL
def test_the_skimming_decoder_gives_plain_objects(format_: AgentFormat) -> None:
    assert format_.skimmer().decode(b'{"type":"tag","sessionId":"s"}') == {"type": "tag", "sessionId": "s"}


@ALL
@pytest.mark.parametrize(
    "given", [None, 7, "x", [], {}, {"questions": 3, "todos": [4], "plan": [], "taskId": {}, "prompt": 1}]
)
def test_a_dialect_takes_calls_of_any_shape(format_: AgentFormat, given: Any) -> None:
    dialect = format_.dialect(None, Facts())
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
def test_a_sidecar_of_any_shape_does_no_harm(format_: AgentFormat, sidecar: str, tmp_path: Path) -> None:
    path = tmp_path / "agent-a.meta.json"
    path.write_text(sidecar)
    transcript = Transcript([], Facts(), LogFile("x", 0))
    source = format_.agent(FoundAgent("x", "a", str(path)), transcript)
    assert (source.id, source.kind, source.call_id) == ("a", "", "")


@ALL
def test_companions_of_a_log_that_is_gone_are_none(format_: AgentFormat, tmp_path: Path) -> None:
    assert format_.companions(found(tmp_path / "gone.jsonl"), "slug") == []


@ALL
def test_a_project_without_a_folder_in_its_lines_is_called_as_its_folder(format_: AgentFormat) -> None:
    assert format_.project(Facts(), "-home-dev-x") == "-home-dev-x"


@ALL
def test_a_stranger_is_not_taken_for_one_of_the_formats_lines(format_: AgentFormat) -> None:
    assert not format_.sniff({})
    assert not format_.sniff({"level": "info", "msg": "started"})
