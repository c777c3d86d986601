"""A signature never says no of what a part holds, and what it says for sure is so."""

from hypothesis import given
from hypothesis import strategies as st

from unspool.hub.store.signature import MOST_PASSAGES, AskedWords, PartSignature, PartWords

WORDS = st.sampled_from([b"a", b"heron", b"herons", b"heronry", b"tide", b"tides", b"\xe6\xb0\xb4", b"x" * 900])
PASSAGES = st.lists(st.tuples(st.integers(0, 6), st.lists(WORDS, max_size=12)), min_size=1, max_size=40)


def holds(words: list[bytes], asked: list[bytes], *, prefix: bool) -> bool:
    """Whether words hold others that follow each other, by looking."""
    for begin in range(len(words) - len(asked) + 1):
        *whole, last = words[begin : begin + len(asked)]
        if whole == asked[:-1] and (last.startswith(asked[-1]) if prefix else last == asked[-1]):
            return True
    return False


@given(PASSAGES, st.lists(WORDS, min_size=1, max_size=3), st.booleans(), st.integers(1, 900))
def test_what_a_passage_holds_may_be_there(
    passages: list[tuple[int, list[bytes]]], asked: list[bytes], prefix: bool, letters: int
) -> None:
    if prefix:
        asked = [*asked[:-1], asked[-1][:letters]]
    signature = PartSignature(PartWords(passages).signature())
    true = sum(1 << at for at, (_, words) in enumerate(passages) if holds(words, asked, prefix=prefix))
    question = AskedWords(asked, prefix=prefix)
    assert question.may_hold(signature) & true == true
    assert question.may_hold(signature) <= signature.all
    sure = question.surely_hold(signature)
    assert sure & true == sure
    for rank in range(7):
        assert signature.of_kinds([rank]) == sum(1 << at for at, (own, _) in enumerate(passages) if own == rank)


def test_a_word_that_most_passages_hold_is_known_for_sure() -> None:
    passages = [(0, [b"the", b"heron%d" % at]) for at in range(MOST_PASSAGES)]
    signature = PartSignature(PartWords(passages).signature())
    assert AskedWords([b"the"], prefix=False).surely_hold(signature) == signature.all == 2**MOST_PASSAGES - 1
    assert AskedWords([b"heron7"], prefix=False).surely_hold(signature) == 0


def test_few_passages_are_taken_for_what_they_do_not_hold() -> None:
    """Of words that are elsewhere in the part, and of words that follow each other nowhere."""
    passages = [(0, [b"w%d" % (at * 20 + number) for number in range(20)]) for at in range(50)]
    signature = PartSignature(PartWords(passages).signature())
    wrong = sum(
        AskedWords([b"w%d" % number], prefix=False).may_hold(signature).bit_count() - 1 for number in range(1000)
    )
    assert wrong < 1000 * 49 * 0.05
    apart = [AskedWords([b"w%d" % number, b"w%d" % (number + 2)], prefix=False) for number in range(0, 1000, 20)]
    assert sum(bool(asked.may_hold(signature)) for asked in apart) < 0.25 * len(apart)
