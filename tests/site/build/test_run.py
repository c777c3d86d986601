"""Work spread over processes: what fails fails alone, and nobody is left behind; pictures beside pages."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.site.build.sites import made, pages_of, put, session
from unspool.site.build.run import run_in_processes
from unspool.site.options import SiteOptions


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


def test_a_picture_is_one_file_beside_the_pages_however_often_it_is_shown(tmp_path: Path) -> None:
    """Pages lead to it, and only what is tiny stays inside them."""
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 32
    log = session(1)
    log.prompt("Look", [picture]).assistant(log.text("I see.")).prompt("Again, and a dot", [picture, picture[:64]])
    put(tmp_path / "source", log.assistant(log.text("A dot.")))
    report = made(tmp_path / "source", tmp_path / "site")
    folder = pages_of(tmp_path / "site", 1)
    (file,) = folder.glob("*.png")
    shown = re.findall(r'<img src="([^"]+)"', "".join(page.read_text() for page in folder.glob("page-*.html")))
    assert file.read_bytes() == picture
    assert [src.partition(";")[0] for src in shown] == [file.name, file.name, "data:image/png"]
    assert report.size >= sum(path.stat().st_size for path in folder.iterdir())


def test_a_page_that_stands_alone_holds_its_pictures(tmp_path: Path) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(8192)
    log = session(1)
    put(tmp_path / "source", log.prompt("Look", [picture]).assistant(log.text("I see.")))
    made(tmp_path / "source", tmp_path / "site", options=SiteOptions(self_contained=True))
    folder = pages_of(tmp_path / "site", 1)
    assert not list(folder.glob("*.png"))
    assert "data:image/png;base64," in "".join(page.read_text() for page in folder.glob("page-*.html"))
