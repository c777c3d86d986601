"""Files that were put aside before they were changed, as lines beside the conversation tell."""

from datetime import UTC, datetime
from typing import Any

import pytest

from unspool.agents.claude_code.agent_files import checkpoints
from unspool.agents.records import Checkpoint
from unspool.model import Place, SideLine

TIME, MOMENT = "2026-01-05T12:00:00Z", datetime(2026, 1, 5, 12, tzinfo=UTC)


def told(kind: str, **data: Any) -> list[Checkpoint]:
    return list(checkpoints([SideLine(Place(1, 0, 1), kind, data)] * 2, "/home/dev"))


def test_a_snapshot_tells_of_many_files_and_each_once() -> None:
    backups = {
        "a.py": {"backupFileName": "aa@v1", "backupTime": TIME},
        "/b.py": {"backupFileName": None, "backupTime": TIME},
        "C:\\c.py": {"backupFileName": "cc@v2", "backupTime": TIME},
    }
    assert told("file-history-snapshot", snapshot={"trackedFileBackups": backups}) == [
        Checkpoint("/home/dev/a.py", MOMENT, "aa@v1"),
        Checkpoint("/b.py", MOMENT, ""),
        Checkpoint("C:/c.py", MOMENT, "cc@v2"),
    ]


def test_a_delta_tells_of_one_file() -> None:
    backup = {"backupFileName": "aa@v1", "backupTime": TIME}
    found = told("file-history-delta", trackingPath="a.py", backup=backup)
    assert found == [Checkpoint("/home/dev/a.py", MOMENT, "aa@v1")]


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"snapshot": 5},
        {"snapshot": {"trackedFileBackups": {"a": 1, "b": {"backupTime": 7}, "c": {"backupTime": TIME}}}},
    ],
)
def test_odd_lines_tell_of_nothing(data: dict[str, Any]) -> None:
    assert told("file-history-snapshot", **data) == told("file-history-delta", **data) == told("mode", **data) == []
