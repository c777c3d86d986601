"""Which turns are shortened, and how strongly: spans of a session in percent of its turns."""

import re
from itertools import pairwise
from typing import Literal, NamedTuple, Self

from unspool.errors import UsageProblem

Level = Literal["light", "heavy"]
SHARES: dict[Level, int] = {"light": 35, "heavy": 10}
"""Percent of a passage's tokens that each level aims at."""
DEFAULT = "0-40:heavy,40-80:light"
"""The last fifth of a session stays word for word."""

_BAND = re.compile(r"\s*(\d{1,3})\s*-\s*(\d{1,3})\s*%?\s*:\s*(light|heavy)\s*", re.ASCII)


class Band(NamedTuple):
    """A span, from its start up to but without its end."""

    start: int
    end: int
    level: Level


class Bands(NamedTuple):
    """Spans that do not overlap, in order."""

    spans: tuple[Band, ...]

    @classmethod
    def parse(cls, text: str = DEFAULT) -> Self:
        """Bands such as `0-50:heavy,50-80:light`; UsageProblem where they are none."""
        spans = tuple(sorted(map(_band, text.split(","))))
        for before, after in pairwise(spans):
            if after.start < before.end:
                raise UsageProblem(f"The bands {shown(before)} and {shown(after)} overlap.")
        return cls(spans)

    def level(self, turn: int, turns: int) -> Level | None:
        """How strongly a turn, counted from 0, is shortened; None where it is in no band."""
        fits = (band.level for band in self.spans if band.start * turns <= turn * 100 < band.end * turns)
        return next(fits, None)

    def __str__(self) -> str:
        return ",".join(map(shown, self.spans))


def shown(band: Band) -> str:
    """A band as it is typed."""
    return f"{band.start}-{band.end}:{band.level}"


def _band(text: str) -> Band:
    found = _BAND.fullmatch(text)
    if found is None:
        raise UsageProblem(f"{text.strip()!r} is no band: write it as 0-50:heavy or 50-80:light, in percent of turns.")
    start, end = int(found[1]), int(found[2])
    if not start < end <= 100:
        raise UsageProblem(f"The band {text.strip()} must go from a smaller percentage to a larger one, up to 100.")
    return Band(start, end, "light" if found[3] == "light" else "heavy")
