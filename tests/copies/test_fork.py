"""Damaged logs, mended: nothing keeps them from resuming any more, and what was sound is as it was."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.messages_api import refusals
from bench.resumed_messages import rebuilt
from tests.copies.damage import (
    DAMAGES,
    Damage,
    big_image,
    circle,
    foreign_line,
    glued,
    no_end,
    no_parent,
    not_utf8,
    nuls_before,
    nuls_inside,
    only_nuls,
    own_parent,
    result_gone,
    result_late,
    reversed_end,
    same_line_twice,
    torn,
    wrong_role,
)  # fmt: skip
from tests.copies.made_logs import VERSIONS, made
from tests.thorough import tries
from unspool.agents.claude_code.lint import lint
from unspool.agents.claude_code.mending import repair_log
from unspool.agents.writing import errors

STEPS = (2, 1, 0, 4, 3, 5, 6, 1)
steps = st.lists(st.integers(0, 8), max_size=8)
versions = st.sampled_from(VERSIONS)
damages = st.sampled_from(DAMAGES)
numbers = st.integers(0, 10_000)


def _called(damage: Damage) -> str:
    return damage.__name__


@pytest.mark.parametrize("damage", DAMAGES, ids=_called)
@pytest.mark.parametrize("number", [0, 4, 7, 13, 22])
def test_every_kind_of_damage_is_mended(damage: Damage, number: int) -> None:
    """After the repair the log has no error, and its messages are accepted."""
    lines = made("2.1.230", STEPS)
    done = repair_log(damage(lines, number))
    assert errors(lint(done.lines, strict=False)) == []
    assert refusals(rebuilt(done.lines)) == []
    assert all(deed.line >= 1 and deed.message.endswith(".") for deed in done.deeds)


def test_a_number_without_end_in_a_line_that_is_mended_leaves_a_line_that_can_be_read() -> None:
    lines = made("2.1.230", STEPS)
    lines[0] = lines[0].replace(b"{", b'{"cost":1e999,"slug":7,', 1)
    done = repair_log(lines)
    assert [deed.rule for deed in done.deeds] == ["bad-json-type"]
    assert b"Infinity" not in done.lines[0]
    assert lint(done.lines, strict=False) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_a_sound_log_is_left_as_it_is(version: str) -> None:
    lines = made(version, range(9))
    done = repair_log(lines)
    assert done.deeds == ()
    assert done.lines == lines


@settings(max_examples=tries(25, 500), suppress_health_check=[HealthCheck.too_slow])
@given(versions, steps, st.lists(st.tuples(damages, numbers), min_size=1, max_size=3))
def test_any_damage_of_any_log_is_mended(version: str, shape: list[int], done: list[tuple[Damage, int]]) -> None:
    """Several kinds of damage at once; what was mended is told, and mending again finds nothing to do."""
    lines = made(version, shape)
    for damage, number in done:
        try:
            lines = damage(lines, number)
        except (ValueError, KeyError, ZeroDivisionError, IndexError, TypeError, AttributeError):
            continue  # one damage may leave nothing that the next could be done to
    first = repair_log(lines)
    found = errors(lint(first.lines, strict=False))
    assert found == lint([], strict=False) or (found, refusals(rebuilt(first.lines))) == ([], [])
    assert repair_log(first.lines).lines == first.lines


@given(versions, steps, damages, numbers)
@settings(max_examples=tries(25, 300), suppress_health_check=[HealthCheck.too_slow])
def test_lines_that_no_deed_names_are_the_same_bytes(
    version: str, shape: list[int], damage: Damage, number: int
) -> None:
    try:
        lines = damage(made(version, shape), number)
    except (ValueError, KeyError, ZeroDivisionError, IndexError):
        return
    done = repair_log(lines)
    kept = set(done.lines)
    lost = [at for at, line in enumerate(lines, 1) if line not in kept]
    relinked = {b'"parentUuid"'}
    told = {deed.line for deed in done.deeds}
    assert done.deeds or not lost
    assert all(at in told or any(mark in lines[at - 1] for mark in relinked) for at in lost)


LOSSLESS = (
    glued, nuls_before, nuls_inside, only_nuls, not_utf8, same_line_twice, no_parent, own_parent, circle, wrong_role,
    result_late, reversed_end, foreign_line, no_end,
)  # fmt: skip
"""Damage that takes no words away."""


@pytest.mark.parametrize("damage", LOSSLESS, ids=_called)
@pytest.mark.parametrize("number", range(0, 60, 4))
def test_what_was_said_is_said_again(damage: Damage, number: int) -> None:
    """The messages that a mended log would send are those of the sound one; results of one message in any order."""
    lines = made("2.1.230", STEPS)
    assert _told(repair_log(damage(lines, number)).lines) == _told(lines)


def _told(lines: list[bytes]) -> list[tuple[str, list[str]]]:
    sent = rebuilt(lines)
    return [
        (one["role"], sorted(map(str, one["content"])) if one["role"] == "user" else one["content"]) for one in sent
    ]


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    lines = made("2.1.230", (1, 1))
    done = repair_log(result_gone(lines, 1))
    (block,) = [
        block
        for message in rebuilt(done.lines)
        for block in message["content"]
        if block.get("content") == "[no result was recorded]"
    ]
    assert block["is_error"] is True
    assert [deed.rule for deed in done.deeds if deed.rule != "missing-parent"] == ["orphan-call"]


def test_what_is_lost_is_reported_whole() -> None:
    lines = made("2.1.230", STEPS)
    damaged = torn(lines, 9)
    (at,) = [at for at, line in enumerate(damaged) if line not in lines]
    (deed,) = [deed for deed in repair_log(damaged).deeds if deed.rule == "torn-line"]
    assert (deed.line, deed.lost) == (at + 1, damaged[at])


def test_a_picture_that_is_too_large_becomes_words() -> None:
    lines = made("2.1.230", ())
    done = repair_log(big_image(lines, 0))
    assert [deed.rule for deed in done.deeds] == ["oversized-image"]
    assert "[a picture was here that could not be sent]" in str(rebuilt(done.lines))
    assert sum(map(len, done.lines)) < 2 * sum(map(len, lines))


def test_what_a_compaction_closed_is_mended_too() -> None:
    lines = made("2.1.230", (1, 7, 1))
    done = repair_log(result_gone(lines, 0))
    assert "orphan-call" in {deed.rule for deed in done.deeds}
    assert errors(lint(done.lines, strict=False)) == []
