"""What goes wrong around a store is told, nothing that was kept is lost, and all is well again by itself."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from tests.hub.servers import SECRET, Servers, free_port, patient
from tests.hub.store.filling import filled, refer
from unspool.errors import UsageProblem
from unspool.hub.store.opening import FOLDER, Place, Store, opened
from unspool.hub.store.verify import verify
from unspool.hub.trouble import Conflict, Full, Trouble

_SET = "INSERT INTO setting(key, value) VALUES(?, ?)"


def test_a_server_that_starts_again_is_not_noticed(servers: Servers, servers_store: Store) -> None:
    """Every connection is gone, and every next call works."""
    db = servers_store.db
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda _: db.row("SELECT pg_sleep(0.05)"), range(6)))
        servers.postgresql.restart()
        assert list(threads.map(lambda number: db.row("SELECT ?::int", number), range(6))) == [(n,) for n in range(6)]


def test_whoever_asks_while_it_starts_waits(servers: Servers, servers_store: Store) -> None:
    """A restart of a second is a wait of a second."""
    servers.postgresql.stop()
    with ThreadPoolExecutor(1) as other:
        asked = other.submit(servers_store.db.row, "SELECT 1")
        time.sleep(0.5)
        assert not asked.done()
        servers.postgresql.start()
        assert asked.result(20) == (1,)


def test_a_server_that_stays_away_is_told_at_once(
    servers: Servers, servers_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits any more when it has been away for a while; the first who asks when it is back has it."""
    monkeypatch.setattr("unspool.hub.store.pool._PATIENCE", 0.3)
    servers.postgresql.stop()
    try:
        with pytest.raises(Trouble, match="does not answer"):
            servers_store.db.row("SELECT 1")
        begun = time.monotonic()
        assert not servers_store.db.well()
        with pytest.raises(Trouble), servers_store.db.transaction():
            pytest.fail("there is no transaction")
        assert time.monotonic() - begun < 0.3
    finally:
        servers.postgresql.start()
    assert servers_store.db.well()


def test_a_crash_of_the_server_undoes_what_was_not_committed(servers: Servers, servers_store: Store) -> None:
    """And nothing of what was; the one whose transaction it was is told."""
    db = servers_store.db
    db.run(_SET, "kept", "x")
    with pytest.raises(Trouble):
        _crashing(servers, servers_store)
    assert db.rows("SELECT key FROM setting WHERE key <> 'version'") == [("kept",)]


def _crashing(servers: Servers, store: Store) -> None:
    with store.db.transaction():
        store.db.run(_SET, "lost", "x")
        servers.postgresql.kill()
        servers.postgresql.start()
        store.db.run(_SET, "lost too", "x")


def test_who_would_wait_for_each_other_for_ever_is_told(servers_store: Store) -> None:
    """One of two goes through, the other may try again."""
    db = servers_store.db
    db.many(_SET, [("a", "0"), ("b", "0")])
    both = threading.Barrier(2)

    def cross(first: str, second: str) -> str:
        try:
            with db.transaction():
                db.run("UPDATE setting SET value = '1' WHERE key = ?", first)
                both.wait(20)
                db.run("UPDATE setting SET value = '1' WHERE key = ?", second)
        except Trouble:
            return "told"
        return "through"

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(cross, "ab", "ba")) == ["through", "told"]


def test_no_statement_holds_up_the_others_for_long(servers_store: Store) -> None:
    """Every connection is bounded, and says whose it is."""
    db = servers_store.db
    assert db.rows("SHOW statement_timeout") + db.rows("SHOW lock_timeout") == [("30s",), ("20s",)]
    assert db.row("SHOW application_name") == ("unspool-hub",)
    with pytest.raises(Trouble), db.transaction():
        db.script("SET LOCAL statement_timeout = '50ms'; SELECT pg_sleep(10)")


@pytest.mark.parametrize(
    ("code", "kind"), [("53100", Full), ("40001", Trouble), ("25006", Trouble), ("57P01", Trouble)]
)
def test_what_a_server_says_becomes_one_of_ours(servers_store: Store, code: str, kind: type[Exception]) -> None:
    """No room, two that cross each other, a standby, an end: each as a sentence."""
    with pytest.raises(kind):
        servers_store.db.script(f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}'; END $$")
    assert servers_store.db.well()


def test_more_threads_than_connections_take_turns(servers_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits too long for a turn is told."""
    monkeypatch.setattr("unspool.hub.store.pool._WAIT", 0.2)
    with ThreadPoolExecutor(9) as threads:
        asked = [threads.submit(servers_store.db.row, "SELECT 1 FROM pg_sleep(1)") for _ in range(9)]
        told = [one.exception(20) for one in asked]
    assert sum(isinstance(error, Trouble) for error in told) == 1


def test_a_database_that_does_not_let_in_says_why(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the server's words, to whoever starts the hub; and an address that is none is no use."""
    monkeypatch.setattr("unspool.hub.store.pool._PATIENCE", 0.1)
    with pytest.raises(Trouble, match='database "none" does not exist'):
        opened(Place(tmp_path, servers.postgresql.url("none")))
    with pytest.raises(Trouble, match="Connection refused"):
        opened(Place(tmp_path, f"postgresql://127.0.0.1:{free_port()}/hub"))
    for address in ("mysql://localhost/hub", "postgresql://localhost/hub?colour=red"):
        with pytest.raises(UsageProblem):
            opened(Place(tmp_path, address))


def test_an_object_store_that_is_away_is_told_and_comes_back(servers: Servers, servers_store: Store) -> None:
    """Every operation within ten seconds; what was kept is there again, what was not kept is not."""
    store = servers_store
    blob = store.blobs.keep(b"kept")
    servers.s3.stop()
    begun = time.monotonic()
    try:
        for ask in (
            lambda: store.blobs.keep(b"new"),
            lambda: store.blobs.keep_packed("0" * 64, 1, "", [bytes(9 * 1024 * 1024)]),
            lambda: list(store.blobs.read(blob.digest)),
            lambda: store.objects.size(blob.key),
            lambda: store.objects.delete(blob.key),
            lambda: list(store.objects.keys("blobs/")),
        ):
            with pytest.raises(Trouble, match="does not answer"):
                ask()
        assert not store.objects.well()
        assert time.monotonic() - begun < 60
    finally:
        servers.s3.start()
    assert store.objects.well()
    assert b"".join(store.blobs.read(blob.digest)) == b"kept"
    assert store.db.row("SELECT count(*) FROM blob") == (1,)


def test_an_object_store_that_stops_in_the_middle_is_told(servers: Servers, servers_store: Store) -> None:
    """Of one who reads, and of one who writes: nothing of that is there afterwards."""
    store, large = servers_store, [os.urandom(1024 * 1024)] * 24
    store.objects.put("large", large)
    reading = store.objects.get("large")
    next(reading)

    def stopping() -> Iterator[bytes]:
        yield from large[:18]
        servers.s3.stop()
        yield from large[18:]

    try:
        with pytest.raises(Trouble):
            store.objects.put("new", stopping())
        with pytest.raises(Trouble):
            list(reading)
    finally:
        servers.s3.start()
    assert list(store.objects.keys("")) == ["large"]


def test_an_upload_that_breaks_off_is_taken_back(servers: Servers, servers_store: Store, on_servers: Place) -> None:
    """No part of it stays in the store."""

    def broken() -> Iterator[bytes]:
        yield from [bytes(1024 * 1024)] * 30
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        servers_store.objects.put("blobs/new", broken())
    prefix = on_servers.bucket.removeprefix("s3://").partition("?")[0]
    folder = servers.s3.folder / prefix
    patient(lambda: not [path for path in folder.rglob("*") if path.is_file()], lambda: "parts stay in the bucket")


def test_an_object_store_that_says_nothing_is_told_of(on_servers: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes connections and never answers."""
    monkeypatch.setattr("unspool.hub.store.s3._SILENCE", timedelta(seconds=1))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"s3://hub/x?endpoint=http://127.0.0.1:{silent.getsockname()[1]}&region=us-east-1"
        store = opened(on_servers._replace(bucket=address))
        begun = time.monotonic()
        assert not store.objects.well()
        assert 0.5 < time.monotonic() - begun < 10
        store.db.close()


def test_a_bucket_that_is_not_there_or_not_ours_is_told(on_servers: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another name, another secret."""
    absent = opened(on_servers._replace(bucket=on_servers.bucket.replace("s3://hub/", "s3://none/")))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET + "x")
    refused = opened(on_servers)
    for store, reason in ((absent, "does not exist"), (refused, "does not let the hub in")):
        assert not store.objects.well()
        with pytest.raises(Trouble, match=reason):
            store.blobs.keep(b"x")
        store.db.close()


@pytest.mark.parametrize(
    "address",
    [
        "s3://",
        "s3:///prefix",
        "s3://key:secret@bucket/x",
        "s3://bucket?colour=red",
        "s3://bucket?endpoint",
        "gs://bucket",
    ],
)
def test_an_address_that_is_none_is_no_use(tmp_path: Path, address: str) -> None:
    """And nothing is made before that is seen."""
    with pytest.raises(UsageProblem):
        opened(Place(tmp_path / "hub", bucket=address))
    assert not (tmp_path / "hub").exists()


@pytest.mark.parametrize("package", ["psycopg", "obstore"])
def test_missing_packages_are_named(tmp_path: Path, package: str) -> None:
    """How to get them, too."""
    script = (
        "import sys; from pathlib import Path; sys.modules[sys.argv[1]] = None\n"
        "from unspool.hub.store.opening import Place, opened\n"
        "opened(Place(Path(sys.argv[2]), *(('postgresql://x/y',) if sys.argv[1] == 'psycopg' else ('', 's3://x'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, package, tmp_path], capture_output=True, text=True, check=False
    )
    assert "pip install 'unspool[hub]'" in done.stderr.splitlines()[-1]


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Place]:
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
    yield Place(folder / "hub")
    subprocess.run(["/bin/umount", folder], check=True)


def test_a_full_disk_is_told_and_nothing_is_lost(small: Place) -> None:
    """Contents and rows that were kept are there; when there is room again, all goes on."""
    store = opened(small)
    kept = []
    with suppress(Full):
        while True:
            kept.append(store.blobs.keep(os.urandom(200_000), ""))
            refer(store, kept[-1].digest, kept[-1].digest)
    assert len(kept) > 5
    with suppress(Full):
        while True:
            store.db.run(_SET, os.urandom(8).hex(), "x" * 20_000)
    with pytest.raises(Full), store.db.transaction():
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


def test_a_file_that_may_not_grow_is_a_full_disk(on_files: Place) -> None:
    """A limit of the system on files leaves nothing half written."""
    script = (
        "import os, resource, sys; from pathlib import Path\n"
        "from unspool.hub.store.opening import Place, opened\n"
        "store = opened(Place(Path(sys.argv[1])))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))\n"
        "store.objects.put('blobs/aa/small', [bytes(500_000)])\n"
        "try: store.objects.put('blobs/aa/large', [bytes(500_000)] * 2)\n"
        "except Exception as error: print(type(error).__name__, *store.objects.keys(''))"
    )
    done = subprocess.run([sys.executable, "-c", script, on_files.folder], capture_output=True, text=True, check=True)
    assert done.stdout == "Full blobs/aa/small\n"
    assert [path.name for path in on_files.folder.rglob("*") if path.is_file() and "aa" in path.parts] == ["small"]


def test_all_is_private_to_the_user(files_store: Store, on_files: Place) -> None:
    """Folders and files, whatever the user's habit is."""
    filled(files_store)
    found = [on_files.folder, *on_files.folder.rglob("*")]
    assert {oct(path.stat().st_mode & 0o777) for path in found if path.is_dir()} == {"0o700"}
    assert {oct(path.stat().st_mode & 0o777) for path in found if path.is_file()} == {"0o600"}


def test_a_link_is_no_object(files_store: Store, on_files: Place, tmp_path: Path) -> None:
    """Neither one to a file nor one to a folder is followed or listed."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("secret")
    top = on_files.folder / FOLDER / "blobs"
    top.mkdir()
    (top / "link").symlink_to(tmp_path / "secret")
    (top / "aa").symlink_to(tmp_path / "folder")
    assert list(files_store.objects.keys("")) == []
    with pytest.raises(Trouble):
        files_store.objects.get("blobs/link")
    files_store.objects.put("blobs/link", [b"mine"])
    assert (tmp_path / "secret").read_text() == "secret"


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """A file where the folder should be; a database that is none."""
    (tmp_path / "file").write_text("")
    with pytest.raises(Trouble):
        opened(Place(tmp_path / "file"))
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub" / "hub.db").write_text("no database at all, but long enough to look like one" * 100)
    with pytest.raises(Trouble, match="not a database"):
        opened(Place(tmp_path / "hub"))


_KEEP = """
import sys
from pathlib import Path
from unspool.hub.store.opening import Place, opened

store = opened(Place(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
number = 0
while True:
    number += 1
    blob = store.blobs.keep(f"{sys.argv[4]} {number}".encode() * 3000)
    with store.db.transaction():
        store.db.run("INSERT INTO team(id, name, created) VALUES(?, ?, 0)", blob.digest, blob.digest)
        store.db.run("INSERT INTO share_file VALUES('a', ?, ?, '')", blob.digest, blob.digest)
    print(blob.digest, flush=True)
"""


def test_what_was_acknowledged_survives_a_kill(place: Place) -> None:
    """Two processes killed while they write: what was told of is there with its content, nothing is half."""
    command = [sys.executable, "-c", _KEEP, str(place.folder), place.database, place.bucket]
    started = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in "ab"]
    told = {process.stdout.readline().strip() for process in started if process.stdout}
    time.sleep(0.4)
    for process in started:
        process.kill()
        told.update(line for line in process.communicate()[0].split() if len(line) == 64)
    store = opened(place)
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


def test_the_pool_leaves_no_connection(servers: Servers, on_servers: Place) -> None:
    """After it is closed."""
    store = opened(on_servers)
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda _: store.db.row("SELECT pg_sleep(0.05)"), range(6)))
    store.db.close()
    with psycopg.connect(on_servers.database) as connection:
        count = b"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        end = time.monotonic() + 10
        while connection.execute(count).fetchone() != (0,):
            assert time.monotonic() < end
