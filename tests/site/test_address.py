"""Addresses: every prompt and block has one place, and keeps it."""

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.site.pages import demo, session, turn
from unspool.figures import all_turns, family
from unspool.model import LogFile, Place, Prompt, Session, Text, Turn
from unspool.site.address import HEAVY, Addresses, Item, slug
from unspool.site.options import SiteOptions


def items(whole: Session) -> list[Item]:
    """Every prompt and block of a session, its branches and its subagents."""
    turns = [one for member in family(whole) for one in all_turns(member)]
    return [item for one in turns for item in ((one.prompt,) if one.prompt else ()) + one.blocks]


@pytest.mark.parametrize("whole", demo(), ids=lambda one: one.id[:8])
def test_no_two_things_share_an_anchor(whole: Session) -> None:
    """Anchors are unique in a session, subagents and branches included."""
    addresses = Addresses(whole, SiteOptions())
    anchors = [addresses.anchor(item) for item in items(whole)]
    assert len(set(anchors)) == len(anchors)


@pytest.mark.parametrize("whole", demo(), ids=lambda one: one.id[:8])
def test_anchors_do_not_depend_on_options(whole: Session) -> None:
    """However a session is cut into pages, its anchors stay."""
    one, other = Addresses(whole, SiteOptions()), Addresses(whole, SiteOptions(per_page=2, single_page=True))
    assert [one.anchor(item) for item in items(whole)] == [other.anchor(item) for item in items(whole)]


def test_an_anchor_is_the_time_in_milliseconds() -> None:
    """The second thing of the same millisecond gets a number."""
    whole = session([turn(1, "ask", "one", "two", step=0)])
    addresses = Addresses(whole, SiteOptions())
    anchors = [addresses.anchor(item) for item in items(whole)]
    assert anchors == ["msg-1772366400000", "msg-1772366400000-2", "msg-1772366400000-3"]


def test_what_has_no_time_is_called_by_its_line() -> None:
    """Old logs have lines without a time."""
    (asked,) = items(session([turn(1, "ask")]))
    timeless = msgspec.structs.replace(asked, time=None)
    whole = session([msgspec.structs.replace(turn(1, "ask"), prompt=timeless)])
    assert Addresses(whole, SiteOptions()).anchor(timeless) == "line-1"


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(0, 2), st.integers(1, 4))
def test_a_log_that_grows_keeps_its_anchors(answers: list[int], step: int, more: int) -> None:
    """New lines at the end change nothing of what was there."""
    turns, at = [], 0
    for number, count in enumerate(answers, 1):
        turns.append(turn(number, *["x"] * (count + 1), step=step, at=at))
        at += count + 1
    shorter, longer = session(turns[:-more] or turns[:1]), session(turns)
    before, after = Addresses(shorter, SiteOptions()), Addresses(longer, SiteOptions())
    assert all(before.anchor(item) == after.anchor(item) for item in items(shorter))


@given(st.integers(0, 40), st.integers(1, 9), st.booleans())
def test_every_turn_is_on_exactly_one_page(count: int, per_page: int, opening: bool) -> None:
    """Pages hold the turns in order, so many prompts each, what came before the first prompt with it."""
    turns = [turn(number, "x", at=number) for number in range(1, count + 1)]
    if opening:
        turns.insert(0, msgspec.structs.replace(turn(0, "x"), prompt=None))
    live = Addresses(session(turns), SiteOptions(per_page=per_page)).live
    assert [one.number for leaf in live.leaves for one in leaf.turns] == [one.number for one in turns]
    sizes = [sum(one.prompt is not None for one in leaf.turns) for leaf in live.leaves]
    assert all(size == per_page for size in sizes[:-1])
    assert sizes[-1] <= per_page
    assert len({leaf.path for leaf in live.leaves}) == len(live.leaves) >= 1
    assert live.first == "page-001.html"


@given(st.lists(st.integers(1, HEAVY * 3 // 2), min_size=1, max_size=20), st.integers(1, 9))
def test_a_page_is_heavy_only_where_one_prompt_is(weights: list[int], per_page: int) -> None:
    """Pages hold fewer prompts where these are heavy, and no fewer than fit; what is in a turn does not matter, so that
    those who know only where the prompts stand find the same pages."""
    turns, at = [], 0
    for number, weight in enumerate(weights, 1):
        asked = Prompt(Place(number, at, 100), "text", "x")
        turns.append(Turn(number, asked, (Text(Place(number, at + 1, 100), "y"),) if number % 2 else ()))
        at += weight
    whole = session(turns)
    whole = msgspec.structs.replace(whole, log=LogFile("5e55.jsonl", at))
    pages = [leaf.turns for leaf in Addresses(whole, SiteOptions(per_page=per_page)).live.leaves]
    assert [one for page in pages for one in page] == turns
    heavy = [[weights[one.number - 1] for one in page] for page in pages]
    assert all(len(page) == 1 or (len(page) <= per_page and sum(page) <= HEAVY) for page in heavy)
    assert all(len(page) == per_page or sum(page) + after[0] > HEAVY for page, after in pairwise(heavy))


@pytest.mark.parametrize("hostile", ["../../etc", "a/b", "", "x" * 200, "ü", "<b>", "a b", "\ud800", ".hidden"])
def test_a_name_from_a_log_never_leaves_its_folder(hostile: str) -> None:
    """Ids of subagents become file names, so only plain ones are used as they are."""
    assert slug(hostile).isascii()
    assert slug(hostile).isalnum()
    assert slug(hostile) == slug(hostile) != slug(hostile + "y")
    assert slug("a330c1d2") == "a330c1d2"


def test_pages_of_subagents_never_share_a_name() -> None:
    """The second page of one subagent is not the first page of another."""
    for whole in demo():
        paths = [
            leaf.path for chapter in Addresses(whole, SiteOptions(per_page=1)).chapters() for leaf in chapter.leaves
        ]
        assert len(set(paths)) == len(paths)
