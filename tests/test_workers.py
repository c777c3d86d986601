"""Work spread over processes: what fails fails alone, nobody is left behind, and all are started or none."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from unspool.workers import _batches, map_in_processes, run_in_processes, without_interrupts


@pytest.fixture
def heard() -> Iterator[list[int]]:
    """Which signals were heard."""
    found: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: found.append(number))
    yield found
    signal.signal(signal.SIGTERM, before)


def test_a_signal_is_heeded_when_the_block_ends(heard: list[int]) -> None:
    with without_interrupts():
        signal.raise_signal(signal.SIGTERM)
        assert heard == []
    assert heard == [signal.SIGTERM]
    signal.raise_signal(signal.SIGTERM)
    assert len(heard) == 2


def test_ctrl_c_breaks_off_what_follows_the_block() -> None:
    steps: list[str] = []

    def work() -> None:
        with without_interrupts():
            signal.raise_signal(signal.SIGINT)
            steps.append("within")
        steps.append("after")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["within"]


def test_signals_that_are_ignored_stay_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with without_interrupts():
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    signal.signal(signal.SIGHUP, before)


def test_another_thread_is_not_in_the_way() -> None:
    done: list[str] = []

    def work() -> None:
        with without_interrupts():
            done.append("worked")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["worked"]


def doubled(number: int) -> int:
    """Fails at 13, dies at 17."""
    if number == 13:
        raise ValueError("thirteen")
    if number == 17:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def minus(number: int) -> int:
    return -number


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("numbers", [[], [5], [3, 900, 1, 0, 7, 7, 2], [*range(12), 400]])
def test_what_processes_make_of_many_stands_in_the_order_of_these(numbers: list[int], workers: int) -> None:
    heard: list[int] = []
    assert map_in_processes(doubled, numbers, int, heard.append, workers, minus) == [2 * number for number in numbers]
    assert sum(heard) == sum(numbers)


def test_what_goes_wrong_in_a_process_is_raised_here() -> None:
    with pytest.raises(ValueError, match="thirteen"):
        map_in_processes(doubled, [1, 13, 2], int, lambda _: None, 2, minus)


@pytest.mark.skipif(os.name != "posix", reason="the signal is POSIX's")
def test_what_a_process_dies_of_is_lost_and_nothing_else() -> None:
    heard: list[int] = []
    assert map_in_processes(doubled, [1, 17, 2, 100], int, heard.append, 2, minus) == [2, -17, 4, 200]
    assert sum(heard) == 120


def test_the_largest_are_begun_first_and_small_ones_handed_over_together() -> None:
    batches = list(_batches([1, 500, 2, 90, 1, 1, 1], 1))
    assert batches[:2] == [[1], [3]]
    assert sorted(number for some in batches for number in some) == list(range(7))
    assert [len(some) for some in _batches([1] * 640, 1)] == [10] * 64


def work(shared: int, task: int) -> int:
    """Adds, fails at 3, dies at 5."""
    if task == 3:
        raise ValueError("three is odd")
    if task == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return shared + task


def told(tasks: list[int], jobs: int) -> dict[int, object]:
    return {
        task: done if isinstance(done, int) else type(done).__name__
        for task, done in run_in_processes(work, 10, tasks, jobs)
    }


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_a_task_that_fails_fails_alone(jobs: int) -> None:
    """Every other task is done, in one process or in several."""
    assert told([1, 2, 3, 4], jobs) == {1: 11, 2: 12, 3: "ValueError", 4: 14}


@pytest.mark.parametrize("tasks", [[1, 5, 2, 4, 6, 7], [5]], ids=str)
@pytest.mark.skipif(os.name != "posix", reason="the signal is POSIX's")
def test_a_process_that_dies_takes_nobody_with_it(tasks: list[int]) -> None:
    """The task that killed its process is the only one that is lost."""
    assert told(tasks, 2) == {task: "BrokenProcessPool" if task == 5 else 10 + task for task in tasks}


def test_no_tasks_are_no_work() -> None:
    """Nothing to do is done at once."""
    assert told([], 4) == {}


SLEEPERS = """
import sys, time, pathlib
from unspool.workers import run_in_processes
def work(folder, task):
    pathlib.Path(folder, f"pid-{__import__('os').getpid()}").touch()
    time.sleep(60)
list(run_in_processes(work, sys.argv[1], [1, 2], 2))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes as Linux shows them")
def test_workers_do_not_outlive_a_killed_run(tmp_path: Path) -> None:
    """When the run itself is killed its workers end too."""
    with subprocess.Popen([sys.executable, "-c", SLEEPERS, str(tmp_path)]) as started:
        try:
            pids = _until(lambda: [int(path.name[4:]) for path in tmp_path.glob("pid-*")], 2)
        finally:
            started.kill()
    _until(lambda: [pid for pid in pids if not _alive(pid)], 2)


def _until(found, count: int) -> list[int]:  # type: ignore[no-untyped-def]
    for _ in range(6000):
        if len(now := found()) == count:
            return list(now)
        time.sleep(0.01)
    pytest.fail("waited in vain")


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
