"""`unspool story` as people see it: in the terminal, as JSON, and as a page without what must not leave."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.store.index.synced import kept
from tests.store.library.test_change_story import PULL, commit, harbour, session

KEY = "ghp_" + "Zk3mQ9vB1xT7cY5nL0pR8sW2dF6hJ4gA1eUi"


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = kept(tmp_path, *harbour())
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "source"))
    monkeypatch.chdir(tmp_path)
    return str(folder)


def test_a_story_is_told_in_the_order_of_its_sessions(archive: str) -> None:
    done = run("story", PULL, "--archive", archive)
    assert done.code == 0, done.err
    lines = [line.strip() for line in done.out.splitlines()]
    assert lines[0].startswith("harbour/quay#12  3 sessions")
    assert "abc1234  A quay of granite" in lines
    roles = [line for line in lines if line.startswith("2026-")]
    assert ["tried the same" in roles[0], "made it" in roles[1], "made it" in roles[2]] == [True] * 3
    assert "1  Build it of granite" in lines


def test_a_story_as_json_holds_every_step(archive: str) -> None:
    found = json.loads(run("story", "abc1234", "--archive", archive, "--json").out)
    assert [step["session"] for step in found["steps"]] == ["tried", "begun"]
    assert (found["of"]["kind"], found["title"]) == ("commit", "A quay of granite")


def test_what_nobody_made_ends_with_3(archive: str) -> None:
    done = run("story", "no-such", "--archive", archive)
    assert (done.code, done.err) == (3, "unspool: No session that is kept made branch no-such.\n")


def test_a_rebased_commit_is_found_by_the_repository_of_the_folder(
    archive: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(repository)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "A quay of granite"], check=True)
    monkeypatch.chdir(repository)
    done = run("story", "HEAD", "--archive", archive, "--json")
    assert done.code == 0, done.err
    assert [step["session"] for step in json.loads(done.out)["steps"]] == ["tried", "begun"]
    assert run("story", "--archive", archive, "--", "--output=x").code == 3


def test_a_page_is_redacted_unless_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = session("made", 1, f"Build it with {KEY}").wrote("/home/dev/quay/quay.py", "granite\n")
    folder = str(kept(tmp_path, commit(log, "abc1234", "main", f"A quay by {KEY}")))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "source"))
    page, private = tmp_path / "story.html", tmp_path / "private.html"
    done = run("story", "abc1234", "--archive", folder, "-o", str(page))
    assert done.code == 0, done.err
    assert run("story", "abc1234", "--archive", folder, "-o", str(private), "--no-redact").code == 0
    assert KEY not in page.read_text()
    assert "A quay by" in page.read_text()
    assert "redacted:" in page.read_text()
    assert KEY in private.read_text()
    figures = re.compile(r"\d+ sessions?|[\d.]+ ?[kM]? tokens|≥?\$[\d.]+|\+\d+")
    assert figures.findall(page.read_text()) == figures.findall(private.read_text())
    assert run("story", "abc1234", "--archive", folder, "--no-redact").code == 2
