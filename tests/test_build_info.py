"""The commit that a copy of unspool was made of."""

import subprocess
from pathlib import Path

import pytest

from unspool.build_info import commit


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with a package, and one commit."""
    top = tmp_path / "checkout"
    (top / "src/unspool").mkdir(parents=True)
    (top / "pyproject.toml").touch()
    git(top, "init", "-q", "-b", "main")
    git(top, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "First")
    return top


def git(top: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(top), *words], check=True, capture_output=True, text=True)  # noqa: S607
    return done.stdout.strip()


def test_a_checkout_tells_what_is_checked_out_however_git_keeps_it(checkout: Path, tmp_path: Path) -> None:
    """On a branch, with packed references, without a branch, and in a work tree."""
    made_of = git(checkout, "rev-parse", "HEAD")
    assert commit(str(checkout / "src/unspool")) == made_of
    git(checkout, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    (tmp_path / "tree/src/unspool").mkdir(parents=True)
    (tmp_path / "tree/pyproject.toml").touch()
    assert commit(str(tmp_path / "tree/src/unspool")) == made_of
    git(checkout, "pack-refs", "--all")
    assert commit(str(checkout / "src/unspool")) == commit(str(tmp_path / "tree/src/unspool")) == made_of
    git(checkout, "checkout", "-q", "--detach")
    assert commit(str(checkout / "src/unspool")) == made_of


def test_a_release_tells_what_was_written_into_it(checkout: Path) -> None:
    (checkout / "src/unspool/commit.txt").write_text("0123456789abcdef\n")
    assert commit(str(checkout / "src/unspool")) == "0123456789abcdef"


def test_a_repository_that_unspool_is_only_installed_in_tells_nothing(checkout: Path) -> None:
    (checkout / "pyproject.toml").unlink()
    assert commit(str(checkout / "src/unspool")) == ""
