"""Only long passages of the bands are sent, and only the assistant's unless more is asked for."""

import pytest

from tests.copies.compress.model import passages
from unspool.copies.compress.passages import CompressOptions, Passage, TurnBands, choose_passages
from unspool.figures.tokens import estimate_tokens

HALF = TurnBands.parse("0-50:heavy")
ALL = TurnBands.parse("0-100:light")


def test_passages_outside_the_bands_stay() -> None:
    assert [one.passage.turn for one in choose_passages(passages(10), HALF).chosen] == [0, 1, 2, 3, 4]


def test_the_whole_session_counts_not_only_the_turns_with_passages() -> None:
    """Ten passages of a session of a hundred turns all lie in its first tenth."""
    assert len(choose_passages(passages(10), TurnBands.parse("0-10:light"), CompressOptions(turns=100)).chosen) == 10


def test_the_persons_words_are_left_alone_unless_asked_for() -> None:
    typed = passages(3, role="user")
    assert choose_passages(typed, ALL).chosen == ()
    assert choose_passages(typed, ALL).skipped == 0
    assert len(choose_passages(typed, ALL, CompressOptions(user=True)).chosen) == 3


def test_short_passages_are_skipped_and_counted() -> None:
    """Under fifty tokens there is nothing to win; the border itself is long enough."""
    shorter, longer = (next("x" * n for n in range(1000) if estimate_tokens("x" * n) == tokens) for tokens in (49, 50))
    assert choose_passages([Passage("a", 0, "assistant", shorter)], ALL) == ((), 1)
    assert [one.tokens for one in choose_passages([Passage("a", 0, "assistant", longer)], ALL).chosen] == [50]


def test_targets_are_shares_of_the_passage() -> None:
    one = choose_passages(passages(1), ALL).chosen[0]
    assert one.target == one.tokens * 35 // 100
    assert choose_passages(passages(1), HALF).chosen[0].target == one.tokens // 10


def test_a_line_with_two_passages_is_a_mistake() -> None:
    """The second would silently replace the first."""
    with pytest.raises(ValueError, match="one passage"):
        choose_passages(passages(1) * 2, ALL)


def test_no_passages_are_no_trouble() -> None:
    assert choose_passages([], ALL) == ((), 0)
