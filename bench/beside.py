"""The same work done by us and by a peer, in turns, so that whatever else the machine does falls on both."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.measure import Run
from bench.table import Row

Work = Callable[[int], Run]
"""Hears how often it was done before."""


@dataclass(frozen=True)
class Runs:
    """The same command, several times."""

    runs: Sequence[Run]

    @property
    def failed(self) -> str:
        return next((one.failed for one in self.runs if one.failed), "")

    @property
    def best(self) -> Run:
        return min(self.runs, key=lambda one: one.seconds)

    @property
    def median(self) -> float:
        return statistics.median(one.seconds for one in self.runs)

    @property
    def told(self) -> str:
        """Best and median, and what the best took of all cores together."""
        busy = f", cpu {clock(self.best.cpu)}" if self.best.cpu else ""
        return self.failed or f"{clock(self.best.seconds)} (median {clock(self.median)}{busy})"


def clock(seconds: float) -> str:
    """A time in the unit that suits it."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def in_turns(ours: Work, theirs: Work | None, times: int) -> tuple[Runs, Runs | None]:
    """Ours and theirs, one after the other, so many times."""
    pairs = [(ours(number), None if theirs is None else theirs(number)) for number in range(times)]
    others = [one for _, one in pairs if one is not None]
    return Runs([one for one, _ in pairs]), Runs(others) if others else None


def row(what: str, ours: Runs, name: str, theirs: Runs | None, aim: float) -> Row:
    """Both, and whether the best of ours is at least `aim` times as fast as the best of theirs."""
    wanted = f">= {aim:g}x as fast" if aim > 1 else "no slower"
    if ours.failed:
        return Row(what, ours.failed, aim=wanted, met=False)
    if theirs is None or theirs.failed:
        return Row(what, ours.told, f"{name}: {theirs.failed if theirs else 'not installed'}", aim=wanted)
    ratio, usual = theirs.best.seconds / ours.best.seconds, theirs.median / ours.median
    told = f"{ratio:.1f}x as fast (medians {usual:.1f}x)"
    return Row(what, ours.told, f"{name}: {theirs.told}", told, wanted, ratio >= aim)
