"""Logs that lie in an object store or in a hub become the rows that they would become in a folder."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.hub.servers import KEY, SECRET, ObjectServer, rclone
from tests.lake.lakes import TERMS, asked, contents, written
from tests.lake.test_write import session
from unspool.demo import write_demo
from unspool.lake.remote_logs import BucketLogs
from unspool.lake.storage import FolderStorage, ObjectStorage
from unspool.lake.tables import TABLES
from unspool.lake.write import LakeReport, WriteRequest, write_lake
from unspool.redact.policy import RedactionPolicy

NAMES = [table.name for table in TABLES]


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectServer]:
    started = ObjectServer(rclone())
    yield started
    started.forget()


@pytest.fixture
def bucket(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> ObjectStorage:
    """An empty part of a bucket."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    return ObjectStorage(server.url(f"logs/{secrets.token_hex(4)}"))


def upload(folder: Path, bucket: ObjectStorage, below: str = "") -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            bucket.put(f"{below}{path.relative_to(folder).as_posix()}", path.read_bytes())


def from_bucket(lake: Path, bucket: ObjectStorage, **more: Any) -> LakeReport:
    request = WriteRequest(**{"terms": TERMS, "jobs": 1, "patience": 0.0, **more})
    return write_lake(FolderStorage(lake), BucketLogs([bucket.url]), request)


def rows(lake: Path, before: str) -> Any:
    """All rows, each path below a folder or an address as though it lay at the root."""
    return {
        name: sorted(
            [tuple(one.replace(before, "/") if isinstance(one, str) else one for one in row) for row in some], key=repr
        )
        for name, some in contents(lake, NAMES).items()
    }


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two people's folders: subagents, spilled answers, plans, another agent, a torn line, a log that is none."""
    alice, bob = tmp_path / "logs" / "alice" / ".claude", tmp_path / "logs" / "bob"
    for seed in ("a", "b"):
        session(seed).write(alice)
    write_demo(bob, others=True)
    torn = bob / session("d").path
    session("d").write(bob)
    torn.write_bytes(torn.read_bytes() + b'{"type":"user","mess\n')
    (bob / session("e").path).write_bytes(b"\x1f\x8b\x08 no such packed log")
    return tmp_path / "logs"


def test_logs_in_a_bucket_become_the_rows_of_the_same_logs_in_folders(
    bucket: ObjectStorage, logs: Path, tmp_path: Path
) -> None:
    upload(logs, bucket)
    report = from_bucket(tmp_path / "there", bucket)
    written(tmp_path / "here", logs / "alice" / ".claude", logs / "bob")
    assert len(report.failures) == 1
    address = f"{bucket.url.partition('?')[0]}/"
    there, here = rows(tmp_path / "there", address), rows(tmp_path / "here", f"{logs}/")
    assert there == here
    assert len(there["sessions"]) > 10
    assert {len(there[name]) > 0 for name in ("agents", "plans", "problems")} == {True}


def test_only_what_changed_in_a_bucket_is_fetched(bucket: ObjectStorage, logs: Path, tmp_path: Path) -> None:
    (logs / "bob" / session("e").path).unlink()
    upload(logs, bucket)
    from_bucket(tmp_path / "lake", bucket)
    session("b", "one", "two", "three").write(logs / "alice" / ".claude")
    upload(logs / "alice", bucket, "alice/")
    with mock.patch.object(ObjectStorage, "fetch", autospec=True, side_effect=ObjectStorage.fetch) as fetch:
        report = from_bucket(tmp_path / "lake", bucket)
    assert {Path(call.args[1]).stem for call in fetch.call_args_list} == {session("b").session_id}
    assert report.written >= 1
    assert asked(tmp_path / "lake", "SELECT count(*) FROM prompts WHERE text = 'three'") == [(1,)]


def test_a_session_that_two_people_hold_is_one(bucket: ObjectStorage, tmp_path: Path) -> None:
    session("a").write(tmp_path / "x")
    session("a", "one", "two", "three").write(tmp_path / "y")
    upload(tmp_path / "x", bucket, "x/")
    upload(tmp_path / "y", bucket, "y/")
    assert from_bucket(tmp_path / "lake", bucket).written == 1
    assert asked(tmp_path / "lake", "SELECT turns FROM sessions") == [(3,)]


def test_redacted_rows_name_no_place_in_the_bucket(bucket: ObjectStorage, logs: Path, tmp_path: Path) -> None:
    upload(logs, bucket)
    terms = TERMS._replace(policy=RedactionPolicy(), naming_key=b"k" * 32)
    from_bucket(tmp_path / "lake", bucket, terms=terms)
    assert asked(tmp_path / "lake", "SELECT count(*) > 10 FROM sessions") == [(True,)]
    told = repr(contents(tmp_path / "lake", NAMES))
    assert "s3://" not in told
    assert "alice" not in told


def test_an_object_that_cannot_be_a_file_is_told_of(bucket: ObjectStorage, tmp_path: Path) -> None:
    session("a").write(tmp_path / "x")
    upload(tmp_path / "x", bucket)
    source = BucketLogs([bucket.url])
    listed = [*bucket.files(), bucket.files()[0]._replace(path="projects/../../x.jsonl")]
    with mock.patch.object(ObjectStorage, "files", return_value=listed):
        assert len(list(source.tasks())) == 1
    assert len(source.strange) == 1
