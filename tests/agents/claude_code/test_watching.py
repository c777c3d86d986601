"""What a watch looks at is all that a session leaves, and none of the agent's programs and caches."""

from pathlib import Path

import pytest

from unspool.agents.claude_code.agent_files import agent_files, watched_paths
from unspool.demo import write_demo


@pytest.mark.parametrize("below", ["", "projects"])
def test_every_file_that_is_kept_is_watched(tmp_path: Path, below: str) -> None:
    """Of the agent's folder, whether it is named itself or its projects."""
    home = write_demo(tmp_path / "agent")
    for name in ("plans/p.md", "tasks/s/1.json", "todos/s-agent-s.json", "file-history/s/h@v1", "history.jsonl"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("x")
    (home / "plugins" / "node_modules").mkdir(parents=True)
    watched = watched_paths(home / below)
    kept = [Path(one.path) for one in agent_files(home / below)]
    assert len(kept) > 5
    assert [path for path in kept if not any(root in (path, *path.parents) for root in watched)] == []
    assert not any(root in (home / "plugins" / "node_modules").parents for root in watched)


def test_a_folder_of_logs_is_watched_whole(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text("{}\n")
    assert watched_paths(tmp_path) == [tmp_path]


def test_a_folder_that_is_not_there_is_watched_for(tmp_path: Path) -> None:
    assert watched_paths(tmp_path / "none") == [tmp_path / "none"]
