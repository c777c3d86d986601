"""Files come back as they were, where they may, and nothing else is touched."""

import os
from pathlib import Path

import pytest

from tests.store.archive.making import kept, origin, text, write
from tests.store.archive.test_forget import belongs
from unspool.errors import Exists, UsageProblem
from unspool.store.archive import ArchiveDatabase, FileStatus, Keeper
from unspool.store.archive.forget import find_session_files
from unspool.store.archive.restore import RestoredFile, RestoreOptions, path_inside, restore

WHEN = 1_700_000_000_123_456_789


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    for number in range(3):
        path = write(root, "s/log", text(number, 3000))
        os.utime(path, ns=(WHEN, WHEN + number * 10**9))
        write(root, "s/deep/er", b"x" * number)
        kept(tmp_path / "archive", root)
    write(root, "other/log", b"of another session")
    kept(tmp_path / "archive", root)
    return root


def restored(root: Path, to: Path | None, wish: RestoreOptions = RestoreOptions()) -> list[RestoredFile]:  # noqa: B008  a value
    with ArchiveDatabase.open(root.parent / "archive", readonly=True) as archive:
        return restore(archive, find_session_files(archive, "s", belongs)[1], to, wish)


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_files_of_a_session_come_back(root: Path, tmp_path: Path) -> None:
    """Byte for byte, with their times, private to the user, and only they."""
    to = tmp_path / "out"
    assert {one.outcome for one in restored(root, to)} == {"written"}
    assert tree(to) == {"s/log": text(2, 3000), "s/deep/er": b"xx"}
    status = (to / "s/log").stat()
    assert (status.st_mtime_ns, status.st_mode & 0o777) == (WHEN + 2 * 10**9, 0o600)
    assert {one.outcome for one in restored(root, to)} == {"same"}


def test_earlier_generations(root: Path, tmp_path: Path) -> None:
    """One of them alone, or all side by side."""
    restored(root, tmp_path / "first", RestoreOptions(generation=1))
    assert tree(tmp_path / "first")["s/log"] == text(0, 3000)
    restored(root, tmp_path / "all", RestoreOptions(every=True))
    assert tree(tmp_path / "all")["s/log.generation-2"] == text(1, 3000)
    assert tree(tmp_path / "all")["s/log"] == text(2, 3000)
    with pytest.raises(UsageProblem, match="generation 9"):
        restored(root, tmp_path / "none", RestoreOptions(generation=9))


def test_other_content_is_not_overwritten(root: Path, tmp_path: Path) -> None:
    """Not without force; and then nothing at all is written."""
    to = tmp_path / "out"
    write(to, "s/log", b"something else")
    with pytest.raises(Exists, match="--force"):
        restored(root, to)
    assert tree(to) == {"s/log": b"something else"}
    outcomes = {one.path: one.outcome for one in restored(root, to, RestoreOptions(force=True))}
    assert outcomes == {str(to / "s/log"): "replaced", str(to / "s/deep/er"): "written"}
    assert tree(to)["s/log"] == text(2, 3000)


def test_into_the_folder_it_came_from(root: Path) -> None:
    """After the agent's own cleanup, the files are where they were."""
    before = tree(root)
    for name in ("s/log", "s/deep/er"):
        (root / name).unlink()
    restored(root, None)
    assert tree(root) == before


@pytest.mark.parametrize("path", ["../up", "a/../../up", "/etc/passwd", "", "a/\0b", ".."])
def test_no_path_leads_out(tmp_path: Path, path: str) -> None:
    """Whatever an archive claims its files are called."""
    with pytest.raises(UsageProblem):
        path_inside(tmp_path, path)


def test_no_link_leads_out(root: Path, tmp_path: Path) -> None:
    """A link in the target folder is not followed to somewhere else, nor replaced."""
    to = tmp_path / "out"
    (tmp_path / "elsewhere").mkdir()
    to.mkdir()
    (to / "s").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageProblem, match="link"):
        restored(root, to)
    (to / "s").unlink()
    write(to, "s/x", b"")
    (to / "s/log").symlink_to(tmp_path / "elsewhere" / "log")
    with pytest.raises(UsageProblem, match="link"):
        restored(root, to, RestoreOptions(force=True))
    assert tree(tmp_path / "elsewhere") == {}


def test_a_hostile_archive_writes_nothing(root: Path, tmp_path: Path) -> None:
    """One bad path, and none of the session's files is written."""
    folder = tmp_path / "hostile"
    with ArchiveDatabase.open(folder) as archive, Keeper(archive) as keeper:
        number = archive.origin(origin(root))
        for name in ("s/good", "s/../../../bad"):
            keeper.keep(number, name, root / "s/log", FileStatus.of((root / "s/log").stat()), None)
    with ArchiveDatabase.open(folder) as archive, pytest.raises(UsageProblem):
        restore(archive, find_session_files(archive, "s", belongs)[1], tmp_path / "out", RestoreOptions())
    assert not (tmp_path / "out").exists()
