"""Files are there whole, private, or as they were before."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from unspool import files
from unspool.files import scratch_folder, write_atomically


def torn() -> Iterator[bytes]:
    yield b"the first half"
    raise RuntimeError("the disk is full")


def test_chunks_become_one_file_in_folders_made_for_it(tmp_path: Path) -> None:
    """The chunks stand in the file one after the other; missing folders are made."""
    path = tmp_path / "a" / "b.txt"
    write_atomically(path, (b"one ", b"two"))
    assert path.read_bytes() == b"one two"


def test_a_failure_in_the_middle_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    """What was there before is untouched, and no temporary file stays behind."""
    path = tmp_path / "kept.txt"
    path.write_bytes(b"the old text")
    with pytest.raises(RuntimeError, match="full"):
        write_atomically(path, torn())
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"kept.txt": b"the old text"}


def test_a_failure_to_move_leaves_no_temporary_file(tmp_path: Path) -> None:
    """A folder that stands where the file should go stops the write and stays as it is."""
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        write_atomically(tmp_path / "taken", (b"x",))
    assert [file.name for file in tmp_path.iterdir()] == ["taken"]


@pytest.mark.skipif(os.name != "posix", reason="modes are a matter of POSIX")
def test_a_file_is_its_owners_alone_even_where_an_open_one_was(tmp_path: Path) -> None:
    """Logs hold secrets: the mode is 0600, that of the folder made for it 0700."""
    path = tmp_path / "new" / "file"
    path.parent.mkdir(mode=0o755)
    path.write_bytes(b"")
    path.chmod(0o644)
    write_atomically(path, (b"x",))
    write_atomically(tmp_path / "made" / "file", (b"x",))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) & 0o077 == 0


def test_a_folder_is_not_swept_before_its_lock_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may sweep at any moment; what somebody who ended left goes then."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    lock, base = files.locked, tmp_path / "unspool" / "scratch"
    left = base / "1-left"
    left.mkdir(mode=0o700, parents=True)

    def sweep_first(descriptor: int) -> bool:
        monkeypatch.setattr(files, "locked", lock)
        (left / "lock").touch()
        files._swept.__wrapped__(base)
        return lock(descriptor)

    monkeypatch.setattr(files, "locked", sweep_first)
    with scratch_folder() as folder:
        (folder / "file").write_text("here")
        assert not left.exists()
        files._swept.__wrapped__(base)
        assert (folder / "file").read_text() == "here"
    assert list(base.iterdir()) == []
