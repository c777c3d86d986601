"""The memory of a command and of all processes that it starts, watched from outside while it runs.

`VmHWM` is the kernel's own account of the most that a process ever held, so nothing is missed between two looks; but
forked processes share pages, which its sum counts in each. `Pss` counts a shared page once in all, and is sampled.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_EVERY = 0.05


@dataclass
class Family:
    """What a command and its processes took."""

    seconds: float = 0.0
    cpu: float = 0.0
    failed: str = ""
    together: int = 0
    """The most at one time, a shared page counted once."""
    peaks: dict[int, int] = field(default_factory=dict)
    """The most that each process ever held; the command itself is the first."""

    @property
    def own(self) -> int:
        """Of the command itself."""
        return next(iter(self.peaks.values()), 0)

    @property
    def added(self) -> int:
        """Of all, as if each had been at its peak at the same time and nothing were shared."""
        return sum(self.peaks.values())

    @property
    def told(self) -> str:
        _, *others = self.peaks.values() or [0]
        workers = f", {len(others)} others <= {max(others) / 1e6:.0f} MB" if others else ""
        return self.failed or f"{self.together / 1e6:.0f} MB at once (main {self.own / 1e6:.0f} MB{workers})"


def watched(command: Sequence[str], env: dict[str, str] | None = None) -> Family:
    """Run a command to its end in a home of its own, watching. Only its time is known where there is no /proc."""
    found = Family()
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile() as err:
        variables = {**os.environ, "HOME": home, "NO_COLOR": "1", **(env or {})}
        begun = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=err, stderr=err, env=variables, cwd=home)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            look(process.pid, found)
            time.sleep(_EVERY)
        found.seconds = time.perf_counter() - begun
        found.cpu = usage.ru_utime + usage.ru_stime
        process.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        if process.returncode:
            found.failed = f"exit {process.returncode}: {err.read().decode(errors='replace').strip()[-200:]}"
    return found


def look(pid: int, found: Family) -> None:
    """Note what a process and all below it hold now, and the most that each ever held."""
    if not sys.platform.startswith("linux"):
        return
    together = 0
    for one in _descent(pid):
        peak = _value(Path(f"/proc/{one}/status"), "VmHWM:")
        found.peaks[one] = max(peak, found.peaks.get(one, 0))
        together += _value(Path(f"/proc/{one}/smaps_rollup"), "Pss:")
    found.together = max(found.together, together)


def spent(pid: int) -> float:
    """Seconds of all cores that a process and all below it have used so far; those that have ended count no more."""
    ticks = 0
    for one in _descent(pid) if sys.platform.startswith("linux") else ():
        try:
            ticks += sum(map(int, Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[11:13]))
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def _descent(pid: int) -> Iterator[int]:
    """The process and all below it that are still there."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            yield from _descent(int(child))


def _value(path: Path, name: str) -> int:
    """A figure in bytes; 0 where the process is gone."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(name)), 0)
