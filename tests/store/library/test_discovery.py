"""Every log an agent keeps is found with its companions, wherever it lies, and nothing is followed twice."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.lines import asked
from tests.reading.reading import jsonl, library
from unspool.errors import NotFound, Unreadable
from unspool.store.library import Library, sessions


def log(seed: str = "a", **fields: Any) -> LogBuilder:
    made = LogBuilder(seed=seed, **fields).prompt(f"task {seed}")
    return made.assistant(made.text("ok"))


def ids(there: Library) -> set[str]:
    return {found.session_id for found in there.logs()}


def test_the_folder_that_the_environment_names_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = log()
    one.write(tmp_path)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert [shown.id for shown in sessions()] == [one.session_id]


def test_the_environment_may_name_several_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = log("a"), log("b")
    one.write(tmp_path / "x")
    two.write(tmp_path / "y")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", f"{tmp_path}/x, {tmp_path}/y")
    assert {shown.id for shown in sessions()} == {one.session_id, two.session_id}


def test_without_it_both_usual_folders_are_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = log("a"), log("b")
    one.write(home / ".claude")
    two.write(home / ".config" / "claude")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert {shown.id for shown in sessions()} == {one.session_id, two.session_id}


def test_a_home_without_logs_has_no_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert sessions() == ()


@pytest.mark.parametrize("form", ["root", "projects", "project"])
def test_a_source_may_hold_projects_or_be_them_or_be_one(form: str, tmp_path: Path) -> None:
    one = log()
    path = one.write(tmp_path)
    source = {"root": tmp_path, "projects": tmp_path / "projects", "project": path.parent}[form]
    assert ids(Library([source])) == {one.session_id}


def test_a_source_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no folder"):
        Library([tmp_path / "gone"]).logs()


def test_several_sources_are_read_together_newest_first(tmp_path: Path) -> None:
    old, new = log("a"), log("b")
    os.utime(old.write(tmp_path / "x"), (1, 1))
    new.write(tmp_path / "y")
    assert [found.session_id for found in Library([tmp_path / "x", tmp_path / "y"]).logs()] == [
        new.session_id,
        old.session_id,
    ]


@pytest.mark.parametrize("version", ["2.0.30", "2.1.3", "2.1.230"])
def test_agents_beside_and_below_belong_to_their_session(version: str, tmp_path: Path) -> None:
    made = LogBuilder(version=version).prompt("go")
    use = made.agent_use("Explore", "d", "Look")
    made.assistant(use).subagent(use, "Explore", "d", lambda child: child.assistant(child.text("ok")))
    (found,) = library(tmp_path, made).logs()
    assert found.session_id == made.session_id
    assert [agent.id for agent in found.agents] == [child.agent for child in made.children]
    assert found.total_size > found.size


def test_an_agent_whose_session_is_gone_is_a_session_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "projects" / "-p" / "agent-abc.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(jsonl(asked("a", "Look", isSidechain=True, agentId="abc")))
    (shown,) = Library([tmp_path]).overviews()
    assert (shown.id, shown.kind) == ("agent-abc", "subagent")


def test_journals_backups_and_memories_are_no_sessions(tmp_path: Path) -> None:
    one = log()
    folder = one.write(tmp_path).parent
    (folder / "journal.jsonl").write_bytes(jsonl({"type": "started"}))
    (folder / f"{one.session_id}.jsonl.backup").write_bytes(b"{}\n")
    (folder / "memory").mkdir()
    (folder / "memory" / "MEMORY.md").write_text("x")
    (folder / "sessions-index.json").write_text("{}")
    assert ids(Library([tmp_path])) == {one.session_id}


@pytest.mark.parametrize("name", ["%2Fhome%2Fdev%2Fharbour", "%2fhome%2fdev%2fharbour"])
def test_a_folder_named_by_an_encoded_path_is_understood(name: str, tmp_path: Path) -> None:
    made = LogBuilder(cwd="").ai_title("x")
    path = tmp_path / "projects" / name / f"{made.session_id}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(made.to_bytes())
    (shown,) = Library([tmp_path]).overviews()
    assert shown.project == "/home/dev/harbour"


def test_a_project_is_named_by_its_lines_and_never_by_its_folder(tmp_path: Path) -> None:
    one = log(cwd="/home/dev/my-nice.app_2")
    (shown,) = library(tmp_path, one).overviews()
    assert shown.project == "/home/dev/my-nice.app_2"
    assert library(tmp_path).open(one.session_id).project == "/home/dev/my-nice.app_2"


def test_a_worktree_belongs_to_its_project(tmp_path: Path) -> None:
    main, tree = tmp_path / "code" / "app", tmp_path / "code" / "app-fix"
    tree.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {main}/.git/worktrees/fix\n")
    logs = [log("a", cwd=str(main)), log("b", cwd=str(tree)), log("c", cwd=f"{main}/.claude/worktrees/quick")]
    assert {shown.project for shown in library(tmp_path / "home", *logs).overviews()} == {str(main)}


def test_a_worktree_that_its_log_records_belongs_to_its_project(tmp_path: Path) -> None:
    one = log(cwd="/gone/tree").side(
        "worktree-state", worktreeSession={"originalCwd": "/home/dev/app", "worktreePath": "/gone/tree"}
    )
    (shown,) = library(tmp_path, one).overviews()
    assert shown.project == "/home/dev/app"


def test_a_session_that_was_relocated_belongs_to_its_new_folder(tmp_path: Path) -> None:
    one = log().side("relocated", relocatedCwd="/home/dev/new")
    (shown,) = library(tmp_path, one).overviews()
    assert shown.project == "/home/dev/new"


def test_sessions_in_one_folder_belong_to_one_project_though_it_moved(tmp_path: Path) -> None:
    old, new = log("a", cwd="/old/app"), log("b", cwd="/new/app")
    there = library(tmp_path, new)
    folder = tmp_path / new.folder
    (folder / f"{old.session_id}.jsonl").write_bytes(old.to_bytes())
    assert {shown.project for shown in there.overviews()} == {"/new/app"}


def test_a_folder_without_permission_hides_only_itself(tmp_path: Path) -> None:
    one, two = log("a", cwd="/p/a"), log("b", cwd="/p/b")
    there = library(tmp_path, one, two)
    closed = tmp_path / two.folder
    closed.chmod(0)
    try:
        if os.access(closed, os.R_OK):
            pytest.skip("this user may read everything")
        assert ids(there) == {one.session_id}
    finally:
        closed.chmod(0o700)


def test_a_log_without_permission_is_a_failure_of_the_listing_only(tmp_path: Path) -> None:
    one, two = log("a"), log("b")
    there = library(tmp_path, one, two)
    path = tmp_path / two.path
    path.chmod(0)
    try:
        if os.access(path, os.R_OK):
            pytest.skip("this user may read everything")
        listing = there.listing()
        assert [shown.id for shown in listing.overviews] == [one.session_id]
        assert len(listing.failures) == 1
        with pytest.raises(Unreadable):
            there.open(two.session_id)
    finally:
        path.chmod(0o600)


def test_a_log_that_vanishes_between_finding_and_reading_is_a_failure_of_the_listing_only(tmp_path: Path) -> None:
    one, two = log("a"), log("b")
    there = library(tmp_path, one, two)
    there.logs()
    (tmp_path / two.path).unlink()
    listing = there.listing()
    assert [shown.id for shown in listing.overviews] == [one.session_id]
    assert len(listing.failures) == 1


def test_an_agents_log_that_vanishes_does_not_hide_its_session(tmp_path: Path) -> None:
    made = LogBuilder().prompt("go")
    use = made.agent_use("Explore", "d", "Look")
    made.assistant(use).subagent(use, "Explore", "d", lambda child: child.assistant(child.text("ok")))
    there = library(tmp_path, made)
    there.logs()
    (tmp_path / made.children[0].path).unlink()
    assert [shown.id for shown in there.overviews()] == [made.session_id]
    assert there.open(made.session_id).turns


def test_links_that_lead_in_a_circle_are_not_followed_for_ever(tmp_path: Path) -> None:
    one = log()
    folder = one.write(tmp_path).parent
    (folder / one.session_id).mkdir()
    (folder / one.session_id / "subagents").symlink_to(folder, target_is_directory=True)
    (tmp_path / "projects" / "loop").symlink_to(tmp_path / "projects", target_is_directory=True)
    (folder / "ffffffff-0000-4000-8000-000000000000.jsonl").symlink_to(
        folder / "ffffffff-0000-4000-8000-000000000000.jsonl"
    )
    there = Library([tmp_path])
    assert one.session_id in ids(there)
    assert one.session_id in {shown.id for shown in there.overviews()}


def test_an_empty_file_is_an_empty_session(tmp_path: Path) -> None:
    path = log().write(tmp_path)
    path.write_bytes(b"")
    there = Library([tmp_path])
    (shown,) = there.overviews()
    assert (shown.kind, shown.lines, shown.turns) == ("empty", 0, 0)
    assert there.open(shown.id).kind == "empty"


def test_a_folder_that_is_called_like_a_log_does_no_harm(tmp_path: Path) -> None:
    one = log()
    folder = one.write(tmp_path).parent
    (folder / "eeeeeeee-0000-4000-8000-000000000000.jsonl").mkdir()
    there = Library([tmp_path])
    assert {shown.id for shown in there.overviews()} == {one.session_id}


def test_spilled_outputs_plans_and_lists_are_the_sessions_companions(tmp_path: Path) -> None:
    one = log(slug="quiet-tide")
    one.file("plans/quiet-tide.md", b"# P").file(f"todos/{one.session_id}-agent-{one.session_id}.json", b"[]")
    one.file(f"tasks/{one.session_id}/1.json", b"{}").file(f"{one.folder}/{one.session_id}/tool-results/x.txt", b"y")
    there = library(tmp_path, one)
    found = there.companions(there.open(one.session_id))
    assert sorted((companion.kind, Path(companion.path).name) for companion in found) == [
        ("plan", "quiet-tide.md"),
        ("task", "1.json"),
        ("todos", f"{one.session_id}-agent-{one.session_id}.json"),
        ("tool-result", "x.txt"),
    ]


def test_a_copy_of_a_project_elsewhere_is_read_as_it_is(tmp_path: Path) -> None:
    one = log()
    path = one.write(tmp_path / "home")
    shutil.copytree(path.parent, tmp_path / "backup")
    assert ids(Library([tmp_path / "backup"])) == {one.session_id}


def test_a_folder_with_the_name_of_a_log_is_none(tmp_path: Path) -> None:
    log = LogBuilder().prompt("Hello.").write(tmp_path)
    (log.parent / "folder.jsonl").mkdir()
    (log.parent / "agent-a1.jsonl").mkdir()
    assert [found.path for found in Library((tmp_path,)).logs()] == [str(log)]


def test_a_subagent_is_named_by_its_id(tmp_path: Path) -> None:
    log = LogBuilder()
    use = log.agent_use("Explore", "Look", "Look around.")
    log.prompt("Begin.").assistant(use).subagent(use, "Explore", "Look", lambda one: one.assistant(one.text("Seen.")))
    path = log.write(tmp_path)
    library = Library((tmp_path,))
    (agent,) = library.open(path).agents
    for name in (f"agent-{agent.id}", agent.id, f"agent-{agent.id[:4]}"):
        session = library.open(name)
        assert (session.id, session.kind) == (f"agent-{agent.id}", "subagent")
        assert [turn.prompt.text for turn in session.turns if turn.prompt] == ["Look around."]
    with pytest.raises(NotFound):
        library.open("agent-nobody")
