"""A clone of one very long session: how long it takes and how much memory, beside a peer and beside our aims."""

import json
from collections.abc import Iterator
from pathlib import Path

from bench import corpus
from bench.beside import Runs, clock, in_turns
from bench.cloners import OURS, PEER, Field, names
from bench.judges import judged
from bench.measure import Run
from bench.table import Row

SECONDS, PEAK_MB = 3.0, 400
PRESETS = ("default", "none")
"""What people ask for, and what writes the most."""
TIMES = 3


def rows(source: Path, mb: int) -> Iterator[Row]:
    """Time, memory and soundness of a clone of one session of `mb` MB, made of one of `source`."""
    with corpus.scratch() as folder:
        ground = Field(folder)
        corpus.huge_log(smooth(source), mb, ground.agent)
        for preset in PRESETS:
            yield from _preset(ground, f"a session of {mb} MB, {preset}", preset)


def smooth(source: Path) -> Path:
    """The largest session whose lines all hang from one root, so that it can go on with itself; else the largest."""
    logs = sorted(source.glob("projects/*/*.jsonl"), key=lambda path: (-path.stat().st_size, path.name))
    whole = (log for log in logs if not log.name.startswith("agent-") and _is_smooth(log.read_bytes()))
    return next(whole, None) or corpus.largest(source)


def _is_smooth(log: bytes) -> bool:
    roots = 0
    for line in log.splitlines():
        try:
            data = json.loads(line)
        except ValueError:
            return False
        roots += isinstance(data, dict) and "parentUuid" in data and data["parentUuid"] is None
    return roots == 1


def _preset(ground: Field, what: str, preset: str) -> Iterator[Row]:
    [log] = ground.logs
    faults: dict[str, str] = {}

    def clone(name: str) -> Run:
        took, made = ground.clone(name, log.stem, preset)
        if name not in faults:
            faults[name] = _judged(made, log)
        ground.clear()
        return took

    ours, theirs = in_turns(lambda _: clone(OURS), (lambda _: clone(PEER)) if PEER in names() else None, TIMES)
    sound = not ours.failed and not faults[OURS]
    yield _time(f"clone of {what}", ours, theirs, sound)
    yield _memory(f"memory of it, {what}", ours, theirs)
    told = f"{PEER}: {faults.get(PEER, 'not installed') or 'sound'}"
    yield Row(f"soundness of it, {what}", faults[OURS] or "sound", told, aim="sound", met=sound)


def _judged(clone: Path | None, log: Path) -> str:
    """What is wrong with it, in few words."""
    if clone is None:
        return "no clone"
    [verdict] = judged([(clone, log)])
    found = [*verdict.faults, *verdict.refusals]
    return f"{len(found)} faults, first: {found[0]}" if found else ""


def _time(what: str, ours: Runs, theirs: Runs | None, sound: bool) -> Row:
    beside = f"{PEER}: {theirs.told if theirs else 'not installed'}"
    whole = theirs is not None and not theirs.failed and not ours.failed
    ratio = f"{theirs.best.seconds / ours.best.seconds:.1f}x as fast" if theirs and whole else ""
    met = sound and ours.best.seconds <= SECONDS
    return Row(what, ours.told, beside, ratio, f"<= {clock(SECONDS)}", met)


def _memory(what: str, ours: Runs, theirs: Runs | None) -> Row:
    """The most that any run held."""
    most = _peak(ours)
    beside = f"{PEER}: {_peak(theirs):.0f} MB" if theirs and not theirs.failed else ""
    ratio = f"{most / _peak(theirs):.0%}" if theirs and not theirs.failed else ""
    told = ours.failed or f"{most:.0f} MB"
    return Row(what, told, beside, ratio, f"<= {PEAK_MB} MB", not ours.failed and most <= PEAK_MB)


def _peak(runs: Runs) -> float:
    return max(one.peak_mb for one in runs.runs)
