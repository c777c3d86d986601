"""A form of the review as a change of choices: each undoes another, and none does more than it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.app.share_findings import FoundValue, RuleFindings, findings_summary
from unspool.app.share_selection import (
    MAX_TERM,
    ShareSelection,
    change_choices,
    change_selection,
    is_kept,
    left_out_turns,
)
from unspool.errors import UsageProblem
from unspool.redact.spread import COMMON_WORD, NEAR_NAME
from unspool.share.choices import ShareChoices

KNOWN = {"key": frozenset({"k1", "k2", "k3"}), "mail": frozenset({"m1"})}
FINDINGS = [(rule, finding) for rule, findings in KNOWN.items() for finding in findings]
PAIRS = st.sampled_from(
    [
        ("keep", "replace", "k1"),
        ("keep-rule", "replace-rule", "key"),
        ("term", "drop", "Brennevik"),
        ("leave", "bring", "thinking"),
        ("leave", "bring", "subagents"),
        ("leave-turn", "bring-turn", "3"),
    ]
)


@given(PAIRS)
def test_what_was_done_is_undone(pair: tuple[str, str, str]) -> None:
    do, undo, value = pair
    done = change_choices(ShareChoices(), {do: value}, KNOWN)
    assert done != ShareChoices()
    assert change_choices(done, {undo: value}, KNOWN) == ShareChoices()


@given(PAIRS)
def test_to_do_it_twice_is_to_do_it_once(pair: tuple[str, str, str]) -> None:
    once = change_choices(ShareChoices(), {pair[0]: pair[2]}, KNOWN)
    assert change_choices(once, {pair[0]: pair[2]}, KNOWN) == once


@given(st.sampled_from(FINDINGS), st.sets(st.sampled_from(["key", "mail", "k1", "k2", "k3", "m1"])))
def test_a_finding_is_replaced_alone(chosen: tuple[str, str], before: set[str]) -> None:
    """Even where all of its rule stayed: the others still do."""
    had = ShareChoices(keep=frozenset(before))
    now = change_choices(had, {"replace": chosen[1]}, KNOWN)
    assert not is_kept(now, *chosen)
    others = [one for one in FINDINGS if one != chosen]
    assert [is_kept(now, *one) for one in others] == [is_kept(had, *one) for one in others]


def test_keeping_all_of_a_rule_keeps_what_was_seen_and_no_more() -> None:
    """What the rule finds in the project's next session was not looked at."""
    now = change_choices(ShareChoices(), {"keep-rule": "key"}, KNOWN)
    assert now.keep == KNOWN["key"]
    assert not is_kept(now, "key", "k4")


def test_turns_that_were_given_as_a_stretch_come_back_one_by_one() -> None:
    now = change_choices(ShareChoices(without=((2, 4),)), {"bring-turn": "3"}, KNOWN)
    assert left_out_turns(now) == {2, 4}


def test_a_term_is_kept_once_and_in_one_line() -> None:
    now = change_choices(
        change_choices(ShareChoices(), {"term": " Brennevik\n Havn "}, KNOWN), {"term": "Brennevik Havn"}, KNOWN
    )
    assert now.terms == ("Brennevik Havn",)


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"other": "1"},
        {"keep": "k4"},
        {"replace": "key"},
        {"term": " x "},
        {"term": "x" * (MAX_TERM + 1)},
        {"leave": "keep"},
        {"leave": "without"},
        {"leave-turn": "-1"},
        {"leave-turn": "1e3"},
        {"leave-turn": "9" * 12},
        {"leave-turn": "٣"},
    ],
)
def test_what_means_nothing_is_refused(sent: dict[str, str]) -> None:
    with pytest.raises(UsageProblem):
        change_choices(ShareChoices(), sent, KNOWN)


@pytest.mark.parametrize(("do", "undo"), [({"title": "Tides"}, {"title": " "}), ({"chain": "whole"}, {"chain": "one"})])
def test_title_and_chain_leave_the_choices_as_they_are(do: dict[str, str], undo: dict[str, str]) -> None:
    before = ShareSelection(ShareChoices(terms=("Brennevik",)))
    done = change_selection(before, do, KNOWN)
    assert done != before
    assert done.choices == before.choices
    assert change_selection(done, undo, KNOWN) == before


@pytest.mark.parametrize("sent", [{"chain": ""}, {"chain": "true"}, {"title": "x" * 201}, {"other": "1"}])
def test_a_wish_that_means_nothing_is_refused(sent: dict[str, str]) -> None:
    with pytest.raises(UsageProblem):
        change_selection(ShareSelection(), sent, KNOWN)


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        ({}, "3 values in 6 places. All of them are replaced."),
        ({"email": 2}, "3 values in 6 places. 2 of them stay as you wished."),
        (
            {COMMON_WORD: 1},
            "3 values in 6 places. 1 of them, common words or built on names, stays unless you replace it.",
        ),
        (
            {"email": 1, COMMON_WORD: 1, NEAR_NAME: 1},
            "3 values in 6 places. 1 of them stays as you wished. "
            "2 of them, common words or built on names, stay unless you replace them.",
        ),
    ],
)
def test_the_sum_of_findings_tells_what_a_person_wished_from_what_stays_by_itself(
    kept: dict[str, int], words: str
) -> None:
    gone = 3 - sum(kept.values())
    values = [("email", False)] * gone + [(rule, True) for rule, number in kept.items() for _ in range(number)]
    rules = [
        RuleFindings(rule, "", "personal", "warn", (FoundValue(str(number), "x", "", stays, 2, (), 0),))
        for number, (rule, stays) in enumerate(values)
    ]
    assert findings_summary(rules) == words
