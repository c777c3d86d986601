"""Sessions of pi are trees: the live conversation is the path to the last entry of the file, as pi itself goes on."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.agents.stories.pi import SESSION, answer, entry, message
from unspool.model import Session
from unspool.store.library import Library

HEADER = {
    "type": "session", "version": 3, "id": SESSION, "timestamp": "2026-04-20T06:08:00.000Z", "cwd": "/home/ada/quay",
}  # fmt: skip
TWO_TURNS = [
    message(0, "user", "Mend the quay"),
    answer(1, {"type": "text", "text": "Mended."}, usage={}, stop="stop"),
    message(2, "user", "And the light"),
    answer(3, {"type": "text", "text": "Lit."}, usage={}, stop="stop"),
]


def read(folder: Path, lines: list[dict[str, Any]]) -> Session:
    path = folder / f"2026-04-20T06-08-00-000Z_{SESSION}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [HEADER, *lines]))
    return Library([folder]).open(SESSION)


def typed(session: Session) -> list[str]:
    return [turn.prompt.text for turn in session.turns if turn.prompt is not None]


@pytest.mark.parametrize(
    "last",
    [
        entry(4, "branch_summary", fromId="00000003", summary="The light was lit."),
        entry(4, "model_change", provider="openai", modelId="gpt-5.5"),
        entry(4, "label", targetId="00000001", label="here"),
        entry(4, "hologram", shape="ship"),
    ],
    ids=lambda line: line["type"],
)
def test_pi_goes_on_from_the_last_entry_whatever_it_is(last: dict[str, Any], tmp_path: Path) -> None:
    back = last | {"parentId": "00000001"}
    renamed = entry(5, "session_info", name="The quay")
    for lines in ([*TWO_TURNS, back], [*TWO_TURNS, back, renamed]):
        session = read(tmp_path, lines)
        assert typed(session) == ["Mend the quay"]
        assert [turn.prompt.text for branch in session.branches for turn in branch.turns if turn.prompt] == [
            "And the light"
        ]
    assert typed(read(tmp_path, [*TWO_TURNS, last, renamed])) == ["Mend the quay", "And the light"]


@pytest.mark.parametrize("seed", range(40))
def test_the_live_conversation_of_any_tree_is_the_path_to_its_last_entry(seed: int, tmp_path: Path) -> None:
    chance, lines = Random(seed), [message(0, "user", "0")]
    for number in range(1, 30):
        parent = number - 1 if chance.random() < 0.7 else chance.randrange(number)
        made = (
            message(number, "user", str(number)),
            answer(number, {"type": "text", "text": "Yes."}, usage={}),
            entry(number, "label", targetId="00000000", label="x"),
        )
        lines.append(chance.choice(made) | {"parentId": f"{parent:08x}"})
    by_id, at, path = {line["id"]: line for line in lines}, lines[-1]["id"], []
    while at:
        path.append(by_id[at])
        at = by_id[at]["parentId"]
    asked = [one["message"]["content"] for one in reversed(path) if one.get("message", {}).get("role") == "user"]
    assert typed(read(tmp_path, lines)) == asked
