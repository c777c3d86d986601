"""The second labelled set: kinds, spellings and surroundings that are not made of the rules."""

from collections import Counter
from functools import cache

import pytest

from bench.unseen import Seen, every, is_gone
from bench.unseen.alike import alike
from bench.unseen.kinds import KINDS
from bench.unseen.worn import WORN
from tests.thorough import thorough, tries
from unspool.redact.finder import Finder

FINDER = Finder()
LEAST = {"form": 0.99, "named": 0.97, "personal": 0.94}


def test_the_set_is_large() -> None:
    """More than forty kinds of secrets and personal data in more than a dozen surroundings, and no kind twice."""
    assert len({kind.id for kind in KINDS}) == len(KINDS) > 150
    assert len(WORN) > 30


@cache
def looked_for(seed: int) -> list[tuple[Seen, bool]]:
    """Everything of the set, and whether it is gone."""
    return [(seen, is_gone(seen, FINDER.find(seen.text))) for seen in every(seed)]


SEEDS = [5, *(pytest.param(seed, marks=thorough) for seed in (6, 7))]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_must_go_is_found(seed: int) -> None:
    """Of what has a form of its own 99 in 100 are gone, whatever they are met in; of the others nearly as many."""
    all_of: Counter[str] = Counter()
    gone: Counter[str] = Counter()
    for seen, is_away in looked_for(seed):
        all_of[seen.group] += 1
        gone[seen.group] += is_away
    assert {group: gone[group] / all_of[group] for group in all_of if gone[group] < LEAST[group] * all_of[group]} == {}


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_hides_much(seed: int) -> None:
    """No surroundings and no kind with a form of its own hides more than a tenth."""
    missed: Counter[tuple[str, str]] = Counter()
    for seen, is_away in looked_for(seed):
        if seen.group == "form" and not is_away:
            missed["worn", seen.worn] += 1
            missed["kind", seen.kind] += 1
    most = {"worn": len([kind for kind in KINDS if kind.group == "form"]) / 10, "kind": len(WORN) / 10}
    assert {name: count for name, count in missed.items() if count > most[name[0]]} == {}


def test_what_is_left_outside_is_not_gone() -> None:
    """The measure itself: a secret of which a part is left is not gone."""
    seen = next(seen for seen in every() if seen.kind == "github classic" and seen.worn == "sentence")
    (match,) = FINDER.find(seen.text)
    assert is_gone(seen, [match])
    assert not is_gone(seen, [match._replace(value=match.value[:-12], end=match.end - 12)])
    assert not is_gone(seen, [])


def test_look_alikes_give_no_alarm() -> None:
    """Digests, ids, locks, public keys, code and made-up keys: nothing is found in thousands of lines of 50 sorts."""
    assert [line for line in alike(3, tries(6_000, 30_000)) if FINDER.find(line)] == []
