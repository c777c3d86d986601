"""A lake in an object store: a real S3 server on loopback."""

import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.hub.servers import KEY, SECRET, ObjectServer, rclone
from tests.lake.lakes import asked, contents, manifest_of, written
from tests.lake.test_write import session
from unspool.errors import AlreadyRunning, NotFound, Unreadable, UsageProblem
from unspool.lake.manifest import verify_lake
from unspool.lake.storage import LOCK, NotedWriter, ObjectStorage, open_storage


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectServer]:
    started = ObjectServer(rclone())
    yield started
    started.forget()


@pytest.fixture
def bucket(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> ObjectStorage:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    return ObjectStorage(server.url(f"team/{secrets.token_hex(4)}"))  # the server remembers what lay where


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for seed in ("a", "b", "c"):
        session(seed).write(tmp_path / "logs")
    return tmp_path / "logs"


def test_a_bucket_holds_what_a_folder_does(bucket: ObjectStorage, logs: Path, tmp_path: Path) -> None:
    written(bucket, logs)
    written(tmp_path / "lake", logs)
    assert contents(bucket) == contents(tmp_path / "lake")
    assert asked(bucket, "FROM totals") == asked(tmp_path / "lake", "FROM totals")
    assert asked(bucket, "DESCRIBE usage") == asked(tmp_path / "lake", "DESCRIBE usage")
    assert {file.path for file in bucket.files()} == {*manifest_of(bucket).paths, "_unspool/manifest.json"}
    again = written(bucket, logs)
    assert (again.written, again.unchanged) == (0, 3)


def test_what_changed_replaces_its_rows(bucket: ObjectStorage, logs: Path, tmp_path: Path) -> None:
    written(bucket, logs)
    session("b", "one", "two", "three").write(logs)
    assert written(bucket, logs).written == 1
    written(tmp_path / "lake", logs)
    assert contents(bucket) == contents(tmp_path / "lake")
    found = verify_lake(bucket, manifest_of(bucket))
    assert (found.damaged, found.left) == ([], [])


def test_processes_write_to_a_bucket(
    bucket: ObjectStorage, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unspool.lake import write

    monkeypatch.setattr(write, "_WORTH_A_POOL", 0)
    monkeypatch.setattr(write, "_GROUP", 8)
    written(bucket, logs, jobs=2)
    written(tmp_path / "lake", logs)
    assert contents(bucket) == contents(tmp_path / "lake")


def test_a_second_writer_is_told_of_the_first(bucket: ObjectStorage, logs: Path) -> None:
    with bucket.sole_writer(0), pytest.raises(AlreadyRunning):
        written(bucket, logs)
    assert written(bucket, logs).written == 3


def test_a_writer_that_was_not_heard_of_is_dead(bucket: ObjectStorage, logs: Path) -> None:
    bucket.put(LOCK, msgspec.json.encode(NotedWriter("gone", time.time() - 10_000)))
    assert written(bucket, logs).written == 3


def test_a_writer_whose_place_was_taken_changes_nothing(bucket: ObjectStorage, logs: Path) -> None:
    with bucket.sole_writer(0) as lock:
        bucket.put(LOCK, msgspec.json.encode(NotedWriter("another", time.time())))
        with pytest.raises(AlreadyRunning):
            lock.check()
    assert bucket.holder() is not None
    bucket.delete(LOCK)


def test_what_is_wrong_with_a_bucket_is_told(
    bucket: ObjectStorage, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotFound, match="no bucket nowhere"):
        ObjectStorage(server.url("x").replace("s3://hub", "s3://nowhere")).files()
    with pytest.raises(NotFound):
        asked(ObjectStorage(server.url("empty")), "SELECT 1")
    for address in ("s3://", "s3://x?colour=red"):
        with pytest.raises(UsageProblem):
            open_storage(address)
    with pytest.raises(UsageProblem):
        open_storage("ftp://x/y")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(Unreadable):
        ObjectStorage(server.url("x")).files()


def test_the_endpoint_comes_from_the_environment(
    bucket: ObjectStorage, server: ObjectServer, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.port}")
    place = ObjectStorage("s3://hub/team/other")
    written(place, logs)
    assert asked(place, "SELECT count(*) FROM sessions") == [(3,)]
