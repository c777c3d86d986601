"""Texts made to be slow or deep: they are looked through to the end, and nothing raises."""

from random import Random

import pytest

from bench.hostile import SECRETS
from bench.labelled import filled
from tests.thorough import tries
from tests.waiting import ending
from unspool.redact.finder import Finder
from unspool.redact.log import redact_lines, scan_lines
from unspool.redact.replacements import ReplacementNames
from unspool.redact.rules import builtin_rules

FINDER = Finder()
KEY = "ghp" + "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LENGTH = tries(20_000, 120_000)


def looked_through(text: str) -> None:
    """Usual are hundredths of a second; what grows as the square takes minutes."""
    with ending():
        FINDER.find(text)


@pytest.mark.parametrize("piece", SECRETS, ids=repr)
def test_no_text_takes_long(piece: str) -> None:
    """What a rule or a disguise begins with, again and again."""
    looked_through((piece * LENGTH)[:LENGTH])


@pytest.mark.parametrize("rule", builtin_rules().rules, ids=lambda rule: rule.id)
def test_no_rule_takes_long(rule: object) -> None:
    """The examples of a rule, and their first halves, again and again."""
    examples = [filled(example, Random(1)) for example in getattr(rule, "match", ())]
    for piece in [*examples, *(example[: len(example) // 2 + 1] for example in examples)]:
        looked_through((piece * LENGTH)[:LENGTH])


def test_base64_in_a_million_lines_is_found_in_time() -> None:
    """Binary data in wrapped base64 with words all over takes time as its length."""
    line = "A" * 8 + "/w8" + "Z3JhY2VAbmF2eS5taWwgd3JvdGUgdGhpcyBsaW5l" * 2 + "/w=="[:1]
    looked_through((line[:76] + "\n") * 3000)


@pytest.mark.parametrize("depth", [100, 151, 900, 50_000])
@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}")])
def test_depth_hides_nothing(depth: int, begin: str, end: str) -> None:
    """A line nested deeper than can be walked through is looked through as text."""
    line = f'{begin * depth}"{KEY}"{end * depth}'.encode()
    (made,) = redact_lines([line], FINDER, ReplacementNames())
    assert KEY.encode() not in made
    assert [found.match.value for found in scan_lines([line], FINDER)] == [KEY]
