"""Paths in a session that goes elsewhere: renamed alike wherever they are meant, and nowhere else."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.running import run
from tests.copies.making import faults
from tests.log_builder.builder import LogBuilder
from unspool.agents.claude_code.writing.moving import path_renames
from unspool.agents.renaming import rename_in_file, rename_in_line

OLD, NEW = "/home/dev/harbour", "/srv/port"
SAME = ("/a", "/a")


def text(words: str, old: str = OLD, new: str = NEW) -> str:
    """The words, as a line that is moved has them."""
    made: dict[str, str] = json.loads(rename_in_line(json.dumps({"x": words}).encode(), path_renames(old, new, SAME)))
    return made["x"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("/home/dev/harbour", "/srv/port"),
        ("see /home/dev/harbour/a.py:3.", "see /srv/port/a.py:3."),
        ("in /home/dev/harbour.", "in /srv/port."),
        ('"/home/dev/harbour"', '"/srv/port"'),
        ("PATH=/home/dev/harbour/bin:/home/dev/harbour", "PATH=/srv/port/bin:/srv/port"),
        ("file:///home/dev/harbour/x", "file:///srv/port/x"),
        ("/home/dev/harbour2/x", "/home/dev/harbour2/x"),
        ("/home/dev/harbour-old", "/home/dev/harbour-old"),
        ("/home/dev/harbour.git", "/home/dev/harbour.git"),
        ("/mnt/home/dev/harbour", "/mnt/home/dev/harbour"),
        ("~/.claude/projects/-home-dev-harbour/x.jsonl", "~/.claude/projects/-srv-port/x.jsonl"),
        ("-home-dev-harbour", "-home-dev-harbour"),
    ],
)
def test_whole_paths_and_their_beginnings(before: str, after: str) -> None:
    assert text(before) == after


@pytest.mark.parametrize("old", ["/", "/a", "C:\\", "x", "."])
def test_a_folder_of_a_short_name_is_only_known_where_it_stands_alone(old: str) -> None:
    """Words, flags and divisions are not paths."""
    words = "and/or a / b; ls -a /a x . C:\\ -"
    assert text(words, old) == words
    line = rename_in_line(json.dumps({"cwd": old, "type": "x", ".": "x"}).encode(), path_renames(old, NEW, SAME))
    assert json.loads(line) == {"cwd": NEW, "type": "x", ".": "x"}


def test_the_users_folder_and_the_agents_change_with_the_user() -> None:
    pairs = path_renames("/home/dev/harbour", "/Users/eve/port", ("/x/.claude", "/Users/eve/.claude"))
    line = rename_in_line(
        json.dumps({"x": ["/home/dev/harbour/a", "/home/dev/.ssh", "/home/dev/.claude/plans/p.md"]}).encode(), pairs
    )
    assert json.loads(line)["x"] == ["/Users/eve/port/a", "/Users/eve/.ssh", "/Users/eve/.claude/plans/p.md"]


def test_a_session_in_the_users_own_folder_goes_where_it_is_told() -> None:
    pairs = dict(path_renames("/home/dev", "/home/eve/work", ("", "/home/eve/.claude")))
    assert pairs["/home/dev"] == "/home/eve/work"


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_folders_give_valid_lines(old: str, new: str) -> None:
    """Quotes, newlines, backslashes: what was JSON is JSON, and the folder is the new one."""
    line = json.dumps({"cwd": old, "deep": [{old: old}]}).encode("utf-8", "replace")
    made = json.loads(rename_in_line(line, path_renames(old, new, SAME)))
    assert made["cwd"] == (new if old else "")
    data = json.dumps({"worktreePath": f"/{old}"}).encode("utf-8", "replace")
    assert json.loads(rename_in_file(data, path_renames(f"/{old}", new, SAME)))["worktreePath"] == new


def test_a_file_that_is_no_text_stays() -> None:
    data = b"\xff\xfe/home/dev/harbour"
    assert rename_in_file(data, path_renames(OLD, NEW, SAME)) == data
    assert rename_in_file(b"in /home/dev/harbour/x\n{", path_renames(OLD, NEW, SAME)) == b"in /srv/port/x\n{"


def session(words: str, **options: Any) -> LogBuilder:
    log = LogBuilder(seed=words, **options)
    log.prompt(words).ran(f"ls {log.cwd}", f"{log.cwd}/a.py\n")
    return log.assistant(log.text("Listed."))


@pytest.fixture
def project(home: Path) -> Path:
    """Two sessions and a stub in one project, another elsewhere."""
    for words in ("First?", "Second?"):
        session(words).write(home / ".claude")
    (home / ".claude" / "projects" / "-home-dev-harbour" / "0a0b0c0d-1111-4222-8333-444455556666.jsonl").write_text(
        "{}\n"
    )
    session("Elsewhere?", cwd="/home/dev/light").write(home / ".claude")
    return home / ".claude" / "projects"


def test_a_project_moves_with_all_of_its_sessions(project: Path, tmp_path: Path) -> None:
    done = run("move", "/home/dev/harbour", "--to", str(tmp_path / "port"), "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert len(told["sessions"]) == 2
    assert len(told["failed"]) == 1
    for one in told["sessions"]:
        path = Path(one["files"][0]["path"])
        lines = path.read_bytes().splitlines(keepends=True)
        assert faults(lines) == []
        assert b"/home/dev/harbour" not in b"".join(lines)
        assert {json.loads(line).get("cwd", str(tmp_path / "port")) for line in lines} == {str(tmp_path / "port")}
        assert path.parent.parent == project
    assert len(list((project / "-home-dev-harbour").glob("*.jsonl"))) == 3


def test_a_project_is_known_by_the_agents_name_for_it_too(project: Path, tmp_path: Path) -> None:
    done = run("move", "-n", "--to", str(tmp_path), "--", "-home-dev-harbour")
    assert done.code == 0, done.err
    assert done.out.count("Nothing was written") == 2
    assert "Left out: " in done.err


def test_a_project_of_nothing_that_can_move_is_an_error(home: Path, tmp_path: Path) -> None:
    folder = home / ".claude" / "projects" / "-x"
    folder.mkdir(parents=True)
    (folder / "0a0b0c0d-1111-4222-8333-444455556666.jsonl").write_text("{}\n")
    assert run("move", "/x", "--to", str(tmp_path)).code in (2, 11)
    assert run("move", "/nothing/there", "--to", str(tmp_path)).code == 3
    assert run("move", "/x", "--to", str(tmp_path), "-o", str(tmp_path / "file")).code == 2


def test_the_way_to_a_folder_is_made_plain(project: Path, home: Path, tmp_path: Path) -> None:
    """`..` and links do not get into a session: the agent knows a folder by its real path."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    log = next(project.glob("-home-dev-light/*.jsonl"))
    done = json.loads(run("move", log.stem, "--to", str(tmp_path / "x" / ".." / "link"), "--json").out)
    assert done["cwd"] == str(tmp_path / "real")


def test_what_was_moved_is_undone_without_a_trace(project: Path, home: Path, tmp_path: Path) -> None:
    def held() -> list[Path]:
        return sorted((home / ".claude").rglob("*"))

    before = held()
    log = next(project.glob("-home-dev-light/*.jsonl"))
    assert run("move", log.stem, "--to", str(tmp_path)).code == 0
    assert held() != before
    assert run("clone", "--undo").code == 0
    assert held() == before


def test_into_another_users_folder(project: Path, tmp_path: Path) -> None:
    eve = tmp_path / "eve" / ".claude"
    log = next(project.glob("-home-dev-light/*.jsonl"))
    told = json.loads(run("move", log.stem, "--to", "/home/eve/tool", "--into", str(eve), "--json").out)
    path = Path(told["files"][0]["path"])
    assert path == eve / "projects" / "-home-eve-tool" / f"{told['session']}.jsonl"
    assert b"/home/dev" not in path.read_bytes()
