"""Shares of the sessions are read by processes of their own, and joined to the lake that one process would write."""

import os
import signal
import sys
from multiprocessing import get_context
from pathlib import Path
from unittest import mock

import pytest

from tests.lake.lakes import TERMS, asked, contents, manifest_of, written
from tests.lake.test_write import session
from unspool.demo import write_demo
from unspool.errors import UsageProblem
from unspool.lake import write
from unspool.lake.group import GroupResult, GroupTask, write_group
from unspool.lake.manifest import verify_lake
from unspool.lake.shards import Shard
from unspool.lake.storage import FolderStorage
from unspool.lake.tables import TABLES
from unspool.lake.write import WriteRequest, write_shard
from unspool.store.library import Library

NAMES = [table.name for table in TABLES]
_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.lake.lakes"])


def shard(lake: Path, logs: Path, number: int, of: int = 3, kill_after: int = 0) -> None:
    """Write a shard in small groups; with `kill_after`, be killed once so many are written."""
    left = [kill_after]

    def fatal(task: GroupTask) -> GroupResult:
        done = write_group(task)
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    with mock.patch.multiple(write, _GROUP=8, write_group=fatal):
        write_shard(FolderStorage(lake), Library([logs]), WriteRequest(TERMS, jobs=1), Shard(number, of))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shards") / "logs"
    write_demo(place, others=True)
    for number in range(6):
        session(f"more {number}").write(place)
    (place / session("bad").path).write_bytes(b"\x1f\x8b\x08 no such packed log")
    return place


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is asked of the system")
def test_shards_of_real_processes_join_to_what_one_process_writes_though_one_was_killed(
    logs: Path, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    running = [
        _CONTEXT.Process(target=shard, args=(lake, logs, number, 3, 2 if number == 2 else 0)) for number in (1, 2, 3)
    ]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0, -signal.SIGKILL, 0]
    with pytest.raises(UsageProblem, match=r"Not done yet of 3 shards: 2\."):
        written(lake, logs, join=3)
    assert not (lake / "_unspool" / "manifest.json").exists()
    with mock.patch("unspool.lake.write.write_group", side_effect=write_group) as again:
        write_shard(FolderStorage(lake), Library([logs]), WriteRequest(TERMS, jobs=1), Shard(2, 3))
    reread = {one.key for call in again.call_args_list for one in call.args[0].logs}
    share = {(log.agent_id, log.session_id) for log in Library([logs]).logs()}
    assert len(reread) == sum(map(Shard(2, 3).holds, share)) - 2  # what was finished before it died was taken over
    report = written(lake, logs, join=3)
    written(tmp_path / "one", logs)
    assert contents(lake, NAMES) == contents(tmp_path / "one", NAMES)
    assert report.written == len(share)
    assert asked(lake, "SELECT count(*) FROM problems WHERE line IS NULL") == [(1,)]
    found = verify_lake(FolderStorage(lake), manifest_of(lake))
    assert (found.damaged, found.left) == ([], [])
    assert not (lake / "_unspool" / "shards").exists()


def test_nothing_of_a_shard_is_seen_before_the_join(logs: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    shard(lake, logs, 1, 2)
    assert {path.name for path in lake.iterdir()} == {"_unspool"}
    written(lake, logs)  # an ordinary write does not mind, and leaves the shard alone
    before = contents(lake)
    shard(lake, logs, 1, 2)
    shard(lake, logs, 2, 2)
    written(lake, logs, join=2)
    assert contents(lake) == before
    assert not (lake / "_unspool" / "shards").exists()


def test_who_joins_reads_what_changed_since_its_shard_was_read(tmp_path: Path) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    for seed in ("a", "b", "c", "d"):
        session(seed).write(logs)
    for number in (1, 2):
        shard(lake, logs, number, 2)
    session("b", "one", "two", "three").write(logs)
    session("e").write(logs)
    written(lake, logs, join=2)
    written(tmp_path / "one", logs)
    assert contents(lake, NAMES) == contents(tmp_path / "one", NAMES)


def test_shards_of_other_terms_are_named(logs: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        shard(tmp_path / "lake", logs, number, 2)
    with pytest.raises(UsageProblem, match=r"shards 1, 2 of 2"):
        written(tmp_path / "lake", logs, join=2, terms=TERMS._replace(results=False))


def test_every_session_is_in_one_shard() -> None:
    keys = [("agent", f"session {number}") for number in range(300)]
    shares = [{key for key in keys if Shard(number, 7).holds(key)} for number in range(1, 8)]
    assert sum(map(len, shares)) == len(keys) == len(set.union(*shares))
    assert min(map(len, shares)) > 20


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "-1/2", "1/2/3"])
def test_a_shard_that_cannot_be_is_told(text: str) -> None:
    with pytest.raises(UsageProblem, match="A shard is written 3/8"):
        Shard.parse(text)
