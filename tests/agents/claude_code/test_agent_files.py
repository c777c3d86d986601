"""Every file of the sessions is named once, with its session, and whether the cleanup takes it."""

import os
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from unspool.agents import AGENTS
from unspool.agents.claude_code.agent_files import Companions
from unspool.agents.records import AgentFile, FoundLog, LeftoverFile

FORMAT = AGENTS[0]
SESSION = "0a0a0a0a-1111-4222-8333-444444444444"
OTHER = "0b0b0b0b-1111-4222-8333-444444444444"


def touch(root: Path, name: str, data: str = "content", at: float = 1_700_000_000) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data)
    os.utime(path, (at, at))
    return path


def all_kinds(root: Path) -> dict[str, tuple[str, str, bool]]:
    """Path to kind, session and whether it is swept."""
    project = "projects/-p"
    return {
        f"{project}/{SESSION}.jsonl": ("log", SESSION, True),
        f"{project}/{SESSION}.jsonl.gz": ("log", SESSION, False),
        f"{project}/{SESSION}/subagents/agent-a.jsonl": ("subagent", SESSION, True),
        f"{project}/{SESSION}/subagents/workflows/r/journal.jsonl": ("subagent", SESSION, True),
        f"{project}/{SESSION}/tool-results/t.txt": ("tool-result", SESSION, True),
        f"{project}/{SESSION}/odd.bin": ("other", SESSION, True),
        f"{project}/memory/MEMORY.md": ("memory", "", False),
        f"{project}/sessions-index.json": ("other", "", False),
        f"todos/{SESSION}-agent-{SESSION}.json": ("todos", SESSION, True),
        f"tasks/{SESSION}/1.json": ("task", SESSION, True),
        f"file-history/{SESSION}/abc@v1": ("file-history", SESSION, True),
        "plans/brave-otter.md": ("plan", "", True),
        "history.jsonl": ("history", "", False),
    }


def named(root: Path, found: list[AgentFile]) -> dict[str, tuple[str, str, bool]]:
    return {Path(one.path).relative_to(root).as_posix(): (one.kind, one.session_id, one.swept) for one in found}


def test_every_kind_of_file_is_named(tmp_path: Path) -> None:
    wanted = all_kinds(tmp_path)
    for name in (*wanted, "settings.json", "debug/x.txt", "shell-snapshots/s.sh"):
        touch(tmp_path, name)
    found = list(FORMAT.kept_files(tmp_path))
    assert named(tmp_path, found) == wanted
    assert {(one.size, one.modified) for one in found} == {(7, 1_700_000_000)}
    assert list(FORMAT.kept_files(tmp_path / "projects")) == found


def test_a_source_that_is_one_project_has_that_projects_files(tmp_path: Path) -> None:
    for name in all_kinds(tmp_path):
        touch(tmp_path, name)
    touch(tmp_path, f"projects/-q/{OTHER}.jsonl")
    wanted = {name: told for name, told in all_kinds(tmp_path).items() if name.startswith("projects/")}
    assert named(tmp_path, list(FORMAT.kept_files(tmp_path / "projects" / "-p"))) == wanted


@pytest.mark.parametrize("inside", ["", "-p/"])
def test_a_folder_that_only_holds_logs_is_a_source(inside: str, tmp_path: Path) -> None:
    touch(tmp_path, f"{inside}{SESSION}.jsonl")
    touch(tmp_path, f"{inside}{SESSION}/subagents/agent-a.jsonl")
    found = named(tmp_path, list(FORMAT.kept_files(tmp_path)))
    assert {told[1] for told in found.values()} == {SESSION}
    assert sorted(told[0] for told in found.values()) == ["log", "subagent"]


def test_every_file_that_a_session_leaves_is_named(tmp_path: Path) -> None:
    made = LogBuilder().prompt("go")
    use = made.agent_use("Explore", "d", "Look")
    made.assistant(use).subagent(use, "Explore", "d", lambda child: child.assistant(child.text("ok")))
    made.write(tmp_path)
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    found = named(tmp_path, list(FORMAT.kept_files(tmp_path)))
    assert set(found) == written
    assert {told[1] for told in found.values()} == {made.session_id}


def test_links_and_missing_folders_are_passed_over(tmp_path: Path) -> None:
    outside = touch(tmp_path, "outside/secret.jsonl").parent
    root = tmp_path / "root"
    (root / "projects" / "-p").mkdir(parents=True)
    (root / "projects" / "-q").symlink_to(outside)
    (root / "projects" / "-p" / f"{SESSION}.jsonl").symlink_to(outside / "secret.jsonl")
    (root / "projects" / "-p" / "loop").symlink_to(root)
    assert list(FORMAT.kept_files(root)) == []
    assert list(FORMAT.kept_files(tmp_path / "nowhere")) == []


def test_leavings_are_told_by_session_and_folder(tmp_path: Path) -> None:
    touch(tmp_path, f"file-history/{SESSION}/a@v1", at=100)
    touch(tmp_path, f"file-history/{SESSION}/a@v2", at=300)
    touch(tmp_path, f"todos/{SESSION}-agent-{SESSION}.json", "[]", at=50)
    touch(tmp_path, f"projects/-p/{OTHER}/tool-results/t.txt", at=70)
    touch(tmp_path, "tasks/a-team/1.json")
    touch(tmp_path, f"projects/-p/{OTHER}.jsonl")
    found = sorted(FORMAT.files.leftovers(tmp_path), key=lambda one: one.path)
    assert found == [
        LeftoverFile(SESSION, "file-history", f"file-history/{SESSION}", 2, 100, 300),
        LeftoverFile(OTHER, "session folder", f"projects/-p/{OTHER}", 1, 70, 70, "-p"),
        LeftoverFile(SESSION, "todos", f"todos/{SESSION}-agent-{SESSION}.json", 0, 50, 50),
    ]


@pytest.mark.parametrize(("below", "is_home"), [("", True), ("projects", True), ("projects/-p", True), ("else", False)])
def test_the_agents_folder_is_known_from_any_of_its_folders(below: str, is_home: bool, tmp_path: Path) -> None:
    touch(tmp_path, f"projects/-p/{SESSION}.jsonl")
    assert FORMAT.home(tmp_path / below) == (tmp_path if is_home else None)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    folder = tmp_path / "p" / "s" / "tool-results"
    folder.mkdir(parents=True)
    return folder


def beside(kept: Path) -> Companions:
    return Companions(FoundLog(str(kept.parent.parent / "s.jsonl"), "s", "", 0, 0.0))


def test_a_spilled_output_is_read_back(kept: Path) -> None:
    (kept / "x.txt").write_text("all of it")
    assert beside(kept).spill("x.txt") == "all of it"


def test_a_link_out_of_the_session_is_not_followed(kept: Path, tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("nobody's business")
    (kept / "x.txt").symlink_to(tmp_path / "private.txt")
    assert beside(kept).spill("x.txt") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_not_waited_for(kept: Path) -> None:
    os.mkfifo(kept / "x.txt")
    assert beside(kept).spill("x.txt") is None


@pytest.mark.parametrize("name", ["", "..", "../s.jsonl", "a/b", "a\\b", "x\0y"])
def test_only_names_are_taken_from_a_log(kept: Path, name: str) -> None:
    assert beside(kept).spill(name) is None
