"""What goes wrong around a store is told, and nothing that was kept is lost."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from tests.hub.store.filling import filled, refer
from unspool.hub.errors import Conflict, StoreFull, StoreUnavailable
from unspool.hub.store.connect import FOLDER, Store, StorePlace, open_store
from unspool.hub.store.verify import verify

_SET = "INSERT INTO setting(key, value) VALUES(?, ?)"


@pytest.mark.parametrize("package", ["psycopg", "obstore"])
def test_missing_packages_are_named(tmp_path: Path, package: str) -> None:
    """How to get them, too."""
    script = (
        "import sys; from pathlib import Path; sys.modules[sys.argv[1]] = None\n"
        "from unspool.hub.store.connect import StorePlace, open_store\n"
        "open_store(StorePlace(Path(sys.argv[2]), *(('postgresql://x/y',) if sys.argv[1] == 'psycopg' else ('', 's3://x'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, package, tmp_path], capture_output=True, text=True, check=False
    )
    assert "pip install 'unspool[hub]'" in done.stderr.splitlines()[-1]


@pytest.fixture
def small(tmp_path: Path) -> Iterator[StorePlace]:
    """A hub on a disk of 6 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(
            ["/bin/mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", folder], check=False, capture_output=True
        ).returncode
    ):
        pytest.skip("no small disk: one must be root and may mount")
    yield StorePlace(folder / "hub")
    subprocess.run(["/bin/umount", folder], check=True)


def test_a_full_disk_is_told_and_nothing_is_lost(small: StorePlace) -> None:
    """Contents and rows that were kept are there; when there is room again, all goes on."""
    store = open_store(small)
    kept = []
    with suppress(StoreFull):
        while True:
            kept.append(store.blobs.keep(os.urandom(200_000), ""))
            refer(store, kept[-1].digest, kept[-1].digest)
    assert len(kept) > 5
    with suppress(StoreFull):
        while True:
            store.db.run(_SET, os.urandom(8).hex(), "x" * 20_000)
    with pytest.raises(StoreFull), store.db.transaction():
        store.db.many(_SET, [(f"n{number}", "y" * 4000) for number in range(2000)])
    assert store.db.row("SELECT count(*) FROM setting WHERE key LIKE 'n%'") == (0,)
    found = verify(store)
    assert found.problems == []
    assert found.contents >= len(kept)
    assert list((small.folder / FOLDER).rglob("*.part")) == []
    for path in list((small.folder / FOLDER).rglob("*.*-*"))[:4]:
        path.unlink()
    store.blobs.keep(b"there is room again")
    store.db.close()


def test_a_file_that_may_not_grow_is_a_full_disk(on_files: StorePlace) -> None:
    """A limit of the system on files leaves nothing half written."""
    script = (
        "import os, resource, sys; from pathlib import Path\n"
        "from unspool.hub.store.connect import StorePlace, open_store\n"
        "store = open_store(StorePlace(Path(sys.argv[1])))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))\n"
        "store.objects.put('blobs/aa/small', [bytes(500_000)])\n"
        "try: store.objects.put('blobs/aa/large', [bytes(500_000)] * 2)\n"
        "except Exception as error: print(type(error).__name__, *store.objects.keys(''))"
    )
    done = subprocess.run([sys.executable, "-c", script, on_files.folder], capture_output=True, text=True, check=True)
    assert done.stdout == "StoreFull blobs/aa/small\n"
    assert [path.name for path in on_files.folder.rglob("*") if path.is_file() and "aa" in path.parts] == ["small"]


def test_all_is_private_to_the_user(files_store: Store, on_files: StorePlace) -> None:
    """Folders and files, whatever the user's habit is."""
    filled(files_store)
    found = [on_files.folder, *on_files.folder.rglob("*")]
    assert {oct(path.stat().st_mode & 0o777) for path in found if path.is_dir()} == {"0o700"}
    assert {oct(path.stat().st_mode & 0o777) for path in found if path.is_file()} == {"0o600"}


def test_a_link_is_no_object(files_store: Store, on_files: StorePlace, tmp_path: Path) -> None:
    """Neither one to a file nor one to a folder is followed or listed."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("secret")
    top = on_files.folder / FOLDER / "blobs"
    top.mkdir()
    (top / "link").symlink_to(tmp_path / "secret")
    (top / "aa").symlink_to(tmp_path / "folder")
    assert list(files_store.objects.keys("")) == []
    with pytest.raises(StoreUnavailable):
        files_store.objects.get("blobs/link")
    files_store.objects.put("blobs/link", [b"mine"])
    assert (tmp_path / "secret").read_text() == "secret"


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """A file where the folder should be; a database that is none."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable):
        open_store(StorePlace(tmp_path / "file"))
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub" / "hub.db").write_text("no database at all, but long enough to look like one" * 100)
    with pytest.raises(StoreUnavailable, match="not a database"):
        open_store(StorePlace(tmp_path / "hub"))


_KEEP = """
import sys
from pathlib import Path
from unspool.hub.store.connect import StorePlace, open_store

store = open_store(StorePlace(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
number = 0
while True:
    number += 1
    blob = store.blobs.keep(f"{sys.argv[4]} {number}".encode() * 3000)
    with store.db.transaction():
        store.db.run("INSERT INTO team(id, name, created) VALUES(?, ?, 0)", blob.digest, blob.digest)
        store.db.run("INSERT INTO share_file VALUES('a', ?, ?, '')", blob.digest, blob.digest)
    print(blob.digest, flush=True)
"""


def test_what_was_acknowledged_survives_a_kill(place: StorePlace) -> None:
    """Two processes killed while they write: what was told of is there with its content, nothing is half."""
    command = [sys.executable, "-c", _KEEP, str(place.folder), place.database, place.bucket]
    started = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in "ab"]
    told = {process.stdout.readline().strip() for process in started if process.stdout for _ in range(3)}
    for process in started:
        process.kill()
        told.update(line for line in process.communicate()[0].split() if len(line) == 64)
    store = open_store(place)
    teams = {name for (name,) in store.db.rows("SELECT id FROM team")}
    files = {name for (name,) in store.db.rows("SELECT digest FROM share_file")}
    assert told <= teams == files
    assert len(told) > 4
    assert verify(store).problems == []
    store.db.close()


def test_a_conflict_of_two_is_told_to_one(store: Store) -> None:
    """Both say that there is none, one makes it."""

    def make(number: int) -> bool:
        try:
            store.db.run(_SET, "same", str(number))
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(make, range(8))) == 1


def test_a_thread_that_ends_leaves_no_connection(files_store: Store) -> None:
    """Servers start and end threads all the time."""
    files = Path("/proc/self/fd")
    if not files.exists():
        pytest.skip("this system does not tell which files are open")
    before = len(list(files.iterdir()))
    for _ in range(20):
        thread = threading.Thread(target=files_store.db.row, args=("SELECT 1",))
        thread.start()
        thread.join()
    assert len(list(files.iterdir())) <= before + 4
