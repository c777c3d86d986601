"""How much a text looks like chance rather than words and names, by the pairs of its letters."""

import math
import string
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise

TABLE = "letter_pairs.txt"
"""How surprising each class is after each: a row for each, made by `python -m bench.letter_pairs`."""
COSTS = string.digits + string.ascii_uppercase + string.ascii_lowercase
"""The signs of the table: quarters of a bit."""
_DIGIT, _SIGN, _EDGE = 52, 53, 54
CLASSES = 55
"""Letters of both cases, digits, all other signs, and where a text begins and ends."""
_CLASS = {letter: number for number, letter in enumerate(string.ascii_letters)} | dict.fromkeys(string.digits, _DIGIT)
_WITHIN = {_DIGIT: math.log2(10), _SIGN: 3.0}
"""Bits that tell which of its class a digit or a sign is."""


def classes(text: str) -> list[int]:
    """The class of each character, with the edges."""
    return [_EDGE, *(_CLASS.get(char, _SIGN) for char in text), _EDGE]


@cache
def _costs() -> list[list[float]]:
    rows = resources.files("unspool.redact").joinpath(TABLE).read_text("ascii").splitlines()
    return [[COSTS.index(sign) / 4 + _WITHIN.get(second, 0.0) for second, sign in enumerate(row)] for row in rows]


@lru_cache(4096)
def chance(text: str) -> float:
    """Bits by which chance explains a text better than words do: above zero for random ones, below for names.

    Chance takes each character from the smallest usual alphabet that has them all, words take it by the one before.
    """
    costs = _costs()
    words = sum(costs[first][second] for first, second in pairwise(classes(text)))
    return words - len(text) * math.log2(_alphabet(text))


def _alphabet(text: str) -> int:
    if set(text) <= set("0123456789abcdef-") or set(text) <= set("0123456789ABCDEF-"):
        return 16
    kinds = (any(map(str.islower, text)), 26), (any(map(str.isupper, text)), 26), (any(map(str.isdigit, text)), 10)
    return max(10, sum(size for there, size in kinds if there) + (0 if text.isalnum() else 8))
