"""What progress lines of a running command repeat: each holds what was printed until then, and so do later ones."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from unspool import human
from unspool.model import Block, Json, Notice

_LONG = 120
"""Characters of a fact from which on it is told by where else it stands."""
_COMPARED = 24
"""Long facts of a line, at most, that are looked for in others: a log may hold any number of them."""
_LONGEST = 1e9
"""Seconds that no command takes; more are no time."""
_AHEAD = 4
"""Lines after a line that are looked at: those of several commands that run at once stand between one another."""


class _Tick(NamedTuple):
    """A line of progress, by where it stands among the blocks."""

    at: int
    notice: Notice
    seconds: float
    """What its command had taken by then."""
    when: str
    """The same as it is shown, by which the line is known."""
    long: Mapping[str, str]
    """Its long facts, by name."""


def told_once(blocks: Sequence[Block]) -> Sequence[Block]:
    """The blocks of a turn; of progress lines, what a later one holds is told by its name and time instead."""
    progress = [
        (at, block) for at, block in enumerate(blocks) if isinstance(block, Notice) and block.kind == "progress"
    ]
    ticks = [tick for at, notice in progress if (tick := _tick(at, notice)) is not None]
    if len(ticks) < 2:
        return blocks
    told = list(blocks)
    stands: dict[tuple[int, str], str] = {}  # where a fact that was left out stands, by its line and name
    for nth in range(len(ticks) - 2, -1, -1):
        tick = ticks[nth]
        again: dict[str, Json] = {}
        for name, said in tick.long.items():
            later = (one for one in ticks[nth + 1 : nth + 1 + _AHEAD] if one.seconds > tick.seconds)
            words = _told_by(said, (one for one in later if one.when != tick.when), stands)
            if words:
                again[name] = stands[tick.at, name] = words
        if again:
            told[tick.at] = msgspec.structs.replace(tick.notice, facts={**tick.notice.facts, **again})
    return told


def _tick(at: int, notice: Notice) -> _Tick | None:
    took = notice.facts.get("elapsedTimeSeconds")
    if not isinstance(took, (int, float)) or not 1 <= took < _LONGEST:
        return None
    long = {name: fact for name, fact in notice.facts.items() if isinstance(fact, str) and len(fact) >= _LONG}
    if not long or len(long) > _COMPARED:  # neither told by others nor telling of them
        return _Tick(at, notice, took, "", {})
    return _Tick(at, notice, took, human.duration(took), long)


def _told_by(said: str, later: Iterable[_Tick], stands: Mapping[tuple[int, str], str]) -> str:
    """Which fact of later lines holds what is said, as part of it or just so; empty where none does."""
    for tick in later:
        for name, more in tick.long.items():
            if said in more:
                # What stands further on itself is told by where that is, so that nobody is sent from line to line.
                there = stands.get((tick.at, name), f"the same as {name} at {tick.when}")
                return there if said == more else there.replace("the same as ", "part of ", 1)
    return ""
