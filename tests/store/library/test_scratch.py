"""Folders for a while are private, go when they are done with, and do not pile up when a process is killed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from unspool import files as module
from unspool.files import scratch_folder

HOLDING = """
import sys
from unspool.files import scratch_folder
with scratch_folder() as folder:
    (folder / "secret.txt").write_text("words")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    module._swept.cache_clear()
    return tmp_path / "unspool" / "scratch"


@contextmanager
def holding() -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    """Another process that has a folder, and that folder."""
    command = [sys.executable, "-c", HOLDING]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, Path(process.stdout.readline().strip())
        finally:
            process.kill()


def test_a_folder_is_private_and_goes_with_its_block(base: Path) -> None:
    with scratch_folder() as folder:
        (folder / "some").mkdir()
        (folder / "some" / "file").write_text("words")
        assert folder.is_relative_to(base)
        assert [path.stat().st_mode & 0o077 for path in (base, *base.iterdir(), folder)] == [0, 0, 0]
        assert next(iter(base.iterdir())).name.startswith(f"{os.getpid()}-")
    assert list(base.iterdir()) == []


def test_what_a_killed_process_left_goes_at_the_next_start(base: Path) -> None:
    with holding() as (process, folder):
        process.kill()
        process.wait()
        assert (folder / "secret.txt").exists()
        with scratch_folder():
            assert not folder.parent.exists()
            assert len(list(base.iterdir())) == 1


def test_what_a_living_process_has_stays(base: Path) -> None:
    with holding() as (process, folder), scratch_folder():
        assert (folder / "secret.txt").exists()
        process.communicate("")
        assert not folder.exists()


def test_a_folder_that_is_just_being_made_stays_and_an_old_one_without_a_lock_goes(base: Path) -> None:
    young, old = base / "1-young", base / "2-old"
    for folder in (young, old):
        folder.mkdir(parents=True)
    os.utime(old, (0, 0))
    with scratch_folder():
        assert (young.exists(), old.exists()) == (True, False)


def test_where_the_cache_cannot_be_written_the_systems_folder_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch_folder() as folder:
        assert folder.is_relative_to(tmp_path)
        assert folder.parent.parent.name.startswith("unspool-")
        assert folder.parent.parent.stat().st_mode & 0o077 == 0
