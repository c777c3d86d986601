"""Clones beside a peer's: on how many logs does each make one that the agent could go on with, and how fast?

Every session of a source through every preset, one program after the other, each a process from start to end. Times
are compared where both made a log. Two things are counted: clones that the agent could go on with, and of these the
ones whose messages the provider takes as they stand.
"""

import re
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import corpus
from bench.beside import clock
from bench.cloners import OURS, PEER, PRESETS, Field, field, names
from bench.judges import Verdict, judged
from bench.measure import Run
from bench.table import Row

_PLACES = re.compile(r"(?:messages|content)\.\d+: | toolu_\w+")
"""Places and ids, so that reasons can be counted."""
_TOLD = 2
"""So many reasons are told, the most frequent first."""


@dataclass(frozen=True)
class Made:
    """What one program made of one log."""

    log: Path
    run: Run
    verdict: Verdict | None
    """None where it made nothing."""

    @property
    def faults(self) -> list[str]:
        """Why the agent could not go on with it."""
        return ["no clone"] if self.verdict is None else self.verdict.faults

    @property
    def refused(self) -> list[str]:
        """The same, and what the provider would refuse."""
        refusals = self.verdict.refusals if self.verdict else []
        return [*self.faults, *(_PLACES.sub("", why) for why in refusals)]


def rows(sources: Iterable[Path], presets: Sequence[str] = PRESETS) -> Iterator[Row]:
    """Of each source: the original logs, then times and valid clones of each preset, then whose ids they have."""
    for source in sources:
        kind = "made" if source.is_relative_to(corpus.CACHE) else "real"
        with corpus.scratch() as folder:
            ground = field(source, folder)
            corpus.warm(ground.agent)
            yield from _source(ground, kind, presets)


def _source(ground: Field, kind: str, presets: Sequence[str]) -> Iterator[Row]:
    logs = ground.logs
    alike = judged([(log, log) for log in logs])
    spoken = [log for log, verdict in zip(logs, alike, strict=True) if verdict.messages]
    what = f"{len(spoken)} {kind} logs"
    resume = [verdict for verdict in alike if not verdict.faults]
    sound = sum(not verdict.refusals for verdict in resume)
    told = f"{len(resume)} resume, {sound} are sound as they stand; {len(logs) - len(spoken)} more hold no conversation"
    yield Row(f"the logs themselves, {what}", told)
    every: dict[str, list[Made]] = {name: [] for name in names()}
    for preset in presets:
        made = _made(ground, spoken, preset)
        yield _times(f"clone, {preset}, {what}", made)
        yield _valid(f"clones that resume, {preset}, {what}", made, lambda one: one.faults)
        yield _valid(f"... and are sound as they stand, {preset}, {what}", made, lambda one: one.refused)
        for name, several in made.items():
            every[name] += several
    yield _own(f"clones with ids of their own, {what}", every)


def _made(ground: Field, logs: Sequence[Path], preset: str) -> dict[str, list[Made]]:
    """What each program makes of each log, in turns; then they are judged all at once."""
    done = [(name, log, *ground.clone(name, log.stem, preset)) for log in logs for name in names()]
    verdicts = iter(judged([(clone, log) for _, log, _, clone in done if clone]))
    found: dict[str, list[Made]] = {name: [] for name in names()}
    for name, log, took, clone in done:
        found[name].append(Made(log, took, next(verdicts) if clone else None))
        if name == OURS and not clone:
            print(f"no clone of {log.stem} by {preset}: {took.failed}", file=sys.stderr)
    ground.clear()
    return found


def _times(what: str, made: dict[str, list[Made]]) -> Row:
    both = [several for several in zip(*made.values(), strict=True) if all(one.verdict for one in several)]
    if not both:
        return Row(what, "no log of which each made a clone")
    taken = {name: [pair[at].run.seconds for pair in both] for at, name in enumerate(made)}
    ours, theirs = taken[OURS], taken.get(PEER)
    if theirs is None:
        return Row(what, _told(ours), f"{PEER}: not installed")
    usual = statistics.median(one / own for own, one in zip(ours, theirs, strict=True))
    ratio = f"{sum(theirs) / sum(ours):.1f}x as fast (median of logs {usual:.1f}x)"
    return Row(what, _told(ours), f"{PEER}: {_told(theirs)}", ratio)


def _told(seconds: Sequence[float]) -> str:
    middle, most = clock(statistics.median(seconds)), clock(max(seconds))
    return f"{clock(sum(seconds))} for {len(seconds)} logs (median {middle}, most {most})"


def _valid(what: str, made: dict[str, list[Made]], reasons: Callable[[Made], list[str]]) -> Row:
    """How many have no reason against them. Ours must hold by the rules for copies too."""
    found = {name: [reasons(one) for one in several] for name, several in made.items()}
    found[OURS] = [[*reasons(one), *(one.verdict.strict if one.verdict else ())] for one in made[OURS]]
    beside = f"{PEER}: {_counted(found[PEER]) if PEER in found else 'not installed'}"
    return Row(what, _counted(found[OURS]), beside, aim="all", met=not any(found[OURS]))


def _counted(reasons: Sequence[list[str]]) -> str:
    """How many of how many, and the most frequent reasons with the number of logs that have them."""
    times = Counter(why for several in reasons for why in set(several))
    told = ", ".join(f"{number} {why}" for why, number in times.most_common(_TOLD))
    return f"{reasons.count([])} of {len(reasons)}" + (f" ({told})" if told else "")


def _own(what: str, every: dict[str, list[Made]]) -> Row:
    told = {}
    for name, made in every.items():
        kept = [one.verdict.kept for one in made if one.verdict]
        told[name] = f"{kept.count(0)} of {len(kept)}"
    met = all(not one.verdict.kept for one in every[OURS] if one.verdict)
    return Row(what, told[OURS], f"{PEER}: {told.get(PEER, 'not installed')}", aim="all", met=met)
