"""What was used and what it cost, by day: without an archive, and from the index, beside ccusage; and do they agree?
How long a list of all sessions takes without an archive is told beside the same.

What must agree is what docs/decisions/0004-counted-once.md says: sessions added up, each whole, are the total of
`ccusage session`; history that several logs share counts once in `usage`, as in the total of a list.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.answers import UNSPOOL
from bench.beside import in_turns, row
from bench.measure import Run, run
from bench.table import Row

COLD, WARM, LISTED = 1.5, 3.0, 1.0
NAME = "ccusage daily"
OURS = ("input", "output", "cache_read", "cache_write")
THEIRS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens")

Four = tuple[int, ...]


def rows(what: str, source: Path, archive: Path, times: int) -> Iterator[Row]:
    """Cold, warm, and whether the figures are right; `archive` is up to date."""
    theirs = (lambda _: _ccusage(source, "daily")) if os.environ.get("UNSPOOL_CCUSAGE") else None
    cold = in_turns(lambda _: _usage(source, "--source", source), theirs, max(times, 5))
    yield row(f"usage, cold, {what}", cold[0], NAME, cold[1], COLD)
    warm = in_turns(lambda _: _usage(source, "--archive", archive), theirs, max(times, 5))
    yield row(f"usage, warm, {what}", warm[0], NAME, warm[1], WARM)
    listed = in_turns(lambda _: _list(source), theirs, max(times, 5))
    yield row(f"list, cold, {what}", listed[0], NAME, listed[1], LISTED)
    if not cold[0].failed:
        yield _same("usage cold as warm", what, _total(cold[0].best), "usage, warm", _total(warm[0].best))
    yield from _agreement(what, source, _total(warm[0].best))


def _usage(source: Path, option: str, place: Path) -> Run:
    """From the logs themselves (--source), as on a machine that never synced, or from the index (--archive)."""
    command = [UNSPOOL, "usage", "--json", option, str(place)]
    return run(command, {"CLAUDE_CONFIG_DIR": str(source), "TZ": "UTC"})


def _list(source: Path) -> Run:
    return run([UNSPOOL, "list", "--json", "--limit", "0", "--source", str(source)])


def _ccusage(source: Path, report: str) -> Run:
    command = [os.environ["UNSPOOL_CCUSAGE"], report, "--json", "--offline"]
    return run(command, {"CLAUDE_CONFIG_DIR": str(source), "TZ": "UTC"})


def _agreement(what: str, source: Path, used: Four | None) -> Iterator[Row]:
    listing = json.loads(_list(source).output)
    yield _same("total of usage", what, used, "total of list", _four(listing["all"]["usage"], OURS))
    if os.environ.get("UNSPOOL_CCUSAGE"):
        each = [_four(one["usage"], OURS) for one in listing["sessions"]]
        together = tuple(sum(figures) for figures in zip(*each, strict=True))
        theirs = _four(json.loads(_ccusage(source, "session").output)["totals"], THEIRS)
        yield _same("sessions added up", what, together, "ccusage session", theirs)


def _same(name: str, what: str, ours: Four | None, beside: str, theirs: Four | None) -> Row:
    return Row(f"{name}, {what}", _tokens(ours), f"{beside}: {_tokens(theirs)}", aim="equal", met=ours == theirs)


def _tokens(figures: Four | None) -> str:
    return "none" if figures is None else " ".join(f"{one:,}" for one in figures)


def _total(done: Run) -> Four | None:
    return None if done.failed else _four(json.loads(done.output)["total"], OURS)


def _four(data: dict[str, Any], names: tuple[str, ...]) -> Four:
    return tuple(int(data.get(name, 0)) for name in names)
