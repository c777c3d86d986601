"""Whatever happens to a log on disk, it becomes rows: none of it ends a write."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.mutate import mutant
from tests.lake.lakes import TERMS, written
from tests.log_builder import demo_sessions
from tests.thorough import tries
from unspool.lake.group import GroupTask, LogTask, write_group
from unspool.store.library import Library

LOGS = [log.to_bytes() for log in demo_sessions()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mutants") / "projects" / "-p" / "aaaa1111-0000-4000-8000-000000000001.jsonl"
    path.parent.mkdir(parents=True)
    return path


@given(seed=st.integers(0, 2**32), log=st.integers(0, len(LOGS) - 1))
@settings(max_examples=tries(15, 500))
def test_a_damaged_log_becomes_rows(place: Path, seed: int, log: int) -> None:
    random = Random(seed)
    lines = LOGS[log].splitlines(keepends=True)
    at = random.randrange(len(lines))
    place.write_bytes(mutant(b"".join(lines[at : at + 25]), random))
    found = tuple(LogTask(one) for one in Library([place.parents[2]]).logs())
    done = write_group(GroupTask(found, TERMS, str(place.parents[2].parent / "lake")))
    assert done.failures == []


def test_damaged_logs_are_a_lake(tmp_path: Path) -> None:
    random = Random(7)
    for number in range(tries(12, 100)):
        path = tmp_path / "logs" / "projects" / "-p" / f"aaaa1111-0000-4000-8000-{number:012d}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(mutant(random.choice(LOGS), random))
    assert written(tmp_path / "lake", tmp_path / "logs").failures == []
    assert written(tmp_path / "lake", tmp_path / "logs").written == 0
