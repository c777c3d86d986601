"""Forks: wherever a conversation is cut, what is left is sound and is what was there."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.messages_api import refusals
from bench.resumed_messages import rebuilt
from tests.copies.made_logs import VERSIONS, made
from tests.copies.making import NONE, faults, said
from tests.log_builder.builder import LogBuilder
from tests.thorough import tries
from unspool.agents import AGENTS, FoundLog
from unspool.copies.copy_plan import CopyRequest, plan_copy
from unspool.copies.fork import Fork
from unspool.copies.original import OriginalLog, read_original
from unspool.errors import NotFound, Unsound
from unspool.model import Session
from unspool.store.library.read import read_session

steps = st.lists(st.integers(0, 8), max_size=10)
versions = st.sampled_from(VERSIONS)
slow = settings(max_examples=tries(25, 500), suppress_health_check=[HealthCheck.too_slow])


def read(data: bytes) -> tuple[OriginalLog, Session]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        path.write_bytes(data)
        found = FoundLog(str(path), "log", AGENTS[0].id, len(data), 0.0)
        return read_original(found), read_session(found)


def lines(fork: Fork) -> list[bytes]:
    wish = CopyRequest("fork", "x", fork.leaf, frozenset(fork.without))
    return list(plan_copy(fork.material, NONE, wish).copy.chunks())


def judged(fork: Fork) -> list[bytes]:
    made = lines(fork)
    assert faults(made) == []
    assert refusals(rebuilt(made)) == []
    return made


@slow
@given(versions, steps, st.integers(0, 200), st.integers(0, 3))
def test_a_fork_at_any_line_is_sound(version: str, happened: list[int], number: int, branch: int) -> None:
    log, session = read(b"".join(made(version, happened)))
    fork = Fork(log, session, branch if branch <= len(session.branches) else 0)
    held = fork.material.conversation.lines
    fork.until(held[number % len(held)].id)
    try:
        judged(fork)
    except Unsound:
        return  # nothing was said up to there


@slow
@given(versions, steps, st.integers(1, 6), st.integers(0, 2))
def test_a_fork_without_any_turns_is_sound(version: str, happened: list[int], first: int, more: int) -> None:
    log, session = read(b"".join(made(version, happened)))
    fork = Fork(log, session)
    try:
        fork.leave_out([(first, first + more)])
        judged(fork)
    except (NotFound, Unsound):
        return


def test_what_stays_of_a_fork_is_what_was_there() -> None:
    log = LogBuilder()
    for number in range(6):
        log.prompt(f"{number}?").ran("ls", "a").assistant(log.text(f"{number}."))
    held, session = read(log.to_bytes())
    whole = said(lines(Fork(held, session)), "text", "tool_use", "tool_result")
    fork = Fork(held, session)
    fork.until("4")
    assert said(judged(fork), "text", "tool_use", "tool_result") == whole[: 4 * 4]
    fork.leave_out([(2, 3)])
    assert said(judged(fork), "text", "tool_use", "tool_result") == whole[:4] + whole[12:16]


def test_a_compaction_in_a_turn_that_goes_stays() -> None:
    """All behind it goes on from its summary."""
    log = LogBuilder()
    log.prompt("One?").assistant(log.text("One.")).prompt("Two?").assistant(log.text("Two."))
    log.compact("auto", "One and two.").assistant(log.text("Going on.")).prompt("Three?").assistant(log.text("Three."))
    fork = Fork(*read(log.to_bytes()))
    fork.leave_out([(2, 2)])
    words = b"".join(judged(fork))
    assert b"One and two." in words
    assert b"Two?" not in words
    assert b"Going on." not in words


@pytest.mark.parametrize("point", ["0a0b-none", "99", "-1", "*"])
def test_a_point_that_is_none(point: str) -> None:
    log = LogBuilder()
    fork = Fork(*read(log.prompt("One?").assistant(log.text("One.")).to_bytes()))
    with pytest.raises(NotFound):
        fork.until(point)


@pytest.mark.parametrize("kept", ["preservedSegment", "preservedMessages"])
def test_every_turn_of_a_session_whose_compactions_kept_lines_can_be_left_out(kept: str) -> None:
    """Also where notes stand behind results that came in disorder."""
    log = LogBuilder(version="2.1.230")
    for number in range(3):
        log.prompt(f"{number}?").ran("ls", "a")
        exchange = [str(line["uuid"]) for line in log.lines[-2:] if isinstance(line, dict)]
        log.compact("auto", f"Up to {number}.", keep=exchange)
        uses = [log.use("Bash", command=f"echo {one}") for one in range(2)]
        log.prompt("Both?").assistant(*uses).result(uses[1], "1").result(uses[0], "0").system("turn_duration")
    for line in log.lines:
        if isinstance(line, dict) and "compactMetadata" in line:
            line["compactMetadata"].pop(kept)
    held, session = read(log.prompt("Enough.").assistant(log.text("Done.")).to_bytes())
    for turn in session.turns:
        fork, until = Fork(held, session), Fork(held, session)
        fork.leave_out([(turn.number, turn.number)])
        judged(fork)
        until.until(str(turn.number))
        judged(until)


def test_what_an_earlier_compaction_kept_of_a_pair_is_no_obstacle() -> None:
    """Nobody sends it any more."""
    log = LogBuilder(version="2.1.230").prompt("One?").ran("ls", "a")
    log.compact("auto", "One.", keep=[str(log.last)]).prompt("Two?").assistant(log.text("Two."))
    log.compact("auto", "Two.").prompt("Three?").assistant(log.text("Three."))
    judged(Fork(*read(log.to_bytes())))


def test_a_queued_prompt_is_a_turn_with_what_followed_it() -> None:
    log = LogBuilder()
    log.prompt("One?").ran("ls", "a")
    log.queue("enqueue", "And hurry.").queue("remove", "And hurry.")
    log.assistant(log.text("Hurrying.")).prompt("Two?").assistant(log.text("Two."))
    held, session = read(log.to_bytes())
    assert [turn.prompt.kind for turn in session.turns if turn.prompt] == ["text", "queued", "text"]
    fork = Fork(held, session)
    fork.leave_out([(2, 2)])
    words = b"".join(judged(fork))
    assert (b"Hurrying." in words, b"One?" in words, b"Two?" in words) == (False, True, True)
    fork = Fork(held, session)
    fork.until("1")
    assert b"Hurrying." not in b"".join(judged(fork))


def test_a_turn_that_is_not_there_is_never_taken_for_an_id() -> None:
    log = LogBuilder()
    log.prompt("One?", uuid="99000000-0000-4000-8000-000000000001").assistant(log.text("One."))
    log.prompt("Two?").assistant(log.text("Two."))
    held, session = read(log.to_bytes())
    told = r"There is no turn 99 on this branch, which has 2 turns \(1 to 2\)\."
    with pytest.raises(NotFound, match=told):
        Fork(held, session).until("99")
    with pytest.raises(NotFound, match=told):
        Fork(held, session).leave_out([(99, 99)])
    fork = Fork(held, session)
    fork.until("99000000")
    assert b"Two?" not in b"".join(lines(fork))


def test_an_anchor_that_search_prints_is_a_point() -> None:
    log = LogBuilder()
    log.prompt("One?").assistant(log.text("One."))
    held, session = read(log.prompt("Two?").assistant(log.text("Two.")).to_bytes())
    (moment,) = [block.time for block in session.turns[0].blocks if block.time]
    for point in (f"msg-{round(moment.timestamp() * 1000)}", f"#msg-{round(moment.timestamp() * 1000)}-2"):
        fork = Fork(held, session)
        fork.until(point)
        words = b"".join(judged(fork))
        assert (b"One." in words, b"Two?" in words) == (True, False)
    with pytest.raises(NotFound, match="Nothing on this branch was logged at “msg-12”"):
        Fork(held, session).until("msg-12")
