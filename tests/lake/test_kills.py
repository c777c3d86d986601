"""A write that is killed at any moment leaves the lake as it was, or as it was to be; the next one clears it up."""

import os
import shutil
import signal
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.lake.lakes import asked, contents, files_of, globbed, manifest_of, written
from tests.lake.test_write import session
from unspool.lake.manifest import verify_lake
from unspool.lake.storage import FolderStorage

_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.lake.lakes"])
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is asked of the system")


def dying(lake: Path, logs: Path, method: str, times: int) -> None:
    """Write until a method of the storage was called so many times, and be killed there."""
    real = getattr(FolderStorage, method)
    left = [times]

    def fatal(*args: object) -> object:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        made: object = real(*args)
        return made

    setattr(FolderStorage, method, fatal)
    written(lake, logs)


def killed(lake: Path, logs: Path, method: str, times: int) -> bool:
    """Whether a write was killed there, and not done before."""
    process = _CONTEXT.Process(target=dying, args=(lake, logs, method, times))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, object, object]:
    """Logs, a lake of an earlier state of them, and what a lake holds of the earlier state and of theirs."""
    place = tmp_path_factory.mktemp("kills")
    for seed in ("a", "b", "c"):
        session(seed).write(place / "logs")
    written(place / "lake", place / "logs")
    session("b", "one", "two", "three").write(place / "logs")
    session("d").write(place / "logs")
    written(place / "anew", place / "logs")
    return place / "logs", place / "lake", contents(place / "lake"), contents(place / "anew")


@pytest.mark.parametrize(
    ("method", "times"),
    [("create", 2), ("create", 9), ("move", 1), ("move", 6), ("put", 1), ("delete", 1), ("delete", 3)],
)
def test_a_killed_write_leaves_the_lake_before_or_after(
    method: str, times: int, states: tuple[Path, Path, object, object], tmp_path: Path
) -> None:
    logs, start, before, after = states
    lake = tmp_path / "lake"
    shutil.copytree(start, lake)
    assert killed(lake, logs, method, times)
    storage = FolderStorage(lake)
    assert contents(lake) == (after if method == "delete" else before)
    assert verify_lake(storage, manifest_of(lake)).damaged == []
    written(lake, logs)
    assert contents(lake) == after
    assert verify_lake(storage, manifest_of(lake)).left == []
    assert {path for path in files_of(lake) if path.endswith(".part")} == set()
    plain = globbed(f"SELECT count(*), count(DISTINCT session) FROM '{lake}/usage/**/*.parquet'")  # noqa: S608
    assert plain == asked(lake, "SELECT count(*), count(DISTINCT session) FROM usage")


def test_a_first_write_that_is_killed_is_no_lake_and_is_cleared_up(
    states: tuple[Path, Path, object, object], tmp_path: Path
) -> None:
    logs, _, _, after = states
    assert killed(tmp_path / "lake", logs, "move", 5)
    assert not (tmp_path / "lake" / "_unspool" / "manifest.json").exists()
    written(tmp_path / "lake", logs)
    assert contents(tmp_path / "lake") == after
    assert verify_lake(FolderStorage(tmp_path / "lake"), manifest_of(tmp_path / "lake")).left == []
