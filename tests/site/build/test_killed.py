"""A run that is killed in the middle, again and again: the site is whole every time."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.site.build.sites import contents, made, put, session
from tests.site.links import broken
from tests.thorough import tries
from tests.waiting import until
from unspool.demo import write_demo
from unspool.site.build.manifest import DONE_FILE
from unspool.site.build.plan import BuildOptions, BuildPlan
from unspool.store.library import Library

pytestmark = pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")

KILLS = tries(3, 60)


def long_source(folder: Path) -> Path:
    """Enough sessions, chains among them, that a run can be met in the middle."""
    write_demo(folder)
    for number in range(tries(16, 40)):
        log = session(number)
        for turn in range(30):
            log.prompt(f"Prompt {turn}").assistant(log.text(f"Answer {turn}: " + "wave after wave, " * 300))
        log.write(folder)
    return folder


def started(source: Path, site: Path, *more: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "unspool", "all", "-s", str(source), "-o", str(site), "-j", "2", *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def settled(group: int, site: Path) -> None:
    """Wait until no worker that outlived the kill for a moment writes any more."""
    before, since = names(site), time.monotonic()
    while _alive(group) and time.monotonic() < since + 2:  # one that is dead, and that nobody has buried, does nothing
        time.sleep(0.02)
        now = names(site)
        if now != before:
            before, since = now, time.monotonic()


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _is_so_far(run: "subprocess.Popen[bytes]", site: Path, begun: float, enough: float) -> bool:
    """Whether a run has written so many files, or has ended."""
    written = 0
    for folder, _, files in os.walk(site):
        for name in files:
            with suppress(FileNotFoundError):
                written += Path(folder, name).stat().st_mtime >= begun
    return written >= enough or run.poll() is not None


def names(site: Path) -> list[str]:
    """Everything there; a folder that goes away while it is looked at has nothing in it."""
    return sorted(f"{folder}/{name}" for folder, _, files in os.walk(site) for name in [".", *files])


def test_a_killed_run_leaves_a_whole_site(tmp_path: Path) -> None:
    """Killed at any moment, at first and while everything is made again: pages are complete, links lead somewhere."""
    source, site = long_source(tmp_path / "logs"), tmp_path / "site"
    with started(source, tmp_path / "fresh") as whole:
        _, said = whole.communicate(timeout=300)
    assert whole.returncode == 0, said
    files = len(contents(tmp_path / "fresh"))
    chosen, met = random.Random(3), 0
    for number in range(KILLS):
        again = ["--force"] if number > KILLS // 2 else []
        begun, enough = time.time(), chosen.uniform(0.01, 0.9) * files
        with started(source, site, *again) as run:
            until(partial(_is_so_far, run, site, begun, enough))
            met += run.poll() is None
            if number % 2:
                run.kill()
            else:
                with suppress(ProcessLookupError):  # a quick run may have ended before
                    os.killpg(run.pid, signal.SIGKILL)
        settled(run.pid, site)
        assert broken(site) == []
    assert met > 0, "no run was met in the middle"
    made(source, site)
    assert broken(site) == []
    ours, fresh = contents(site), contents(tmp_path / "fresh")
    assert {
        name: data for name, data in ours.items() if data != fresh.get(name) and not name.startswith("assets/")
    } == {}
    assert not [path for path in site.rglob("*") if path.name.endswith((".part", ".away"))]


BROKEN_OFF = """
import os, sys
from pathlib import Path
from unspool.site.build.plan import BuildOptions, build_site
from unspool.store.library import Library

left = int(sys.argv[3])

def watch(_, __):
    global left
    left -= 1
    if not left:
        if sys.argv[4] == "killed":
            os._exit(9)
        raise KeyboardInterrupt

build_site(Library([Path(sys.argv[1])]).logs(), Path(sys.argv[2]), BuildOptions(), watch)
"""


@pytest.mark.parametrize("how", ["killed", "interrupted"])
@pytest.mark.parametrize("done", [1, 4, 7])
def test_a_run_that_was_broken_off_goes_on_where_it_was(tmp_path: Path, done: int, how: str) -> None:
    """However it ended, and though sessions tell of others that were made after them, nothing is made twice."""
    source, site = write_demo(tmp_path / "logs"), tmp_path / "site"
    arguments = [str(source), str(site), str(done), how]
    ended = subprocess.run([sys.executable, "-c", BROKEN_OFF, *arguments], capture_output=True, check=False)
    assert ended.returncode
    logs = Library([source]).logs()
    assert len(BuildPlan(logs, site, BuildOptions()).todo) == len(logs) - done
    made(source, site)
    made(source, tmp_path / "whole")
    assert contents(site) == contents(tmp_path / "whole")
    assert not (site / DONE_FILE).exists()


def test_a_line_that_was_cut_by_a_kill_is_passed_over(tmp_path: Path) -> None:
    source, site = put(tmp_path / "logs", session(1), session(2)), tmp_path / "site"
    made(source, site)
    (site / DONE_FILE).write_bytes(b'["x", {"id": 1}]\n["never heard of", {}]\n["y", {"i')
    assert not BuildPlan(Library([source]).logs(), site, BuildOptions()).todo
