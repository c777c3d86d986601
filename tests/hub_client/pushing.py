"""`unspool push` as people run it: a process, a home, logs, and a hub to push to."""

import os
import random
import subprocess
import sys
from pathlib import Path

from tests.log_builder.builder import LogBuilder

CWD = "/srv/tidewater"


def words(seed: int, count: int) -> str:
    """Words that nobody says, the same for the same seed."""
    rng = random.Random(seed)
    return " ".join("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(count))


def key(number: int) -> str:
    return f"aaaaaaaa-0000-4000-8000-{number:012d}"


def write(home: Path, number: int, turns: int = 2, count: int = 400) -> Path:
    """A session in the agent's folder of a home."""
    log = LogBuilder(session_id=key(number), cwd=CWD, model="claude-sonnet-4-5", seed=str(number))
    for turn in range(turns):
        log.prompt(words(number * 100 + turn, 20)).assistant(log.text(words(number * 1000 + turn, count)))
    return log.write(home / ".claude")


def command(*options: str, url: str = "", token: str = "", terminal: int | None = None) -> "subprocess.Popen[str]":
    """`unspool push` as a process that has begun; `terminal` is what it asks on."""
    given = {**os.environ, **({"UNSPOOL_HUB": url, "UNSPOOL_HUB_TOKEN": token} if url else {})}
    return subprocess.Popen(
        [sys.executable, "-m", "unspool", "push", *options],
        stdin=subprocess.DEVNULL if terminal is None else terminal, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if terminal is None else terminal, text=True, env=given,
    )  # fmt: skip


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    """How a process ended and what it said."""
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err
