"""Work spread over processes: what fails fails alone, and nobody is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unspool.site.build.run import run_in_processes


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
from unspool.site.build.run import run_in_processes
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
