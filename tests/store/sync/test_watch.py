"""A watch syncs once, then follows what changes, at a pace; nothing that goes wrong on the way ends it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from tests.waiting import PATIENCE
from tests.waiting import until as waited

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of this kind are POSIX")

QUICK = {"calm": 0.3, "patience": 5, "gap": 0.2, "share": 1, "settle": 0.3, "retry": 0.3}


class Running:
    """A watcher in a process of its own, and the lines it has said so far."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment}
        )
        self.lines: list[str] = []
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as said:
            for line in said:
                self.lines.append(line)

    def until(self, there: Callable[[list[str]], bool]) -> list[str]:
        """Wait until the lines are as wanted."""

        def here() -> bool:
            found = there(self.told())
            assert found or self.process.poll() is None, self.told()
            return found

        waited(here, self.told)
        return self.told()

    def said(self, line: str, times: int = 1) -> None:
        self.until(lambda lines: lines.count(line) >= times)

    def told(self) -> list[str]:
        """The lines so far."""
        return [line.strip() for line in list(self.lines)]

    def ended(self) -> int:
        """The exit code of one that ends by itself; all that it said is there then."""
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.ended()


Start = Callable[..., Running]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "archive"
    place.mkdir()
    return place


@pytest.fixture
def source(tmp_path: Path) -> Path:
    place = tmp_path / "source"
    (place / "project").mkdir(parents=True)
    (place / "project" / "log.jsonl").write_text("{}\n")
    return place


@pytest.fixture
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another source. A change of it shows that all before it was heard: whatever else was due would be synced too."""
    place = tmp_path_factory.mktemp("other") / "other"
    place.mkdir()
    return place


@pytest.fixture
def start(folder: Path, repository: Path) -> Iterator[Start]:
    """`start(*sources, **pace)`: a watcher that runs until the test ends."""
    running: list[Running] = []

    def started(*sources: Path, files: str = "", **pace: float) -> Running:
        command = [sys.executable, "-m", "tests.store.sync.counting", str(folder), *map(str, sources)]
        environment = {"PACE": json.dumps({**QUICK, **pace}), "FILES": files, "PYTHONPATH": str(repository)}
        running.append(Running(command, environment))
        return running[-1]

    yield started
    for one in running:
        one.end(signal.SIGKILL)


def append(path: Path) -> None:
    with path.open("a") as log:
        log.write("{}\n")


def test_a_burst_is_one_sync(start: Start, source: Path, other: Path) -> None:
    """It syncs at the start; sixty appends one after the other are one sync more."""
    watch = start(source, other, calm=1, patience=60)
    watch.said("synced source other")
    for _ in range(60):
        append(source / "project" / "log.jsonl")
    watch.said("synced source")
    append(other / "log.jsonl")
    assert watch.until(lambda lines: len(lines) > 2)[1:] == ["synced source", "synced other"]


def test_a_burst_without_end_is_not_waited_for(start: Start, source: Path) -> None:
    watch = start(source, calm=30, patience=1)
    watch.said("synced source")
    append(source / "project" / "log.jsonl")
    watch.said("synced source", 2)


def test_a_new_folder_and_its_logs_are_noticed(start: Start, source: Path) -> None:
    watch = start(source)
    watch.said("synced source")
    (source / "another").mkdir()
    watch.said("synced source", 2)
    (source / "another" / "log.jsonl").write_text("{}\n")
    watch.said("synced source", 3)
    append(source / "another" / "log.jsonl")
    watch.said("synced source", 4)


def test_only_the_source_that_changed_is_synced(start: Start, source: Path, other: Path) -> None:
    watch = start(source, other)
    watch.said("synced source other")
    append(other / "log.jsonl")
    watch.said("synced other")
    append(source / "project" / "log.jsonl")
    assert watch.until(lambda lines: len(lines) > 2) == ["synced source other", "synced other", "synced source"]


def test_reading_a_log_is_no_change(start: Start, source: Path, other: Path) -> None:
    watch = start(source, other)
    watch.said("synced source other")
    for _ in range(20):
        (source / "project" / "log.jsonl").read_bytes()
    append(other / "log.jsonl")
    assert watch.until(lambda lines: len(lines) > 1) == ["synced source other", "synced other"]


def test_what_the_archive_itself_writes_is_no_change(start: Start, folder: Path, source: Path, other: Path) -> None:
    """An archive within a source would else keep the watch busy for ever."""
    around = folder.parent
    watch = start(around, other)
    watch.said(f"synced {around.name} other")
    append(folder / "archive.db")
    append(other / "log.jsonl")
    assert watch.until(lambda lines: len(lines) > 1)[1:] == ["synced other"]
    append(source / "project" / "log.jsonl")
    watch.said(f"synced {around.name}")


def test_a_source_may_come_later(start: Start, tmp_path: Path, other: Path) -> None:
    watch = start(tmp_path / "late", other)
    assert watch.until(bool) == ["synced other"]
    (tmp_path / "late").mkdir()
    watch.said("synced late")
    append(tmp_path / "late" / "log.jsonl")
    watch.said("synced late", 2)


def test_a_source_may_go_and_come_back(start: Start, source: Path, other: Path) -> None:
    """While it is gone nothing of it is synced; another folder of that name is watched like the first."""
    watch = start(source, other)
    watch.said("synced source other")
    shutil.rmtree(source)
    for number in range(1, 5):  # it looks for its sources between one sync and the next
        append(other / "log.jsonl")
        watch.said("synced other", number)
    assert watch.told() == ["synced source other", *["synced other"] * 4]
    source.mkdir()
    watch.said("synced source")
    append(source / "log.jsonl")
    watch.said("synced source", 2)


def test_lost_events_are_made_up_for(start: Start, source: Path) -> None:
    """Everything is looked at again after the interval, whatever was heard."""
    watch = start(source, interval=0.5)
    watch.said("synced source", 4)


def test_polling_needs_no_events(start: Start, source: Path) -> None:
    watch = start(source, poll=0.5)
    watch.said("synced source", 3)


def test_without_events_it_looks_more_often(start: Start, source: Path) -> None:
    """Where the system has no means left to watch, that is told, and it goes on by looking."""
    watch = start(source, files="6", interval=600, deaf=0.5)
    said = watch.until(lambda lines: lines.count("synced source") >= 3)
    assert [line.split()[:2] for line in said if line.startswith("deaf")] == [["deaf", "0.5"]]


def test_a_failure_is_told_and_made_up_for(start: Start, folder: Path, source: Path) -> None:
    """It waits twice as long after each failure, and goes on as if nothing had been."""
    (folder / "fail").touch()
    watch = start(source)
    said = watch.until(lambda lines: len(lines) >= 3)
    assert said[:3] == [f"failed {wait} The disk is full." for wait in ("0.3", "0.6", "1.2")]
    (folder / "fail").unlink()
    watch.said("synced source")
    (folder / "fail").touch()
    append(source / "project" / "log.jsonl")
    watch.until(lambda lines: lines[-1] == "failed 0.3 The disk is full.")


def test_the_first_sync_is_not_paid_for(start: Start, folder: Path, source: Path) -> None:
    """However long it took, the second comes as soon as there is something to sync."""
    (folder / "takes").write_text("0.1")
    watch = start(source, calm=0, share=20 * PATIENCE)
    watch.said("synced source")
    append(source / "project" / "log.jsonl")
    watch.said("synced source", 2)


def test_it_keeps_to_its_share(start: Start, folder: Path, source: Path) -> None:
    """However much is written, a sync of 0.1 s is followed by a pause of two seconds; on a busy machine of more."""
    (folder / "takes").write_text("0.1")
    watch = start(source, calm=0, share=20)
    watch.said("synced source")

    def pauses() -> list[float]:
        append(source / "project" / "log.jsonl")
        return [float(line.split()[1]) for line in watch.told() if line.startswith("paused")]

    waited(lambda: len(pauses()) > 1, watch.told)
    assert min(pauses()[1:]) > 1.5  # the first sync is not paid for


def test_it_is_idle_when_nothing_happens(start: Start, source: Path) -> None:
    """With usual settings and five hundred folders: once it has settled, a second takes less than 3 % of a core."""
    for number in range(500):
        (source / f"project-{number}").mkdir()
    watch = start(source, calm=1, gap=5, share=20, settle=2)
    watch.said("synced source")

    def idle() -> bool:
        before = used(watch)
        time.sleep(1)
        return used(watch) - before < 0.03

    waited(idle)


def used(watch: Running) -> float:
    """Seconds of processor that a process took so far."""
    fields = Path(f"/proc/{watch.process.pid}/stat")
    if not fields.exists():
        pytest.skip("no /proc to read the processor's time from")
    ticks = fields.read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it(start: Start, source: Path, number: int, code: int) -> None:
    """While it waits."""
    watch = start(source, interval=10 * PATIENCE, gap=10 * PATIENCE)
    watch.said("synced source")
    assert watch.end(number) == code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_breaks_off_a_sync(start: Start, folder: Path, source: Path, number: int, code: int) -> None:
    """What it had begun is rolled back, and nothing is synced after."""
    (folder / "slow").touch()
    watch = start(source)
    watch.said("begun")
    assert watch.end(number) == code
    assert [line.split()[0] for line in watch.told()] == ["begun", "rolled", "used"]


def test_one_watcher_an_archive(start: Start, source: Path) -> None:
    """A second one says who was first and ends with 7; when the first is gone, however it went, another may."""
    first = start(source)
    first.said("synced source")
    second = start(source)
    assert second.ended() == 7
    assert f"(process {first.process.pid})" in second.told()[0]
    first.end(signal.SIGKILL)
    start(source).said("synced source")


def test_ignored_signals_stay_ignored(folder: Path, source: Path, repository: Path) -> None:
    """Under nohup a closed terminal does not end it."""
    command = ["nohup", sys.executable, "-m", "tests.store.sync.counting", str(folder), str(source)]
    watch = Running(command, {"PACE": json.dumps(QUICK), "PYTHONPATH": str(repository)})
    watch.said("synced source")
    watch.process.send_signal(signal.SIGHUP)
    append(source / "project" / "log.jsonl")
    watch.said("synced source", 2)
    assert watch.end() == 0
