"""A command run to its end: how long it took and how much memory it had at most."""

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One finished command."""

    seconds: float
    peak_mb: float
    output: str
    failed: str = ""
    """The last words of a command that ended badly."""
    cpu: float = 0.0
    """Seconds of all cores, its own processes included."""


def run(command: Sequence[str], env: dict[str, str] | None = None, cwd: Path | None = None) -> Run:
    """Run a command in a home of its own. Linux counts the starter's memory too, so this process must stay small."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        variables = {**os.environ, "HOME": home, "NO_COLOR": "1", **(env or {})}
        begun = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=variables, cwd=cwd or home
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        last = err.read().decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        failed = f"exit {process.returncode}: {last[0]}" if process.returncode else ""
        cpu = usage.ru_utime + usage.ru_stime
        return Run(seconds, usage.ru_maxrss * 1024 / 1e6, out.read().decode(errors="replace"), failed, cpu)


def median(command: Sequence[str], times: int, env: dict[str, str] | None = None) -> Run:
    """The run of middling length among several."""
    runs = [run(command, env) for _ in range(times)]
    middle = statistics.median_low([one.seconds for one in runs])
    return next((one for one in runs if one.failed), next(one for one in runs if one.seconds == middle))
