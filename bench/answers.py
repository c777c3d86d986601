"""The same question put to us and to our peers: which sessions are there, and what did they, or one of them, cost?"""

import sys
from collections.abc import Iterator
from pathlib import Path

from bench import corpus, peers
from bench.measure import Run, median
from bench.table import Row

UNSPOOL = str(Path(sys.executable).with_name("unspool"))


def rows(source: Path) -> Iterator[Row]:
    """`list` of the whole source and `info` of its largest session, each beside what the peers take."""
    listed = median([UNSPOOL, "list", "--json", "--source", str(source)], 3)
    yield _beside("list --json, all sessions", listed, "ccusage session", peers.ccusage(source))
    yield _beside("list --json, all sessions", listed, "claude-code-log", peers.claude_code_log(source))
    largest = corpus.largest(source)
    told = median([UNSPOOL, "info", str(largest)], 3)
    what = f"info of the largest session ({largest.stat().st_size / 1e6:.1f} MB)"
    yield _beside(what, told, "ccusage session --id", peers.ccusage(source, largest))
    yield _beside(what, told, "claude-code-log FILE", peers.claude_code_log(source, largest))


def _beside(what: str, ours: Run, name: str, theirs: Run | None) -> Row:
    mine = ours.failed or f"{ours.seconds:.2f} s"
    if theirs is None or theirs.failed:
        return Row(what, mine, f"{name}: {theirs.failed if theirs else 'not installed'}")
    ratio = "" if ours.failed else f"{theirs.seconds / ours.seconds:.1f}x as fast"
    return Row(what, mine, f"{name}: {theirs.seconds:.2f} s", ratio)
