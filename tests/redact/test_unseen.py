"""The second labelled set: kinds, spellings and surroundings that are not made of the rules."""

from collections import Counter

import pytest

from bench.unseen import every, is_gone
from bench.unseen.alike import alike
from bench.unseen.kinds import KINDS
from bench.unseen.worn import WORN
from unspool.redact.finder import Finder

FINDER = Finder()
LEAST = {"form": 0.99, "named": 0.97, "personal": 0.94}


def test_the_set_is_large() -> None:
    """More than forty kinds of secrets and personal data in more than a dozen surroundings, and no kind twice."""
    assert len({kind.id for kind in KINDS}) == len(KINDS) > 150
    assert len(WORN) > 30


@pytest.mark.parametrize("seed", [5, 6])
def test_what_must_go_is_found(seed: int) -> None:
    """Of what has a form of its own 99 in 100 are gone, whatever they are met in; of the others nearly as many."""
    all_of: Counter[str] = Counter()
    gone: Counter[str] = Counter()
    for seen in every(seed):
        all_of[seen.group] += 1
        gone[seen.group] += is_gone(seen, FINDER.find(seen.text))
    assert {group: gone[group] / all_of[group] for group in all_of if gone[group] < LEAST[group] * all_of[group]} == {}


def test_nothing_hides_much() -> None:
    """No surroundings and no kind with a form of its own hides more than a tenth."""
    missed: Counter[tuple[str, str]] = Counter()
    for seen in every(7):
        if seen.group == "form" and not is_gone(seen, FINDER.find(seen.text)):
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
    """Digests, ids, locks, public keys, code and made-up keys: nothing is found in 30,000 lines of 50 sorts."""
    assert [line for line in alike(3, 30_000) if FINDER.find(line)] == []
