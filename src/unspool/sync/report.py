"""What a sync is told, and what it did."""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from unspool.prices import PriceTable

Progress = Callable[[int, int], None]
"""Hears the bytes of what is done, and of all that is to be done."""


class Report(msgspec.Struct):
    """Counts of one sync; `parsed` is 0 where nothing changed."""

    new: int = 0
    grown: int = 0
    rewritten: int = 0
    gone: int = 0
    """Files that were missed for the first time. They stay in the archive."""
    files: int = 0
    """Files that were looked at."""
    bytes: int = 0
    """Bytes that were taken in."""
    parsed: int = 0
    """Sessions that were read for the index."""
    ghosts: int = 0
    """Sessions that are known from their traces alone."""
    failures: list[str] = []
    seconds: float = 0.0

    @property
    def changed(self) -> bool:
        return bool(self.new or self.grown or self.rewritten or self.gone or self.parsed)

    def add(self, outcomes: Counter[str]) -> None:
        """Count what became of files."""
        self.new += outcomes["new"]
        self.grown += outcomes["grown"]
        self.rewritten += outcomes["rewritten"]


class Terms(NamedTuple):
    """What holds for a whole sync."""

    prices: PriceTable
    salt: str
    """What all rows depend on besides the logs: another one, and every session is read anew."""
    progress: Progress
