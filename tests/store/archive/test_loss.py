"""Whatever happens while files are kept: what was safe stays safe, and the next run heals."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from tests.store.archive.making import HERE, clean, held, kept, lines, origin, text, write
from tests.thorough import tries
from unspool.errors import Busy, NoRoom, NotFound, Unreadable, UnspoolError
from unspool.store.archive import ArchiveDatabase, FileStatus, Keeper, database

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits are POSIX's")

KILLS = tries(5, 500)

CHILD = """
import sys
from pathlib import Path
from tests.store.archive.making import keep, lines
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.pack_writer import tidy_packs

root, folder = Path(sys.argv[1]), Path(sys.argv[2])
seed = int(sys.argv[3])
for step in range(100000):
    for name in ("a", "b"):
        with (root / name).open("ab") as stream:
            stream.write(lines(seed * 1000 + step, 30))
    if step % 7 == 3:
        (root / "c").write_bytes(lines(seed * 1000 + step, 40))
    with ArchiveDatabase.open(folder) as archive:
        keep(archive, root)
        tidy_packs(archive, 20)
    sizes = {name: (root / name).stat().st_size for name in ("a", "b")}
    print(*sizes.values(), flush=True)
"""


def test_killed_again_and_again(tmp_path: Path, repository: Path) -> None:
    """A process that keeps growing files is killed at any moment: all that it said was safe is, and verify is clean."""
    root, folder = tmp_path / "source", tmp_path / "archive"
    write(root, "c", lines(0, 40))
    chosen, met = random.Random(4), 0
    for number in range(KILLS):
        command = [sys.executable, "-c", CHILD, str(root), str(folder), str(number)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=repository, text=True) as child:
            assert child.stdout is not None
            first = [child.stdout.readline() for _ in range(chosen.randrange(1, 8))]
            time.sleep(chosen.uniform(0, 0.03))
            child.send_signal(signal.SIGKILL)
            said = [*first, *child.stdout.read().splitlines()]
        whole = [line.split() for line in said if len(line.split()) == 2]
        met += bool(whole)
        journal = folder / "archive.db-journal"
        met += journal.exists() and journal.stat().st_size > 0
        if number % 4 == 0:
            with ArchiveDatabase.open(folder, readonly=True) as reader:
                assert "a" in reader.kept(1)
        if number % 3 == 0 or number == KILLS - 1:
            clean(folder)
        for name, size in zip(("a", "b"), whole[-1], strict=True):
            data = last(folder, name)
            assert len(data) >= int(size)
            assert data == (root / name).read_bytes()[: len(data)]
    assert met
    kept(folder, root)
    for name in ("a", "b", "c"):
        assert last(folder, name) == (root / name).read_bytes()
    clean(folder)


def last(folder: Path, name: str) -> bytes:
    with ArchiveDatabase.open(folder) as archive:
        return archive.read(archive.kept(1)[name].generation)


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """No room: a clear message, all that was safe is there, and with room again the rest follows."""
    root, folder = tmp_path / "source", tmp_path / "archive"
    write(root, "a", lines(1, 500))
    kept(folder, root)
    before = held(folder)
    write(root, "b", random.Random(1).randbytes(3_000_000))
    write(root, "c", text(3, 1000))
    code = (
        "import sys, resource, signal; from pathlib import Path; from tests.store.archive.making import kept;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, {resource.RLIM_INFINITY}));"
        "kept(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), str(root)], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "archive.db" in done.stderr.splitlines()[-1]
    clean(folder)
    assert held(folder) == before
    assert kept(folder, root) == {"a": "same", "b": "new", "c": "new"}
    clean(folder)


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """A disk of a megabyte."""
    place.mkdir()
    command = ["/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield place
    finally:
        subprocess.run(["/bin/umount", str(place)], check=True)


def test_a_small_disk_is_full(tmp_path: Path) -> None:
    """The same with a disk that really has no room."""
    root = tmp_path / "source"
    write(root, "a", lines(1, 500))
    with small_disk(tmp_path / "disk") as disk:
        kept(disk / "archive", root)
        before = held(disk / "archive")
        path = write(root, "b", random.Random(1).randbytes(3_000_000))
        with ArchiveDatabase.open(disk / "archive") as archive:
            keeper = Keeper(archive)
            keeper.keep(1, "b", path, FileStatus.of(path.stat()), None)
            with pytest.raises(NoRoom, match="room"):
                keeper.commit()
            small = write(root, "c", b"small")
            keeper.keep(1, "c", small, FileStatus.of(small.stat()), None)
            keeper.commit()
        clean(disk / "archive")
        assert {name for _, name, _ in held(disk / "archive")} == {"a", "c"}
        assert {name: data for name, data in held(disk / "archive").items() if name in before} == before


def test_a_disk_that_is_read_only(tmp_path: Path) -> None:
    """A clear message to whoever would write; reading and verifying still work."""
    root = tmp_path / "source"
    write(root, "a", text(1, 1000))
    with small_disk(tmp_path / "disk") as disk:
        folder = disk / "archive"
        kept(folder, root)
        subprocess.run(["/bin/mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(Unreadable, match="Cannot write"):
            ArchiveDatabase.open(folder)
        with ArchiveDatabase.open(folder, readonly=True) as archive:
            assert archive.read(1) == text(1, 1000)
        clean(folder)


def test_a_locked_archive_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process holds it for too long: a clear message, and nothing is lost."""
    monkeypatch.setattr(database, "_WAIT_MS", 50)
    root, folder = tmp_path / "source", tmp_path / "archive"
    write(root, "a", text(1, 1000))
    kept(folder, root)
    before = held(folder)
    path = write(root, "b", text(2, 1000))
    with ArchiveDatabase.open(folder) as archive:
        other = apsw.Connection(str(folder / "archive.db"))
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Busy, match="another process"), Keeper(archive) as keeper:
            keeper.keep(1, "b", path, FileStatus.of(path.stat()), None)
        other.execute("ROLLBACK")
        other.close()
    assert held(folder) == before
    assert kept(folder, root)["b"] == "new"
    clean(folder)


def test_a_reader_that_does_not_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit that cannot be made is taken back whole, and told."""
    monkeypatch.setattr(database, "_WAIT_MS", 50)
    root, folder = tmp_path / "source", tmp_path / "archive"
    write(root, "a", text(1, 1000))
    kept(folder, root)
    path = write(root, "b", text(2, 1000))
    with ArchiveDatabase.open(folder) as archive, ArchiveDatabase.open(folder, readonly=True) as reader:
        reader.db.execute("BEGIN")
        reader.kept(1)
        keeper = Keeper(archive)
        keeper.keep(1, "b", path, FileStatus.of(path.stat()), None)
        with pytest.raises(Busy):
            keeper.commit()
        reader.db.execute("COMMIT")
        keeper.keep(1, "b", path, FileStatus.of(path.stat()), None)
        keeper.commit()
    assert {name for _, name, _ in held(folder)} == {"a", "b"}
    clean(folder)


def test_two_at_once(tmp_path: Path, repository: Path) -> None:
    """Several processes keep the same files at the same time: once each, and clean; the archive is new to all."""
    root, folder = tmp_path / "source", tmp_path / "archive"
    for number in range(12):
        write(root, f"{number}", text(number, 20_000))
    code = "import sys, pathlib; from tests.store.archive.making import kept; kept(*map(pathlib.Path, sys.argv[1:]))"
    command = [sys.executable, "-c", code, str(folder), str(root)]
    running = [subprocess.Popen(command, cwd=repository, stderr=subprocess.PIPE) for _ in range(4)]
    for child in running:
        _, said = child.communicate(timeout=60)
        assert child.returncode == 0, said
    assert sorted(number for _, _, number in held(folder)) == [1] * 12
    clean(folder)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A clear message; reading still works."""
    root, folder = tmp_path / "source", tmp_path / "archive"
    write(root, "a", text(1, 1000))
    kept(folder, root)
    before = held(folder)
    (folder / "archive.db").chmod(0o400)
    folder.chmod(0o500)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("root may write everywhere")
        with pytest.raises(Unreadable, match="Cannot write"):
            ArchiveDatabase.open(folder)
        with ArchiveDatabase.open(folder, readonly=True) as archive:
            assert archive.read(1) == next(iter(before.values()))
        clean(folder)
    finally:
        folder.chmod(0o700)
        (folder / "archive.db").chmod(0o600)


def test_no_folder_can_be_made(tmp_path: Path) -> None:
    """A file where the folder should be."""
    write(tmp_path, "archive", b"")
    with pytest.raises(Unreadable, match="Cannot write the archive"):
        ArchiveDatabase.open(tmp_path / "archive")


def test_something_else_is_not_taken_for_an_archive(tmp_path: Path) -> None:
    """Another database, another file, a newer version: told apart, and left as they are."""
    cases: list[tuple[Callable[[Path], object], str]] = [
        (lambda path: apsw.Connection(str(path)).execute("CREATE TABLE x(y)"), "no archive of unspool"),
        (lambda path: path.write_bytes(b"hello " * 5000), "encrypted, or damaged"),
        (_newer, "newer unspool"),
    ]
    for number, (make, error) in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        make(folder / "archive.db")
        data = (folder / "archive.db").read_bytes()
        with pytest.raises(UnspoolError, match=error):
            ArchiveDatabase.open(folder)
        assert (folder / "archive.db").read_bytes() == data


def test_an_empty_file_is_an_archive_to_be(tmp_path: Path) -> None:
    """A process killed as it made the archive leaves an empty file: readers say so, the next writer goes on."""
    write(tmp_path, "archive.db", b"")
    with pytest.raises(NotFound, match="sync"):
        ArchiveDatabase.open(tmp_path, readonly=True)
    ArchiveDatabase.open(tmp_path).close()
    clean(tmp_path)


def test_damage_met_on_the_way_is_told(tmp_path: Path) -> None:
    """Whoever lists or reads gets a sentence, whichever page is destroyed."""
    root, folder = tmp_path / "source", tmp_path / "archive"
    write(root, "a", text(1, 100_000))
    kept(folder, root)
    path = folder / "archive.db"
    whole = path.read_bytes()
    said = []
    for page in range(1, len(whole) // 8192):
        path.write_bytes(whole[: page * 8192] + random.Random(page).randbytes(8192) + whole[(page + 1) * 8192 :])
        try:
            assert held(folder) == {(HERE, "a", 1): text(1, 100_000)}
        except UnspoolError as error:
            said.append(str(error))
    assert len(said) > 3
    assert all("unspool verify" in one for one in said)


def _newer(path: Path) -> None:
    with ArchiveDatabase.open(path.parent) as archive:
        archive.origin(origin(path))
        archive.db.pragma("user_version", 99)
