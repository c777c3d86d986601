"""What is new in a line is noticed; what is known is not."""

import io
import json
from typing import Any

import pytest

from tests.reading.reading import jsonl
from unspool.agents.claude_code.known import BESIDE, CHAIN, survey, unknown
from unspool.demo import write_demo

NEW: list[tuple[dict[str, Any], list[str]]] = [
    ({"type": "tide-oracle"}, ["tide-oracle"]),
    ({"type": "user", "omen": "two words"}, ["user.omen"]),
    ({"type": "user", "omen": {"deep": [["two words"]]}}, ["user.omen"]),
    ({"type": "user", "omen": "word", "count": 3, "flag": True}, []),
    ({"type": "attachment", "attachment": {"type": "oracle"}}, ["attachment/oracle"]),
    ({"type": "system", "subtype": "oracle", "content": "some words"}, ["system/oracle"]),
    ({"type": "cost-state", "verdict": "too dear, really"}, ["cost-state.verdict"]),
    ({"type": "dev-mods", "verdict": "too dear, really"}, []),
    ({"type": ["user"]}, []),
    ({}, []),
]


@pytest.mark.parametrize(("line", "names"), NEW, ids=[json.dumps(line) for line, _ in NEW])
def test_what_is_new_is_named(line: dict[str, Any], names: list[str]) -> None:
    assert list(unknown(line)) == names
    assert sorted(survey(io.BytesIO(jsonl(line))).unknown) == sorted(names)


@pytest.mark.parametrize("kind", sorted({*CHAIN, *BESIDE}))
def test_a_known_type_is_not_new(kind: str) -> None:
    assert list(unknown({"type": kind, "sessionId": "s", "uuid": "u"})) == []


def test_a_survey_counts_and_names_the_first(tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("demo")
    write_demo(root)
    (path,) = root.glob("projects/*/2e1ea5e0-*.jsonl")
    with path.open("rb") as stream:
        found = survey(stream)
    assert {name: (one.count, one.version) for name, one in found.unknown.items()} == {
        "tide-oracle": (1, "2.1.300"),
        "barometer": (1, "2.1.300"),
    }
    lines = path.read_bytes().splitlines()
    assert all(name.encode() in lines[one.line - 1] for name, one in found.unknown.items())
    assert found.reported_cost == 0.3271


def test_requests_that_no_answer_names_are_unbilled() -> None:
    lines = (
        {"type": "api-request", "id": "a", "querySource": "compact"},
        {"type": "api-request", "id": "b", "querySource": "sdk"},
        {"type": "assistant", "requestRef": "b"},
    )
    assert survey(io.BytesIO(jsonl(*lines))).unbilled == ("compact",)


def test_damaged_lines_are_passed_over() -> None:
    data = b'{"type":"us\n\xff\xfe\n[1]\n' + jsonl({"type": "tide-oracle"})
    assert [one.line for one in survey(io.BytesIO(data)).unknown.values()] == [4]
