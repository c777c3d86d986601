"""Files and folders that are there whole or not at all."""

import os
import shutil
from pathlib import Path
from unittest import mock

import pytest

from unspool.site.build import disk
from unspool.site.build.disk import exchange_paths, lock_folder, swap_folder, sweep_folder, write_if_changed


def filled(folder: Path, words: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(words)
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_same_content_is_not_written_again(tmp_path: Path) -> None:
    """A file that holds the data already is left alone, down to its time."""
    path = tmp_path / "deep" / "a.txt"
    assert write_if_changed(path, b"one")
    before = path.stat().st_mtime_ns
    assert not write_if_changed(path, b"one")
    assert path.stat().st_mtime_ns == before
    assert write_if_changed(path, b"two")
    assert path.read_bytes() == b"two"
    assert names(path.parent) == ["a.txt"]


@pytest.mark.parametrize("before", [None, "old"])
def test_a_folder_is_swapped_in_when_complete(before: str | None, tmp_path: Path) -> None:
    """Until the block ends the old pages are there; then the new ones are, and nothing else."""
    target = tmp_path / "session"
    if before is not None:
        filled(target, before)
        (target / "page-009.html").write_text("gone soon")
    with swap_folder(target) as part:
        (part / "index.html").write_text("new")
        assert target.exists() == (before is not None)
    assert names(tmp_path) == ["session"]
    assert names(target) == ["index.html"]
    assert (target / "index.html").read_text() == "new"


def test_a_failure_leaves_the_old_folder(tmp_path: Path) -> None:
    """What was there stays when the making fails, and nothing lies beside it."""
    target = filled(tmp_path / "session", "old")
    with pytest.raises(FileNotFoundError), swap_folder(target) as part:
        (part / "no" / "such" / "folder.html").write_text("half")
    assert (target / "index.html").read_text() == "old"
    assert names(tmp_path) == ["session"]


def test_folders_change_places_in_one_step(tmp_path: Path) -> None:
    """Where the system can, two folders are exchanged: neither is missing at any moment."""
    one, other = filled(tmp_path / "one", "1"), filled(tmp_path / "other", "2")
    if not exchange_paths(one, other):
        pytest.skip("this system or file system cannot exchange paths")
    assert (one / "index.html").read_text() == "2"
    assert (other / "index.html").read_text() == "1"
    assert not exchange_paths(one, tmp_path / "missing")


def test_without_an_exchange_the_folder_is_moved_away_first(tmp_path: Path) -> None:
    """Systems that cannot exchange end with the same folder."""
    target = filled(tmp_path / "session", "old")
    with mock.patch.object(disk, "exchange_paths", return_value=False), swap_folder(target) as part:
        filled(part, "new")
    assert (target / "index.html").read_text() == "new"
    assert names(tmp_path) == ["session"]


def test_what_a_killed_run_left_is_swept_away(tmp_path: Path) -> None:
    """Half-made files and folders go; a folder that was moved away and never replaced comes back."""
    filled(tmp_path / ".a.77.part", "half")
    (tmp_path / ".index.html.77.part").write_text("half")
    filled(tmp_path / ".b.77.away", "old b")
    filled(tmp_path / "c", "new c")
    filled(tmp_path / ".c.77.away", "old c")
    filled(tmp_path / ".git", "not ours")
    sweep_folder(tmp_path)
    assert names(tmp_path) == [".git", "b", "c"]
    assert (tmp_path / "b" / "index.html").read_text() == "old b"
    assert (tmp_path / "c" / "index.html").read_text() == "new c"
    sweep_folder(tmp_path / "nowhere")


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has such locks")
def test_a_folder_is_held_by_one_run_at_a_time(tmp_path: Path) -> None:
    """A second run is told that the folder is taken, until the first lets it go."""
    with lock_folder(tmp_path) as first, lock_folder(tmp_path) as second:
        assert (first, second) == (True, False)
    with lock_folder(tmp_path) as third:
        assert third
    shutil.rmtree(tmp_path)
