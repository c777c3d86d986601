"""The checkout that a folder is in is known from files below `.git`: where it came from, and whose work tree it is."""

from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import library
from tests.site.pages import made
from unspool.agents.checkout import main_checkout, remote_address, web_remote
from unspool.store.library import Library
from unspool.store.library.kept_sessions import KeptSessions
from unspool.store.sync import sync

ORIGIN = (
    '[core]\n\tbare = false\n[remote "other"]\n\turl = https://b.test/x\n[remote "origin"]\n\turl = {}\n[branch "m"]\n'
)


def checkout(folder: Path, url: str = "git@code.example:team/shop.git") -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(ORIGIN.format(url))
    return folder


def linked(folder: Path, main: Path) -> Path:
    """A work tree of a checkout."""
    inside = main / ".git" / "worktrees" / folder.name
    inside.mkdir(parents=True)
    (inside / "commondir").write_text("../..\n")
    folder.mkdir(parents=True)
    (folder / ".git").write_text(f"gitdir: {inside}\n")
    return folder


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("git@github.com:team/shop.git", "https://github.com/team/shop"),
        ("https://github.com/team/shop.git", "https://github.com/team/shop"),
        ("https://ann:ghp_secret@github.com/team/shop", "https://github.com/team/shop"),
        ("https://x-token@code.example:8443/a/b/c.git", "https://code.example:8443/a/b/c"),
        ("ssh://git@code.example:2222/team/shop.git/", "https://code.example/team/shop"),
        ("http://code.example/team/shop", "https://code.example/team/shop"),
        ("code.example:team/shop", "https://code.example/team/shop"),
        ("git://code.example/team/shop", "https://code.example/team/shop"),
        ("/srv/git/shop.git", ""), ("file:///srv/git/shop", ""), ("../shop", ""), ("C:\\git\\shop", ""), ("", ""),
        ("javascript:alert(1)//a.b/c", ""), ("https://a.b/<script>", ""), ("https://code.example/../x", ""),
        ("https://localhost/team/shop", ""), ("ext::sh -c touch% x", ""), ("https://a.b/c d", ""),
        ("https://a.b/c\nhttps://d.e/f", ""),
    ],
)  # fmt: skip
def test_only_remotes_on_the_web_are_addresses_and_they_let_nobody_in(url: str, address: str) -> None:
    assert web_remote(url) == address


def test_the_origin_of_the_checkout_around_a_folder_is_found(tmp_path: Path) -> None:
    main = checkout(tmp_path / "shop")
    (main / "src" / "deep").mkdir(parents=True)
    tree = linked(tmp_path / "shop-fix", main)
    for folder in (main, main / "src" / "deep", tree):
        assert remote_address(str(folder)) == "https://code.example/team/shop"
    assert remote_address(str(tmp_path)) == remote_address("shop") == remote_address("") == ""


def test_a_git_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    checkout(tmp_path / "real")
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake" / ".git").symlink_to(tmp_path / "real" / ".git")
    assert remote_address(str(tmp_path / "fake")) == ""


def test_commits_and_files_of_a_session_are_linked_into_its_repository(tmp_path: Path) -> None:
    cwd = checkout(tmp_path / "shop")
    log = LogBuilder(cwd=str(cwd)).prompt("go").ran("git commit -m x", "[main 1a2b3c4] Mend the till\n 1 file changed")
    session = library(tmp_path / "claude", log).open(log.session_id)
    assert session.remote == "https://code.example/team/shop"
    assert "https://code.example/team/shop/commit/1a2b3c4" in "".join(made(session).values())


def test_a_folder_that_the_agent_did_not_file_the_log_under_is_not_looked_into(tmp_path: Path) -> None:
    cwd = checkout(tmp_path / "private")
    log = LogBuilder(cwd=str(cwd)).prompt("go")
    stray = tmp_path / "claude" / "projects" / "-elsewhere" / f"{log.session_id}.jsonl"
    stray.parent.mkdir(parents=True)
    stray.write_bytes(log.to_bytes())
    (alone,) = (Library([tmp_path / "claude"]).open(one) for one in Library([tmp_path / "claude"]).logs())
    assert alone.remote == ""
    (tmp_path / "x.jsonl").write_bytes(log.to_bytes())
    assert Library().open(tmp_path / "x.jsonl").remote == ""


@pytest.mark.parametrize("name", ["shop-fix", "shop/t3code-1a2b3c4d"])
def test_a_git_file_tells_whose_work_tree_a_folder_is(name: str, tmp_path: Path) -> None:
    main = checkout(tmp_path / "code" / "store")
    tree = linked(tmp_path / "trees" / name, main)
    (tree / "src").mkdir()
    assert main_checkout(str(tree)) == main_checkout(str(tree / "src")) == str(main)


def test_a_tree_that_is_gone_belongs_to_the_one_project_of_its_name(tmp_path: Path) -> None:
    main, tree = "/home/ann/code/shop", "/home/ann/.t3/worktrees/shop/t3code-1a2b3c4d"
    logs = [LogBuilder(seed=cwd, cwd=cwd).prompt("go") for cwd in (tree, main, "/home/ann/code/tide")]
    there = library(tmp_path / "claude", *logs)
    assert {one.project for one in there.overviews()} == {main, "/home/ann/code/tide"}
    late = tmp_path / "late"
    for log in logs:  # the tree's session is known before its project is
        log.write(late)
        sync(tmp_path / "kept", [late])
    kept = Library([late], kept=KeptSessions(tmp_path / "kept")).overviews()
    assert {one.project for one in kept} == {main, "/home/ann/code/tide"}


def test_a_tree_whose_name_two_projects_have_stays_by_itself(tmp_path: Path) -> None:
    cwds = ("/home/ann/.t3/worktrees/shop/t3code-1a2b3c4d", "/home/ann/code/shop", "/srv/shop")
    there = library(tmp_path, *(LogBuilder(seed=cwd, cwd=cwd).prompt("go") for cwd in cwds))
    assert {one.project for one in there.overviews()} == {"/home/ann/.t3/worktrees/shop", *cwds[1:]}
