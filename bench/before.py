"""This version beside an earlier one: the same commands on the same logs, in turn, as ratios.

The earlier version is taken out of the repository's history into `.cache`, and runs with today's packages.
"""

import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path

from bench import corpus
from bench.measure import Run, run
from bench.table import Row

TIMES = 5
_SLOWER = 1.05
"""Ratios of times that are measured may differ by so much though nothing changed."""


def rows(what: str, source: Path, revision: str) -> Iterator[Row]:
    """How long each command takes, and how many times as long it took in the earlier version."""
    older = _source_of(revision)
    largest = corpus.largest(source)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        home = scratch / "home"
        home.mkdir()
        (home / ".claude").symlink_to(source)
        commands = {
            "list, from logs": ["list", "-s", str(source), "--json"],
            "first sync": ["sync", "-q", "-s", str(source), "--archive", "NEW"],
            "usage, from logs": ["usage", "-s", str(source), "--json"],
            "site of all": ["all", "-s", str(source), "-o", "NEW"],
            "export of the longest": ["export", str(largest), "-f", "json", "-o", "NEW"],
            "clone of the longest, not written": ["clone", "-n", str(largest)],
            "help": ["--help"],
        }
        for name, arguments in commands.items():
            yield _compared(f"{name}, {what}", arguments, older, scratch)
        kept: dict[Path | None, dict[str, str]] = {
            older: {"HOME": str(home), "UNSPOOL_ARCHIVE": str(scratch / "kept-before")}
        }
        kept[None] = {**kept[older], "UNSPOOL_ARCHIVE": str(scratch / "kept-now")}
        for version, env in kept.items():
            _run(["sync", "-q"], version, scratch, env)
        yield _compared(f"list, kept, {what}", ["list", "--json"], older, scratch, kept)


_Environments = Mapping[Path | None, dict[str, str]]
"""Variables for each version; None is this one."""


def _compared(what: str, arguments: list[str], older: Path, scratch: Path, env: _Environments | None = None) -> Row:
    mine: list[Run] = []
    theirs: list[Run] = []
    for _ in range(TIMES):
        for runs, version in ((mine, None), (theirs, older)):
            runs.append(_run(arguments, version, scratch, (env or {}).get(version, {})))
    failed = next((one.failed for one in (*mine, *theirs) if one.failed), "")
    if failed:
        return Row(what, failed)
    now, before = (min(one.seconds for one in runs) for runs in (mine, theirs))
    return Row(what, f"{now:.2f} s", f"{before:.2f} s", f"{before / now:.2f}x", "not slower", now <= before * _SLOWER)


def _run(arguments: list[str], version: Path | None, scratch: Path, env: dict[str, str]) -> Run:
    """A command of this version, or of an earlier one; `NEW` is a folder that is not there yet."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        named = [str(Path(folder) / "new") if one == "NEW" else one for one in arguments]
        source = version or corpus.ROOT / "src"
        return run([sys.executable, "-m", "unspool", *named], {**env, "PYTHONPATH": str(source)})


def _source_of(revision: str) -> Path:
    """The source of a revision, taken out of the repository once."""
    commit = _git("rev-parse", "--short", revision).decode().strip()
    place = corpus.ROOT / ".cache" / f"before-{commit}"
    if not place.is_dir():
        with tarfile.open(fileobj=BytesIO(_git("archive", revision, "src"))) as packed:
            packed.extractall(place, filter="data")
    return place / "src"


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=corpus.ROOT, check=True, capture_output=True).stdout  # noqa: S607
