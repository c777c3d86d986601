"""`unspool commits` as people see it."""

import json
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.cli.test_blame import Written


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "source"))
    made = Written(tmp_path)
    monkeypatch.chdir(made.repository.top)
    return made


def test_commits_are_listed_with_sessions_and_shares(written: Written) -> None:
    done = run("commits", "--archive", written.archive)
    assert done.code == 0, done.err
    by_hand, agents = done.out.splitlines()[1:]
    assert "0%" in by_hand
    assert "100%" in agents
    assert "session-" in agents
    found = json.loads(run("commits", "HEAD~1", "-n", "1", "--archive", written.archive, "--json").out)["commits"]
    assert [(one["subject"], one["sessions"]) for one in found] == [("A quay", ["session-0"])]


def test_where_there_is_no_repository_or_commit_that_is_said(
    written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("commits", "no-such", "--archive", written.archive).code == 3
    monkeypatch.chdir(tmp_path)
    assert run("commits", "--archive", written.archive).code == 3
