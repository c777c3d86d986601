"""What turns cost: each request once, in the first turn that shows it."""

from datetime import timedelta

import msgspec

from tests.site.pages import NOON, prices, session
from unspool.model import Agent, Call, Message, Place, Prompt, Session, Text, Turn, Usage
from unspool.prices import Cost
from unspool.site.session_view import MessageTokens, TurnCosts

ONE = Call("one", "claude-opus-4-6", Usage(input=1000, output=10), time=NOON)
TWO = Call("two", "claude-opus-4-6", Usage(input=3000, output=10), time=NOON)


def turn(number: int, *messages: str) -> Turn:
    """A turn whose blocks are of these messages."""
    place = Place(number, number * 100, 100)
    blocks = tuple(Text(place, "said", message=name, time=NOON) for name in messages)
    return Turn(number, Prompt(place, "text", "go"), blocks, NOON, NOON + timedelta(seconds=1))


def told(turns: tuple[Turn, ...], **messages: tuple[Call, ...]) -> Session:
    """A session of turns, and the calls of its messages."""
    made = tuple(Message(name, "claude-opus-4-6", calls) for name, calls in messages.items())
    return msgspec.structs.replace(session(turns), messages=made)


def costs(whole: Session) -> list[Cost]:
    found = TurnCosts(whole, prices())
    return [found.of(one) for one in whole.turns]


def price(*calls: Call) -> Cost:
    return Cost(sum(amount for call in calls if (amount := prices().price_of(call)) is not None) or Cost().amount)


def test_a_message_of_many_blocks_is_paid_once() -> None:
    assert costs(told((turn(1, "a", "a", "b"),), a=(ONE,), b=(TWO,))) == [price(ONE, TWO)]


def test_a_message_that_reaches_into_the_next_turn_is_paid_in_the_first() -> None:
    assert costs(told((turn(1, "a"), turn(2, "a", "b")), a=(ONE,), b=(TWO,))) == [price(ONE), price(TWO)]


def test_a_request_that_two_messages_hold_is_paid_once() -> None:
    assert costs(told((turn(1, "a"), turn(2, "b")), a=(ONE,), b=(ONE, TWO))) == [price(ONE), price(TWO)]


def test_a_request_that_a_subagents_log_repeats_is_paid_in_the_conversation() -> None:
    inner = told((turn(1, "a", "b"),), a=(ONE,), b=(TWO,))
    outer = told((turn(1, "a"),), a=(ONE,))
    whole = msgspec.structs.replace(outer, agents=(Agent("x", "Explore", "", inner),))
    found = TurnCosts(whole, prices())
    assert (found.of(whole.turns[0]), found.all_of(inner)) == (price(ONE), price(TWO))


def test_a_message_tells_its_window_what_it_wrote_and_what_it_cost() -> None:
    """The fullest of its own requests; those of other models that it asked cost, and are in nobody's window."""
    first = Call("a:1", "claude-opus-4-6", Usage(input=10, cache_read=990, output=5), time=NOON)
    second = Call("a:2", "claude-opus-4-6", Usage(input=20, cache_read=1980, output=7, floor=True), time=NOON)
    found = TurnCosts(told((turn(1, "a", "a"), turn(2, "a", "b")), a=(first, second, ONE), b=()), prices())
    paid = price(first, second, ONE)
    assert found.of_message("a") == MessageTokens(2000, 12, True, Cost(paid.amount, floor=True))
    assert found.of_message("b") is None
    assert found.of_message("") is None
