"""How long an answer is waited for, how often it is asked for again, and when that is given up."""

from typing import NamedTuple


class Pace(NamedTuple):
    """Times in seconds."""

    limits: tuple[tuple[int, float], ...] = ((500, 20.0), (2000, 30.0))
    """(tokens, limit): the time for passages of fewer tokens than this."""
    longest: float = 90.0
    """The time for passages that are longer still."""
    growth: float = 1.5
    """What each further attempt multiplies the time by."""
    most: float = 3.0
    """What all attempts together multiply it by at most."""
    attempts: int = 4
    rest: float = 0.5
    """The pause before the second attempt; each further one doubles it."""
    patience: float = 120.0
    """A service that asks for a longer pause than this is not asked again."""
    losses: int = 8
    """Passages that fail for good one after another until the rest is not sent."""

    def seconds(self, tokens: int, attempt: int) -> float:
        """The time limit of an attempt, counted from 0."""
        first = next((limit for below, limit in self.limits if tokens < below), self.longest)
        return first * min(self.most, self.growth**attempt)

    def pause(self, attempt: int) -> float:
        """The rest after an attempt that failed."""
        return self.rest * 2.0**attempt


USUAL = Pace()
