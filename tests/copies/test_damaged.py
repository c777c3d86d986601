"""Damaged logs, copied without being mended first: a sound copy or a refusal, and nothing else."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.messages_api import refusals
from bench.resumed_messages import rebuilt
from tests.copies import damage
from tests.copies.damage import DAMAGES, Damage
from tests.copies.made_logs import VERSIONS, made
from tests.copies.making import NONE, TREATMENTS, copied, draught, faults
from tests.thorough import tries
from unspool.copies.write import write_copy
from unspool.errors import Unsound, UnspoolError

COPED_WITH = (
    damage.torn, damage.torn_end, damage.torn_into_next, damage.glued, damage.nuls_before, damage.nuls_inside,
    damage.only_nuls, damage.not_utf8, damage.lost_line, damage.same_line_twice, damage.no_parent, damage.unsigned,
    damage.call_gone, damage.result_gone, damage.result_of_nothing, damage.result_twice, damage.call_twice,
    damage.half_character, damage.foreign_line, damage.no_end,
)  # fmt: skip
"""What a copy heals by the way."""
steps = st.lists(st.integers(0, 8), max_size=8)
versions = st.sampled_from(VERSIONS)
treatments = st.sampled_from(sorted(TREATMENTS))
numbers = st.integers(0, 10_000)
slow = settings(max_examples=tries(25, 600), suppress_health_check=[HealthCheck.too_slow])


def harmed(lines: list[bytes], harm: list[tuple[Damage, int]]) -> list[bytes]:
    for one, number in harm:
        try:
            lines = one(lines, number)
        except (ValueError, KeyError, ZeroDivisionError, IndexError, TypeError, AttributeError):
            continue  # one damage may leave nothing that the next could be done to
    return lines


@slow
@given(versions, steps, treatments, st.lists(st.tuples(st.sampled_from(DAMAGES), numbers), min_size=1, max_size=3))
def test_what_the_validator_passes_the_provider_passes(
    version: str, happened: list[int], treatment: str, harm: list[tuple[Damage, int]]
) -> None:
    """Whatever the damage: a refusal of ours, faults that keep the copy from being written, or two judges content."""
    try:
        copy = copied(harmed(made(version, happened), harm), TREATMENTS[treatment])
    except UnspoolError:
        return
    assert faults(copy) or refusals(rebuilt(copy)) == []


@slow
@given(versions, steps, treatments, st.sampled_from(COPED_WITH), numbers)
def test_common_damage_is_no_obstacle(
    version: str, happened: list[int], treatment: str, harm: Damage, number: int
) -> None:
    lines = harmed(made(version, happened), [(harm, number)])
    assert faults(copied(lines, TREATMENTS[treatment])) == []


@slow
@given(versions, steps, st.binary(max_size=300), numbers)
def test_rubble_between_lines_is_no_obstacle(version: str, happened: list[int], rubble: bytes, number: int) -> None:
    lines = made(version, happened)
    at = number % len(lines)
    copy = copied([*lines[:at], rubble.replace(b"\n", b" ") + b"\n", *lines[at:]])
    assert faults(copy) == []
    assert rebuilt(copy) == rebuilt(copied(lines))


def test_what_cannot_be_sound_is_refused_with_its_lines_and_the_way_out(tmp_path: Path) -> None:
    planned = draught(damage.big_image(made("2.1.230", [1]), 0), NONE)
    target = tmp_path / "new" / "copy.jsonl"
    with pytest.raises(Unsound, match=r"line 1: .*\n.*unspool repair"):
        write_copy(planned, target, None, "/work")
    assert list(tmp_path.iterdir()) == []


def test_a_line_that_is_being_written_is_left_for_later(tmp_path: Path) -> None:
    """A copy of a session that goes on has all whole lines and no piece of the unfinished one."""
    from unspool.agents import AGENTS, FoundLog
    from unspool.copies.original import read_original

    lines = made("2.1.230", [1, 2])
    whole = b"".join(lines)
    path = tmp_path / "log.jsonl"
    unfinished = b'{"type":"assistant","message":{"type":"message","content":[]}'
    for cut in (b"", unfinished[:20], unfinished, unfinished[:-1]):
        path.write_bytes(whole + cut)
        log = read_original(FoundLog(str(path), "log", AGENTS[0].id, 0, 0.0))
        assert (len(log.events), log.data) == (len(lines), whole)
    path.write_bytes(whole.rstrip(b"\n"))
    assert len(read_original(FoundLog(str(path), "log", AGENTS[0].id, 0, 0.0)).events) == len(lines)
