"""Every real log, through every treatment, forked at every tenth turn, and moved; and a thousand made ones."""

import random
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from bench.messages_api import refusals
from bench.resumed_messages import rebuilt
from tests.copies.made_logs import VERSIONS, made
from tests.copies.making import NONE, TREATMENTS, copied, faults, said
from tests.thorough import some, tries
from unspool.agents import AGENTS
from unspool.copies.copy_plan import CopyPlan, CopyRequest, plan_copy
from unspool.copies.fork import Fork, Move
from unspool.copies.original import OriginalLog, read_original
from unspool.errors import NotFound, Unsound
from unspool.store.library.read import read_session

EMPTY = "holds no conversation"


@pytest.fixture(scope="module")
def logs(shared: Path) -> list[OriginalLog]:
    """Real logs that hold a conversation, read: every fifth, or all."""
    found = [read_original(log) for log in AGENTS[0].discover(shared / "corpora" / "claude")]
    assert len(found) > 50
    return some([log for log in found if log.draft.leaf is not None], 5)


def judged(draught: CopyPlan) -> list[str]:
    """What both judges say of a copy."""
    lines = list(draught.copy.chunks())
    return [*faults(lines), *refusals(rebuilt(lines))]


@pytest.mark.parametrize("name", sorted(TREATMENTS))
def test_every_real_log_can_be_cloned(logs: list[OriginalLog], name: str) -> None:
    for log in logs:
        planned = plan_copy(log, TREATMENTS[name], CopyRequest())
        assert judged(planned) == [], log.found.path
        assert planned.after.tokens <= planned.before.tokens


def test_every_real_log_can_be_forked_at_every_tenth_turn(logs: list[OriginalLog]) -> None:
    for log in logs:
        session = read_session(log.found)
        for number in [turn.number for turn in session.turns][1::10]:
            fork = Fork(log, session)
            try:
                fork.until(str(number))
            except NotFound:
                continue  # a turn that was only queued has no line to end at
            try:
                planned = plan_copy(log, NONE, CopyRequest("fork", "x", fork.leaf, frozenset(fork.without)))
            except Unsound:
                continue  # nothing was answered up to there that the agent would load
            assert judged(planned) == [], (log.found.path, number)
            assert planned.after.turns <= number


def test_every_real_log_can_be_moved(logs: list[OriginalLog], tmp_path: Path) -> None:
    """No line of the copy names the old working folder any more."""
    for log in logs:
        if not log.facts.cwd or len(log.facts.cwd) < 6:
            continue
        move = Move(tmp_path / "there", tmp_path / "agent")
        planned = move.drawn(log)
        assert judged(planned) == [], log.found.path
        old = f'"{log.facts.cwd}"'.encode()
        assert not any(old in line for line in planned.copy.chunks()), log.found.path


def test_the_agents_own_reader_sees_the_same(logs: list[OriginalLog], agent_sdk: ModuleType, home: Path) -> None:
    """Anthropic's SDK lists a clone and reads from it the messages that we say it has."""
    project = home / ".claude" / "projects" / "-work-tool"
    project.mkdir(parents=True)
    for log in some(logs, 2):
        for name in ("none", "default", "extreme"):
            planned = plan_copy(log, TREATMENTS[name], CopyRequest())
            session = planned.copy.making.session
            path = project / f"{session}.jsonl"
            path.write_bytes(b"".join(planned.copy.chunks()))
            read = agent_sdk.get_session_messages(session)
            loaded = [event for event in planned.copy.window if event.turn and not event.meta]
            assert [one.uuid for one in read] == [planned.copy.identity.ids[event.id] for event in loaded], (
                log.found.path
            )
            path.unlink()


def scripts() -> Iterator[tuple[str, list[int]]]:
    chance = random.Random(20261116)
    for _ in range(tries(150, 1000)):
        yield chance.choice(VERSIONS), [chance.randrange(9) for _ in range(chance.randrange(12))]


def test_many_made_logs() -> None:
    """Each through one treatment after the other."""
    names = sorted(TREATMENTS)
    for number, (version, happened) in enumerate(scripts()):
        lines = made(version, happened)
        copy = copied(lines, TREATMENTS[names[number % len(names)]])
        assert faults(copy) == [], (version, happened)
        assert refusals(rebuilt(copy)) == [], (version, happened)
        assert len(said(copy)) > 0
