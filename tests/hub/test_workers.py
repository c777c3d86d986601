"""Heavy work in processes of its own."""

import os
import resource
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.waiting import PATIENCE, until
from unspool.errors import NotFound
from unspool.hub.errors import BadRequest, StoreFull, StoreUnavailable
from unspool.hub.workers import WorkerPool, WorkLimits


@pytest.fixture(scope="module")
def work() -> Iterator[WorkerPool]:
    made = WorkerPool(WorkLimits(processes=1, seconds=20.0))
    yield made
    made.stop()


def test_a_function_runs_in_another_process_that_is_kept(work: WorkerPool) -> None:
    first, second = work.run(os.getpid), work.run(os.getpid)
    assert first == second != os.getpid()


def test_what_it_raises_of_ours_is_raised_here(work: WorkerPool) -> None:
    with pytest.raises(NotFound, match="gone"):
        work.run(_lost)
    assert work.run(os.getpid)


def test_one_that_takes_too_long_is_killed_and_the_next_has_a_fresh_process(tmp_path: Path) -> None:
    usual = WorkLimits(processes=1, seconds=PATIENCE)
    work, begun, seconds = WorkerPool(usual), tmp_path / "pid", 1.0
    while not begun.exists() or not begun.read_text():  # on a busy machine it may be killed before it has begun
        before = work.run(os.getpid)
        work._bounds = usual._replace(seconds=seconds)
        with pytest.raises(BadRequest, match=f"{seconds:g} seconds"):
            work.run(_slow, begun)
        work._bounds, seconds = usual, 2 * seconds
    assert work.run(os.getpid) != before == int(begun.read_text())
    until(lambda: not _lives(before))
    work.stop()


def test_memory_is_bounded_and_death_is_told() -> None:
    work = WorkerPool(WorkLimits(processes=1, memory=1024**3))
    with pytest.raises(BadRequest, match="bounds"):
        work.run(bytearray, 2 * 1024**3)
    with pytest.raises(BadRequest, match="bounds"):
        work.run(os._exit, 3)
    assert work.run(len, b"abc") == 3
    work.stop()


def test_whoever_waits_too_long_for_a_process_is_told_to_come_back(tmp_path: Path) -> None:
    work = WorkerPool(WorkLimits(processes=1, waiting=0.2))
    work.run(os.getpid)
    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(work.run, _until_told, tmp_path / "begun", tmp_path / "go")
        until((tmp_path / "begun").exists)
        with pytest.raises(StoreUnavailable, match="busy"):
            work.run(os.getpid)
        (tmp_path / "go").touch()
        busy.result()
    work.stop()


def test_the_end_does_not_wait_for_what_has_begun(tmp_path: Path) -> None:
    work = WorkerPool(WorkLimits(processes=1, seconds=10 * PATIENCE))
    work.run(os.getpid)
    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(work.run, _until_told, tmp_path / "begun", tmp_path / "never")
        until((tmp_path / "begun").exists)
        work.stop()
        with pytest.raises(BadRequest):
            busy.result(PATIENCE)
    with pytest.raises(StoreUnavailable, match="about to end"):
        work.run(os.getpid)


def test_a_disk_that_has_no_room_is_told_as_such(tmp_path: Path) -> None:
    work = WorkerPool(WorkLimits(processes=1))
    with pytest.raises(StoreFull, match="no room"):
        work.run(_large, tmp_path / "large")
    with pytest.raises(StoreUnavailable, match="disk"):
        work.run(os.listdir, str(tmp_path / "missing"))
    work.stop()


def _large(path: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    path.write_bytes(bytes(5000))


def _lost() -> None:
    raise NotFound("It is gone.")


def _slow(path: Path) -> None:
    path.write_text(str(os.getpid()))
    time.sleep(10 * PATIENCE)


def _until_told(begun: Path, go_on: Path) -> None:
    begun.touch()
    until(go_on.exists, seconds=10 * PATIENCE)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
