"""A whole site: how long, how large and in how much memory, beside two programs that make one too; and made again.

The same logs in the same run; of more than 100 MB the slowest peer is left out.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import corpus
from bench.answers import UNSPOOL
from bench.measure import Run, run
from bench.table import Row

FASTER = {"claude-code-transcripts": 8.0, "claude-code-log": 40.0}
PEAK_MB = 150
AGAIN = 0.05
SLOW = 100 * corpus.MB
"""Bytes of logs beyond which claude-code-log is not waited for."""
TIMES = 3


@dataclass(frozen=True)
class Made:
    """A site that was made."""

    run: Run
    size: int
    """Bytes of all its files."""


def rows(source: Path) -> Iterator[Row]:
    """What a site of these logs takes, and what peers take for one."""
    what = corpus.described(source)
    with corpus.scratch() as folder:
        first = min((_ours(source, folder / f"ours-{n}") for n in range(TIMES)), key=lambda made: made.run.seconds)
        again = min((_ours(source, folder / "ours-0") for _ in range(TIMES)), key=lambda made: made.run.seconds)
        yield _peak(what, first)
        yield _again(what, first, again)
        for name, peer in (("claude-code-transcripts", _transcripts), ("claude-code-log", _log)):
            if name == "claude-code-log" and corpus.size(source) > SLOW:
                continue
            yield from _beside(what, first, name, peer(source, folder / name))


def _ours(source: Path, site: Path) -> Made:
    return _made([UNSPOOL, "all", "-q", "-s", str(source), "-o", str(site)], site)


def _transcripts(source: Path, site: Path) -> Made | None:
    program = os.environ.get("UNSPOOL_CLAUDE_CODE_TRANSCRIPTS")
    projects = str(source / "projects")
    return _made([program, "all", "-q", "-s", projects, "-o", str(site)], site) if program else None


def _log(source: Path, site: Path) -> Made | None:
    """It writes beside the logs, so beside a copy; what it keeps to be quicker next time counts as output too."""
    program = os.environ.get("UNSPOOL_CLAUDE_CODE_LOG")
    if not program:
        return None
    projects = shutil.copytree(source / "projects", site / "projects")
    given = _size(site)
    done = _made([program, "--all-projects", "--projects-dir", str(projects)], site)
    return Made(done.run, done.size - given)


def _made(command: list[str], site: Path) -> Made:
    done = run(command)
    return Made(done, _size(site))


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _peak(what: str, made: Made) -> Row:
    told = f"{made.run.seconds:.2f} s, {made.run.peak_mb:.0f} MB a process, {made.size / 1e6:.1f} MB written"
    met = not made.run.failed and made.run.peak_mb <= PEAK_MB
    return Row(f"all, {what}", made.run.failed or told, aim=f"<= {PEAK_MB} MB", met=met)


def _again(what: str, first: Made, again: Made) -> Row:
    share = again.run.seconds / first.run.seconds
    failed = first.run.failed or again.run.failed
    ours = failed or f"{again.run.seconds:.2f} s"
    met = not failed and share <= AGAIN
    return Row(f"all again, {what}", ours, ratio=f"{share:.1%} of the first", aim=f"<= {AGAIN:.0%}", met=met)


def _beside(what: str, ours: Made, name: str, theirs: Made | None) -> Iterator[Row]:
    if theirs is None or theirs.run.failed:
        why = theirs.run.failed if theirs else "not installed"
        yield Row(f"time of all, {what}", f"{ours.run.seconds:.2f} s", f"{name}: {why}")
        return
    ratio, aim, share = theirs.run.seconds / ours.run.seconds, FASTER[name], ours.size / theirs.size
    mine, other = f"{ours.run.seconds:.2f} s", f"{name}: {theirs.run.seconds:.2f} s"
    yield Row(f"time of all, {what}", mine, other, f"{ratio:.1f}x as fast", f">= {aim:.0f}x", ratio >= aim)
    mine, other = f"{ours.size / 1e6:.1f} MB", f"{name}: {theirs.size / 1e6:.1f} MB"
    yield Row(f"size of all, {what}", mine, other, f"{share:.0%}", "<= 100%", share <= 1)
