"""What holds of the validator on any log: it never raises, it agrees with the rules it stands for, it is quick."""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.messages_api import refusals
from bench.mutate import mutant
from bench.resumed_messages import rebuilt
from tests.copies.damage import DAMAGES, big_image
from tests.copies.made_logs import VERSIONS, made
from tests.steps import steps as work
from tests.thorough import tries
from tests.waiting import ending
from unspool.agents.claude_code.lint import lint
from unspool.agents.writing import errors

steps = st.lists(st.integers(0, 8), max_size=10)
quick = st.sampled_from([damage for damage in DAMAGES if damage is not big_image])
versions = st.sampled_from(VERSIONS)
OF_MESSAGES = frozenset(
    {
        "orphan-call", "orphan-result", "result-not-next", "duplicate-call-id", "duplicate-result", "empty-content",
        "bad-thinking", "oversized-image", "bad-image", "bad-json-type", "bad-call-id", "role-order", "no-chain",
    }
)  # fmt: skip
"""Rules that the provider has too."""


@settings(max_examples=tries(25, 500))
@given(versions, steps)
def test_a_sound_log_of_any_version_has_no_findings_and_is_accepted(version: str, shape: list[int]) -> None:
    lines = made(version, shape)
    assert lint(lines, strict=False) == []
    assert refusals(rebuilt(lines)) == []


@settings(max_examples=tries(25, 500), suppress_health_check=[HealthCheck.too_slow])
@given(versions, steps, quick, st.integers(0, 10_000))
def test_what_the_provider_refuses_is_found(version: str, shape: list[int], damage: object, number: int) -> None:
    """A damaged log whose messages break a rule of the provider's has a finding, and the reverse."""
    assert callable(damage)
    try:
        lines = damage(made(version, shape), number)
    except (ValueError, KeyError, ZeroDivisionError, IndexError):
        return
    found = {one.rule for one in lint(lines, strict=False)} & OF_MESSAGES
    refused = refusals(rebuilt(lines))
    if refused:
        assert found, refused
    if errors([one for one in lint(lines, strict=False) if one.rule in OF_MESSAGES - {"bad-json-type", "role-order"}]):
        assert refused, found


@settings(max_examples=tries(25, 750), suppress_health_check=[HealthCheck.too_slow])
@given(versions, steps, st.integers(0, 2**32))
def test_no_log_makes_it_raise(version: str, shape: list[int], seed: int) -> None:
    """Bytes of any kind: findings are values."""
    data = mutant(b"".join(made(version, shape)), Random(seed))
    lines = data.splitlines(keepends=True)
    for strict in (False, True):
        assert all(one.line <= len(lines) and one.message for one in lint(lines, strict=strict, edited_from=1))
    assert isinstance(rebuilt(lines), list)


HOSTILE = {
    "glued objects": b'{"a":"x"}' * 40_000 + b"\n",
    "opening braces": b'{"type":"a","x":[' + b'{"' * 200_000 + b"\n",
    "NUL bytes": b"\0" * 5_000_000 + b"\n",
    "brackets": b"[" * 500_000 + b"\n",
    "a long blank text": b'{"type":"user","uuid":"u","message":{"role":"user","content":[{"type":"text","text":"'
    + b"\\n" * 500_000
    + b'x"}]}}\n',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_line_made_to_be_slow_is_not(name: str) -> None:
    with ending():
        lint([HOSTILE[name]], strict=True)


def test_a_long_chain_is_work_in_proportion() -> None:
    """Ten times the lines are no more than ten times the work, whatever their shape."""
    short, long = (made("2.1.230", list(range(7)) * count) for count in (10, 100))
    assert work(lambda: lint(long, strict=True)) < 11 * work(lambda: lint(short, strict=True))
