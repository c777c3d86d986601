"""Sessions for tests of sync: small, and with something of everything that the index knows."""

import random
from collections.abc import Sequence
from pathlib import Path
from time import sleep
from typing import Any

from tests.log_builder.builder import LogBuilder

TICK = 0.03
"""Longer than a file system's clock may stand still: what was written so long ago cannot change unnoticed."""


def rested(*_: object) -> None:
    """Wait until a change of what was just written would show."""
    sleep(TICK)


def full(seed: str = "full", turns: int = 3, **more: Any) -> LogBuilder:
    """A session with tools, errors, commits, plans, todos, a subagent, a spilled result and a plan's file."""
    log = LogBuilder(seed=seed, slug=f"slug-{seed}", **more)
    for number in range(turns):
        turn(log, number)
    log.plan(f"# Mend the {seed} harbour\n\nFirst the crane.", "approved")
    child(log, "look around")
    use = log.use("Bash", command="cat long.txt")
    log.assistant(use).spilled(use, f"spilled{seed} " * 400)
    todos = [{"content": "paint", "status": "completed", "activeForm": "painting"}]
    todos.append({"content": f"sweep {seed}", "status": "pending", "activeForm": "sweeping"})
    log.call("TodoWrite", {"todos": todos}, "Todos have been modified successfully.")
    return log


def turn(log: LogBuilder, number: int) -> LogBuilder:
    """A prompt and what follows it."""
    seed = log.seed.replace("/", "")
    log.prompt(f"Please mend number{number} of {seed}")
    log.assistant(log.think(f"thinking about {seed} and {number}"), log.text(f"I will answer{number} with {seed}."))
    log.read(f"/home/dev/harbour/{seed}.py", f"def crane_{number}():\n    return '{seed}'\n" * 8)
    log.edited(f"/home/dev/harbour/{seed}.py", "old line\n", "old", f"new{number}")
    log.ran(f"git commit -m 'Part {number}'", f"[main {number:07x}] Part {number}\n 1 file changed")
    log.failed("Bash", {"command": f"make {seed}"}, f"error{number}: no rule to make {seed}")
    return log


def child(log: LogBuilder, what: str) -> LogBuilder:
    """A subagent that says something."""
    use = log.agent_use("explore", what, f"Please {what} for {log.seed}")
    log.assistant(use)
    return log.subagent(use, "explore", what, lambda sub: sub.assistant(sub.text(f"subagent saw {what} of {log.seed}")))


def write(root: Path, logs: Sequence[LogBuilder]) -> list[Path]:
    """The files of sessions below a source."""
    paths = [log.write(root) for log in logs]
    rested()
    return paths


def source(folder: Path) -> dict[str, bytes]:
    """Every file of a source, by path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def noise(seed: int, size: int) -> bytes:
    """Bytes that no packing makes smaller."""
    return random.Random(seed).randbytes(size)
