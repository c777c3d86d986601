"""A lake written on a Ray cluster of three nodes is the one that one process writes, though nodes and processes die."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.lake.lakes import TERMS, asked, contents, files_of, manifest_of, written
from tests.lake.test_write import session
from tests.waiting import until
from unspool.demo import write_demo
from unspool.errors import Unreadable
from unspool.lake import write
from unspool.lake.group import GroupTask, LogTask, write_group
from unspool.lake.manifest import verify_lake
from unspool.lake.runners import TaskRunner, ray_runner
from unspool.lake.storage import FolderStorage
from unspool.lake.tables import TABLES
from unspool.store.library import Library

ray = pytest.importorskip("ray", reason="ray is not installed; scripts/test --with-sdk installs it")
pytestmark = pytest.mark.filterwarnings("ignore")  # what Ray itself warns of
NAMES = [table.name for table in TABLES]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Three nodes of one core each."""
    from ray.cluster_utils import Cluster

    made: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(2):
        made.add_node(num_cpus=1)
    made.wait_for_nodes(timeout=120)
    yield made
    made.shutdown()


@pytest.fixture(scope="module")
def runner(cluster: Any) -> Iterator[TaskRunner]:
    with ray_runner(cluster.address) as made:
        yield made


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cluster") / "logs"
    write_demo(place, others=True)
    for number in range(24):
        session(f"more {number}").write(place)
    (place / session("bad").path).write_bytes(b"\x1f\x8b\x08 no such packed log")
    return place


def test_a_task_that_processes_die_of_is_made_smaller_until_the_log_is_found(
    runner: TaskRunner, logs: Path, tmp_path: Path
) -> None:
    bad = session("bad").session_id
    found = [LogTask(log) for log in Library([logs]).logs() if log.session_id != bad][:4]
    fatal = found[2].found.path

    def do(task: GroupTask) -> Any:
        if not task.lost and fatal in [one.found.path for one in task.logs]:
            os._exit(1)
        return write_group(task)

    with mock.patch("unspool.lake.runners._RETRIES", 0):
        results = list(runner.run(do, [GroupTask(tuple(found), TERMS, str(tmp_path))]))
    assert sorted(key for one in results for key in one.sessions) == sorted(one.key for one in found)
    assert [why for one in results for why in one.failures] == [f"Processes that read {fatal} died of it."]


def test_what_a_task_says_is_wrong_is_told_as_it_is(runner: TaskRunner, logs: Path, tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("a file where a folder should be")
    task = GroupTask((LogTask(Library([logs]).logs()[0]),), TERMS, str(tmp_path / "lake"))
    with pytest.raises(Exception, match="Cannot write in") as told:
        list(runner.run(write_group, [task]))
    assert type(told.value).__name__ == "Unreadable"


def test_a_write_that_is_given_up_leaves_the_lake_and_the_next_goes_on(
    runner: TaskRunner, logs: Path, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    heard: list[int] = []

    def interrupt(done: int, _: int) -> None:
        heard.append(done)
        if len(heard) == 5:
            raise KeyboardInterrupt

    with mock.patch.multiple(write, _GROUP=8, _MANY_GROUPS=10**9), pytest.raises(KeyboardInterrupt):
        written(lake, logs, runner=runner, progress=interrupt)
    assert {path.name for path in lake.iterdir()} == {"_unspool"}
    heard.clear()
    with mock.patch.multiple(write, _GROUP=8, _MANY_GROUPS=10**9):
        written(lake, logs, runner=runner, progress=lambda done, _: heard.append(done))
    written(tmp_path / "one", logs)
    assert contents(lake, NAMES) == contents(tmp_path / "one", NAMES)
    assert len(heard) <= len(Library([logs]).logs()) - 5  # a group is a session here


def test_a_node_that_is_removed_in_the_middle_is_not_missed(
    cluster: Any, runner: TaskRunner, logs: Path, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    node, removed = cluster.list_all_nodes()[-1], threading.Event()

    def remove(_: int, __: int) -> None:
        if not removed.is_set():
            removed.set()
            cluster.remove_node(node)

    with mock.patch.multiple(write, _GROUP=8, _MANY_GROUPS=10**9):
        report = written(lake, logs, runner=runner, progress=remove)
    assert removed.is_set()
    until(lambda: runner.workers == 2)
    written(tmp_path / "one", logs)
    assert contents(lake, NAMES) == contents(tmp_path / "one", NAMES)
    assert len(report.failures) == 1
    assert asked(lake, "SELECT count(*) FROM problems WHERE line IS NULL") == [(1,)]
    twice = "SELECT session FROM sessions GROUP BY ALL HAVING count(*) > 1"
    assert asked(lake, twice) == []
    verified = verify_lake(FolderStorage(lake), manifest_of(lake))
    assert verified.damaged == []
    assert files_of(lake) >= manifest_of(lake).paths


def test_a_cluster_that_is_not_there_is_told_at_once() -> None:
    with (
        mock.patch.object(ray, "is_initialized", return_value=False),
        pytest.raises(Unreadable, match="nobody answers"),
        ray_runner("127.0.0.1:1"),
    ):
        pass
