"""Where there is no room, or no right to write, nothing is lost, and the next sync heals."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.store.archive.making import clean
from tests.store.sync.changing import held
from tests.store.sync.dumped import differing, dump
from tests.store.sync.killing import started
from tests.store.sync.sessions import full, noise, source, turn, write
from unspool.errors import NoRoom, Unreadable, UnspoolError
from unspool.store.archive import ArchiveDatabase
from unspool.store.sync import sync

linux = pytest.mark.skipif(sys.platform == "win32", reason="asks the system what Windows has not")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """`disk("size=2m")`: a small disk of its own; called again, the same one with other options."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted: list[str] = []

    def mount(options: str) -> Path:
        again = "remount," if mounted else ""
        command = ["mount", "-t", "tmpfs", "-o", f"{again}{options}", "tmpfs", str(place)]
        if (
            sys.platform != "linux"
            or os.getuid()
            or subprocess.run(command, capture_output=True, check=False).returncode
        ):
            pytest.skip("a small disk can be mounted by root alone")
        mounted.append(options)
        return place

    yield mount
    if mounted:
        subprocess.run(["umount", str(place)], check=True)  # noqa: S607  root's own


def limited(folder: Path, root: Path, limit: int) -> None:
    """Sync with files that may not grow beyond a limit; ends with 7 where that is told as it should be."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        sync(folder, [root])
    except UnspoolError:
        os._exit(7)


def test_a_full_disk_loses_nothing_and_the_next_sync_goes_on(
    root: Path, disk: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = disk("size=3m") / "archive"
    sync(folder, [root])
    before = held(folder)
    for number in range(6):
        path = root / f"projects/-p/s/tool-results/{number}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(noise(number, 700_000))
    write(root, [turn(full("aa"), 7)])
    with pytest.raises(NoRoom):
        sync(folder, [root])
    assert before.keys() <= held(folder).keys()
    with pytest.raises(NoRoom):
        sync(folder, [root])
    disk("size=30m")
    assert sync(folder, [root]).failures == []
    whole(folder, root, tmp_path)


def test_room_for_the_archive_and_none_for_the_index(root: Path, disk: Callable[[str], Path], tmp_path: Path) -> None:
    folder = disk("size=40m") / "archive"
    sync(folder, [root])
    write(root, [full(f"more{number}", 30) for number in range(6)])
    used = sum(path.stat().st_size for path in folder.iterdir())
    disk(f"size={used // 1024 + 160}k")
    with pytest.raises(UnspoolError):
        sync(folder, [root])
    disk("size=40m")
    assert sync(folder, [root]).failures == []
    whole(folder, root, tmp_path)


def test_a_read_only_disk_is_an_error_and_can_still_be_read(
    root: Path, disk: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = disk("size=30m") / "archive"
    sync(folder, [root])
    write(root, [turn(full("aa"), 7)])
    disk("ro,size=30m")
    with pytest.raises(Unreadable, match=r"[Rr]ead-only"):
        sync(folder, [root])
    with ArchiveDatabase.open(folder, readonly=True) as archive:
        assert all(archive.read(one.generation) for one in archive.kept(1).values() if one.size)
    disk("rw,size=30m")
    assert sync(folder, [root]).grown == 1
    whole(folder, root, tmp_path)


@linux
@pytest.mark.parametrize("limit", [60_000, 150_000, 400_000])
def test_a_limit_on_the_size_of_files_loses_nothing(root: Path, folder: Path, tmp_path: Path, limit: int) -> None:
    write(root, [full(f"more{number}", 10) for number in range(4)])
    (root / "projects/-home-dev-harbour/noise.bin").write_bytes(noise(1, 400_000))
    process = started(limited, folder, root, limit)
    process.join(60)
    assert process.exitcode == 7, "no error, or not one of ours"
    if (folder / "archive.db").exists():
        with ArchiveDatabase.open(folder) as archive:
            assert archive.origins() is not None
    assert sync(folder, [root]).failures == []
    whole(folder, root, tmp_path)


@linux
@pytest.mark.skipif(sys.platform == "win32" or os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_an_error(root: Path, folder: Path) -> None:
    folder.mkdir(mode=0o500)
    with pytest.raises(Unreadable):
        sync(folder, [root])


def whole(folder: Path, root: Path, tmp_path: Path) -> None:
    """All is kept, once, and indexed as if nothing had happened."""
    assert held(folder) == {(name, 1): data for name, data in source(root).items()}
    clean(folder)
    sync(tmp_path / "other", [root])
    assert differing(dump(folder), dump(tmp_path / "other")) == {}
