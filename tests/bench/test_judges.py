"""The judges of clones in the benchmark: what is sound passes, what is not is told by each."""

import json
from pathlib import Path

import pytest

from bench.judges import judged, verdict
from tests.copies.made_logs import made

NAME = "0d1f6a52-7c1e-4b7b-9a54-0b1c2d3e4f50.jsonl"
LINES = made("2.1.230", [0, 1, 2, 3, 6])


def log(folder: Path, lines: list[bytes]) -> Path:
    path = folder / "projects" / "-work-tool" / NAME
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(line.rstrip(b"\n") + b"\n" for line in lines))
    return path


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    return log(tmp_path / "sound", LINES)


def test_a_sound_log_has_no_judge_against_it(sound: Path) -> None:
    found = verdict(sound, sound)
    assert found.messages > 3
    assert (found.faults, found.refusals) == ([], [])


def test_a_result_whose_call_is_gone_is_told_by_both(tmp_path: Path, sound: Path) -> None:
    """By our validator, and by the provider's rules."""
    lines = [line for line in LINES if b'"type":"tool_use"' not in line.replace(b'": "', b'":"')]
    assert len(lines) < len(LINES)
    found = verdict(log(tmp_path / "torn", _joined(lines)), sound)
    assert "orphan-result" in found.faults
    assert any("`tool_result`" in why for why in found.refusals)


def test_an_empty_log_is_nothing_to_go_on_with(tmp_path: Path) -> None:
    path = log(tmp_path / "empty", [b'{"type":"summary","summary":"x","leafUuid":"y"}'])
    assert "nothing to go on with" in verdict(path, path).faults


def test_a_bare_copy_keeps_the_ids_and_is_no_copy_of_ours(tmp_path: Path, sound: Path) -> None:
    found = verdict(log(tmp_path / "copy", LINES), sound)
    assert found.kept == len({json.loads(line)["uuid"] for line in LINES if b'"uuid"' in line})
    assert found.strict
    assert not found.faults


def test_a_process_of_its_own_says_the_same(sound: Path) -> None:
    assert judged([(sound, sound)]) == [verdict(sound, sound)]


def _joined(lines: list[bytes]) -> list[bytes]:
    """Lines whose parents are gone hang from the line before."""
    found: list[bytes] = []
    known: list[str] = []
    for line in lines:
        data = json.loads(line)
        if data.get("parentUuid") and data["parentUuid"] not in known and known:
            data["parentUuid"] = known[-1]
        known += [data["uuid"]] if "uuid" in data else []
        found.append(json.dumps(data).encode())
    return found
