"""Bands say which turns are shortened, and how strongly."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.copies.compress.passages import DEFAULT, SHARES, TurnBand, TurnBands
from unspool.errors import UsageProblem


def test_bands_are_read_as_they_are_typed() -> None:
    """In any order, with spaces and a percent sign where a person puts them."""
    read = TurnBands.parse(" 50 - 80%:light, 0-50:heavy")
    assert read.spans == (TurnBand(0, 50, "heavy"), TurnBand(50, 80, "light"))
    assert str(read) == "0-50:heavy,50-80:light"


def test_the_default_leaves_the_last_fifth_alone() -> None:
    levels = [TurnBands.parse().level(turn, 10) for turn in range(10)]
    assert levels == ["heavy"] * 4 + ["light"] * 4 + [None] * 2
    assert TurnBands.parse() == TurnBands.parse(DEFAULT)


def test_a_band_ends_before_its_end() -> None:
    """A turn on the border of two bands belongs to the second, and 100 takes in the last turn."""
    bands = TurnBands.parse("0-50:heavy,50-100:light")
    assert [bands.level(turn, 4) for turn in range(4)] == ["heavy", "heavy", "light", "light"]
    assert bands.level(0, 1) == "heavy"


def test_the_levels_aim_at_a_third_and_a_tenth() -> None:
    assert SHARES == {"light": 35, "heavy": 10}


WRONG = """
0-50
0-50:strong
50-50:light
60-50:light
0-101:light
-5-50:light
0-50:light,
a-b:heavy
0.5-9:light
0-50:heavy,49-80:light
10-20:light,0-100:heavy
\N{ARABIC-INDIC DIGIT ZERO}-50:heavy
"""


@pytest.mark.parametrize("wrong", ["", *WRONG.split()])
def test_what_is_no_band_is_refused(wrong: str) -> None:
    """With a sentence that shows a right one, or names the two that overlap."""
    with pytest.raises(UsageProblem, match=r"is no band|must go from|overlap"):
        TurnBands.parse(wrong)


@given(st.lists(st.integers(0, 100), min_size=2, max_size=8, unique=True), st.integers(1, 300))
def test_a_turn_is_in_one_band_at_most_and_in_the_right_one(borders: list[int], turns: int) -> None:
    """For any bands side by side and any number of turns, by the position index/total*100."""
    borders.sort()
    spans = [TurnBand(*pair, "light" if at % 2 else "heavy") for at, pair in enumerate(pairwise(borders))]
    bands = TurnBands.parse(",".join(f"{one.start}-{one.end}:{one.level}" for one in spans))
    assert TurnBands.parse(str(bands)) == bands
    for turn in range(turns):
        inside = [one.level for one in spans if one.start <= Fraction(turn * 100, turns) < one.end]
        assert bands.level(turn, turns) == next(iter(inside), None)
        assert len(inside) <= 1
