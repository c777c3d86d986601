"""What became of the passages."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from unspool.clone.compress.passage import Chosen


class Shortened(NamedTuple):
    """One passage, shorter or as it was."""

    chosen: Chosen
    text: str | None
    """None where the original stays."""
    tokens: int
    """Estimated, of what stands now."""
    why: str = ""
    """What went wrong where it stays."""
    attempts: int = 0
    ms: int = 0


class Stats(msgspec.Struct, frozen=True):
    """Sums; tokens are of the passages that were to be shortened, estimated."""

    compressed: int = 0
    skipped: int = 0
    """Passages of the bands that were too short to be sent."""
    failed: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    ms: int = 0


class Outcome(NamedTuple):
    """Everything that a caller needs of it."""

    stats: Stats
    details: tuple[Shortened, ...]
    """In the order of the passages."""

    @property
    def texts(self) -> dict[str, str]:
        """The new words, by the ids of their lines."""
        return {one.chosen.passage.id: one.text for one in self.details if one.text is not None}

    @property
    def reasons(self) -> tuple[tuple[str, int], ...]:
        """Why passages stayed as they were, the most frequent reason first."""
        counts = dict[str, int]()
        for one in self.details:
            if one.text is None:
                counts[one.why] = counts.get(one.why, 0) + 1
        return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def summed(details: Iterable[Shortened], skipped: int, ms: int) -> Outcome:
    """The outcome of these."""
    every = tuple(details)
    done = sum(one.text is not None for one in every)
    before, after = sum(one.chosen.tokens for one in every), sum(one.tokens for one in every)
    return Outcome(Stats(done, skipped, len(every) - done, before, after, ms), every)
