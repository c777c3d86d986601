"""`unspool context-files` and its kin as people see them: lists, versions, sessions, the search, forgetting."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run
from tests.context_scene import ContextScene, ago
from tests.store.sync.sessions import rested


@pytest.fixture
def scene(home: Path) -> ContextScene:
    """One project whose instructions changed once, with a session before and one after."""
    made = ContextScene(home)
    made.archive = home / "xdg_data_home" / "unspool"
    harbour = made.project("harbour")
    made.ran("early", harbour, ago(9), session_id="early-one")
    made.ran("late", harbour, ago(2), session_id="late-one")
    path = made.put(harbour / "CLAUDE.md", "Use the crane.\n", ago(20))
    made.put(made.agent / "settings.json", '{"model": "\x1b[2Jopus"}', ago(30))
    made.sync()
    made.put(path, "Use the crane.\nNever at night.\n", ago(5))
    rested()
    return made


def told(*arguments: str) -> Any:
    done = run("context-files", *arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_all_are_listed_with_versions_and_sessions(scene: ContextScene) -> None:
    path = str(scene.project("harbour") / "CLAUDE.md")
    first, second = told()["context_files"]
    assert (first["kind"], first["path"], first["versions"], first["sessions"]) == ("instructions", path, 2, 2)
    assert (second["kind"], second["sessions"]) == ("settings", 2)
    assert [one["kind"] for one in told("--kind", "settings")["context_files"]] == ["settings"]
    assert [one["path"] for one in told("--project", "harb")["context_files"]] == [path]
    assert len(told("-n", "1")["context_files"]) == 1
    shown = run("context-files")
    assert "CLAUDE.md" in shown.out
    assert run("context-files", "--kind", "plan").code == 1


def test_a_file_is_told_version_by_version_with_its_sessions_and_what_changed(scene: ContextScene) -> None:
    path = str(scene.project("harbour") / "CLAUDE.md")
    found = told(path, "--diff")
    assert [one["number"] for one in found["versions"]] == [2, 1]
    assert [[run["session"] for run in one["sessions"]] for one in found["versions"]] == [["late-one"], ["early-one"]]
    assert {run["how"] for one in found["versions"] for run in one["sessions"]} == {"by time"}
    assert found["versions"][0]["diff"]["added"] == 1
    shown = run("context-files", "harbour/CLAUDE.md", "--diff")
    assert "+Never at night." in shown.out
    assert "early-on" in shown.out
    assert "– today" in shown.out


def test_a_session_is_told_with_the_files_as_they_stood(scene: ContextScene) -> None:
    path = str(scene.project("harbour") / "CLAUDE.md")
    files = {one["path"]: one for one in told("early")["context_files"]}
    assert (files[path]["version"], files[path]["versions"], files[path]["current"]) == (1, 2, False)
    shown = run("context-files", "late-one")
    assert "2 of 2" in shown.out
    assert "\x1b[2J" not in shown.out + run("search", "kind:settings", "opus").out
    info = run("info", "late-one")
    assert "ran under" in info.out
    assert "see `unspool context-files late-one`" in " ".join(info.out.split())
    assert len(json.loads(run("info", "late-one", "--json").out)["context_files"]) == 2


def test_what_is_neither_is_said(scene: ContextScene) -> None:
    assert run("context-files", "nowhere.md").code == 3
    assert run("context-files", "nobody").code == 3
    assert run("context-files", "late-one", "--diff").code == 2
    assert run("context-files", "--kind", "odd").code == 2


def test_the_search_prints_files_after_sessions_and_alone_by_their_kind(scene: ContextScene) -> None:
    run("sync")
    both, alone = run("search", "mend OR crane"), run("search", "kind:instructions", "night")
    assert both.out.index("Please mend the") < both.out.index("Context files")
    assert both.code == alone.code == 0
    assert "version 2 of 2" in alone.out
    found = json.loads(run("search", "-k", "instructions", "crane", "--json").out)
    assert found["sessions"] == []
    assert found["context_files"][0]["current"] is True
    assert run("search", "kind:plan", "night").code == 1


def test_a_context_file_is_forgotten_by_its_path_and_let_in_again(scene: ContextScene) -> None:
    path = scene.project("harbour") / "CLAUDE.md"
    assert run("forget", str(path), "--json").code == 0  # without a yes nothing goes
    assert len(told(str(path))["versions"]) == 2
    done = run("forget", str(path), "--yes")
    assert done.code == 0, done.err
    assert "none found" in done.out
    assert run("context-files", str(path)).code == 3
    assert run("verify").code == 0
    assert run("archive", "unbury", str(path)).code == 0
    assert len(told(str(path))["versions"]) == 1
    assert "context file" in run("archive").out


def test_the_setting_leaves_the_folders_of_projects_alone(scene: ContextScene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_CONTEXT_FILES", "false")
    path = str(scene.project("harbour") / "CLAUDE.md")
    assert len(told(path)["versions"]) == 1
    monkeypatch.delenv("UNSPOOL_CONTEXT_FILES")
    assert len(told(path)["versions"]) == 2
